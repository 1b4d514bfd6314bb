"""What a kernel says of its memories is in the code: kinds, and the depths of what lies outside."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
from allo.errors import TargetError
from allo.ir.types import Stateful, int32
from allo.memory import Memory

TABLE = np.arange(4, dtype=np.int32)


def deep(A: int32[4] @ Memory(resource="URAM", depth=4)) -> int32[4]:
    B: int32[4] @ Memory(depth=4) = 0
    for i in range(4):
        B[i] = A[i]
    return B


def fifos(A: int32[4] @ Memory(storage_type="FIFO", depth=2)) -> int32[4]:
    B: int32[4] @ Memory(storage_type="FIFO", depth=3) = 0
    for i in range(4):
        B[i] = A[i]
    return B


def body(code: str) -> list[str]:
    """The pragmas of memories and ports."""
    return re.findall(r"#pragma HLS (?:bind_storage|stream|interface) .*", code)


def test_depths_are_those_of_the_ports() -> None:
    assert body(allo.customize(deep).build(target="vhls").hls_code) == [
        "#pragma HLS bind_storage variable=A type=ram_2p impl=uram",
        "#pragma HLS interface ap_memory port=A depth=4",
        "#pragma HLS interface ap_memory port=B depth=4",
    ]


def test_projects_have_ports_of_their_own() -> None:
    """The arrays on chip have no depth; the ports of memory have one anyway."""
    found = body(allo.customize(deep).build(target="vitis_hls").hls_code)
    assert found[0] == "#pragma HLS bind_storage variable=A type=ram_2p impl=uram"
    assert found[1].startswith("#pragma HLS interface m_axi port=A ") and " depth=4" in found[1]
    assert found[-1] == "#pragma HLS bind_storage variable=local_A type=ram_2p impl=uram"


def test_fifos_are_as_deep_as_the_user_says() -> None:
    for target in ("vhls", "vitis_hls"):
        found = body(allo.customize(fifos).build(target=target).hls_code)
        assert {"#pragma HLS stream variable=A depth=2", "#pragma HLS stream variable=B depth=3"} <= set(found)
        assert ("#pragma HLS stream variable=local_B depth=3" in found) == (target == "vitis_hls")


def result(A: int32[4]) -> int32[4]:
    B: int32[4] @ Memory(resource="BRAM", depth=64) = 0
    for i in range(4):
        B[i] = A[i]
    return B


def argument(A: int32[4] @ Memory(depth=2)):
    A[0] = 1


def calls(A: int32[4]):
    argument(A)


def constant(A: int32[4]):
    W: int32[4] @ Memory(resource="BRAM", storage_type="ROM_1P", depth=4) = TABLE
    for i in range(4):
        A[i] += W[i]


def state(A: int32[4]):
    total: int32[4] @ Stateful = 0
    for i in range(4):
        total[i] += A[i]
        A[i] = total[i]


def bound(kernel: Callable[..., Any], name: str) -> allo.Schedule:
    s = allo.customize(kernel)
    s.bind(name, Memory(resource="BRAM", depth=4))
    return s


EXTENTS = "leave out the depth: it follows from the extents"
KEPT = (
    "'{}' is bound with depth=4, and is a constant or a state with its own extents: a depth is that of a FIFO, or of "
    "what an argument or a result points to\n"
)
REFUSED = {
    "result": (
        lambda: allo.customize(result),
        "'B' is bound with depth=64, and has 4 elements\n"
        '    B: int32[4] @ Memory(resource="BRAM", depth=64) = 0\n    ^\n'
        f"  hint: {EXTENTS}",
    ),
    "argument": (
        lambda: allo.customize(argument),
        "'A' is bound with depth=2, and has 4 elements\n"
        f"    def argument(A: int32[4] @ Memory(depth=2)):\n                 ^\n  hint: {EXTENTS}",
    ),
    "argument of a callee": (
        lambda: allo.customize(calls),
        "'A' is bound with depth=2, and has 4 elements\n"
        f"    def argument(A: int32[4] @ Memory(depth=2)):\n                 ^\n  hint: {EXTENTS}",
    ),
    "constant": (
        lambda: allo.customize(constant),
        KEPT.format("W") + '    W: int32[4] @ Memory(resource="BRAM", storage_type="ROM_1P", depth=4) = TABLE\n'
        "    ^\n  hint: leave out the depth",
    ),
    "state": (
        lambda: bound(state, "total"),
        KEPT.format("total") + "    total: int32[4] @ Stateful = 0\n    ^\n  hint: leave out the depth",
    ),
}


@pytest.mark.parametrize("target", ["vhls", "vitis_hls", "vivado_hls"])
@pytest.mark.parametrize("name", REFUSED)
def test_refused_depths(name: str, target: str) -> None:
    made, text = REFUSED[name]
    with pytest.raises(TargetError) as caught:
        made().build(target=target)
    place, _, message = str(caught.value).partition(": ")
    assert place.startswith(f'File "{__file__}", line ') and message == text


def spread(A: int32[64, 32]) -> int32[64, 32]:
    B: int32[64, 32] = 0
    for i, j in allo.grid(64, 32):
        B[i, j] = A[i, j]
    return B


@pytest.mark.parametrize("array", ["A", "B"])
def test_more_banks_than_the_tool_makes(array: str) -> None:
    s = allo.customize(spread)
    s.partition(array, dim=1)
    s.partition(array, dim=2, partition_type=allo.Partition.Cyclic, factor=16)
    assert s.build(target="vitis_hls").hls_code  # 1,024 banks
    s = allo.customize(spread)
    s.partition(array)
    for target, tool in (("vhls", "Vitis HLS"), ("vitis_hls", "Vitis HLS"), ("vivado_hls", "Vivado HLS")):
        with pytest.raises(TargetError) as caught:
            s.build(target=target)
        first = caught.value.diagnostics[0]
        assert first.message == f"'{array}' is cut into 2,048 banks, and {tool} makes 1,024 of an array at most"
        assert first.hint == (
            "partition it by a smaller factor, or in fewer dimensions; tasks may also hand elements on in streams"
        )
