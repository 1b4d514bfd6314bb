"""split: two loops in place of one, with a guard where the factor does not divide the number of iterations."""

from textwrap import dedent

import numpy as np

import allo
from allo import customize
from allo.customize import Loop
from allo.ir.types import int32

from .checks import assert_faithful, assert_ir, assert_refused, assert_same_meaning, ir_text, parsed


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


def blocks(A: int32[8, 16]):
    for i in range(3):
        for j in range(4 * i, 16):
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


def test_triangle():
    s = customize(triangle)
    s.split("j", 3)
    assert_ir(
        s,
        """
        func.func @triangle(%arg0: memref<8x8xi32> {allo.name = "A"}) {
          affine.for %arg1 = 0 to 8 {
            affine.for %arg2 = 0 to affine_map<(d0) -> (d0 ceildiv 3)>(%arg1) {
              affine.for %arg3 = 0 to 3 {
                affine.if affine_set<(d0, d1, d2) : (d0 * -3 - d1 + d2 - 1 >= 0)>(%arg2, %arg3, %arg1) {
                  %0 = affine.load %arg0[%arg1, %arg2 * 3 + %arg3] : memref<8x8xi32>
                  %1 = arith.extsi %0 : i32 to i33
                  %2 = arith.index_cast %arg1 : index to i33
                  %3 = arith.addi %1, %2 : i33
                  %4 = arith.trunci %3 : i33 to i32
                  affine.store %4, %arg0[%arg1, %arg2 * 3 + %arg3] : memref<8x8xi32>
                }
              } {allo.name = "j.inner"}
            } {allo.name = "j.outer"}
          } {allo.name = "i", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(triangle, s)
    assert s.verify()


def test_bounds_of_which_whole_tiles_remain():
    s = customize(blocks)
    s.split("j", 4)
    assert "affine.if" not in str(s.module)
    assert_faithful(blocks, s)


def test_start_that_is_the_greatest_of_several_values_is_cut_at_multiples():
    s = customize(triangle)
    s.skew("i", "j", 1)
    s.reorder("j", "i")
    s.split("i", 3)
    text = s.pseudocode().replace("3 * i.outer + i.inner", "v").replace("j - 3 * i.outer - i.inner", "j - v")
    assert text == dedent(
        """\
        def triangle(A: int32[8, 8]):
            for j in range(1, 14):
                for i.outer in range(ceildiv(j + 1, 2) // 3, min(ceildiv(j + 1, 3), 3)):
                    for i.inner in range(3):
                        if v >= ceildiv(j + 1, 2) and j >= v and v <= 7:
                            A[v, j - v] += v
        """
    ).rstrip()
    assert_faithful(triangle, s)


def test_bounds_known_at_run_time():
    s = customize(dynamic)
    s.split("i", 4)
    assert "affine.for %arg2 = 0 to affine_map<()[s0] -> (s0 ceildiv 4)>()[%0]" in ir_text(s)
    assert_faithful(dynamic, s)
    for n in (-3, 0, 1, 4, 7):
        given = np.arange(8, dtype=np.int32) - 20
        wanted = given + (np.arange(8) < n)
        s.build()(given, n)
        np.testing.assert_array_equal(given, wanted)


def test_bounds_that_are_data():
    s = customize(dynamic)
    s.split("k", 2)
    s.split("k.inner", 3)
    assert [loop.name for loop in s.get_loops()["S_j_1"]] == ["j", "k.outer", "k.inner.outer", "k.inner.inner"]
    assert_faithful(dynamic, s)


def test_pipeline_goes_to_the_inner_loop():
    s = customize(scale)
    s.pipeline("i", 2, rewind=True)
    s.split("i", 4)
    assert str(s.get_loops()["S_i_0"]) == "S_i_0:\n  i.outer\n    i.inner  (pipeline=2, rewind)"
    assert_faithful(scale, s)


def test_unrolling_goes_to_the_loops_whose_iterations_it_copies():
    for copies, factor, outer, inner in (
        (0, 4, "unroll=0", "unroll=0"),
        (4, 4, "", "unroll=0"),
        (8, 4, "unroll=2", "unroll=0"),
        (2, 4, "", "unroll=2"),
    ):
        s = customize(scale)
        s.unroll("i", copies)
        s.split("i", factor)
        shown = [f"i.outer  ({outer})" if outer else "i.outer", f"  i.inner  ({inner})"]
        assert str(s.get_loops()["S_i_0"]) == "\n".join(["S_i_0:", *(f"  {line}" for line in shown)])
        assert_faithful(scale, s)


def test_factor_that_cuts_groups_of_copies():
    s = customize(scale)
    s.unroll("i", 4)
    assert_refused(
        """
        split: loop 'i' is unrolled by 4, and tiles of 6 iterations would cut its groups
          note: loop 'i' is here
            File, line N, column 5
              for i in range(10):
              ^
          hint: split it by a divisor or a multiple of 4, or split first, then unroll
        """,
        s,
        "split",
        "i",
        6,
    )


def test_while_loop():
    assert_refused(
        """
        split: a `while` loop has no iterations to count, and cannot be split
          note: loop 'while' is here
            File, line N, column 5
              while A[0] > 0:
              ^
          hint: write it as a `for` loop over a range, with a condition inside
        """,
        customize(dynamic),
        "split",
        "while",
        2,
    )


def test_several_starts_and_steps():
    s = parsed(
        """
        module attributes {allo.top = "f"} {
          func.func @f(%A: memref<8xi32> {allo.name = "A"}, %n: index {allo.name = "n"}) {
            affine.for %i = max affine_map<(d0) -> (d0, 2)>(%n) to 8 step 2 {
              %0 = affine.load %A[%i] : memref<8xi32>
            } {allo.name = "i", allo.nest = "S_i_0"}
            return
          }
        }
        """
    )
    assert_refused(
        """
        split: loop 'i' starts at the greatest of 2 values and makes steps of 2: where it starts is not affine
          note: loop 'i' is here
            File, line N, column 13
          hint: split the loop before the steps that gave it such bounds
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
