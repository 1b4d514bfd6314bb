"""buffer_at: a local copy of what one iteration touches, filled and written back only where needed."""

# ruff: noqa: B007, E501 - golden text is not wrapped; kernels have loops that only count

import linecache
from textwrap import dedent

import numpy as np
import pytest

import allo
from allo import customize
from allo.customize import Buffer
from allo.ir.types import float32, int32

from .checks import assert_faithful, assert_ir, assert_refused, refusal

WEIGHTS = np.arange(8, dtype=np.int32)


def gemm(A: int32[4, 6], B: int32[6, 8], C: int32[4, 8]):
    for i, j in allo.grid(4, 8):
        for k in range(6):
            C[i, j] += A[i, k] * B[k, j]


def table(A: int32[4, 6]):
    for i in range(4):
        for j in range(6):
            A[i, j] = i * 6 + j


def blur(A: int32[10], B: int32[10]):
    for i in range(1, 9):
        B[i] = A[i - 1] + A[i] + A[i + 1]


def smooth(A: float32[8, 8], B: float32[8, 8]):
    for i in range(1, 7):
        for j in range(1, 7):
            B[i, j] = A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]


def in_place(A: int32[10]):
    for i in range(1, 9):
        A[i] = A[i - 1] + A[i + 1]


def triangle(A: int32[8, 8], B: int32[8]):
    for i in range(8):
        for j in range(i):
            B[i] += A[i, j]


def window(A: int32[16]):
    for i in range(8):
        for j in range(i, i + 3):
            A[j] += i


def indirect(A: int32[8], P: int32[8]):
    for i in range(4):
        for j in range(8):
            A[P[j]] += j


def rows(A: int32[4, 8], P: int32[8]):
    for i in range(4):
        for j in range(8):
            A[i, P[j]] += j


def square(X: int32[8]):
    for i in range(8):
        X[i] = X[i] * X[i]


def calls(A: int32[8]):
    for r in range(2):
        A[r] = 2
        square(A)


def inside(A: int32[4, 4]):
    for i in range(4):
        T: int32[4] = 0
        for j in range(4):
            T[j] = A[i, j] * 2
        for k in range(4):
            A[i, k] = T[3 - k]


def scalar(A: int32[8]):
    total: int32 = 0
    for i in range(4):
        for j in range(8):
            total += A[j]
        A[i] = total


def half(A: int32[8], B: int32[8]):
    for i in range(2):
        for j in range(4):
            if A[j] > 3:
                B[4 * i + j] = i


def strided(A: int32[16]):
    for i in range(4):
        for j in range(4):
            A[4 * j + i] += i


def weigh(A: int32[8, 8]):
    for i, j in allo.grid(8, 8):
        A[i, j] = A[i, j] * WEIGHTS[j]


def untouched(A: int32[4], B: int32[4]):
    for i in range(4):
        A[i] = 1
    for i in range(4):
        B[i] = 1
    for j in range(A[0]):
        B[0] = j


def first_operation(A: int32[4, 4]):
    for i in range(4):
        A[i, 0] += 1
        for j in range(4):
            A[i, j] += j


def sized(A: int32[4, 8], n: int32):
    for i in range(4):
        for j in range(n):
            A[i, j] = i


def test_written_only():
    s = customize(table)
    assert s.buffer_at("A", "i") == Buffer("table", "buf_A")
    assert_ir(
        s,
        """
        func.func @table(%arg0: memref<4x6xi32> {allo.name = "A"}) {
          affine.for %arg1 = 0 to 4 {
            %alloc = memref.alloc() {allo.name = "buf_A"} : memref<6xi32>
            affine.for %arg2 = 0 to 6 {
              %0 = arith.index_cast %arg1 : index to i35
              %c6_i35 = arith.constant 6 : i35
              %1 = arith.muli %0, %c6_i35 : i35
              %2 = arith.extsi %1 : i35 to i36
              %3 = arith.index_cast %arg2 : index to i36
              %4 = arith.addi %2, %3 : i36
              %5 = arith.trunci %4 : i36 to i32
              affine.store %5, %alloc[%arg2] : memref<6xi32>
            } {allo.name = "j"}
            affine.for %arg2 = 0 to 6 {
              %0 = affine.load %alloc[%arg2] : memref<6xi32>
              affine.store %0, %arg0[%arg1, %arg2] : memref<4x6xi32>
            } {allo.name = "j_back"}
          } {allo.name = "i", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(table, s)


def test_accumulated():
    s = customize(gemm)
    s.buffer_at("C", axis="i")
    assert_ir(
        s,
        """
        func.func @gemm(%arg0: memref<4x6xi32> {allo.name = "A"}, %arg1: memref<6x8xi32> {allo.name = "B"}, %arg2: memref<4x8xi32> {allo.name = "C"}) {
          affine.for %arg3 = 0 to 4 {
            %alloc = memref.alloc() {allo.name = "buf_C"} : memref<8xi32>
            affine.for %arg4 = 0 to 8 {
              %0 = affine.load %arg2[%arg3, %arg4] : memref<4x8xi32>
              affine.store %0, %alloc[%arg4] : memref<8xi32>
            } {allo.name = "j_init"}
            affine.for %arg4 = 0 to 8 {
              affine.for %arg5 = 0 to 6 {
                %0 = affine.load %alloc[%arg4] : memref<8xi32>
                %1 = arith.extsi %0 : i32 to i65
                %2 = affine.load %arg0[%arg3, %arg5] : memref<4x6xi32>
                %3 = arith.extsi %2 : i32 to i64
                %4 = affine.load %arg1[%arg5, %arg4] : memref<6x8xi32>
                %5 = arith.extsi %4 : i32 to i64
                %6 = arith.muli %3, %5 : i64
                %7 = arith.extsi %6 : i64 to i65
                %8 = arith.addi %1, %7 : i65
                %9 = arith.trunci %8 : i65 to i32
                affine.store %9, %alloc[%arg4] : memref<8xi32>
              } {allo.name = "k"}
            } {allo.name = "j"}
            affine.for %arg4 = 0 to 8 {
              %0 = affine.load %alloc[%arg4] : memref<8xi32>
              affine.store %0, %arg2[%arg3, %arg4] : memref<4x8xi32>
            } {allo.name = "j_back"}
          } {allo.name = "i", allo.nest = "S_i_j_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(gemm, s)


def test_read_only_and_a_dropped_dimension():
    s = customize(gemm)
    s.buffer_at("A", "j")
    assert_ir(
        s,
        """
        func.func @gemm(%arg0: memref<4x6xi32> {allo.name = "A"}, %arg1: memref<6x8xi32> {allo.name = "B"}, %arg2: memref<4x8xi32> {allo.name = "C"}) {
          affine.for %arg3 = 0 to 4 {
            affine.for %arg4 = 0 to 8 {
              %alloc = memref.alloc() {allo.name = "buf_A"} : memref<6xi32>
              affine.for %arg5 = 0 to 6 {
                %0 = affine.load %arg0[%arg3, %arg5] : memref<4x6xi32>
                affine.store %0, %alloc[%arg5] : memref<6xi32>
              } {allo.name = "k_init"}
              affine.for %arg5 = 0 to 6 {
                %0 = affine.load %arg2[%arg3, %arg4] : memref<4x8xi32>
                %1 = arith.extsi %0 : i32 to i65
                %2 = affine.load %alloc[%arg5] : memref<6xi32>
                %3 = arith.extsi %2 : i32 to i64
                %4 = affine.load %arg1[%arg5, %arg4] : memref<6x8xi32>
                %5 = arith.extsi %4 : i32 to i64
                %6 = arith.muli %3, %5 : i64
                %7 = arith.extsi %6 : i64 to i65
                %8 = arith.addi %1, %7 : i65
                %9 = arith.trunci %8 : i65 to i32
                affine.store %9, %arg2[%arg3, %arg4] : memref<4x8xi32>
              } {allo.name = "k"}
            } {allo.name = "j"}
          } {allo.name = "i", allo.nest = "S_i_j_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(gemm, s)


def test_whole_array_at_an_outer_loop():
    s = customize(gemm)
    s.buffer_at("B", "i")
    assert 'memref.alloc() {allo.name = "buf_B"} : memref<6x8xi32>' in str(s.module)
    assert_faithful(gemm, s)


def test_single_element():
    s = customize(gemm)
    s.buffer_at("C", "j")
    assert_ir(
        s,
        """
        func.func @gemm(%arg0: memref<4x6xi32> {allo.name = "A"}, %arg1: memref<6x8xi32> {allo.name = "B"}, %arg2: memref<4x8xi32> {allo.name = "C"}) {
          affine.for %arg3 = 0 to 4 {
            affine.for %arg4 = 0 to 8 {
              %alloc = memref.alloc() {allo.name = "buf_C"} : memref<i32>
              %0 = affine.load %arg2[%arg3, %arg4] : memref<4x8xi32>
              affine.store %0, %alloc[] : memref<i32>
              affine.for %arg5 = 0 to 6 {
                %2 = affine.load %alloc[] : memref<i32>
                %3 = arith.extsi %2 : i32 to i65
                %4 = affine.load %arg0[%arg3, %arg5] : memref<4x6xi32>
                %5 = arith.extsi %4 : i32 to i64
                %6 = affine.load %arg1[%arg5, %arg4] : memref<6x8xi32>
                %7 = arith.extsi %6 : i32 to i64
                %8 = arith.muli %5, %7 : i64
                %9 = arith.extsi %8 : i64 to i65
                %10 = arith.addi %3, %9 : i65
                %11 = arith.trunci %10 : i65 to i32
                affine.store %11, %alloc[] : memref<i32>
              } {allo.name = "k"}
              %1 = affine.load %alloc[] : memref<i32>
              affine.store %1, %arg2[%arg3, %arg4] : memref<4x8xi32>
            } {allo.name = "j"}
          } {allo.name = "i", allo.nest = "S_i_j_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(gemm, s)


def test_window_of_a_stencil():
    s = customize(blur)
    s.buffer_at("A", "i")
    assert_ir(
        s,
        """
        func.func @blur(%arg0: memref<10xi32> {allo.name = "A"}, %arg1: memref<10xi32> {allo.name = "B"}) {
          affine.for %arg2 = 1 to 9 {
            %alloc = memref.alloc() {allo.name = "buf_A"} : memref<3xi32>
            affine.for %arg3 = 0 to 3 {
              %10 = affine.load %arg0[%arg3 + %arg2 - 1] : memref<10xi32>
              affine.store %10, %alloc[%arg3] : memref<3xi32>
            } {allo.name = "A_0_init"}
            %0 = affine.load %alloc[0] : memref<3xi32>
            %1 = arith.extsi %0 : i32 to i33
            %2 = affine.load %alloc[1] : memref<3xi32>
            %3 = arith.extsi %2 : i32 to i33
            %4 = arith.addi %1, %3 : i33
            %5 = arith.extsi %4 : i33 to i34
            %6 = affine.load %alloc[2] : memref<3xi32>
            %7 = arith.extsi %6 : i32 to i34
            %8 = arith.addi %5, %7 : i34
            %9 = arith.trunci %8 : i34 to i32
            affine.store %9, %arg1[%arg2] : memref<10xi32>
          } {allo.name = "i", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(blur, s)


def test_rows_of_a_stencil():
    s = customize(smooth)
    s.buffer_at("A", "i")
    s.buffer_at("B", "i")
    assert_ir(
        s,
        """
        func.func @smooth(%arg0: memref<8x8xf32> {allo.name = "A"}, %arg1: memref<8x8xf32> {allo.name = "B"}) {
          affine.for %arg2 = 1 to 7 {
            %alloc = memref.alloc() {allo.name = "buf_B"} : memref<6xf32>
            %alloc_0 = memref.alloc() {allo.name = "buf_A"} : memref<3x8xf32>
            affine.for %arg3 = 0 to 3 {
              affine.for %arg4 = 0 to 8 {
                %0 = affine.load %arg0[%arg3 + %arg2 - 1, %arg4] : memref<8x8xf32>
                affine.store %0, %alloc_0[%arg3, %arg4] : memref<3x8xf32>
              } {allo.name = "j_init"}
            } {allo.name = "A_0_init"}
            affine.for %arg3 = 1 to 7 {
              %0 = affine.load %alloc_0[0, %arg3] : memref<3x8xf32>
              %1 = affine.load %alloc_0[2, %arg3] : memref<3x8xf32>
              %2 = arith.addf %0, %1 : f32
              %3 = affine.load %alloc_0[1, %arg3 - 1] : memref<3x8xf32>
              %4 = arith.addf %2, %3 : f32
              %5 = affine.load %alloc_0[1, %arg3 + 1] : memref<3x8xf32>
              %6 = arith.addf %4, %5 : f32
              affine.store %6, %alloc[%arg3 - 1] : memref<6xf32>
            } {allo.name = "j"}
            affine.for %arg3 = 0 to 6 {
              %0 = affine.load %alloc[%arg3] : memref<6xf32>
              affine.store %0, %arg1[%arg2, %arg3 + 1] : memref<8x8xf32>
            } {allo.name = "j_back"}
          } {allo.name = "i", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(smooth, s)


def test_window_that_is_read_and_written():
    s = customize(in_place)
    s.buffer_at("A", "i")
    assert_faithful(in_place, s)


def test_access_that_is_the_first_operation_of_the_loop():
    s = customize(first_operation)
    s.buffer_at("A", "i")
    assert str(s.get_loops()["S_i_0"]).split() == ["S_i_0:", "i", "j_init", "j", "j_back"]
    assert_faithful(first_operation, s)


def test_triangle():
    s = customize(triangle)
    s.buffer_at("A", "i")
    s.buffer_at("B", "i")
    assert_ir(
        s,
        """
        func.func @triangle(%arg0: memref<8x8xi32> {allo.name = "A"}, %arg1: memref<8xi32> {allo.name = "B"}) {
          affine.for %arg2 = 0 to 8 {
            %alloc = memref.alloc() {allo.name = "buf_B"} : memref<i32>
            %0 = affine.load %arg1[%arg2] : memref<8xi32>
            affine.store %0, %alloc[] : memref<i32>
            %alloc_0 = memref.alloc() {allo.name = "buf_A"} : memref<7xi32>
            affine.for %arg3 = 0 to 7 {
              %2 = affine.load %arg0[%arg2, %arg3] : memref<8x8xi32>
              affine.store %2, %alloc_0[%arg3] : memref<7xi32>
            } {allo.name = "j_init"}
            affine.for %arg3 = 0 to affine_map<(d0) -> (d0)>(%arg2) {
              %2 = affine.load %alloc[] : memref<i32>
              %3 = arith.extsi %2 : i32 to i33
              %4 = affine.load %alloc_0[%arg3] : memref<7xi32>
              %5 = arith.extsi %4 : i32 to i33
              %6 = arith.addi %3, %5 : i33
              %7 = arith.trunci %6 : i33 to i32
              affine.store %7, %alloc[] : memref<i32>
            } {allo.name = "j"}
            %1 = affine.load %alloc[] : memref<i32>
            affine.store %1, %arg1[%arg2] : memref<8xi32>
          } {allo.name = "i", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(triangle, s)


def test_window_that_moves():
    s = customize(window)
    s.buffer_at("A", "i")
    assert_ir(
        s,
        """
        func.func @window(%arg0: memref<16xi32> {allo.name = "A"}) {
          affine.for %arg1 = 0 to 8 {
            %alloc = memref.alloc() {allo.name = "buf_A"} : memref<3xi32>
            affine.for %arg2 = 0 to 3 {
              %0 = affine.load %arg0[%arg2 + %arg1] : memref<16xi32>
              affine.store %0, %alloc[%arg2] : memref<3xi32>
            } {allo.name = "j_init"}
            affine.for %arg2 = affine_map<(d0) -> (d0)>(%arg1) to affine_map<(d0) -> (d0 + 3)>(%arg1) {
              %0 = affine.load %alloc[%arg2 - %arg1] : memref<3xi32>
              %1 = arith.extsi %0 : i32 to i33
              %2 = arith.index_cast %arg1 : index to i33
              %3 = arith.addi %1, %2 : i33
              %4 = arith.trunci %3 : i33 to i32
              affine.store %4, %alloc[%arg2 - %arg1] : memref<3xi32>
            } {allo.name = "j"}
            affine.for %arg2 = 0 to 3 {
              %0 = affine.load %alloc[%arg2] : memref<3xi32>
              affine.store %0, %arg0[%arg2 + %arg1] : memref<16xi32>
            } {allo.name = "j_back"}
          } {allo.name = "i", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(window, s)


def test_branch_that_may_not_write():
    s = customize(half)
    s.buffer_at("B", "i")
    assert "j_init" in str(s.module) and "j_back" in str(s.module)
    assert_faithful(half, s)


def test_constant_array():
    s = customize(weigh)
    s.buffer_at("WEIGHTS", "i")
    assert str(s.get_loops()["S_i_j_0"]).split() == ["S_i_j_0:", "i", "j_init", "j"]
    assert_faithful(weigh, s)


def test_tail_of_a_kept_dimension_is_clipped():
    s = customize(gemm)
    s.split("j", 3)
    s.buffer_at("C", "j.outer")
    assert_ir(
        s,
        """
        func.func @gemm(%arg0: memref<4x6xi32> {allo.name = "A"}, %arg1: memref<6x8xi32> {allo.name = "B"}, %arg2: memref<4x8xi32> {allo.name = "C"}) {
          affine.for %arg3 = 0 to 4 {
            affine.for %arg4 = 0 to 3 {
              %alloc = memref.alloc() {allo.name = "buf_C"} : memref<3xi32>
              affine.for %arg5 = 0 to min affine_map<(d0) -> (3, d0 * -3 + 8)>(%arg4) {
                %0 = affine.load %arg2[%arg3, %arg5 + %arg4 * 3] : memref<4x8xi32>
                affine.store %0, %alloc[%arg5] : memref<3xi32>
              } {allo.name = "j.inner_init"}
              affine.for %arg5 = 0 to 3 {
                affine.if affine_set<(d0, d1) : (d0 * -3 - d1 + 7 >= 0)>(%arg4, %arg5) {
                  affine.for %arg6 = 0 to 6 {
                    %0 = affine.load %alloc[%arg5] : memref<3xi32>
                    %1 = arith.extsi %0 : i32 to i65
                    %2 = affine.load %arg0[%arg3, %arg6] : memref<4x6xi32>
                    %3 = arith.extsi %2 : i32 to i64
                    %4 = affine.load %arg1[%arg6, %arg4 * 3 + %arg5] : memref<6x8xi32>
                    %5 = arith.extsi %4 : i32 to i64
                    %6 = arith.muli %3, %5 : i64
                    %7 = arith.extsi %6 : i64 to i65
                    %8 = arith.addi %1, %7 : i65
                    %9 = arith.trunci %8 : i65 to i32
                    affine.store %9, %alloc[%arg5] : memref<3xi32>
                  } {allo.name = "k"}
                }
              } {allo.name = "j.inner"}
              affine.for %arg5 = 0 to min affine_map<(d0) -> (3, d0 * -3 + 8)>(%arg4) {
                %0 = affine.load %alloc[%arg5] : memref<3xi32>
                affine.store %0, %arg2[%arg3, %arg5 + %arg4 * 3] : memref<4x8xi32>
              } {allo.name = "j.inner_back"}
            } {allo.name = "j.outer"}
          } {allo.name = "i", allo.nest = "S_i_j_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(gemm, s)


def test_tail_of_a_dropped_dimension_is_guarded():
    s = customize(gemm)
    s.split("i", 3)
    s.buffer_at("C", "i.inner")
    assert_ir(
        s,
        """
        func.func @gemm(%arg0: memref<4x6xi32> {allo.name = "A"}, %arg1: memref<6x8xi32> {allo.name = "B"}, %arg2: memref<4x8xi32> {allo.name = "C"}) {
          affine.for %arg3 = 0 to 2 {
            affine.for %arg4 = 0 to 3 {
              %alloc = memref.alloc() {allo.name = "buf_C"} : memref<8xi32>
              affine.if affine_set<(d0, d1) : (d0 * -3 - d1 + 3 >= 0)>(%arg3, %arg4) {
                affine.for %arg5 = 0 to 8 {
                  %0 = affine.load %arg2[%arg3 * 3 + %arg4, %arg5] : memref<4x8xi32>
                  affine.store %0, %alloc[%arg5] : memref<8xi32>
                } {allo.name = "j_init"}
              }
              affine.if affine_set<(d0, d1) : (d0 * -3 - d1 + 3 >= 0)>(%arg3, %arg4) {
                affine.for %arg5 = 0 to 8 {
                  affine.for %arg6 = 0 to 6 {
                    %0 = affine.load %alloc[%arg5] : memref<8xi32>
                    %1 = arith.extsi %0 : i32 to i65
                    %2 = affine.load %arg0[%arg3 * 3 + %arg4, %arg6] : memref<4x6xi32>
                    %3 = arith.extsi %2 : i32 to i64
                    %4 = affine.load %arg1[%arg6, %arg5] : memref<6x8xi32>
                    %5 = arith.extsi %4 : i32 to i64
                    %6 = arith.muli %3, %5 : i64
                    %7 = arith.extsi %6 : i64 to i65
                    %8 = arith.addi %1, %7 : i65
                    %9 = arith.trunci %8 : i65 to i32
                    affine.store %9, %alloc[%arg5] : memref<8xi32>
                  } {allo.name = "k"}
                } {allo.name = "j"}
              }
              affine.if affine_set<(d0, d1) : (d0 * -3 - d1 + 3 >= 0)>(%arg3, %arg4) {
                affine.for %arg5 = 0 to 8 {
                  %0 = affine.load %alloc[%arg5] : memref<8xi32>
                  affine.store %0, %arg2[%arg3 * 3 + %arg4, %arg5] : memref<4x8xi32>
                } {allo.name = "j_back"}
              }
            } {allo.name = "i.inner"}
          } {allo.name = "i.outer", allo.nest = "S_i_j_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(gemm, s)


def test_tails_of_all_loops():
    s = customize(gemm)
    for loop, factor in (("i", 3), ("j", 5), ("k", 4)):
        s.split(loop, factor)
    s.buffer_at("A", "i.outer")
    s.buffer_at("B", "j.outer")
    s.buffer_at("C", "j.outer")
    assert_faithful(gemm, s)


def test_two_buffers_at_one_loop():
    s = customize(gemm)
    s.buffer_at("A", "i")
    s.buffer_at("C", "i")
    names = ["S_i_j_0:", "i", "j_init", "k_init", "j", "k", "j_back"]
    assert str(s.get_loops()["S_i_j_0"]).split() == names
    assert_faithful(gemm, s)


def test_buffer_of_a_buffer():
    s = customize(gemm)
    row = s.buffer_at("B", "i")
    assert s.buffer_at(row, "j") == Buffer("gemm", "buf_buf_B")
    assert_ir(
        s,
        """
        func.func @gemm(%arg0: memref<4x6xi32> {allo.name = "A"}, %arg1: memref<6x8xi32> {allo.name = "B"}, %arg2: memref<4x8xi32> {allo.name = "C"}) {
          affine.for %arg3 = 0 to 4 {
            %alloc = memref.alloc() {allo.name = "buf_B"} : memref<6x8xi32>
            affine.for %arg4 = 0 to 6 {
              affine.for %arg5 = 0 to 8 {
                %0 = affine.load %arg1[%arg4, %arg5] : memref<6x8xi32>
                affine.store %0, %alloc[%arg4, %arg5] : memref<6x8xi32>
              } {allo.name = "j_init"}
            } {allo.name = "k_init"}
            affine.for %arg4 = 0 to 8 {
              %alloc_0 = memref.alloc() {allo.name = "buf_buf_B"} : memref<6xi32>
              affine.for %arg5 = 0 to 6 {
                %0 = affine.load %alloc[%arg5, %arg4] : memref<6x8xi32>
                affine.store %0, %alloc_0[%arg5] : memref<6xi32>
              } {allo.name = "k_init_1"}
              affine.for %arg5 = 0 to 6 {
                %0 = affine.load %arg2[%arg3, %arg4] : memref<4x8xi32>
                %1 = arith.extsi %0 : i32 to i65
                %2 = affine.load %arg0[%arg3, %arg5] : memref<4x6xi32>
                %3 = arith.extsi %2 : i32 to i64
                %4 = affine.load %alloc_0[%arg5] : memref<6xi32>
                %5 = arith.extsi %4 : i32 to i64
                %6 = arith.muli %3, %5 : i64
                %7 = arith.extsi %6 : i64 to i65
                %8 = arith.addi %1, %7 : i65
                %9 = arith.trunci %8 : i65 to i32
                affine.store %9, %arg2[%arg3, %arg4] : memref<4x8xi32>
              } {allo.name = "k"}
            } {allo.name = "j"}
          } {allo.name = "i", allo.nest = "S_i_j_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(gemm, s)


def test_array_that_a_copy_has_replaced():
    s = customize(gemm)
    s.buffer_at("B", "i")
    assert_refused(
        """
        buffer_at: loop 'j' does not touch 'B'
          note: loop 'j' is here
            File, line N, column 5
              for i, j in allo.grid(4, 8):
              ^
          note: 'B' is declared here
            File, line N, column 26
              def gemm(A: int32[4, 6], B: int32[6, 8], C: int32[4, 8]):
                                       ^
        """,
        s,
        "buffer_at",
        "B",
        "j",
    )


def test_scalar():
    s = customize(scalar)
    s.buffer_at("total", "i")
    assert_ir(
        s,
        """
        func.func @scalar(%arg0: memref<8xi32> {allo.name = "A"}) {
          %c0_i32 = arith.constant 0 : i32
          %alloc = memref.alloc() {allo.name = "total"} : memref<i32>
          affine.store %c0_i32, %alloc[] : memref<i32>
          affine.for %arg1 = 0 to 4 {
            %alloc_0 = memref.alloc() {allo.name = "buf_total"} : memref<i32>
            %0 = affine.load %alloc[] : memref<i32>
            affine.store %0, %alloc_0[] : memref<i32>
            affine.for %arg2 = 0 to 8 {
              %3 = affine.load %alloc_0[] : memref<i32>
              %4 = arith.extsi %3 : i32 to i33
              %5 = affine.load %arg0[%arg2] : memref<8xi32>
              %6 = arith.extsi %5 : i32 to i33
              %7 = arith.addi %4, %6 : i33
              %8 = arith.trunci %7 : i33 to i32
              affine.store %8, %alloc_0[] : memref<i32>
            } {allo.name = "j"}
            %1 = affine.load %alloc_0[] : memref<i32>
            affine.store %1, %arg0[%arg1] : memref<8xi32>
            %2 = affine.load %alloc_0[] : memref<i32>
            affine.store %2, %alloc[] : memref<i32>
          } {allo.name = "i", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(scalar, s)


def test_subscript_that_is_not_affine_keeps_the_whole_array():
    s = customize(indirect)
    s.buffer_at("A", "i")
    assert_ir(
        s,
        """
        func.func @indirect(%arg0: memref<8xi32> {allo.name = "A"}, %arg1: memref<8xi32> {allo.name = "P"}) {
          affine.for %arg2 = 0 to 4 {
            %alloc = memref.alloc() {allo.name = "buf_A"} : memref<8xi32>
            affine.for %arg3 = 0 to 8 {
              %0 = affine.load %arg0[%arg3] : memref<8xi32>
              affine.store %0, %alloc[%arg3] : memref<8xi32>
            } {allo.name = "A_0_init"}
            affine.for %arg3 = 0 to 8 {
              %0 = affine.load %arg1[%arg3] : memref<8xi32>
              %1 = arith.index_cast %0 : i32 to index
              %2 = memref.load %alloc[%1] : memref<8xi32>
              %3 = arith.extsi %2 : i32 to i33
              %4 = arith.index_cast %arg3 : index to i33
              %5 = arith.addi %3, %4 : i33
              %6 = arith.trunci %5 : i33 to i32
              %7 = affine.load %arg1[%arg3] : memref<8xi32>
              %8 = arith.index_cast %7 : i32 to index
              memref.store %6, %alloc[%8] : memref<8xi32>
            } {allo.name = "j"}
            affine.for %arg3 = 0 to 8 {
              %0 = affine.load %alloc[%arg3] : memref<8xi32>
              affine.store %0, %arg0[%arg3] : memref<8xi32>
            } {allo.name = "A_0_back"}
          } {allo.name = "i", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(indirect, s)


def test_array_of_a_callee():
    s = customize(calls)
    s.buffer_at("square:X", "square:i")
    assert 'memref.alloc() {allo.name = "buf_X"} : memref<i32>' in str(s.module)
    assert_faithful(calls, s)


def test_array_declared_inside_an_outer_loop():
    s = customize(inside)
    s.buffer_at("T", "j")
    assert str(s.get_loops()["S_i_0"]).split() == ["S_i_0:", "i", "T_init_0", "j", "k"]
    assert_faithful(inside, s)


def test_loops_of_the_copy_can_be_scheduled():
    s = customize(gemm)
    s.buffer_at("C", "i")
    s.pipeline("j_init")
    s.unroll("j_back", 2)
    outer, _ = s.split("j", 4)
    s.reorder("k", "j.inner")
    s.parallel(outer)
    assert_faithful(gemm, s)


def test_parallel_loop_with_a_copy_of_its_own():
    s = customize(gemm)
    s.parallel("i")
    s.buffer_at("C", "i")
    assert_faithful(gemm, s)


def test_parallel_loop_whose_copies_would_overlap():
    s = customize(strided)
    s.parallel("i")
    assert_refused(
        """
        buffer_at: loop 'i' runs in parallel and could no longer do so: the statement at line N writes A[i + j_back] and reads A[i + j_init]: iteration (i=0, j_back=1) must run before iteration (i=1, j_init=0)
          note: the statement is here
            File, line N, column 5
              for i in range(4):
              ^
        """,
        s,
        "buffer_at",
        "A",
        "i",
    )


def test_copies_that_overlap_forbid_parallel():
    s = customize(strided)
    s.buffer_at("A", "i")
    assert_faithful(strided, s)
    assert_refused(
        """
        parallel: loop 'i' cannot run in parallel: the statement at line N writes A[i + j_back] and reads A[i + j_init]: iteration (i=0, j_back=1) must run before iteration (i=1, j_init=0)
          note: the statement is here
            File, line N, column 5
              for i in range(4):
              ^
        """,
        s,
        "parallel",
        "i",
    )


def test_loop_that_does_not_touch_the_array():
    assert_refused(
        """
        buffer_at: loop 'i' does not touch 'A'
          note: loop 'i' is here
            File, line N, column 5
              for i in range(4):
              ^
          note: 'A' is declared here
            File, line N, column 15
              def untouched(A: int32[4], B: int32[4]):
                            ^
        """,
        customize(untouched),
        "buffer_at",
        "A",
        "S_i_1.i",
    )


def test_run_time_bounds():
    assert_refused(
        """
        buffer_at: loop 'j' has run-time bounds
          note: loop 'j' is here
            File, line N, column 5
              for j in range(A[0]):
              ^
        """,
        customize(untouched),
        "buffer_at",
        "B",
        "j",
    )


def test_loop_of_another_function():
    assert_refused(
        """
        buffer_at: 'calls:A' and loop 'square:S_i_0.i' are in different functions
        """,
        customize(calls),
        "buffer_at",
        "A",
        "square:i",
    )


def test_array_declared_inside_the_loop():
    assert_refused(
        """
        buffer_at: 'T' is declared inside loop 'i' and is local already
          note: loop 'i' is here
            File, line N, column 5
              for i in range(4):
              ^
          note: 'T' is declared here
            File, line N, column 9
              T: int32[4] = 0
              ^
        """,
        customize(inside),
        "buffer_at",
        "T",
        "i",
    )


def test_array_passed_to_a_call():
    assert_refused(
        """
        buffer_at: 'A' cannot be buffered here: a statement in the loop passes it to a call
          note: the statement is here
            File, line N, column 9
              square(A)
              ^
        """,
        customize(calls),
        "buffer_at",
        "A",
        "r",
    )


def test_subscript_that_is_not_affine_in_a_part_of_the_array():
    assert_refused(
        """
        buffer_at: 'A' cannot be buffered here: a statement in the loop has subscripts that are not affine
          note: the statement is here
            File, line N, column 13
              A[i, P[j]] += j
              ^
        """,
        customize(rows),
        "buffer_at",
        "A",
        "i",
    )


def test_part_without_a_constant_extent():
    assert_refused(
        """
        buffer_at: the part of dimension 2 of 'A' that an iteration of 'i' touches has no constant extent: the number of elements is not bounded by a constant
          note: loop 'i' is here
            File, line N, column 5
              for i in range(4):
              ^
          note: 'A' is declared here
            File, line N, column 11
              def sized(A: int32[4, 8], n: int32):
                        ^
        """,
        customize(sized),
        "buffer_at",
        "A",
        "i",
    )


def test_axis_is_needed():
    assert_refused(
        """
        buffer_at: s.buffer_at(): missing a required argument: 'axis'
          hint: use s.buffer_at(buffer, axis, init=None, assume_safe=False)
        """,
        customize(gemm),
        "buffer_at",
        "A",
    )


def test_streams_have_no_copies():
    s = customize(gemm)
    s.buffer_at("B", axis="i")
    s.unfold("S_i_j_0", axes=[0])
    s.relay("buf_B", dst="S_i_j_0", axis=0)
    assert_refused(
        """
        buffer_at: 'gemm:fifo_buf_B' holds streams, of which there are no copies
          note: 'fifo_buf_B' is declared here
            File, line N, column 5
              for i, j in allo.grid(4, 8):
              ^
          hint: buffer the array whose elements the streams carry, before it is relayed
        """,
        s,
        "buffer_at",
        "fifo_buf_B",
        axis="i",
    )


def test_box_that_begins_where_a_loop_of_run_time_bounds_is():
    def rows(A: int32[8, 8], n: int32):
        m: int32 = n % 9
        for i in range(m):
            for j in range(8):
                A[i, j] += 1

    assert_refused(
        """
        buffer_at: where the part of 'A' begins that an iteration of 'j' touches depends on loop 'i', which has run-time bounds
          note: loop 'i' is here
            File, line N, column 9
              for i in range(m):
              ^
          hint: let the bounds of 'i' be constants or arguments of the kernel
        """,
        customize(rows),
        "buffer_at",
        "A",
        "j",
    )


def product(A: int32[4, 6], B: int32[6, 8]) -> int32[4, 8]:
    C: int32[4, 8] = 0
    for i, k, j in allo.grid(4, 6, 8):
        C[i, j] += A[i, k] * B[k, j]
    return C


def test_first_value():
    s = customize(product)
    s.buffer_at("C", "i", init=0)
    assert s.pseudocode() == dedent(
        """\
        def product(A: int32[4, 6], B: int32[6, 8]) -> int32[4, 8]:
            C: int32[4, 8]
            for i in range(4):
                buf_C: int32[8]
                for j_init in range(8):
                    buf_C[j_init] = 0
                for k in range(6):
                    for j in range(8):
                        buf_C[j] += A[i, k] * B[k, j]
                for j_back in range(8):
                    C[i, j_back] = buf_C[j_back]
            return C"""
    )
    assert str(s.steps[0]) == 's.buffer_at("product:C", axis="product:S_i_k_j_0.i", init=0)'
    assert_faithful(product, s)
    assert s.verify()
    again = allo.Schedule.from_mlir(s.to_mlir())
    assert str(again.module) == str(s.module)


@pytest.mark.parametrize(("kind", "first"), [("float32", 0.5), ("Fixed(12, 4)", -1.25), ("uint8", 255), ("int1", 1)])
def test_first_values_of_other_types(kind, first):
    source = f"def sums(A: {kind}[4, 6], B: {kind}[4]):\n    C: {kind}[4] = {first}\n"
    source += "    for i, k in allo.grid(4, 6):\n        C[i] += A[i, k]\n    for i in range(4):\n        B[i] = C[i]\n"
    s = customize(defined(source, "sums"))
    s.buffer_at("C", "S_i_k_0.i", init=first)
    assert "C_init" not in s.pseudocode()
    s = customize(defined(source, "sums"))
    assert "may hold another value" in refusal(s, "buffer_at", "C", "S_i_k_0.i", init=first + 1)


def defined(source, name):
    """A kernel from its text, which is kept where messages look for it."""
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    names = {"allo": allo, **vars(allo.ir.types)}
    exec(compile(source, file, "exec"), names)
    return names[name]


def test_another_first_value():
    assert_refused(
        """
        buffer_at: 'C' may hold another value than 0 when an iteration of 'k' begins: the statement at line N gives C[i, j_back] its value before
          note: it is here
            File, line N, column 5
              for i, k, j in allo.grid(4, 6, 8):
              ^
          note: loop 'k' is here
            File, line N, column 5
              for i, k, j in allo.grid(4, 6, 8):
              ^
          hint: leave init= out, which copies what is there, or let a statement before the loop write 0
        """,
        customize(product),
        "buffer_at",
        "C",
        "k",
        init=0,
    )


def test_first_value_of_an_argument():
    assert_refused(
        """
        buffer_at: 'C' may hold another value than 0 when an iteration of 'j' begins: no statement of the function gives all of its elements a value before
          note: loop 'j' is here
            File, line N, column 5
              for i, j in allo.grid(4, 8):
              ^
          hint: leave init= out, which copies what is there, or let a statement before the loop write 0
        """,
        customize(gemm),
        "buffer_at",
        "C",
        "j",
        init=0,
    )


@pytest.mark.parametrize("init", ["0", True, float("inf"), [0]])
def test_a_first_value_that_is_no_number(init):
    message = f"buffer_at: init must be a finite number, got {init!r}"
    assert_refused(message, customize(gemm), "buffer_at", "C", "j", init=init)
