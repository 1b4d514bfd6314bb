"""skew: an inner loop that counts from a multiple of an outer one, and the wavefronts that this makes legal."""

# ruff: noqa: E501 - golden text is not wrapped

import allo
from allo import customize
from allo.ir.types import int32

from .checks import assert_faithful, assert_ir, assert_refused


def seidel(A: int32[8, 8]):
    for i in range(1, 7):
        for j in range(1, 7):
            A[i, j] = A[i - 1, j] + A[i, j - 1] + A[i - 1, j + 1]


def triangle(A: int32[8, 8], n: int32):
    for i in range(8):
        for j in range(i, 8, 2):
            for k in range(j):
                A[i, j] += i - k


def dynamic(A: int32[8, 8], B: int32[8]):
    for i in range(8):
        for j in range(B[i]):
            A[i, j] += 1


def test_bounds_and_subscripts():
    s = customize(seidel)
    assert s.skew("i", "j", 2) is None
    assert_ir(
        s,
        """
        func.func @seidel(%arg0: memref<8x8xi32> {allo.name = "A"}) {
          affine.for %arg1 = 1 to 7 {
            affine.for %arg2 = affine_map<(d0) -> (d0 * 2 + 1)>(%arg1) to affine_map<(d0) -> (d0 * 2 + 7)>(%arg1) {
              %0 = affine.load %arg0[%arg1 - 1, %arg1 * -2 + %arg2] : memref<8x8xi32>
              %1 = arith.extsi %0 : i32 to i33
              %2 = affine.load %arg0[%arg1, %arg1 * -2 + %arg2 - 1] : memref<8x8xi32>
              %3 = arith.extsi %2 : i32 to i33
              %4 = arith.addi %1, %3 : i33
              %5 = arith.extsi %4 : i33 to i34
              %6 = affine.load %arg0[%arg1 - 1, %arg1 * -2 + %arg2 + 1] : memref<8x8xi32>
              %7 = arith.extsi %6 : i32 to i34
              %8 = arith.addi %5, %7 : i34
              %9 = arith.trunci %8 : i34 to i32
              affine.store %9, %arg0[%arg1, %arg1 * -2 + %arg2] : memref<8x8xi32>
            } {allo.name = "j"}
          } {allo.name = "i", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(seidel, s)


def test_wavefront():
    s = customize(seidel)
    s.skew("i", "j", 2)
    s.reorder("j", "i")
    s.parallel("i")
    assert "for i in range(max(ceildiv(j - 6, 2), 1), min((j - 1) // 2 + 1, 7)):  # parallel" in s.pseudocode()
    assert_faithful(seidel, s)


def test_without_skew_there_is_no_wavefront():
    assert_refused(
        """
        reorder: the loops cannot run in the order j, i: the statement at line N writes A[i, j] and reads A[i - 1, j + 1]: iteration (i=1, j=2) must run before iteration (i=2, j=1)
          note: the statement is here
            File, line N, column 13
              A[i, j] = A[i - 1, j] + A[i, j - 1] + A[i - 1, j + 1]
              ^
          note: the statement is here
            File, line N, column 51
              A[i, j] = A[i - 1, j] + A[i, j - 1] + A[i - 1, j + 1]
                                                    ^
        """,
        customize(seidel),
        "reorder",
        "j",
        "i",
    )


def test_bounds_that_depend_on_loops():
    s = customize(triangle)
    s.skew("i", "k", -3)
    s.skew("j", "k", 1)
    assert "for k in range(j - 3 * i, 2 * j - 3 * i):" in s.pseudocode()
    assert_faithful(triangle, s)


def test_annotations_stay():
    s = customize(seidel)
    s.pipeline("j")
    s.skew("i", "j", 1)
    assert "j  (pipeline=1)" in str(s.get_loops())


def test_loops_that_are_not_nested():
    assert_refused(
        """
        skew: loop 'i' is not inside of loop 'j'
          note: loop 'j' is here
            File, line N, column 9
              for j in range(1, 7):
              ^
          note: loop 'i' is here
            File, line N, column 5
              for i in range(1, 7):
              ^
        """,
        customize(seidel),
        "skew",
        "j",
        "i",
        1,
    )


def test_factor_of_nothing():
    assert_refused(
        """
        skew: a factor of 0 skews nothing
          note: loop 'j' is here
            File, line N, column 9
              for j in range(1, 7):
              ^
        """,
        customize(seidel),
        "skew",
        "i",
        "j",
        0,
    )


def test_run_time_bounds():
    assert_refused(
        """
        skew: loop 'j' has run-time bounds
          note: loop 'j' is here
            File, line N, column 9
              for j in range(B[i]):
              ^
        """,
        customize(dynamic),
        "skew",
        "i",
        "j",
        1,
    )


def test_processing_elements():
    def independent(A: int32[8, 8]):
        for i, j in allo.grid(8, 8):
            A[i, j] += 1

    s = customize(independent)
    s.unfold("S_i_j_0", axes=[0, 1])
    assert_refused(
        """
        skew: loop 'j' is annotated with spatial
          note: loop 'j' is here
            File, line N, column 9
              for i, j in allo.grid(8, 8):
              ^
          hint: change the structure of the loop first, then annotate the new loops
        """,
        s,
        "skew",
        "i",
        "j",
        1,
    )
