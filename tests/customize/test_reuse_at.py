"""reuse_at: line and window buffers of what later iterations read again."""

# ruff: noqa: E501, F821 - golden text is not wrapped; kernels declare arrays without a value

import linecache
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

import allo
from allo import Partition, customize
from allo.customize import Buffer
from allo.ir.types import float32, int32
from tests.work import calls_of

from .checks import assert_faithful, assert_ir, assert_refused, ir_text, normalised, parsed

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS = np.arange(20, dtype=np.int32)


def blur(A: int32[6, 10], B: int32[6, 8]):
    for y, x in allo.grid(6, 8):
        B[y, x] = A[y, x] + A[y, x + 1] + A[y, x + 2]


def box(A: int32[8, 9], B: int32[6, 7]):
    for y, x in allo.grid(6, 7):
        v: int32 = 0
        for r, c in allo.reduction(3, 3):
            v += A[y + r, x + c]
        B[y, x] = v


def every_second(A: int32[20], B: int32[8]):
    for i in range(1, 8):
        B[i] = A[2 * i] + A[2 * i + 1] + A[2 * i + 4]


def backwards(A: int32[10], B: int32[8]):
    for i in range(8):
        B[i] = A[9 - i] * 2 - A[7 - i]


def padded(A: int32[6, 6], B: int32[6, 6]):
    for y, x in allo.grid(6, 6):
        v: int32 = 0
        for r, c in allo.reduction(3, 3):
            if y + r >= 1 and y + r < 7 and x + c >= 1 and x + c < 7:
                v += A[y + r - 1, x + c - 1]
        B[y, x] = v


def triangle(A: int32[12], B: int32[8, 8]):
    for i in range(8):
        for j in range(i, 8):
            B[i, j] = A[j] + A[j + 3]


def steps_of_two(A: float32[12], B: float32[12]):
    for i in range(1, 10, 2):
        B[i] = A[i - 1] + A[i + 1]


def gradient(A: float32[8, 8], X: float32[8, 8], Y: float32[8, 8]):
    for y, x in allo.grid(6, 6):
        X[y, x] = A[y + 1, x + 2] - A[y + 1, x]
        Y[y, x] = A[y + 2, x + 1] - A[y, x + 1]


def two_arrays(A: int32[8, 8], C: int32[8, 8], B: int32[6, 6]):
    for y, x in allo.grid(6, 5):
        B[y, x] = A[y, x] + A[y + 1, x + 1] + A[y + 1, x] + C[y, x] + C[y + 2, x + 3] + C[y + 2, x]


def channels(A: int32[3, 9, 8], W: int32[4, 3, 3, 3], B: int32[4, 4, 6]):
    for oc, oh, ow in allo.grid(4, 4, 6):
        v: int32 = 0
        for ic, kh, kw in allo.reduction(3, 3, 3):
            v += A[ic, 2 * oh + kh, ow + kw] * W[oc, ic, kh, kw]
        B[oc, oh, ow] = v


def heat(A: float32[6, 7, 8], B: float32[6, 7, 8]):
    for z, y, x in allo.grid(4, 5, 6):
        B[z + 1, y + 1, x + 1] = (
            A[z, y + 1, x + 1]
            + A[z + 2, y + 1, x + 1]
            + A[z + 1, y, x + 1]
            + A[z + 1, y + 2, x + 1]
            + A[z + 1, y + 1, x]
            + A[z + 1, y + 1, x + 2]
        )


def weights(B: int32[18]):
    for i in range(18):
        B[i] = WEIGHTS[i] + WEIGHTS[i + 2]


def local(A: int32[12], B: int32[8]):
    T: int32[10]
    for i in range(10):
        T[i] = A[i] * 2
    for j in range(8):
        B[j] = T[j] + T[j + 2]


def in_place(A: int32[10]):
    for i in range(1, 9):
        A[i] = A[i - 1] + A[i + 1]


def gemm(A: int32[4, 5], B: int32[5, 6], C: int32[4, 6]):
    for i, j, k in allo.grid(4, 6, 5):
        C[i, j] += A[i, k] * B[k, j]


def holes(A: int32[20], B: int32[8]):
    for i in range(8):
        B[i] = A[2 * i] + A[2 * i + 3]


def diagonal(A: int32[10, 10], B: int32[8]):
    for i in range(8):
        B[i] = A[i, i] + A[i + 1, i + 1]


def indirect(A: int32[10], P: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = A[P[i]]


def whole(A: int32[8], B: int32[8]):
    for i in range(8):
        for j in range(i, 8):
            B[i] += A[j]


def run_time_extent(A: int32[...], B: int32[8]):
    for i in range(8):
        B[i] = A[i] + A[i + 2]


def grows(A: int32[12], B: int32[8]):
    for i in range(8):
        for j in range(i + 1):
            B[i] += A[j]


def line(X: int32[10], i: int32) -> int32:
    return X[i]


def calls(A: int32[10], B: int32[8]):
    for i in range(8):
        B[i] = line(A, i)


def inside(A: int32[8], B: int32[8]):
    for i in range(7):
        T: int32[2] = 0
        T[0] = A[i]
        B[i] = T[0] + T[1]


def scalar(A: int32[8]):
    t: int32 = A[0]
    for i in range(8):
        A[i] = t


def run_time(A: int32[8], B: int32[8]):
    for i in range(B[0]):
        B[i] = A[i] + A[i + 1]


def test_window():
    s = customize(blur)
    assert s.reuse_at(s.A, axis="x") == Buffer("blur", "A_reuse")
    assert_ir(
        s,
        """
        func.func @blur(%arg0: memref<6x10xi32> {allo.name = "A"}, %arg1: memref<6x8xi32> {allo.name = "B"}) {
          affine.for %arg2 = 0 to 6 {
            %alloc = memref.alloc() {allo.name = "A_reuse"} : memref<3xi32>
            affine.for %arg3 = -2 to 8 {
              affine.for %arg4 = 0 to 2 {
                %1 = affine.load %alloc[%arg4 + 1] : memref<3xi32>
                affine.store %1, %alloc[%arg4] : memref<3xi32>
              } {allo.name = "x_shift"}
              %0 = affine.load %arg0[%arg2, %arg3 + 2] : memref<6x10xi32>
              affine.store %0, %alloc[2] : memref<3xi32>
              affine.if affine_set<(d0) : (d0 >= 0)>(%arg3) {
                %1 = affine.load %alloc[0] : memref<3xi32>
                %2 = arith.extsi %1 : i32 to i33
                %3 = affine.load %alloc[1] : memref<3xi32>
                %4 = arith.extsi %3 : i32 to i33
                %5 = arith.addi %2, %4 : i33
                %6 = arith.extsi %5 : i33 to i34
                %7 = affine.load %alloc[2] : memref<3xi32>
                %8 = arith.extsi %7 : i32 to i34
                %9 = arith.addi %6, %8 : i34
                %10 = arith.trunci %9 : i34 to i32
                affine.store %10, %arg1[%arg2, %arg3] : memref<6x8xi32>
              }
            } {allo.name = "x"}
          } {allo.name = "y", allo.nest = "S_y_x_0", allo.scheduled}
          return
        }
        """,
    )
    assert str(s.steps[0]) == 's.reuse_at("blur:A", axis="blur:S_y_x_0.x")'
    assert_faithful(blur, s)


def test_line_buffer():
    s = customize(box)
    s.reuse_at("A", "y")
    assert_ir(
        s,
        """
        func.func @box(%arg0: memref<8x9xi32> {allo.name = "A"}, %arg1: memref<6x7xi32> {allo.name = "B"}) {
          %alloc = memref.alloc() {allo.name = "A_reuse"} : memref<3x9xi32>
          affine.for %arg2 = -2 to 6 {
            affine.for %arg3 = 0 to 9 {
              affine.for %arg4 = 0 to 2 {
                %1 = affine.load %alloc[%arg4 + 1, %arg3] : memref<3x9xi32>
                affine.store %1, %alloc[%arg4, %arg3] : memref<3x9xi32>
              } {allo.name = "y_shift"}
              %0 = affine.load %arg0[%arg2 + 2, %arg3] : memref<8x9xi32>
              affine.store %0, %alloc[2, %arg3] : memref<3x9xi32>
            } {allo.name = "c_fill"}
            affine.if affine_set<(d0) : (d0 >= 0)>(%arg2) {
              affine.for %arg3 = 0 to 7 {
                %c0_i32 = arith.constant 0 : i32
                %alloc_0 = memref.alloc() {allo.name = "v"} : memref<i32>
                affine.store %c0_i32, %alloc_0[] : memref<i32>
                affine.for %arg4 = 0 to 3 {
                  affine.for %arg5 = 0 to 3 {
                    %1 = affine.load %alloc_0[] : memref<i32>
                    %2 = arith.extsi %1 : i32 to i33
                    %3 = affine.load %alloc[%arg4, %arg3 + %arg5] : memref<3x9xi32>
                    %4 = arith.extsi %3 : i32 to i33
                    %5 = arith.addi %2, %4 : i33
                    %6 = arith.trunci %5 : i33 to i32
                    affine.store %6, %alloc_0[] : memref<i32>
                  } {allo.name = "c"}
                } {allo.name = "r"}
                %0 = affine.load %alloc_0[] : memref<i32>
                affine.store %0, %arg1[%arg2, %arg3] : memref<6x7xi32>
              } {allo.name = "x"}
            }
          } {allo.name = "y", allo.nest = "S_y_x_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(box, s)


def test_window_on_a_line_buffer_takes_one_pass():
    s = customize(box)
    lines = s.reuse_at("A", "y")
    assert s.reuse_at(lines, "x") == Buffer("box", "A_reuse_1")
    assert_ir(
        s,
        """
        func.func @box(%arg0: memref<8x9xi32> {allo.name = "A"}, %arg1: memref<6x7xi32> {allo.name = "B"}) {
          %alloc = memref.alloc() {allo.name = "A_reuse"} : memref<3x9xi32>
          affine.for %arg2 = -2 to 6 {
            %alloc_0 = memref.alloc() {allo.name = "A_reuse_1"} : memref<3x3xi32>
            affine.for %arg3 = -2 to 7 {
              affine.for %arg4 = 0 to 2 {
                %1 = affine.load %alloc[%arg4 + 1, %arg3 + 2] : memref<3x9xi32>
                affine.store %1, %alloc[%arg4, %arg3 + 2] : memref<3x9xi32>
              } {allo.name = "y_shift"}
              %0 = affine.load %arg0[%arg2 + 2, %arg3 + 2] : memref<8x9xi32>
              affine.store %0, %alloc[2, %arg3 + 2] : memref<3x9xi32>
              affine.if affine_set<(d0) : (d0 >= 0)>(%arg2) {
                affine.for %arg4 = 0 to 3 {
                  affine.for %arg5 = 0 to 2 {
                    %2 = affine.load %alloc_0[%arg4, %arg5 + 1] : memref<3x3xi32>
                    affine.store %2, %alloc_0[%arg4, %arg5] : memref<3x3xi32>
                  } {allo.name = "x_shift"}
                  %1 = affine.load %alloc[%arg4, %arg3 + 2] : memref<3x9xi32>
                  affine.store %1, %alloc_0[%arg4, 2] : memref<3x3xi32>
                } {allo.name = "r_fill"}
                affine.if affine_set<(d0) : (d0 >= 0)>(%arg3) {
                  %c0_i32 = arith.constant 0 : i32
                  %alloc_1 = memref.alloc() {allo.name = "v"} : memref<i32>
                  affine.store %c0_i32, %alloc_1[] : memref<i32>
                  affine.for %arg4 = 0 to 3 {
                    affine.for %arg5 = 0 to 3 {
                      %2 = affine.load %alloc_1[] : memref<i32>
                      %3 = arith.extsi %2 : i32 to i33
                      %4 = affine.load %alloc_0[%arg4, %arg5] : memref<3x3xi32>
                      %5 = arith.extsi %4 : i32 to i33
                      %6 = arith.addi %3, %5 : i33
                      %7 = arith.trunci %6 : i33 to i32
                      affine.store %7, %alloc_1[] : memref<i32>
                    } {allo.name = "c"}
                  } {allo.name = "r"}
                  %1 = affine.load %alloc_1[] : memref<i32>
                  affine.store %1, %arg1[%arg2, %arg3] : memref<6x7xi32>
                }
              }
            } {allo.name = "x"}
          } {allo.name = "y", allo.nest = "S_y_x_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(box, s)


def test_stride_that_does_not_divide_the_window():
    s = customize(every_second)
    s.reuse_at("A", "i")
    assert_ir(
        s,
        """
        func.func @every_second(%arg0: memref<20xi32> {allo.name = "A"}, %arg1: memref<8xi32> {allo.name = "B"}) {
          %alloc = memref.alloc() {allo.name = "A_reuse"} : memref<5xi32>
          affine.for %arg2 = -1 to 8 {
            affine.for %arg3 = 0 to 3 {
              %0 = affine.load %alloc[%arg3 + 2] : memref<5xi32>
              affine.store %0, %alloc[%arg3] : memref<5xi32>
            } {allo.name = "i_shift"}
            affine.for %arg3 = 0 to 2 {
              %0 = affine.load %arg0[%arg3 + %arg2 * 2 + 3] : memref<20xi32>
              affine.store %0, %alloc[%arg3 + 3] : memref<5xi32>
            } {allo.name = "i_load"}
            affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%arg2) {
              %0 = affine.load %alloc[0] : memref<5xi32>
              %1 = arith.extsi %0 : i32 to i33
              %2 = affine.load %alloc[1] : memref<5xi32>
              %3 = arith.extsi %2 : i32 to i33
              %4 = arith.addi %1, %3 : i33
              %5 = arith.extsi %4 : i33 to i34
              %6 = affine.load %alloc[4] : memref<5xi32>
              %7 = arith.extsi %6 : i32 to i34
              %8 = arith.addi %5, %7 : i34
              %9 = arith.trunci %8 : i34 to i32
              affine.store %9, %arg1[%arg2] : memref<8xi32>
            }
          } {allo.name = "i", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(every_second, s)


def test_window_that_moves_down():
    s = customize(backwards)
    s.reuse_at("A", "i")
    assert_ir(
        s,
        """
        func.func @backwards(%arg0: memref<10xi32> {allo.name = "A"}, %arg1: memref<8xi32> {allo.name = "B"}) {
          %alloc = memref.alloc() {allo.name = "A_reuse"} : memref<3xi32>
          affine.for %arg2 = -2 to 8 {
            affine.for %arg3 = 0 to 2 {
              %1 = affine.load %alloc[-%arg3 + 1] : memref<3xi32>
              affine.store %1, %alloc[-%arg3 + 2] : memref<3xi32>
            } {allo.name = "i_shift"}
            %0 = affine.load %arg0[-%arg2 + 7] : memref<10xi32>
            affine.store %0, %alloc[0] : memref<3xi32>
            affine.if affine_set<(d0) : (d0 >= 0)>(%arg2) {
              %1 = affine.load %alloc[2] : memref<3xi32>
              %2 = arith.extsi %1 : i32 to i34
              %c2_i34 = arith.constant 2 : i34
              %3 = arith.muli %2, %c2_i34 : i34
              %4 = arith.extsi %3 : i34 to i35
              %5 = affine.load %alloc[0] : memref<3xi32>
              %6 = arith.extsi %5 : i32 to i35
              %7 = arith.subi %4, %6 : i35
              %8 = arith.trunci %7 : i35 to i32
              affine.store %8, %arg1[%arg2] : memref<8xi32>
            }
          } {allo.name = "i", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(backwards, s)


@pytest.mark.parametrize("axes", ["y", "x", "yx"])
def test_padding_is_not_read_from_the_array(axes):
    s = customize(padded)
    buffer = s.A
    for axis in axes:
        buffer = s.reuse_at(buffer, axis)
    assert_faithful(padded, s)


def test_bounds_that_depend_on_a_loop():
    s = customize(triangle)
    s.reuse_at("A", "j")
    assert "affine.for %arg3 = affine_map<(d0) -> (d0 - 3)>(%arg2) to 8" in ir_text(s)
    assert_faithful(triangle, s)


def test_step_of_two():
    s = customize(steps_of_two)
    s.reuse_at("A", "i")
    assert "affine.for %arg2 = -1 to 10 step 2" in ir_text(s)
    assert_faithful(steps_of_two, s)


def test_two_statements_share_the_buffers():
    s = customize(gradient)
    s.reuse_at(s.reuse_at("A", "y"), "x")
    assert ir_text(s).count("affine.load %arg0") == 1
    assert_faithful(gradient, s)


def test_two_arrays_of_different_windows():
    s = customize(two_arrays)
    for name in "AC":
        s.reuse_at(s.reuse_at(name, "y"), "x")
    text = ir_text(s)
    assert text.count("affine.load %arg0") == text.count("affine.load %arg1") == 1
    assert [str(loop) for loop in s.get_loops()["S_y_x_0"]][:2] == [
        "two_arrays:S_y_x_0.y",
        "two_arrays:S_y_x_0.x",
    ]
    assert_faithful(two_arrays, s)


def test_channels_inside_and_outside():
    s = customize(channels)
    s.reuse_at(s.reuse_at("A", "oh"), "ow")
    assert '"A_reuse"} : memref<3x3x8xi32>' in ir_text(s) and '"A_reuse_1"} : memref<3x3x3xi32>' in ir_text(s)
    assert_faithful(channels, s)


def test_planes_lines_and_window():
    s = customize(heat)
    buffer = s.A
    for axis in "zyx":
        buffer = s.reuse_at(buffer, axis)
    assert '"A_reuse_2"} : memref<3x3x3xf32>' in ir_text(s) and "x_fill" not in ir_text(s)
    assert_faithful(heat, s)


def test_constant():
    s = customize(weights)
    s.reuse_at("WEIGHTS", "i")
    assert_faithful(weights, s)


def test_local_array():
    s = customize(local)
    s.reuse_at("T", "j")
    assert_faithful(local, s)


def test_loop_that_was_split():
    s = customize(blur)
    s.split("x", 3)
    s.reuse_at("A", "x.inner")
    assert_faithful(blur, s)


def test_columns_in_tiles():
    s = customize(box)
    outer, inner = s.split("x", 7)
    s.reorder(outer, "y", inner)
    s.reuse_at(s.reuse_at("A", "y"), inner)
    assert ir_text(s).count("affine.load %arg0") == 1
    assert_faithful(box, s)


def test_parallel_loop_around():
    s = customize(channels)
    s.parallel("oc")
    s.reuse_at(s.reuse_at("A", "oh"), "ow")
    assert "allo.parallel" in ir_text(s)
    assert_faithful(channels, s)


def test_annotated_fill_loop_stays():
    s = customize(box)
    lines = s.reuse_at("A", "y")
    s.pipeline("c_fill")
    s.reuse_at(lines, "x")
    assert 'allo.name = "c_fill", allo.pipeline = 1' in ir_text(s)
    assert_faithful(box, s)


def in_a_triangle(A: int32[4, 12], B: int32[4, 4, 8]):
    for z in range(4):
        for y in range(z, 4):
            T: int32[12]
            for c in range(12):
                T[c] = A[y, c]
            for x in range(8):
                B[z, y, x] = T[x + y] + T[x + y + 1]


def ahead(A: int32[4, 12], B: int32[4, 12]):
    for y in range(-3, 1):
        T: int32[12]
        for c in range(12):
            T[c] = A[y + 3, c]
        for x in range(11):
            if x - y < 11:
                B[y + 3, x] = T[x - y] + T[x - y + 1]


@pytest.mark.parametrize("kernel", [in_a_triangle, ahead])
def test_columns_that_an_outer_loop_shifts_are_filled_before(kernel):
    """In iteration x the window of `ahead` reads up to three columns further than x, which must be there."""
    s = customize(kernel)
    s.reuse_at("T", "x")
    assert_faithful(kernel, s)


def test_other_primitives_take_the_buffer():
    s = customize(box)
    lines = s.reuse_at("A", "y")
    window = s.reuse_at(lines, "x")
    s.partition(lines, dim=1)
    s.partition(window)
    s.pipeline("x")
    assert "#allo.partition<[complete, none]>" in ir_text(s)
    assert_faithful(box, s)


def test_partitioned_array():
    s = customize(blur)
    s.partition("A", Partition.Cyclic, dim=2, factor=2)
    s.reuse_at("A", "x")
    assert_faithful(blur, s)


def test_buffer_of_buffer_at_is_filled_in_the_same_loop():
    s = customize(blur)
    s.reuse_at(s.buffer_at("A", "y"), "x")
    assert "x_init" not in ir_text(s)
    assert_faithful(blur, s)


def cost(m: int, n: int) -> int:
    """The calls of two windows over an array of m x n."""

    def shifted(A: int32[m, n], B: int32[m, n]):
        for y, x in allo.grid(m - 2, n - 2):
            B[y, x] = A[y, x] + A[y + 2, x + 2] + A[y + 2, x] + A[y + 1, x + 1]

    s = customize(shifted)
    return calls_of(lambda: s.reuse_at(s.reuse_at("A", "y"), "x"))


def test_cost_does_not_depend_on_extents():
    """In a process of its own: what other tests have left in tables of values takes comparisons."""
    program = (
        "from tests.customize.test_reuse_at import cost\n"
        "cost(10, 20)\n"  # what is read of affine maps is kept
        "print(*(min(cost(m, 2 * m) for m in sizes) for sizes in ((100, 101), (100_000, 100_001))))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    small, large = found.stdout.split()
    assert small == large


def spread():
    s = customize(box)
    s.parallel("y")
    return s


def carries_a_value():
    return parsed(
        """
        module attributes {allo.top = "f"} {
          func.func @f(%A: memref<10xf32> {allo.name = "A"}) -> f32 {
            %zero = arith.constant 0.0 : f32
            %sum = affine.for %i = 0 to 8 iter_args(%t = %zero) -> f32 {
              %a = affine.load %A[%i] : memref<10xf32>
              %b = affine.load %A[%i + 2] : memref<10xf32>
              %c = arith.addf %a, %b : f32
              %d = arith.addf %t, %c : f32
              affine.yield %d : f32
            } {allo.name = "i", allo.nest = "S_i_0"}
            return %sum : f32
          }
        }
        """
    )


def test_nothing_to_reuse():
    assert_refused(
        """
        reuse_at: nothing to reuse: no element of 'A' is read in two iterations of 'k'
          note: loop 'k' is here
            File, line N, column 5
              for i, j, k in allo.grid(4, 6, 5):
              ^
          note: 'A' is declared here
            File, line N, column 10
              def gemm(A: int32[4, 5], B: int32[5, 6], C: int32[4, 6]):
                       ^
          hint: take the loop whose iterations overlap, or buffer_at() for a plain copy
        """,
        customize(gemm),
        "reuse_at",
        "A",
        "k",
        strict=True,
    )


def test_window_with_holes():
    assert_refused(
        """
        reuse_at: nothing to reuse: no element of 'A' is read in two iterations of 'i'
          note: loop 'i' is here
            File, line N, column 5
              for i in range(8):
              ^
          note: 'A' is declared here
            File, line N, column 11
              def holes(A: int32[20], B: int32[8]):
                        ^
          hint: take the loop whose iterations overlap, or buffer_at() for a plain copy
        """,
        customize(holes),
        "reuse_at",
        "A",
        "i",
        strict=True,
    )


def test_same_elements_in_every_iteration():
    assert_refused(
        """
        reuse_at: the part of 'A' that an iteration of 'j' reads does not move: nothing to shift
          note: loop 'j' is here
            File, line N, column 5
              for i, j, k in allo.grid(4, 6, 5):
              ^
          note: 'A' is declared here
            File, line N, column 10
              def gemm(A: int32[4, 5], B: int32[5, 6], C: int32[4, 6]):
                       ^
          hint: buffer_at() on a loop around it keeps that part
        """,
        customize(gemm),
        "reuse_at",
        "A",
        "j",
        strict=True,
    )


def test_window_that_moves_along_two_dimensions():
    assert_refused(
        """
        reuse_at: the window that 'i' reads of 'A' moves along dimensions 1 and 2 at once
          note: loop 'i' is here
            File, line N, column 5
              for i in range(8):
              ^
          note: 'A' is declared here
            File, line N, column 14
              def diagonal(A: int32[10, 10], B: int32[8]):
                           ^
          hint: take a loop that moves it along one dimension
        """,
        customize(diagonal),
        "reuse_at",
        "A",
        "i",
    )


def test_array_that_the_loop_writes():
    assert_refused(
        """
        reuse_at: loop 'i' writes 'A', and a value kept from an earlier iteration may be old
          note: the statement is here
            File, line N, column 9
              A[i] = A[i - 1] + A[i + 1]
              ^
          note: loop 'i' is here
            File, line N, column 5
              for i in range(1, 9):
              ^
          hint: reuse_at keeps arrays that the loop only reads
        """,
        customize(in_place),
        "reuse_at",
        "A",
        "i",
    )


def test_subscripts_that_are_not_affine():
    assert_refused(
        """
        reuse_at: 'A' cannot be kept here: a statement in the loop has subscripts that are not affine
          note: the statement is here
            File, line N, column 16
              B[i] = A[P[i]]
                     ^
          note: loop 'i' is here
            File, line N, column 5
              for i in range(8):
              ^
        """,
        customize(indirect),
        "reuse_at",
        "A",
        "i",
    )


def test_box_that_grows():
    assert_refused(
        """
        reuse_at: the part of 'A' that an iteration of 'i' reads does not move: nothing to shift
          note: loop 'i' is here
            File, line N, column 5
              for i in range(8):
              ^
          note: 'A' is declared here
            File, line N, column 11
              def grows(A: int32[12], B: int32[8]):
                        ^
          hint: buffer_at() on a loop around it keeps that part
        """,
        customize(grows),
        "reuse_at",
        "A",
        "i",
        strict=True,
    )


def test_window_as_large_as_the_array():
    assert_refused(
        """
        reuse_at: an iteration of 'i' may read 8 elements along dimension 1 of 'A', which has 8: a buffer that shifts would save nothing
          note: loop 'i' is here
            File, line N, column 5
              for i in range(8):
              ^
          note: 'A' is declared here
            File, line N, column 11
              def whole(A: int32[8], B: int32[8]):
                        ^
          hint: buffer_at() on a loop around it keeps all of them
        """,
        customize(whole),
        "reuse_at",
        "A",
        "i",
        strict=True,
    )


def test_array_passed_to_a_call():
    assert_refused(
        """
        reuse_at: 'A' cannot be kept here: a statement in the loop passes it to a call
          note: the statement is here
            File, line N, column 16
              B[i] = line(A, i)
                     ^
          note: loop 'i' is here
            File, line N, column 5
              for i in range(8):
              ^
        """,
        customize(calls),
        "reuse_at",
        "A",
        "i",
    )


def test_array_declared_inside():
    assert_refused(
        """
        reuse_at: 'T' is declared inside loop 'i': no value of it lives in two iterations
          note: loop 'i' is here
            File, line N, column 5
              for i in range(7):
              ^
          note: 'T' is declared here
            File, line N, column 9
              T: int32[2] = 0
              ^
        """,
        customize(inside),
        "reuse_at",
        "T",
        "i",
    )


def test_array_that_the_loop_does_not_touch():
    assert_refused(
        """
        reuse_at: loop 'j' does not touch 'A'
          note: loop 'j' is here
            File, line N, column 5
              for j in range(8):
              ^
          note: 'A' is declared here
            File, line N, column 11
              def local(A: int32[12], B: int32[8]):
                        ^
        """,
        customize(local),
        "reuse_at",
        "A",
        "j",
    )


def test_run_time_bounds():
    assert_refused(
        """
        reuse_at: loop 'i' has run-time bounds
          note: loop 'i' is here
            File, line N, column 5
              for i in range(B[0]):
              ^
        """,
        customize(run_time),
        "reuse_at",
        "A",
        "i",
    )


def test_scalar():
    assert_refused(
        """
        reuse_at: the part of 't' that an iteration of 'i' reads does not move: nothing to shift
          note: loop 'i' is here
            File, line N, column 5
              for i in range(8):
              ^
          note: 't' is declared here
            File, line N, column 5
              t: int32 = A[0]
              ^
          hint: buffer_at() on a loop around it keeps that part
        """,
        customize(scalar),
        "reuse_at",
        "t",
        "i",
        strict=True,
    )


def test_nothing_to_reuse_is_a_warning_at_the_line_of_the_schedule():
    s = customize(gemm)
    before = str(s.module)
    with pytest.warns(allo.ScheduleNote) as told:
        assert s.reuse_at("A", "k") == s.A
    (note,) = told
    assert note.filename == __file__ and "s.reuse_at" in linecache.getline(note.filename, note.lineno)
    assert normalised(str(note.message)) == dedent(
        """\
        reuse_at: nothing to reuse: no element of 'A' is read in two iterations of 'k'
          note: loop 'k' is here
            File, line N, column 5
              for i, j, k in allo.grid(4, 6, 5):
              ^
          note: 'A' is declared here
            File, line N, column 10
              def gemm(A: int32[4, 5], B: int32[5, 6], C: int32[4, 6]):
                       ^
          hint: take the loop whose iterations overlap, or buffer_at() for a plain copy"""
    )
    assert str(s.module) == before and str(s.steps[0]) == 's.reuse_at("gemm:A", axis="gemm:S_i_j_k_0.k")'
    with pytest.warns(allo.ScheduleNote, match="nothing to reuse"):
        assert_faithful(gemm, s)


def test_run_time_extent():
    assert_refused(
        """
        reuse_at: 'A' has an extent that is known at run time only, so a part of it cannot be clipped
          hint: declare the argument with all extents
        """,
        customize(run_time_extent),
        "reuse_at",
        "A",
        "i",
    )


def test_loop_that_runs_in_parallel():
    assert_refused(
        """
        reuse_at: loop 'y' runs in parallel and could no longer do so: the statement at line N writes A_reuse[y_shift, c_fill] and reads A_reuse[y_shift + 1, c_fill]: iteration (y=-2, c_fill=0, y_shift=1) must run before iteration (y=-1, c_fill=0, y_shift=0)
          note: the statement is here
            File, line N, column 5
              for y, x in allo.grid(6, 7):
              ^
        """,
        spread(),
        "reuse_at",
        "A",
        "y",
    )


def test_loop_that_hands_on_values():
    assert_refused(
        """
        reuse_at: loop 'i' hands on values from one iteration to the next
          note: loop 'i' is here
            File, line N, column 20
          hint: keep such values in a variable (a memref)
        """,
        carries_a_value(),
        "reuse_at",
        "A",
        "i",
    )
