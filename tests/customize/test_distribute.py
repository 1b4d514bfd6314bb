"""distribute: positions of tasks that share an array get parts of their own."""

# ruff: noqa: E501, F821 - golden text is not wrapped; kernels declare arrays without a value

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.errors import TargetError
from allo.ir.types import Stream, int32
from tests.published.doors import ran

from .checks import assert_ir, assert_refused

N = 4


@df.region()
def scale(A: int32[2, N], F: int32[N], B: int32[2, N]):
    @df.kernel(mapping=[2], args=[A, F, B])
    def row(A: int32[2, N], F: int32[N], B: int32[2, N]):
        p = df.get_pid()
        for i in range(N):
            B[p, N - 1 - i] = A[p, i] * F[i]


@df.region()
def shared_by_tasks(A: int32[N], place: int32[N], B: int32[N], C: int32[N]):
    pipe: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[A, place])
    def first(A: int32[N], place: int32[N]):
        for i in range(N):
            pipe.put(A[place[i]])

    @df.kernel(mapping=[1], args=[A, B, C])
    def second(A: int32[N], B: int32[N], C: int32[N]):
        for i in range(N):
            B[i] = A[i] + pipe.get()
            C[N - 1 - i] = A[i]


@df.region()
def in_place(A: int32[2, N]):
    @df.kernel(mapping=[2], args=[A])
    def row(A: int32[2, N]):
        p = df.get_pid()
        for i in range(N):
            A[p, i] += 1


@df.region()
def some(A: int32[2, N], B: int32[2, N]):
    @df.kernel(mapping=[2], args=[A, B])
    def row(A: int32[2, N], B: int32[2, N]):
        p = df.get_pid()
        for i in range(N):
            if A[p, i] > 0:
                B[p, i] = A[p, i]


def add(A: int32[2, N], B: int32[2, N]):
    for i, j in allo.grid(2, N):
        B[i, j] = A[i, j] + 1


@df.region()
def nested(A: int32[2, N], B: int32[2, N], C: int32[2, N]):
    @df.kernel(mapping=[1], args=[A, B])
    def first(A: int32[2, N], B: int32[2, N]):
        add(A, B)

    @df.kernel(mapping=[1], args=[A, C])
    def second(A: int32[2, N], C: int32[2, N]):
        for i, j in allo.grid(2, N):
            C[i, j] = A[i, j] * 2


GOLDEN = """
func.func @scale(%arg0: memref<2x4xi32> {allo.name = "A"}, %arg1: memref<4xi32> {allo.name = "F"}, %arg2: memref<2x4xi32> {allo.name = "B"}) attributes {allo.dataflow} {
  %alloc = memref.alloc() {allo.name = "A_row"} : memref<2x4xi32, #allo.partition<[complete, none]>>
  call @scale_load_A(%arg0, %alloc) : (memref<2x4xi32>, memref<2x4xi32, #allo.partition<[complete, none]>>) -> ()
  %alloc_0 = memref.alloc() {allo.name = "F_row"} : memref<2x4xi32, #allo.partition<[complete, none]>>
  call @scale_load_F(%arg1, %alloc_0) : (memref<4xi32>, memref<2x4xi32, #allo.partition<[complete, none]>>) -> ()
  %alloc_1 = memref.alloc() {allo.name = "B_row"} : memref<2x4xi32, #allo.partition<[complete, none]>>
  affine.for %arg3 = 0 to 2 {
    func.call @row(%arg3, %alloc, %alloc_0, %alloc_1) : (index, memref<2x4xi32, #allo.partition<[complete, none]>>, memref<2x4xi32, #allo.partition<[complete, none]>>, memref<2x4xi32, #allo.partition<[complete, none]>>) -> ()
  } {allo.name = "p", allo.nest = "row", allo.spatial}
  call @scale_store_B(%arg2, %alloc_1) : (memref<2x4xi32>, memref<2x4xi32, #allo.partition<[complete, none]>>) -> ()
  return
}
"""

GOLDEN_LOAD = """
func.func @scale_load_F(%arg0: memref<4xi32> {allo.name = "F"}, %arg1: memref<2x4xi32, #allo.partition<[complete, none]>> {allo.name = "part_0"}) {
  affine.for %arg2 = 0 to 4 {
    %0 = affine.load %arg0[%arg2] : memref<4xi32>
    affine.for %arg3 = 0 to 2 {
      affine.store %0, %arg1[%arg3, %arg2] : memref<2x4xi32, #allo.partition<[complete, none]>>
    } {allo.name = "c0_p0", allo.unroll = 0 : i32}
  } {allo.name = "c0_d0", allo.nest = "S_c0"}
  return
}
"""

GOLDEN_ROW = """
func.func @row(%arg0: index {allo.name = "p"}, %arg1: memref<2x4xi32, #allo.partition<[complete, none]>> {allo.name = "A"}, %arg2: memref<2x4xi32, #allo.partition<[complete, none]>> {allo.name = "F"}, %arg3: memref<2x4xi32, #allo.partition<[complete, none]>> {allo.name = "B"}) {
  affine.for %arg4 = 0 to 4 {
    %0 = affine.load %arg1[%arg0, %arg4] : memref<2x4xi32, #allo.partition<[complete, none]>>
    %1 = arith.extsi %0 : i32 to i64
    %2 = affine.load %arg2[%arg0, %arg4] : memref<2x4xi32, #allo.partition<[complete, none]>>
    %3 = arith.extsi %2 : i32 to i64
    %4 = arith.muli %1, %3 : i64
    %5 = arith.trunci %4 : i64 to i32
    affine.store %5, %arg3[%arg0, -%arg4 + 3] : memref<2x4xi32, #allo.partition<[complete, none]>>
  } {allo.name = "i", allo.nest = "S_i_0"}
  return
}
"""


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).integers(0, N, shape).astype(np.int32)


def test_parts_of_positions() -> None:
    s = df.customize(scale)
    for name in "AFB":
        s.distribute(f"scale:{name}")
    assert_ir(s, GOLDEN)
    assert_ir(s, GOLDEN_LOAD, "scale_load_F")
    assert_ir(s, GOLDEN_ROW, "row")
    A, F, B = numbers(2, N), numbers(N), np.zeros((2, N), np.int32)
    for target, mode in ((None, None), ("vitis_hls", "csim")):
        np.testing.assert_array_equal(ran(s.build(target=target, mode=mode), (A, F, B)).arguments[2], (A * F)[:, ::-1])
    assert s.verify()
    again = df.customize(scale)
    again.replay(list(s.steps))
    assert str(again.module) == str(s.module)
    s.undo()
    assert "B_row" not in str(s.ir) and "F_row" in str(s.ir)


def test_tasks_without_a_grid_and_subscripts_that_are_data() -> None:
    A, place, zeros = numbers(N), numbers(N), np.zeros(N, np.int32)
    with pytest.raises(TargetError, match="two processes read one array"):
        allo.customize(shared_by_tasks).build(target="vhls")
    with pytest.warns(allo.ScheduleNote, match=r'the build adds s.distribute\("shared_by_tasks:A"\)'):
        df.customize(shared_by_tasks).build(target="vhls")
    s = df.customize(shared_by_tasks)
    s.distribute("shared_by_tasks:A")
    seen = ran(s.build(target="vitis_hls", mode="csim"), (A, place, zeros, zeros)).arguments
    np.testing.assert_array_equal(seen[2], A + A[place])
    np.testing.assert_array_equal(seen[3], A[::-1])
    assert df.build(shared_by_tasks, target="vhls").hls_code == s.build(target="vhls").hls_code


REFUSALS: list[tuple[Callable[..., Any], str, str]] = [
    (
        in_place,
        "in_place:A",
        """\
distribute: 'A' cannot be distributed: 'row' reads it and writes it
  note: 'row' is called here
    File, line N, column 5
      def row(A: int32[2, N]):
      ^
  note: 'A' is declared here
    File, line N, column 14
      def in_place(A: int32[2, N]):
                   ^
  hint: let it work on a local array, or read one argument and write another
""",
    ),
    (
        some,
        "some:B",
        """\
distribute: 'B' cannot be distributed: positions of 'row' may not write all elements of a box of constant extents
  note: 'row' is called here
    File, line N, column 5
      def row(A: int32[2, N], B: int32[2, N]):
      ^
  note: 'B' is declared here
    File, line N, column 26
      def some(A: int32[2, N], B: int32[2, N]):
                               ^
  hint: let each position write all of its part, from a local array
""",
    ),
    (
        nested,
        "nested:A",
        """\
distribute: 'A' cannot be distributed: 'first' hands it on to 'add'
  note: it does that here
    File, line N, column 9
      add(A, B)
      ^
  hint: put what it does into the task first: s.inline('add')
""",
    ),
    (
        nested,
        "nested:B",
        """\
distribute: 'B' cannot be distributed: no two processes share it
  note: 'B' is declared here
    File, line N, column 28
      def nested(A: int32[2, N], B: int32[2, N], C: int32[2, N]):
                                 ^
  hint: leave it as it is
""",
    ),
    (
        add,
        "add:A",
        """\
distribute: 'A' cannot be distributed: 'add' is no dataflow region
  note: 'A' is declared here
    File, line N, column 9
      def add(A: int32[2, N], B: int32[2, N]):
              ^
  hint: only processes that run at the same time need parts of their own
""",
    ),
    (
        shared_by_tasks,
        "shared_by_tasks:B",
        """\
distribute: 'B' cannot be distributed: no two processes share it
  note: 'B' is declared here
    File, line N, column 51
      def shared_by_tasks(A: int32[N], place: int32[N], B: int32[N], C: int32[N]):
                                                        ^
  hint: leave it as it is
""",
    ),
    (
        shared_by_tasks,
        "shared_by_tasks:pipe",
        """\
distribute: function 'shared_by_tasks' has no buffer 'pipe'
  hint: its buffers are A, place, B, C
""",
    ),
]


@pytest.mark.parametrize(("region", "array", "golden"), REFUSALS)
def test_refusals(region: Callable[..., Any], array: str, golden: str) -> None:
    s = allo.customize(region) if region is add else df.customize(region)
    assert_refused(golden, s, "distribute", array)


def test_positions_with_functions_of_their_own() -> None:
    s = df.customize(scale)
    s.pipeline("row[1]:i")
    for name in "AFB":
        s.distribute(f"scale:{name}")
    assert [line for line in str(s.steps).splitlines() if line.startswith("s.d")] == [
        's.distribute("scale:A")',
        's.distribute("scale:F")',
        's.distribute("scale:B")',
    ]
    A, F, B = numbers(2, N), numbers(N), np.zeros((2, N), np.int32)
    for target, mode in ((None, None), ("vitis_hls", "csim")):
        np.testing.assert_array_equal(ran(s.build(target=target, mode=mode), (A, F, B)).arguments[2], (A * F)[:, ::-1])
    assert s.verify()
    again = df.customize(scale)
    again.replay(list(s.steps))
    assert str(again.module) == str(s.module)
