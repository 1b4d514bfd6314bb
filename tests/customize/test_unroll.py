"""unroll: an annotation that the CPU carries out."""

import allo
from allo import customize
from allo.ir.types import float32, int32

from .checks import assert_faithful, assert_ir, assert_refused


def scale(A: int32[10]):
    for i in range(10):
        A[i] = A[i] * 3


def dot(A: float32[10], B: float32[10], C: float32[1]):
    for i in range(10):
        C[0] += A[i] * B[i]


def triangle(A: int32[8, 8]):
    for i in range(8):
        for j in range(i):
            A[i, j] += i


def dynamic(A: int32[8], n: int32):
    for i in range(n):
        A[i] += 1
    for j in range(8):
        for k in range(A[j]):
            A[j] += k
    while A[0] > 0:
        A[0] -= 1


def gemm(A: int32[4, 6], B: int32[6, 8], C: int32[4, 8]):
    for i, j in allo.grid(4, 8):
        for k in range(6):
            C[i, j] += A[i, k] * B[k, j]


def never(A: int32[8]):
    for i in range(5, 5):
        A[i] = 1


def test_factor():
    s = customize(scale)
    assert s.unroll("i", 4) is None
    assert_ir(
        s,
        """
        func.func @scale(%arg0: memref<10xi32> {allo.name = "A"}) {
          affine.for %arg1 = 0 to 10 {
            %0 = affine.load %arg0[%arg1] : memref<10xi32>
            %1 = arith.extsi %0 : i32 to i34
            %c3_i34 = arith.constant 3 : i34
            %2 = arith.muli %1, %c3_i34 : i34
            %3 = arith.trunci %2 : i34 to i32
            affine.store %3, %arg0[%arg1] : memref<10xi32>
          } {allo.name = "i", allo.nest = "S_i_0", allo.unroll = 4 : i32}
          return
        }
        """,
    )
    assert_faithful(scale, s)


def test_fully():
    s = customize(scale)
    s.unroll("i")
    assert "allo.unroll = 0 : i32" in str(s.module)
    assert str(s.steps[0]) == 's.unroll("scale:S_i_0.i")'
    assert_faithful(scale, s)


def test_order_of_a_floating_point_sum_stays():
    for factor in (0, 3, 10):
        s = customize(dot)
        s.unroll("i", factor)
        assert_faithful(dot, s)


def test_second_factor_replaces_the_first():
    s = customize(scale)
    s.unroll("i", 4)
    s.unroll("i", 2)
    assert str(s.get_loops()["S_i_0"]) == "S_i_0:\n  i  (unroll=2)"
    assert_faithful(scale, s)


def test_loop_after_a_split_with_a_tail():
    s = customize(scale)
    _, inner = s.split("i", 4)
    s.unroll(inner)
    assert_faithful(scale, s)


def test_several_loops_of_a_nest():
    s = customize(gemm)
    s.unroll("k", 4)
    s.unroll("j", 3)
    s.unroll("i")
    assert_faithful(gemm, s)


def test_bounds_that_depend_on_a_loop():
    s = customize(triangle)
    s.unroll("j", 3)
    assert_faithful(triangle, s)


def test_triangle_fully():
    s = customize(triangle)
    s.unroll("j")
    assert s.pseudocode() == (
        "def triangle(A: int32[8, 8]):\n    for i in range(8):\n        for j in range(7):  # unroll=0\n"
        "            if i >= j + 1:\n                A[i, j] += i"
    )
    assert_faithful(triangle, s)
    assert s.verify()


def test_as_many_iterations_everywhere_need_no_condition():
    s = customize(triangle)
    s.skew("i", "j", 1)
    _, inner = s.split("j", 4)
    s.unroll(inner)
    s.unroll("j.outer")
    assert s.pseudocode().count("if ") == 2
    assert_faithful(triangle, s)


def test_start_that_is_the_greatest_of_several_values():
    s = customize(triangle)
    s.skew("i", "j", 1)
    s.reorder("j", "i")
    s.unroll("i")
    assert "for i in range(7):  # unroll=0" in s.pseudocode()
    assert_faithful(triangle, s)


def test_run_time_bounds_with_a_factor():
    s = customize(dynamic)
    s.unroll("i", 3)
    s.unroll("k", 2)
    assert_faithful(dynamic, s)


def test_loop_that_never_runs():
    s = customize(never)
    s.unroll("i")
    assert_faithful(never, s)


def test_negative_factor():
    assert_refused(
        """
        unroll: factor must not be negative, got -1
          note: loop 'i' is here
            File, line N, column 5
              for i in range(10):
              ^
        """,
        customize(scale),
        "unroll",
        "i",
        -1,
    )


def test_factor_above_the_trip_count():
    assert_refused(
        """
        unroll: factor 11 is larger than the trip count 10 of loop 'i'
          note: loop 'i' is here
            File, line N, column 5
              for i in range(10):
              ^
          hint: use factor=0 to unroll fully
        """,
        customize(scale),
        "unroll",
        "i",
        11,
    )


def test_run_time_bounds_fully():
    assert_refused(
        """
        unroll: loop 'i' has run-time bounds and cannot be unrolled fully: it has no greatest trip count
          note: loop 'i' is here
            File, line N, column 5
              for i in range(n):
              ^
          hint: give a factor, or s.split("i", factor) and unroll the inner loop
        """,
        customize(dynamic),
        "unroll",
        "i",
    )


def test_while_loop():
    assert_refused(
        """
        unroll: a `while` loop cannot be unrolled
          note: loop 'while' is here
            File, line N, column 5
              while A[0] > 0:
              ^
        """,
        customize(dynamic),
        "unroll",
        "while",
        2,
    )


def test_factor_that_is_no_integer():
    assert_refused("unroll: factor must be an integer, got 1.5", customize(scale), "unroll", "i", 1.5)


def test_factor_of_more_than_32_bits():
    message = "unroll: factor must fit in 32 bits, got 9223372036854775808"
    assert_refused(message, customize(triangle), "unroll", "j", 2**63)
