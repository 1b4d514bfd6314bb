"""The C++ for other vendors: the stored designs, read by eye; what runs is what the CPU computes; what each refuses."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import allo
import polybench
from allo.backend.hls import is_available
from allo.backend.hls.text.module import emit
from allo.backend.hls.text.vendor import VIVADO
from allo.errors import TargetError
from allo.ir.types import float16, float32, int32
from allo.memory import Memory
from tests.programs import test_blur_harris as stencils
from tests.programs import test_conv_designs as convolutions

from .designs import DESIGNS, WANTED, gemm
from .test_csim import assert_same, inputs

GOLDEN = Path(__file__).parent / "golden"
CASES = [(target, name) for target, names in WANTED.items() for name in names]
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="the simulation needs g++")


@pytest.mark.parametrize(("target", "name"), CASES)
def test_golden(target: str, name: str) -> None:
    """Written by `python -m tests.backend.hls.write_golden`."""
    code = DESIGNS[name]().build(target=target).hls_code
    assert code == (GOLDEN / target / f"{name}.cpp").read_text()


@needs_compiler
@pytest.mark.parametrize(
    ("target", "name"),
    [pytest.param(*case, marks=[pytest.mark.slow] * (case[1] != "chain")) for case in CASES],
)
def test_simulation(target: str, name: str) -> None:
    assert_same(DESIGNS[name](), inputs(name), target)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("target", ["tapa", "catapult"])
def test_designs_of_stages_joined_by_streams(target: str) -> None:
    numbers = np.random.default_rng(2)
    image = numbers.integers(0, 256, (stencils.H, stencils.W)).astype(np.int32)
    corners = np.zeros((stencils.H - 4, stencils.W - 4), np.int32)
    assert_same(stencils.scheduled_harris(), [(image, corners)], target)
    filters = numbers.integers(-9, 9, (3, 3)).astype(np.int8)
    arguments = (image[:12, :14].astype(np.int8), filters, np.zeros((5, 6), np.int32))
    assert_same(convolutions.scheduled_layers(), [arguments], target)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("target", ["ihls", "tapa", "catapult"])
@pytest.mark.parametrize("name", ["deriche", "nussinov", "ludcmp"])
def test_polybench(name: str, target: str) -> None:
    benchmark = polybench.load(name)
    assert_same(allo.customize(benchmark.kernel("MINI")), [benchmark.arguments("MINI")], target)


def refusal(s: allo.Schedule, target: str) -> str:
    """The message without the place in the kernel."""
    with pytest.raises(TargetError) as caught:
        s.build(target=target)
    text = str(caught.value)
    head, _, rest = text.partition(": ")
    return text if not head.startswith("File") else "\n".join([rest.split("\n")[0], text.rpartition("\n")[2]])


def scheduled(kernel: object, primitive: str, *arguments: object, **options: object) -> allo.Schedule:
    s = allo.customize(kernel)
    getattr(s, primitive)(*arguments, **options)
    return s


def local(A: float32[6], B: float32[6]):
    C: float32[6] = 0
    for i in range(6):
        C[i] = A[i]
    for i in range(6):
        B[i] = C[i]


def half(A: float16[4], B: float16[4]):
    for i in range(4):
        B[i] = A[i] * A[i]


def total(A: int32[4]) -> int32:
    s: int32 = 0
    for i in range(4):
        s += A[i]
    return s


def add(A: int32[4], B: int32[4], C: int32[4]):
    for i in range(4):
        C[i] = A[i] + B[i]


def twice(A: int32[4], C: int32[4]):
    B: int32[4]
    add(A, A, B)  # noqa: F821
    add(A, B, C)  # noqa: F821


def local_array(s: allo.Schedule) -> allo.Schedule:
    s.dataflow("twice")
    return s


MESSAGES = [
    (lambda: scheduled(gemm, "partition", "B", dim=2), "ihls",
     "Intel HLS cannot partition 'B': an argument is memory outside of the component\n"
     "  hint: copy it to an array of the kernel, and partition that one"),
    (lambda: scheduled(local, "bind", "A", Memory(resource="BRAM")), "ihls",
     "Intel HLS cannot bind 'A': an argument is memory outside of the component\n"
     "  hint: copy it to an array of the kernel, and bind that one"),
    (lambda: scheduled(local, "bind", "C", Memory(resource="URAM")), "ihls",
     "Intel HLS cannot bind 'C' with URAM\n  hint: bind it to BRAM or LUTRAM"),
    (lambda: scheduled(local, "bind", "C", Memory(storage_type="FIFO", depth=2)), "ihls",
     "Intel HLS cannot bind 'C' with depth=2\n  hint: bind it to BRAM or LUTRAM"),
    (lambda: scheduled(local, "partition", "C", partition_type=allo.Partition.Cyclic, factor=2), "ihls",
     "Intel HLS cannot split 'C' like this: banks are bits of the address, and (6,) or the factor is no power of two\n"
     "  hint: choose extents and factors that are powers of two, or partition completely"),
    (DESIGNS["chain"], "ihls",
     "Intel HLS has no form of streams inside of a kernel\n"
     "  hint: a component has streams as arguments only; leave out relay"),
    (lambda: local_array(allo.customize(twice)), "ihls",
     "Intel HLS has no form of dataflow\n"
     "  hint: a component runs its loops one after the other; leave out dataflow and relay"),
    (lambda: scheduled(gemm, "pipeline", "k", rewind=True), "ihls",
     "Intel HLS has no form of pipeline(..., rewind=True)\n"
     "  hint: leave out rewind: invocations of a component are pipelined anyway"),
    (lambda: allo.customize(half), "ihls", "Intel HLS has no type for float16\n  hint: use bfloat16 or float32"),
    (lambda: allo.customize(half), "catapult", "Catapult has no type for float16\n  hint: use bfloat16 or float32"),
    (lambda: scheduled(local, "bind", "C", Memory(resource="BRAM")), "catapult",
     "Catapult cannot bind 'C' to BRAM: its memories are those of the library of the technology\n"
     "  hint: map the array in the Tcl script of the project"),
    (lambda: scheduled(gemm, "partition", "B", partition_type=allo.Partition.Cyclic, dim=1, factor=2), "catapult",
     "Catapult cannot split 'B' like this: it interleaves the last dimension, cuts the first one into blocks, or takes "
     "registers for all elements\n  hint: partition one dimension, or all completely"),
    (lambda: scheduled(gemm, "pipeline", "k", rewind=True), "catapult",
     "Catapult has no form of pipeline(..., rewind=True)\n"
     "  hint: leave out rewind: a design that is pipelined as a whole starts again by itself"),
    (lambda: allo.customize(total), "tapa",
     "TAPA cannot return a number from 'total': the entry only starts tasks\n  hint: return an array of one element"),
    (lambda: local_array(allo.customize(twice)), "tapa",
     "TAPA cannot keep 'B' in 'twice': the entry of a dataflow graph has streams and tasks only\n"
     "  hint: pass the data from task to task by a stream: s.relay"),
    (DESIGNS["systolic"], "tapa",
     "TAPA cannot pass 'fifo_buf_A' to 'small_gemm_load_buf_A': an array of streams has one task at each end of each "
     "stream\n  hint: give each task the streams that it uses"),
]  # fmt: skip


@pytest.mark.parametrize(("made", "target", "message"), MESSAGES)
def test_refusals(made: object, target: str, message: str) -> None:
    assert refusal(made(), target) == message  # type: ignore[operator]


def test_names_of_all_tools_are_known() -> None:
    names = ("vitis_hls", "vivado_hls", "ihls", "catapult", "tapa")
    assert all(isinstance(is_available(name), bool) for name in names)


@pytest.mark.parametrize(
    ("memory", "line"),
    [
        (Memory(resource="BRAM"), "core=RAM_2P_BRAM"),
        (Memory(resource="LUTRAM", storage_type="RAM_1P", latency=1), "core=RAM_1P_LUTRAM latency=1"),
        (Memory(storage_type="RAM_T2P"), "core=RAM_T2P_BRAM"),
        (Memory(resource="URAM"), "core=XPM_MEMORY uram"),
    ],
)
def test_vivado_binds_by_cores(memory: Memory, line: str) -> None:
    code = emit(scheduled(local, "bind", "C", memory).ir, VIVADO).code
    assert f"#pragma HLS resource variable=C {line}\n" in code and "bind_storage" not in code


def test_cores_that_vivado_lacks() -> None:
    s = scheduled(local, "bind", "C", Memory(resource="BRAM", storage_type="RAM_1WNR"))
    with pytest.raises(TargetError, match="Vivado HLS has no core RAM_1WNR_BRAM for 'C'\n"):
        emit(s.ir, VIVADO)
