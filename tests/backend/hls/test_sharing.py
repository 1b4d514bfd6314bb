"""Arrays that processes of a dataflow region share: copied or refused for AMD's tools, but for banks and variables."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import allo
from allo.errors import TargetError
from allo.ir.types import int32


def add(A: int32[4], B: int32[4], C: int32[4]):
    for i in range(4):
        C[i] = A[i] + B[i]


def argument(A: int32[4], B: int32[4], D: int32[4]):
    C: int32[4]
    add(A, B, C)
    for i in range(4, name="last"):
        D[i] = A[i] * C[i]


def local(A: int32[4], B: int32[4], C: int32[4]):
    T: int32[4]
    for i in range(4, name="made"):
        T[i] = A[i] + 1
    for i in range(4, name="first"):
        B[i] = T[i]
    for i in range(4, name="second"):
        C[i] = T[i] * 2


def both_in_one(A: int32[4], B: int32[4], C: int32[4]):
    T: int32[4]
    for i in range(4, name="made"):
        T[i] = A[i] + 1
    for i in range(4, name="first"):
        B[i] = T[i]
        C[i] = T[i] * 2


def variable(A: int32[4], B: int32[4], C: int32[4]):
    x: int32 = A[0]
    for i in range(4, name="first"):
        B[i] = x
    for i in range(4, name="second"):
        C[i] = x * 2


def sums(A: int32[4], B: int32[4]):
    """One process adds to what it has written; a second one reads."""
    T: int32[4]
    for i in range(4, name="made"):
        T[i] = 0
        for k in range(3):
            T[i] += A[i] * k
    for i in range(4, name="last"):
        B[i] = T[i]


def elements(A: int32[2, 4], C: int32[2, 4]):
    for i in range(2, name="PE"):
        for k in range(4):
            C[i, k] = A[i, k] + 1


def region(kernel: Any) -> allo.Schedule:
    s = allo.customize(kernel)
    s.dataflow(kernel.__name__)
    return s


def unfolded() -> allo.Schedule:
    """Two elements, each of which reads a row of its own."""
    s = allo.customize(elements)
    s.partition("A", dim=1)
    s.unfold("PE", axes=[0])
    s.dataflow("elements")
    return s


def refusal(s: allo.Schedule, target: str = "vhls") -> str:
    """The message and the hint, without the places in the kernel."""
    with pytest.raises(TargetError) as caught:
        s.build(target=target)
    found = caught.value.diagnostics[0]
    assert found.at is not None and [note.message for note in found.notes] == ["this process is here"] * 2
    return f"{found.message}\n{found.hint}"


@pytest.mark.parametrize(
    ("kernel", "array", "readers"),
    [(argument, "A", ("add", "argument_last")), (local, "T", ("local_first", "local_second"))],
)
def test_two_readers_have_copies(kernel: Any, array: str, readers: tuple[str, str]) -> None:
    """A process reads the array once, and each reader has an array of its own; without a region nothing is copied."""
    s = region(kernel)
    code, copies = s.build(target="vhls").hls_code, [f"{array}_{reader}" for reader in readers]
    assert f"{kernel.__name__}_copy_{array}({array}, {', '.join(copies)});" in code
    assert [f"{reader}({copy}," in code for reader, copy in zip(readers, copies, strict=True)] == [True, True]
    assert "copy" not in allo.customize(kernel).build(target="vhls").hls_code
    given = [np.arange(4, dtype=np.int32) * n for n in (1, 3, 0)]
    results = [[a.copy() for a in given] for _ in range(2)]
    s.build()(*results[0])
    s.build(target="vitis_hls", mode="csim")(*results[1])
    np.testing.assert_array_equal(*results)


def doubled(A: int32[4], B: int32[4]):
    for i in range(4):
        B[i] = A[i] * 2


def cleared(A: int32[4]):
    for i in range(4):
        A[i] = 0


def written_later(A: int32[4], B: int32[4], C: int32[4]):
    doubled(A, B)
    doubled(A, C)
    cleared(A)


def all_rows(A: int32[2, 4], C: int32[2, 4]):
    for i in range(2, name="PE"):
        for k in range(4):
            C[i, k] = A[0, k] + A[1, k]


def test_readers_of_what_is_written_later() -> None:
    """No step makes such a region; a text may hold one."""
    text = str(allo.customize(written_later).module)
    marked = re.sub(r"(func @written_later\(.*\)) {", r"\1 attributes {allo.dataflow} {", text)
    assert "allo.dataflow" in marked
    with pytest.raises(TargetError, match="two processes read one array: in 'written_later' both 'doubled' and 'doubl"):
        allo.Schedule.from_mlir(marked).build(target="vhls")


def many_rows(A: int32[2, 4], C: int32[65, 4]):
    for i in range(65, name="PE"):
        for k in range(4):
            C[i, k] = A[0, k] + A[1, k]


def of_elements(kernel: Any) -> allo.Schedule:
    s = allo.customize(kernel)
    s.partition("C", dim=1)
    s.unfold("PE", axes=[0])
    s.dataflow(kernel.__name__)
    return s


def test_elements_that_read_one_array() -> None:
    """Each has a copy, up to 64 of them."""
    s = of_elements(all_rows)
    assert "all_rows_copy_A(A, A_PE_0, A_PE_1);" in s.build(target="vhls").hls_code
    A, C = np.arange(8, dtype=np.int32).reshape(2, 4), np.zeros((2, 4), np.int32)
    s.build(target="vitis_hls", mode="csim")(A, C)
    np.testing.assert_array_equal(C, np.stack([A.sum(0)] * 2))
    assert refusal(of_elements(many_rows)) == READ.format("many_rows", "'PE_0'", "'PE_1'")


READ = (
    "Vitis HLS runs no dataflow region in which two processes read one array: in '{}' both {} and {} read 'A'\n"
    "let one of them read it and hand on what the other needs, or partition it so that they read different banks"
)


def test_two_writers() -> None:
    assert refusal(unfolded(), "vivado_hls") == (
        "Vivado HLS runs no dataflow region in which two processes write one array: in "
        "'elements' both 'PE_0' and 'PE_1' write 'C'\n"
        "let each write an array of its own, partition it so that they write different banks, or let one task write "
        "what the others put into streams"
    )


TEXT = """
module attributes {allo.top = "top"} {
  memref.global "private" @calls : memref<i32> = dense<0>
  func.func @count(%a: memref<4xi32> {allo.name = "a"}) {
    %s = memref.get_global @calls : memref<i32> {allo.name = "calls"}
    %x = affine.load %s[] : memref<i32>
    affine.store %x, %a[0] : memref<4xi32>
    affine.store %x, %s[] : memref<i32>
    return
  }
  func.func @top(%a: memref<4xi32> {allo.name = "a"}, %b: memref<4xi32> {allo.name = "b"})
      attributes {allo.dataflow} {
    func.call @count(%a) : (memref<4xi32>) -> () loc("k.py":1:1)
    func.call @count(%b) : (memref<4xi32>) -> () loc("k.py":2:1)
    return
  }
}
"""


def test_a_state_of_two_processes() -> None:
    assert refusal(allo.Schedule.from_mlir(TEXT)) == (
        "Vitis HLS runs no dataflow region in which two processes use one state: in "
        "'top' both 'count' and 'count' use 'calls'\n"
        "let one process do all that uses it"
    )


def test_refused_for_these_tools_only() -> None:
    A, B, D = (np.arange(4, dtype=np.int32) + n for n in range(3))
    region(argument).build()(A, B, D)
    assert D.tolist() == (A * (A + B)).tolist()
    local_to_one_task = region(local).build(target="catapult").hls_code
    assert "local_second(T, C);" in local_to_one_task


@pytest.mark.parametrize("kernel", [both_in_one, variable, sums])
def test_one_reader(kernel: Any) -> None:
    assert "#pragma HLS dataflow" in region(kernel).build(target="vhls").hls_code


@pytest.mark.parametrize(
    "banks",
    [{"dim": 0}, {"dim": 1}, {"partition_type": allo.Partition.Cyclic, "dim": 1, "factor": 2},
     {"partition_type": allo.Partition.Block, "dim": 1, "factor": 2}],
)  # fmt: skip
def test_elements_with_banks_of_their_own(banks: dict[str, Any]) -> None:
    s = unfolded()
    s.partition("C", **banks)
    assert "PE_0<1>(A, C);" in s.build(target="vhls").hls_code


def test_banks_of_other_dimensions_are_shared() -> None:
    s = unfolded()
    s.partition("C", dim=2)
    assert "both 'PE_0' and 'PE_1' write 'C'" in refusal(s)


def test_functions_that_the_entry_does_not_reach() -> None:
    s = region(argument)
    text = str(s.module).replace('allo.top = "argument"', 'allo.top = "add"')
    assert "void add(" in allo.Schedule.from_mlir(text).build(target="vhls").hls_code
