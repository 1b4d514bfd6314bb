"""split: two loops in place of one, with a guard where the factor does not divide."""

import allo
from allo import customize
from allo.customize import Loop
from allo.ir.types import int32

from .checks import assert_faithful, assert_ir, assert_refused, assert_same_meaning, parsed


def scale(A: int32[10]):
    for i in range(10):
        A[i] = A[i] * 3


def odd(A: int32[16]):
    for i in range(1, 12, 2):
        A[i] += i


def gemm(A: int32[4, 6], B: int32[6, 8], C: int32[4, 8]):
    for i, j in allo.grid(4, 8):
        for k in range(6):
            C[i, j] += A[i, k] * B[k, j]


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


def never(A: int32[8]):
    for i in range(5, 5):
        A[i] = 1


def test_factor_that_divides():
    s = customize(scale)
    assert s.split("i", 5) == (Loop("scale", "S_i_0", "i.outer"), Loop("scale", "S_i_0", "i.inner"))
    assert_ir(
        s,
        """
        func.func @scale(%arg0: memref<10xi32> {allo.name = "A"}) {
          affine.for %arg1 = 0 to 2 {
            affine.for %arg2 = 0 to 5 {
              %0 = affine.load %arg0[%arg1 * 5 + %arg2] : memref<10xi32>
              %1 = arith.extsi %0 : i32 to i34
              %c3_i34 = arith.constant 3 : i34
              %2 = arith.muli %1, %c3_i34 : i34
              %3 = arith.trunci %2 : i34 to i32
              affine.store %3, %arg0[%arg1 * 5 + %arg2] : memref<10xi32>
            } {allo.name = "i.inner"}
          } {allo.name = "i.outer", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(scale, s)


def test_tail_is_guarded():
    s = customize(scale)
    s.split("i", 4)
    assert_ir(
        s,
        """
        func.func @scale(%arg0: memref<10xi32> {allo.name = "A"}) {
          affine.for %arg1 = 0 to 3 {
            affine.for %arg2 = 0 to 4 {
              affine.if affine_set<(d0, d1) : (d0 * -4 - d1 + 9 >= 0)>(%arg1, %arg2) {
                %0 = affine.load %arg0[%arg1 * 4 + %arg2] : memref<10xi32>
                %1 = arith.extsi %0 : i32 to i34
                %c3_i34 = arith.constant 3 : i34
                %2 = arith.muli %1, %c3_i34 : i34
                %3 = arith.trunci %2 : i34 to i32
                affine.store %3, %arg0[%arg1 * 4 + %arg2] : memref<10xi32>
              }
            } {allo.name = "i.inner"}
          } {allo.name = "i.outer", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(scale, s)


def test_bounds_and_step_other_than_zero_and_one():
    s = customize(odd)
    s.split("i", 4)
    assert_ir(
        s,
        """
        func.func @odd(%arg0: memref<16xi32> {allo.name = "A"}) {
          affine.for %arg1 = 0 to 2 {
            affine.for %arg2 = 0 to 4 {
              affine.if affine_set<(d0, d1) : (d0 * -4 - d1 + 5 >= 0)>(%arg1, %arg2) {
                %0 = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1 * 2 + 1)>(%arg1, %arg2)
                %1 = affine.load %arg0[%arg1 * 8 + %arg2 * 2 + 1] : memref<16xi32>
                %2 = arith.extsi %1 : i32 to i33
                %3 = arith.index_cast %0 : index to i33
                %4 = arith.addi %2, %3 : i33
                %5 = arith.trunci %4 : i33 to i32
                affine.store %5, %arg0[%arg1 * 8 + %arg2 * 2 + 1] : memref<16xi32>
              }
            } {allo.name = "i.inner"}
          } {allo.name = "i.outer", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(odd, s)


def test_outer_bound_of_a_triangle():
    s = customize(triangle)
    s.split("i", 4)
    assert_ir(
        s,
        """
        func.func @triangle(%arg0: memref<8x8xi32> {allo.name = "A"}) {
          affine.for %arg1 = 0 to 2 {
            affine.for %arg2 = 0 to 4 {
              %0 = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)>(%arg1, %arg2)
              affine.for %arg3 = 0 to affine_map<(d0, d1) -> (d0 * 4 + d1)>(%arg1, %arg2) {
                %1 = affine.load %arg0[%arg1 * 4 + %arg2, %arg3] : memref<8x8xi32>
                %2 = arith.extsi %1 : i32 to i33
                %3 = arith.index_cast %0 : index to i33
                %4 = arith.addi %2, %3 : i33
                %5 = arith.trunci %4 : i33 to i32
                affine.store %5, %arg0[%arg1 * 4 + %arg2, %arg3] : memref<8x8xi32>
              } {allo.name = "j"}
            } {allo.name = "i.inner"}
          } {allo.name = "i.outer", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(triangle, s)


def test_names_after_several_splits():
    s = customize(gemm)
    s.split("j", 4)
    s.split("j.inner", 3)
    s.split("j.outer", 2)
    assert str(s.get_loops()["S_i_j_0"]).split() == [
        "S_i_j_0:", "i", "j.outer.outer", "j.outer.inner", "j.inner.outer", "j.inner.inner", "k",
    ]  # fmt: skip
    assert_faithful(gemm, s)


def test_factor_of_one_and_factor_above_the_extent():
    s = customize(gemm)
    s.split("i", 1)
    s.split("j", 8)
    s.split("k", 9)
    assert_faithful(gemm, s)


def test_loop_that_never_runs():
    s = customize(never)
    s.split("i", 4)
    assert "affine.for %arg1 = 0 to 0" in str(s.module)
    assert_faithful(never, s)


def test_handles_returned_name_the_new_loops():
    s = customize(gemm)
    outer, inner = s.split("j", 4)
    s.reorder(inner, "i", outer)
    assert [loop.name for loop in s.get_loops()["S_i_j_0"]] == ["j.inner", "i", "j.outer", "k"]
    assert_same_meaning(gemm, s)


def test_factor_below_one():
    for factor in (0, -3):
        assert_refused(
            f"""
            split: factor must be at least 1, got {factor}
              note: loop 'i' is here
                File, line N, column 5
                  for i in range(10):
                  ^
            """,
            customize(scale),
            "split",
            "i",
            factor,
        )


def test_factor_that_is_no_integer():
    for factor in (2.0, True, "2", None):
        assert_refused(
            f"split: factor must be an integer, got {factor!r}", customize(scale), "split", "i", factor
        )


def test_factor_that_is_too_large():
    assert_refused("split: factor must fit in 32 bits, got 2147483648", customize(scale), "split", "i", 2**31)


def test_bounds_that_depend_on_a_loop():
    assert_refused(
        """
        split: the bounds of loop 'j' are not constants
          note: loop 'j' is here
            File, line N, column 9
              for j in range(i):
              ^
          hint: split a loop whose extent is known when the kernel is compiled
        """,
        customize(triangle),
        "split",
        "j",
        2,
    )


def test_bounds_known_at_run_time():
    assert_refused(
        """
        split: the bounds of loop 'i' are not constants
          note: loop 'i' is here
            File, line N, column 5
              for i in range(n):
              ^
          hint: split a loop whose extent is known when the kernel is compiled
        """,
        customize(dynamic),
        "split",
        "i",
        2,
    )


def test_while_loop():
    assert_refused(
        """
        split: the bounds of loop 'while' are not constants
          note: loop 'while' is here
            File, line N, column 5
              while A[0] > 0:
              ^
          hint: split a loop whose extent is known when the kernel is compiled
        """,
        customize(dynamic),
        "split",
        "while",
        2,
    )


def test_unrolled_loop():
    s = customize(scale)
    s.unroll("i", 2)
    assert_refused(
        """
        split: loop 'i' is annotated with unroll=2
          note: loop 'i' is here
            File, line N, column 5
              for i in range(10):
              ^
          hint: change the structure of the loop first, then annotate the new loops
        """,
        s,
        "split",
        "i",
        2,
    )


def test_pipelined_loop():
    s = customize(scale)
    s.pipeline("i")
    assert_refused(
        """
        split: loop 'i' is annotated with pipeline=1
          note: loop 'i' is here
            File, line N, column 5
              for i in range(10):
              ^
          hint: change the structure of the loop first, then annotate the new loops
        """,
        s,
        "split",
        "i",
        2,
    )


def test_parallel_loop():
    s = customize(scale)
    s.parallel("i")
    assert_refused(
        """
        split: loop 'i' is annotated with parallel
          note: loop 'i' is here
            File, line N, column 5
              for i in range(10):
              ^
          hint: change the structure of the loop first, then annotate the new loops
        """,
        s,
        "split",
        "i",
        2,
    )


def test_name_that_is_taken():
    s = parsed(
        """
        module attributes {allo.top = "f"} {
          func.func @f() {
            affine.for %i = 0 to 4 {
              affine.for %o = 0 to 4 { } {allo.name = "i.outer"}
            } {allo.name = "i", allo.nest = "S_i_0"}
            return
          }
        }
        """
    )
    assert_refused(
        """
        split: the nest 'S_i_0' already has a loop 'i.outer'
          note: loop 'i' is here
            File, line N, column 13
        """,
        s,
        "split",
        "i",
        2,
    )
