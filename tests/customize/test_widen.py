"""widen: vectors pass through several FIFOs in turn, and all means the same."""

# ruff: noqa: F821 - kernels declare arrays without a value

import random

import numpy as np
import pytest

import allo
from allo import Schedule, customize
from allo.ir.types import Stream, float32, int32
from tests.backend.hls.cpp_programs import needs_compiler
from tests.seeds import sweep

from .checks import assert_faithful, assert_ir, assert_refused


def scaled(A: int32[4, 8], B: int32[4, 8]):
    C: int32[4, 8]
    for i, x in allo.grid(4, 8, name="make"):
        C[i, x] = A[i, x] * 3
    for i, y in allo.grid(4, 8, name="take"):
        B[i, y] = C[i, y] + 1


def streaming() -> Schedule:
    s = customize(scaled)
    s.relay("C", "take", depth=6)
    return s


def vectors(s: Schedule, *loops: str) -> Schedule:
    """Unroll loops by four, with the banks that this takes."""
    for loop in loops:
        outer, inner = s.split(loop, 4)
        s.pipeline(outer)
        s.unroll(inner)
    for array in ("A", "B"):
        s.partition(array, dim=2, factor=4)
    return s


def test_golden() -> None:
    s = streaming()
    s.widen("fifo_C", 4)
    assert_ir(s, WIDE)
    assert_faithful(scaled, s)


WIDE = """
func.func @scaled(%arg0: memref<4x8xi32> {allo.name = "A"}, %arg1: memref<4x8xi32> {allo.name = "B"}) attributes {allo.dataflow} {
  %alloc = memref.alloc() {allo.itensor = !allo.itensor<1x1xi32, [4, 8] * [1, 1], (d0, d1) -> (d0, d1)>, allo.name = "fifo_C"} : memref<4x!allo.stream<i32, 2>>
  affine.for %arg2 = 0 to 4 {
    affine.for %arg3 = 0 to 8 {
      %0 = affine.load %arg0[%arg2, %arg3] : memref<4x8xi32>
      %1 = arith.extsi %0 : i32 to i34
      %c3_i34 = arith.constant 3 : i34
      %2 = arith.muli %1, %c3_i34 : i34
      %3 = arith.trunci %2 : i34 to i32
      %4 = affine.load %alloc[%arg3 mod 4] : memref<4x!allo.stream<i32, 2>>
      allo.stream_put %4, %3 : !allo.stream<i32, 2>
    } {allo.name = "x"}
  } {allo.name = "i", allo.nest = "make"}
  affine.for %arg2 = 0 to 4 {
    affine.for %arg3 = 0 to 8 {
      %0 = affine.load %alloc[%arg3 mod 4] : memref<4x!allo.stream<i32, 2>>
      %1 = allo.stream_get %0 : !allo.stream<i32, 2>
      %2 = arith.extsi %1 : i32 to i33
      %c1_i33 = arith.constant 1 : i33
      %3 = arith.addi %2, %c1_i33 : i33
      %4 = arith.trunci %3 : i33 to i32
      affine.store %4, %arg1[%arg2, %arg3] : memref<4x8xi32>
    } {allo.name = "y"}
  } {allo.name = "i", allo.nest = "take"}
  return
}
"""  # noqa: E501


@pytest.mark.parametrize("loops", [("make.x",), ("take.y",), ("make.x", "take.y")])
@pytest.mark.parametrize("is_first", [True, False])
def test_vectors_at_either_end(loops: tuple[str, ...], is_first: bool) -> None:
    """A loop that is unrolled, before or after, moves a vector a cycle; the other end takes it one by one."""
    s = streaming()
    if is_first:
        s.widen("fifo_C", 4)
    vectors(s, *loops)
    if not is_first:
        s.widen("fifo_C", 4)
    assert_faithful(scaled, s)
    assert allo.verify(customize(scaled), s)
    intervals = {loop.name: loop.interval for loop in allo.estimate(s).loops}
    assert all(intervals[f"{loop[-1]}.outer"] == 1 for loop in loops)


@pytest.mark.parametrize("target", ["simulator", pytest.param("vitis_hls", marks=needs_compiler), "rtl"])
def test_other_backends(target: str) -> None:
    s = streaming()
    s.widen("fifo_C", 4)
    vectors(s, "make.x")
    A = np.arange(32, dtype=np.int32).reshape(4, 8)
    B = np.zeros_like(A)
    s.build(target=target, **({"mode": "csim"} if target == "vitis_hls" else {}))(A, B)
    np.testing.assert_array_equal(B, A * 3 + 1)


def test_only_part_is_read() -> None:
    """A branch that leaves out whole vectors is none that cuts them."""

    def parts(A: int32[4, 8], B: int32[2, 4]):
        C: int32[4, 8]
        for i, x in allo.grid(4, 8, name="make"):
            C[i, x] = A[i, x] * 3
        for i, y in allo.grid(2, 4, name="take"):
            B[i, y] = C[i, y + 4] + 1

    s = customize(parts)
    s.relay("C", "take")
    s.widen("fifo_C", 4)
    assert "if i <= 1 and x >= 4" in s.pseudocode() and "fifo_C: Stream[int32, 8][4]" in s.pseudocode()
    assert_faithful(parts, s)


@sweep(40, quick=3)
def test_random_orders(seed: int) -> None:
    """Converters, line buffers and loops of all kinds: what can be widened computes the same, what cannot says so."""
    rng = random.Random(seed)
    depth, width = rng.choice([2, 4, 6]), rng.choice([2, 3, 4])

    def made(A: float32[6, 6, 4], B: float32[4, 4, 4]):
        C: float32[6, 6, 4]
        for y, x, c in allo.grid(6, 6, 4, name="make"):
            C[y, x, c] = A[y, x, c] * 2.0
        for y, x, i, j, c in allo.grid(4, 4, 3, 3, 4, name="take"):
            B[y, x, c] += C[y + i, x + j, c]

    s = customize(made)
    s.fuse_streams("made", reorder=rng.random() < 0.5)
    if depth < 6:
        s.split("make.c", depth)
    for fifo in ("fifo_C", "fifo_C_in_order"):
        try:
            s.widen(fifo, width)
        except allo.ScheduleError as error:
            assert width == 3 and "no multiple of 3" in str(error)
    assert_faithful(made, s)


def test_refusals() -> None:
    s = streaming()
    assert_refused(BELOW, s, "widen", "fifo_C", 1)
    assert_refused(UNKNOWN, s, "widen", "fifo_D", 2)
    assert_refused(UNEVEN, s, "widen", "fifo_C", 5)
    s.widen("fifo_C", 4)
    assert_refused(ARRAY, s, "widen", "fifo_C", 2)


BELOW = """
widen: factor must be at least 2, got 1
"""
UNKNOWN = """
widen: function 'scaled' makes no FIFO 'fifo_D'
  hint: did you mean 'fifo_C'?
"""
UNEVEN = """
widen: 'fifo_C' cannot pass 5 elements at a time: at a put, it is in loops of 32 iterations, no multiple of 5
  note: the put is here
    File, line N, column 9
      C[i, x] = A[i, x] * 3
      ^
  hint: each put and each get has to move whole vectors whenever its inner loops run
"""
ARRAY = """
widen: 'fifo_C' is an array of FIFOs, and only a single one can be widened
  note: 'fifo_C' is made here
    File, line N, column 5
      C: int32[4, 8]
      ^
"""


def test_refused_streams() -> None:
    def put(pipe: Stream[int32, 8], A: int32[8]):
        for i in range(8):
            pipe.put(A[i])

    def passed(A: int32[8], B: int32[8]):
        pipe: Stream[int32, 8]
        put(pipe, A)
        for i in range(8):
            B[i] = pipe.get()

    def looked(A: int32[8], B: int32[8]):
        pipe: Stream[int32, 8]
        for i in range(8):
            pipe.put(A[i])
        for i in range(8):
            if not pipe.empty():
                B[i] = pipe.get()

    def data(A: int32[8], B: int32[8]):
        pipe: Stream[int32, 8]
        for i in range(8):
            if A[i] > 0:
                pipe.put(A[i])
        for i in range(8):
            B[i] = 0

    assert_refused(PASSED, customize(passed), "widen", "pipe", 2)
    assert_refused(LOOKED, customize(looked), "widen", "pipe", 2)
    assert_refused(DATA, customize(data), "widen", "pipe", 2)


PASSED = """
widen: 'pipe' is passed on, and which of several FIFOs that means is not known
  note: it is here
    File, line N, column 9
      put(pipe, A)
      ^
  note: 'pipe' is made here
    File, line N, column 9
      pipe: Stream[int32, 8]
      ^
  hint: inline() the function
"""
LOOKED = """
widen: 'pipe' is looked at, or tried, and which of several FIFOs that means is not known
  note: it is here
    File, line N, column 20
      if not pipe.empty():
             ^
  note: 'pipe' is made here
    File, line N, column 9
      pipe: Stream[int32, 8]
      ^
  hint: only what puts and gets can be widened
"""
DATA = """
widen: 'pipe' cannot pass 2 elements at a time: at a put, it is in a branch that data decide
  note: the put is here
    File, line N, column 17
      pipe.put(A[i])
      ^
  note: this is why
    File, line N, column 13
      if A[i] > 0:
      ^
  hint: each put and each get has to move whole vectors whenever its inner loops run
"""
