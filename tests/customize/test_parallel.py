"""parallel: only loops whose iterations do not depend on each other."""

# ruff: noqa: B007, E501 - golden text is not wrapped; kernels have loops that only count

import allo
from allo import customize
from allo.ir.types import float32, int32

from .checks import assert_faithful, assert_ir, assert_refused


def gemm(A: float32[16, 6], B: float32[6, 8], C: float32[16, 8]):
    for i, j in allo.grid(16, 8):
        for k in range(6):
            C[i, j] += A[i, k] * B[k, j]


def scan(A: int32[8]):
    for i in range(1, 8):
        A[i] += A[i - 1]


def shared(A: int32[8], B: int32[8]):
    t: int32 = 0
    for i in range(8):
        t = A[i] * 2
        B[i] = t


def private(A: int32[8], B: int32[8]):
    for i in range(8):
        t: int32 = A[i] * 2
        B[i] = t + 1


def triangle(A: int32[16, 16]):
    for i in range(16):
        for j in range(i):
            A[i, j] += i


def indirect(A: int32[8], P: int32[8]):
    for i in range(8):
        A[P[i]] = i


def dynamic(A: int32[8], B: int32[8]):
    for i in range(8):
        for j in range(B[i]):
            A[i] += j
    while A[0] > 0:
        A[0] -= 1


def bounded(A: int32[8], n: int32):
    for i in range(n):
        A[i] = i


def square(X: int32[8]):
    for i in range(8):
        X[i] = X[i] * X[i]


def calls(A: int32[8]):
    for r in range(3):
        square(A)


def test_annotation():
    s = customize(private)
    assert s.parallel("i") is None
    assert_ir(
        s,
        """
        func.func @private(%arg0: memref<8xi32> {allo.name = "A"}, %arg1: memref<8xi32> {allo.name = "B"}) {
          affine.for %arg2 = 0 to 8 {
            %0 = affine.load %arg0[%arg2] : memref<8xi32>
            %1 = arith.extsi %0 : i32 to i34
            %c2_i34 = arith.constant 2 : i34
            %2 = arith.muli %1, %c2_i34 : i34
            %3 = arith.trunci %2 : i34 to i32
            %alloc = memref.alloc() {allo.name = "t"} : memref<i32>
            affine.store %3, %alloc[] : memref<i32>
            %4 = affine.load %alloc[] : memref<i32>
            %5 = arith.extsi %4 : i32 to i33
            %c1_i33 = arith.constant 1 : i33
            %6 = arith.addi %5, %c1_i33 : i33
            %7 = arith.trunci %6 : i33 to i32
            affine.store %7, %arg1[%arg2] : memref<8xi32>
          } {allo.name = "i", allo.nest = "S_i_0", allo.parallel}
          return
        }
        """,
    )
    assert_faithful(private, s)


def test_each_independent_loop_of_a_nest():
    s = customize(gemm)
    s.parallel("i")
    s.parallel("j")
    assert_faithful(gemm, s)


def test_triangle():
    s = customize(triangle)
    s.parallel("i")
    assert_faithful(triangle, s)


def test_run_time_bound():
    s = customize(bounded)
    s.parallel("i")
    assert_faithful(bounded, s)


def test_loop_of_a_callee():
    s = customize(calls)
    s.parallel("square:i")
    assert_ir(
        s,
        """
        func.func @square(%arg0: memref<8xi32> {allo.name = "X"}) {
          affine.for %arg1 = 0 to 8 {
            %0 = affine.load %arg0[%arg1] : memref<8xi32>
            %1 = arith.extsi %0 : i32 to i64
            %2 = affine.load %arg0[%arg1] : memref<8xi32>
            %3 = arith.extsi %2 : i32 to i64
            %4 = arith.muli %1, %3 : i64
            %5 = arith.trunci %4 : i64 to i32
            affine.store %5, %arg0[%arg1] : memref<8xi32>
          } {allo.name = "i", allo.nest = "S_i_0", allo.parallel}
          return
        }
        """,
        function="square",
    )
    assert_faithful(calls, s)


def test_split_with_a_tail_then_parallel():
    s = customize(private)
    outer, inner = s.split("i", 3)
    s.parallel(outer)
    s.parallel(inner)
    assert_faithful(private, s)


def test_reduction():
    assert_refused(
        """
        parallel: loop 'k' cannot run in parallel: the statement at line N writes C[i, j] and reads C[i, j]: iteration (i=0, j=0, k=0) must run before iteration (i=0, j=0, k=1)
          note: the statement is here
            File, line N, column 13
              C[i, j] += A[i, k] * B[k, j]
              ^
        """,
        customize(gemm),
        "parallel",
        "k",
    )


def test_recurrence():
    assert_refused(
        """
        parallel: loop 'i' cannot run in parallel: the statement at line N writes A[i] and reads A[i - 1]: iteration (i=1) must run before iteration (i=2)
          note: the statement is here
            File, line N, column 9
              A[i] += A[i - 1]
              ^
          note: the statement is here
            File, line N, column 17
              A[i] += A[i - 1]
                      ^
        """,
        customize(scan),
        "parallel",
        "i",
    )


def test_scalar_that_the_iterations_share():
    assert_refused(
        """
        parallel: loop 'i' cannot run in parallel: the statement at line N writes t and the statement at line N reads t: iteration (i=0) must run before iteration (i=1)
          note: the statement is here
            File, line N, column 9
              t = A[i] * 2
              ^
          note: the statement is here
            File, line N, column 16
              B[i] = t
                     ^
        """,
        customize(shared),
        "parallel",
        "i",
    )


def test_call_that_may_write():
    assert_refused(
        """
        parallel: loop 'r' cannot run in parallel, because it cannot be decided: the statement at line N writes A[?], but it is passed to 'square', which may use any element
          note: the statement is here
            File, line N, column 9
              square(A)
              ^
          hint: if you know that it is safe, pass assume_safe=True
        """,
        customize(calls),
        "parallel",
        "r",
    )


def test_what_cannot_be_decided():
    assert_refused(
        """
        parallel: loop 'i' cannot run in parallel, because it cannot be decided: the statement at line N writes A[?], but it has a subscript that is not affine
          note: the statement is here
            File, line N, column 9
              A[P[i]] = i
              ^
          hint: if you know that it is safe, pass assume_safe=True
        """,
        customize(indirect),
        "parallel",
        "i",
    )


def test_assume_safe_accepts_what_cannot_be_decided():
    s = customize(indirect)
    s.parallel("i", assume_safe=True)
    assert str(s.steps[0]) == 's.parallel("indirect:S_i_0.i", assume_safe=True)'


def test_assume_safe_does_not_overrule_a_dependence():
    assert_refused(
        """
        parallel: loop 'i' cannot run in parallel: the statement at line N writes A[i] and reads A[i - 1]: iteration (i=1) must run before iteration (i=2)
          note: the statement is here
            File, line N, column 9
              A[i] += A[i - 1]
              ^
          note: the statement is here
            File, line N, column 17
              A[i] += A[i - 1]
                      ^
        """,
        customize(scan),
        "parallel",
        "i",
        assume_safe=True,
    )


def test_run_time_bounds_that_are_not_affine():
    assert_refused(
        """
        parallel: loop 'j' has run-time bounds and cannot run in parallel
          note: loop 'j' is here
            File, line N, column 9
              for j in range(B[i]):
              ^
        """,
        customize(dynamic),
        "parallel",
        "j",
    )


def test_while_loop():
    assert_refused(
        """
        parallel: loop 'while' has run-time bounds and cannot run in parallel
          note: loop 'while' is here
            File, line N, column 5
              while A[0] > 0:
              ^
        """,
        customize(dynamic),
        "parallel",
        "while",
    )
