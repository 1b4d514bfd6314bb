"""reorder: every legal permutation, and the pair of iterations that forbids one."""

# ruff: noqa: E501 - golden text is not wrapped

import numpy as np
import pytest

import allo
from allo import ScheduleError, customize
from allo.ir.types import Fixed, float32, int8, int16, int32, uint8

from .checks import assert_faithful, assert_ir, assert_refused, refusal


def gemm(A: int32[4, 6], B: int32[6, 8], C: int32[4, 8]):
    for i, j in allo.grid(4, 8):
        for k in range(6):
            C[i, j] += A[i, k] * B[k, j]


def wave(A: int32[8, 8]):
    for i in range(1, 8):
        for j in range(7):
            A[i, j] = A[i - 1, j + 1] + 1


def diagonal(A: int32[8, 8]):
    for i in range(1, 8):
        for j in range(1, 8):
            A[i, j] += A[i - 1, j - 1]


def stencil(A: int32[8, 8]):
    for t in range(3):
        for i in range(1, 7):
            A[t, i] = 1
            for j in range(1, 7):
                A[i, j] = A[i, j - 1] + A[i - 1, j]


def triangle(A: int32[8, 8]):
    for i in range(8):
        for j in range(i):
            A[i, j] += i


def inner_triangle(A: int32[8, 8, 4]):
    for i in range(8):
        for j in range(i):
            for k in range(4):
                A[i, j, k] += j


def indirect(A: int32[8], P: int32[8]):
    for i in range(8):
        for j in range(8):
            A[P[j]] = i


def dynamic(A: int32[8, 8], B: int32[8]):
    for i in range(8):
        for j in range(B[i]):
            A[i, j] += 1


def two(A: int32[8, 8], B: int32[8, 8]):
    for i, j in allo.grid(8, 8):
        A[i, j] += 1
    for m, n in allo.grid(8, 8):
        B[m, n] += 1


def steps(A: int32[8, 8], B: int32[8, 8]):
    for i in range(1, 8, 3):
        for j in range(7, 0, -2):
            A[i, j] = B[j, i] + i


def test_two_loops():
    s = customize(gemm)
    s.reorder("k", "j")
    assert_ir(
        s,
        """
        func.func @gemm(%arg0: memref<4x6xi32> {allo.name = "A"}, %arg1: memref<6x8xi32> {allo.name = "B"}, %arg2: memref<4x8xi32> {allo.name = "C"}) {
          affine.for %arg3 = 0 to 4 {
            affine.for %arg4 = 0 to 6 {
              affine.for %arg5 = 0 to 8 {
                %0 = affine.load %arg2[%arg3, %arg5] : memref<4x8xi32>
                %1 = arith.extsi %0 : i32 to i65
                %2 = affine.load %arg0[%arg3, %arg4] : memref<4x6xi32>
                %3 = arith.extsi %2 : i32 to i64
                %4 = affine.load %arg1[%arg4, %arg5] : memref<6x8xi32>
                %5 = arith.extsi %4 : i32 to i64
                %6 = arith.muli %3, %5 : i64
                %7 = arith.extsi %6 : i64 to i65
                %8 = arith.addi %1, %7 : i65
                %9 = arith.trunci %8 : i65 to i32
                affine.store %9, %arg2[%arg3, %arg5] : memref<4x8xi32>
              } {allo.name = "j"}
            } {allo.name = "k"}
          } {allo.name = "i", allo.nest = "S_i_j_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(gemm, s)


def test_loops_not_named_keep_their_places():
    s = customize(gemm)
    s.reorder("k", "i")
    assert [loop.name for loop in s.get_loops()["S_i_j_0"]] == ["k", "j", "i"]
    assert_faithful(gemm, s)


def test_a_list_of_loops():
    s = customize(gemm)
    s.reorder(["k", "i", "j"])
    assert str(s.steps[0]) == 's.reorder("gemm:S_i_j_0.k", "gemm:S_i_j_0.i", "gemm:S_i_j_0.j")'
    assert_faithful(gemm, s)


def test_order_that_is_there_already():
    s = customize(gemm)
    before = str(s.module)
    s.reorder("i", "j", "k")
    assert str(s.module) == before and len(s.steps) == 1


def test_bounds_steps_and_directions():
    s = customize(steps)
    s.reorder("j", "i")
    assert_ir(
        s,
        """
        func.func @steps(%arg0: memref<8x8xi32> {allo.name = "A"}, %arg1: memref<8x8xi32> {allo.name = "B"}) {
          affine.for %arg2 = 0 to 4 {
            affine.for %arg3 = 1 to 8 step 3 {
              %0 = affine.load %arg1[%arg2 * -2 + 7, %arg3] : memref<8x8xi32>
              %1 = arith.extsi %0 : i32 to i33
              %2 = arith.index_cast %arg3 : index to i33
              %3 = arith.addi %1, %2 : i33
              %4 = arith.trunci %3 : i33 to i32
              affine.store %4, %arg0[%arg3, %arg2 * -2 + 7] : memref<8x8xi32>
            } {allo.name = "i"}
          } {allo.name = "j", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(steps, s)


def test_annotations_move_with_their_loops():
    s = customize(gemm)
    s.pipeline("j", 2)
    s.unroll("k", 3)
    s.reorder("k", "j")
    assert str(s.get_loops()["S_i_j_0"]).split("\n")[2:] == ["    k  (unroll=3)", "      j  (pipeline=2)"]
    assert_faithful(gemm, s)


def test_triangle_keeps_its_outer_loop_outside():
    s = customize(inner_triangle)
    s.reorder("k", "j")
    assert_ir(
        s,
        """
        func.func @inner_triangle(%arg0: memref<8x8x4xi32> {allo.name = "A"}) {
          affine.for %arg1 = 0 to 8 {
            affine.for %arg2 = 0 to 4 {
              affine.for %arg3 = 0 to affine_map<(d0) -> (d0)>(%arg1) {
                %0 = affine.load %arg0[%arg1, %arg3, %arg2] : memref<8x8x4xi32>
                %1 = arith.extsi %0 : i32 to i33
                %2 = arith.index_cast %arg3 : index to i33
                %3 = arith.addi %1, %2 : i33
                %4 = arith.trunci %3 : i33 to i32
                affine.store %4, %arg0[%arg1, %arg3, %arg2] : memref<8x8x4xi32>
              } {allo.name = "j"}
            } {allo.name = "k"}
          } {allo.name = "i", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(inner_triangle, s)


def test_diagonal_dependence_allows_both_orders():
    s = customize(diagonal)
    s.reorder("j", "i")
    assert_faithful(diagonal, s)


def test_order_that_a_dependence_forbids():
    assert_refused(
        """
        reorder: the loops cannot run in the order j, i: the statement at line N writes A[i, j] and reads A[i - 1, j + 1]: iteration (i=1, j=1) must run before iteration (i=2, j=0)
          note: the statement is here
            File, line N, column 13
              A[i, j] = A[i - 1, j + 1] + 1
              ^
          note: the statement is here
            File, line N, column 23
              A[i, j] = A[i - 1, j + 1] + 1
                        ^
        """,
        customize(wave),
        "reorder",
        "j",
        "i",
    )


def test_assume_safe_does_not_overrule_a_dependence():
    assert_refused(
        """
        reorder: the loops cannot run in the order j, i: the statement at line N writes A[i, j] and reads A[i - 1, j + 1]: iteration (i=1, j=1) must run before iteration (i=2, j=0)
          note: the statement is here
            File, line N, column 13
              A[i, j] = A[i - 1, j + 1] + 1
              ^
          note: the statement is here
            File, line N, column 23
              A[i, j] = A[i - 1, j + 1] + 1
                        ^
        """,
        customize(wave),
        "reorder",
        "j",
        "i",
        assume_safe=True,
    )


def test_what_cannot_be_decided():
    assert_refused(
        """
        reorder: the loops cannot run in the order j, i, because it cannot be decided: the statement at line N writes A[?], but it has a subscript that is not affine
          note: the statement is here
            File, line N, column 13
              A[P[j]] = i
              ^
          hint: if you know that it is safe, pass assume_safe=True
        """,
        customize(indirect),
        "reorder",
        "j",
        "i",
    )


def test_assume_safe_accepts_what_cannot_be_decided():
    s = customize(indirect)
    s.reorder("j", "i", assume_safe=True)
    assert [loop.name for loop in s.get_loops()["S_i_0"]] == ["j", "i"]
    assert str(s.steps[0]).endswith("assume_safe=True)")


def test_parallel_loop_that_would_carry_a_dependence():
    s = customize(diagonal)
    s.parallel("j")
    assert_refused(
        """
        reorder: loop 'j' runs in parallel and could no longer do so: the statement at line N writes A[i, j] and reads A[i - 1, j - 1]: iteration (j=1, i=1) must run before iteration (j=2, i=2)
          note: the statement is here
            File, line N, column 13
              A[i, j] += A[i - 1, j - 1]
              ^
          note: the statement is here
            File, line N, column 24
              A[i, j] += A[i - 1, j - 1]
                         ^
        """,
        s,
        "reorder",
        "j",
        "i",
    )


def test_parallel_loop_that_stays_parallel():
    s = customize(gemm)
    s.parallel("j")
    s.reorder("j", "i", "k")
    assert_faithful(gemm, s)


def between(A: int32[4, 6], B: int32[6, 8], C: int32[4, 8], D: int32[4]):
    for i in range(4):
        D[i] = 1
        for j in range(8):
            C[i, j] = 0
            for k in range(6):
                C[i, j] += A[i, k] * B[k, j]
            C[i, j] *= 2
        D[i] += 3


def variable(A: int32[4, 6], C: int32[4]):
    for i in range(4):
        total: int32 = 0
        for j in range(6):
            total += A[i, j]
        C[i] = total


def guarded(A: int32[4, 6], B: int32[4]):
    for i in range(4):
        if i >= 1:
            B[i] = 1
            for j in range(6):
                A[i, j] += i
        else:
            B[i] = 2


def data_guard(A: int32[4, 6], B: int32[4]):
    for i in range(4):
        if B[i] > 0:
            for j in range(6):
                A[i, j] += i


def nested_triangle(A: int32[8, 8], B: int32[8]):
    for i in range(8):
        B[i] = 1
        for j in range(i):
            A[i, j] += B[i]


def convolution(A: float32[10, 10], K: float32[3, 3], B: float32[8, 8]):
    for y, x in allo.grid(8, 8):
        for r, q in allo.grid(3, 3):
            B[y, x] += A[y + r, x + q] * K[r, q]


def fixed_sum(A: Fixed(16, 8)[6, 4], B: Fixed(16, 8)[6, 4], C: Fixed(12, 6)[1]):
    for i, j in allo.grid(6, 4):
        C[0] -= A[i, j] * B[i, j]


def saturated(A: Fixed(16, 8)[6, 4], C: Fixed(12, 6, "rnd", "sat")[1]):
    for i, j in allo.grid(6, 4):
        C[0] += A[i, j]


def read_inside(A: int32[6, 4], B: int32[6, 4], C: int32[1]):
    for i, j in allo.grid(6, 4):
        C[0] += A[i, j]
        B[i, j] = C[0]


def two_kinds(A: int32[6, 4], C: int32[1]):
    for i, j in allo.grid(6, 4):
        C[0] += A[i, j]
        C[0] *= 3


def test_statements_between_get_loops_of_their_own():
    s = customize(between)
    s.reorder("k", "j")
    assert (
        s.pseudocode()
        == """\
def between(A: int32[4, 6], B: int32[6, 8], C: int32[4, 8], D: int32[4]):
    for i in range(4):
        D[i] = 1
        for j_1 in range(8):
            C[i, j_1] = 0
        for k in range(6):
            for j in range(8):
                C[i, j] += A[i, k] * B[k, j]
        for j_2 in range(8):
            C[i, j_2] *= 2
        D[i] += 3"""
    )
    assert_faithful(between, s)


@pytest.mark.parametrize("order", ["ki", "jik", "kji", "ji", "jki", "ikj"])
def test_every_order_of_an_imperfect_nest(order: str):
    s = customize(between)
    s.reorder(*order)
    assert_faithful(between, s)


def test_statements_at_the_top_become_nests_of_their_own():
    s = customize(between)
    s.reorder("j", "i")
    assert [nest.name for nest in s.get_loops()] == ["S_i_0_1", "S_i_0", "S_i_0_2"]
    assert_faithful(between, s)


def staged(A: int32[4], C: int32[4, 3], D: int32[4, 3, 5], x: int32[1]):
    for i in range(4):
        x[0] = A[i]
        for j in range(3):
            C[i, j] = x[0]
            for k in range(5):
                D[i, j, k] = i + j


def test_statements_at_different_depths_get_different_loops():
    """`x[0] = A[i]` would run for all i before `C[i, j] = x[0]` runs for the first."""
    text = refusal(customize(staged), "reorder", "k", "i", "j")
    assert "reads x[0]" in text and "iteration (i=0, j=0) must run before iteration (i=1)" in text
    s = customize(staged)
    s.reorder("k", "j")
    assert_faithful(staged, s)


def overwritten(A: int32[6, 4], B: int32[6, 4], last: int32[1]):
    for i, j in allo.grid(6, 4):
        last[0] = A[i, j]
        B[i, j] = last[0] * 2


def test_order_that_changes_no_value():
    """All iterations write one element, each read sees the write of its iteration, and the last one stays the last."""
    s = customize(overwritten)
    s.reorder("j", "i")
    assert_faithful(overwritten, s)


def overwritten_triangle(A: int32[6, 6], last: int32[1]):
    for i in range(6):
        for j in range(6 - i):
            last[0] = A[i, j]


def test_order_with_another_last_write():
    text = refusal(customize(overwritten_triangle), "reorder", "j", "i")
    assert "writes last[0]: iteration (i=0, j=1) must run before iteration (i=1, j=0)" in text


def overwritten_after(A: int32[6, 6], V: int32[6], W: int32[1]):
    for i in range(6):
        for j in range(6 - i):
            V[i + j] = A[i, j]
            W[0] = V[i + j]
    for k in range(6):
        V[5 - k] = k
    W[0] = 3


def test_order_with_another_last_write_that_the_function_overwrites():
    s = customize(overwritten_after)
    s.reorder("j", "i")
    assert_faithful(overwritten_after, s)


def read_after(A: int32[6, 6], V: int32[6], W: int32[1]):
    for i in range(6):
        for j in range(6 - i):
            V[i + j] = A[i, j]
    W[0] = V[5]
    for k in range(6):
        V[k] = 0


def overwritten_in_part(A: int32[6, 6], V: int32[6], W: int32[1]):
    for i in range(6):
        for j in range(6 - i):
            V[i + j] = A[i, j]
    for k in range(5):
        V[k] = W[0]


def overwritten_in_each_iteration(A: int32[6, 6], V: int32[6], W: int32[1]):
    for t in range(2):
        for i in range(6):
            for j in range(6 - i):
                V[i + j] = A[i, j] + t
        W[0] = V[5]
        for k in range(6):
            V[k] = 0


def seen_by_the_loop_around(A: int32[6, 6], V: int32[6], W: int32[6]):
    for t in range(6):
        for i in range(6):
            for j in range(6 - i):
                V[i + j] = A[i, j]
        for k in range(6):
            A[t, k] = V[k]
    for k in range(6):
        W[k] = k
        V[k] = 0


def one_element_is_overwritten(A: int32[6, 6], V: int32[6], W: int32[1]):
    for t in range(6):
        for i in range(6):
            for j in range(6 - i):
                V[i + j] = A[i, j] + t
    V[5] = W[0]


def given_on(A: int32[6, 6], V: int32[6], W: int32[1]):
    for i in range(6):
        for j in range(6 - i):
            V[i + j] = A[i, j]
    taken(V, W)
    for k in range(6):
        V[k] = 0


def taken(V: int32[6], W: int32[1]):
    W[0] = V[5]


SEEN = [read_after, overwritten_in_part, overwritten_in_each_iteration, given_on]


@pytest.mark.parametrize("kernel", [*SEEN, seen_by_the_loop_around, one_element_is_overwritten])
def test_what_the_function_does_not_overwrite_before_it_is_seen(kernel):
    assert "writes V[i + j]: iteration (" in refusal(customize(kernel), "reorder", "j", "i")


def inner_loops(A: int32[6, 6], V: int32[6], W: int32[1]):
    for t in range(6):
        for i in range(6):
            for j in range(6 - i):
                V[i + j] = A[i, j] + t
        V[5] = t
        W[0] += V[5]
    for k in range(6):
        V[k] = k


def test_inner_loops_write_what_the_function_overwrites_after_the_nest():
    s = customize(inner_loops)
    s.reorder("j", "i")
    assert_faithful(inner_loops, s)


def chains(V: int32[64], B: int32[6]):
    for i in range(2, 63, 4):
        for j in range(6):
            V[34] = V[i] * 3 + B[j]


def test_chains_of_values_of_any_length_that_no_result_depends_on():
    """V[34] is made of itself when i is 34 only, and overwritten when i is 38."""
    s = customize(chains)
    s.reorder("j", "i")
    assert_faithful(chains, s)


def chains_at_last(V: int32[64], B: int32[6]):
    for i in range(2, 35, 4):
        for j in range(6):
            V[34] = V[i] * 3 + B[j]


def test_a_chain_of_values_that_is_left():
    assert "V[34]" in refusal(customize(chains_at_last), "reorder", "j", "i")


def test_stages_of_dataflow_keep_every_dependence():
    s = customize(overwritten)
    s.dataflow("i")
    assert "must run before" in refusal(s, "reorder", "j", "i")


def test_statement_between_that_a_dependence_keeps_in_place():
    assert_refused(
        """
        reorder: the loops cannot run in the order j, i: the statement at line N reads A[i, j - 1] and the statement at line N writes A[t, i]: iteration (t=1, i=1, j=3) must run before iteration (t=1, i=2)
          note: the statement is here
            File, line N, column 27
              A[i, j] = A[i, j - 1] + A[i - 1, j]
                        ^
          note: the statement is here
            File, line N, column 13
              A[t, i] = 1
              ^
        """,
        customize(stencil),
        "reorder",
        "j",
        "i",
    )


def test_variable_of_an_iteration():
    assert_refused(
        """
        reorder: 'total' is new in each iteration of 'i' and is used on both sides of where 'j' begins or ends, so 'j' cannot move out of 'i'
          note: it is declared here
            File, line N, column 9
              total: int32 = 0
              ^
          note: loop 'j' is here
            File, line N, column 9
              for j in range(6):
              ^
          hint: keep it in an array with an element for each iteration
        """,
        customize(variable),
        "reorder",
        "j",
        "i",
    )


def test_condition_between_moves_inwards():
    s = customize(guarded)
    s.reorder("j", "i")
    assert (
        s.pseudocode()
        == """\
def guarded(A: int32[4, 6], B: int32[4]):
    for i in range(4):
        if i >= 1:
            B[i] = 1
    for j in range(6):
        for i in range(4):
            if i >= 1:
                A[i, j] += i
    for i in range(4):
        if i >= 1:
            pass
        else:
            B[i] = 2"""
    )
    assert_faithful(guarded, s)


def test_tail_of_a_split_between():
    s = customize(gemm)
    _, inner = s.split("i", 3)
    s.reorder("k", "j", inner)
    assert_faithful(gemm, s)


def test_condition_on_data_between():
    assert_refused(
        """
        reorder: loop 'j' in loop 'i' is under a condition that cannot be moved into it
          note: the condition is here
            File, line N, column 9
              if B[i] > 0:
              ^
          note: loop 'j' is here
            File, line N, column 13
              for j in range(6):
              ^
        """,
        customize(data_guard),
        "reorder",
        "j",
        "i",
    )


def test_bounds_of_a_triangle_are_computed_anew():
    s = customize(triangle)
    s.reorder("j", "i")
    assert "    for j in range(7):\n        for i in range(j + 1, 8):" in s.pseudocode()
    assert_faithful(triangle, s)


def test_triangle_with_a_statement_between():
    s = customize(nested_triangle)
    s.reorder("j", "i")
    assert_ir(
        s,
        """
        func.func @nested_triangle(%arg0: memref<8x8xi32> {allo.name = "A"}, %arg1: memref<8xi32> {allo.name = "B"}) {
          affine.for %arg2 = 0 to 8 {
            %c1_i32 = arith.constant 1 : i32
            affine.store %c1_i32, %arg1[%arg2] : memref<8xi32>
          } {allo.name = "i", allo.nest = "S_i_0_1", allo.scheduled}
          affine.for %arg2 = 0 to 7 {
            affine.for %arg3 = affine_map<(d0) -> (d0 + 1)>(%arg2) to 8 {
              %0 = affine.load %arg0[%arg3, %arg2] : memref<8x8xi32>
              %1 = arith.extsi %0 : i32 to i33
              %2 = affine.load %arg1[%arg3] : memref<8xi32>
              %3 = arith.extsi %2 : i32 to i33
              %4 = arith.addi %1, %3 : i33
              %5 = arith.trunci %4 : i33 to i32
              affine.store %5, %arg0[%arg3, %arg2] : memref<8x8xi32>
            } {allo.name = "i"}
          } {allo.name = "j", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(nested_triangle, s)
    assert s.verify()


def pyramid(A: int32[8, 8, 8], B: int32[8, 8], C: int32[8]):
    for i in range(8):
        C[i] = 1
        for j in range(i, 8):
            B[i, j] = 3
            for k in range(j, 5):
                A[i, j, k] += i + j
        C[i] += B[i, 7]


@pytest.mark.parametrize("order", ["kji", "jik", "kij", "ki"])
def test_each_group_of_a_pyramid_runs_in_its_own_iterations(order):
    s = customize(pyramid)
    s.reorder(*order)
    assert_faithful(pyramid, s)
    assert s.verify()


def test_bounds_with_steps_are_not_computed_anew():
    def halves(A: int32[8, 8]):
        for i in range(0, 8, 2):
            for j in range(i):
                A[i, j] += i

    assert_refused(
        """
        reorder: the bounds of loop 'j' depend on 'i', which must stay outside of it
          note: loop 'j' is here
            File, line N, column 13
              for j in range(i):
              ^
          note: loop 'i' is here
            File, line N, column 9
              for i in range(0, 8, 2):
              ^
          hint: bounds in another order are found for loops of step 1 whose bounds are linear
        """,
        customize(halves),
        "reorder",
        "j",
        "i",
    )


def test_sum_of_integers_in_any_order():
    def total(A: int8[6, 4], B: uint8[6, 4], C: int16[1]):
        for i, j in allo.grid(6, 4):
            C[0] += A[i, j] * B[i, j]

    s = customize(total)
    s.reorder("j", "i")
    assert str(s.steps[0]) == 's.reorder("total:S_i_j_0.j", "total:S_i_j_0.i")'


def test_sum_of_fixed_point_numbers_in_any_order():
    s = customize(fixed_sum)
    s.reorder("j", "i")
    random = np.random.default_rng(2)
    a, b = (random.integers(-1000, 1000, (6, 4)) / 256 for _ in range(2))
    results = []
    for schedule in (customize(fixed_sum), s):
        c = np.zeros(1)
        schedule.build()(a, b, c)
        results.append(c)
    assert results[0] == results[1] and results[0] != 0


@pytest.mark.parametrize("kernel", [saturated, read_inside, two_kinds])
def test_sums_whose_order_matters(kernel):
    message = refusal(customize(kernel), "reorder", "j", "i")
    assert "must run before" in message
    assert ("reassociate=True" in message) == (kernel is saturated)


def test_sum_of_floating_point_numbers():
    assert_refused(
        """
        reorder: the loops cannot run in the order q, r: the statement at line N writes B[y, x] and reads B[y, x]: iteration (y=0, x=0, r=0, q=1) must run before iteration (y=0, x=0, r=1, q=0)
          note: the statement is here
            File, line N, column 13
              B[y, x] += A[y + r, x + q] * K[r, q]
              ^
          hint: these are updates of one floating-point reduction; if another rounding (of a maximum, another NaN or zero) is acceptable, pass reassociate=True
        """,
        customize(convolution),
        "reorder",
        "q",
        "r",
    )


def chain(A: int8[6, 4], B: int8[1]):
    for i, j in allo.grid(6, 4):
        B[0] = 3 - A[j, i % 4] + B[0] + A[i, j]


def narrow_variable(A: int32[6, 4], B: int32[1]):
    for i, j in allo.grid(6, 4):
        x: int8 = B[0] + A[i, j]
        B[0] = x


def through_a_variable(A: int32[6, 4], B: int32[1]):
    for i, j in allo.grid(6, 4):
        acc: int32 = B[0]
        acc += A[i, j]
        acc -= 3
        B[0] = acc


def histogram(A: int32[6, 4], B: int32[8]):
    for i, j in allo.grid(6, 4):
        B[A[i, j] % 8] += A[i, j]


def conditional_maximum(A: int32[6, 4], B: int32[1]):
    for i, j in allo.grid(6, 4):
        if A[i, j] > B[0]:
            B[0] = A[i, j]


def chosen_part(A: int32[6, 4], B: int32[1]):
    for i, j in allo.grid(6, 4):
        B[0] += A[i, j] * 3 if A[i, j] > 2 else 0


def added_on_a_condition(A: int32[6, 4], B: int32[1]):
    for i, j in allo.grid(6, 4):
        if A[i, j] > 3:
            B[0] += A[i, j]


@pytest.mark.parametrize(
    "kernel", [chain, narrow_variable, through_a_variable, histogram, conditional_maximum, chosen_part, added_on_a_condition]
)
def test_accumulators_whose_order_does_not_matter(kernel):
    s = customize(kernel)
    s.reorder("j", "i")
    assert [loop.name for loop in s.get_loops()["S_i_j_0"]] == ["j", "i"]
    assert_faithful(kernel, s)


def carries(A: int8[6, 4], B: int32[1]):
    for i, j in allo.grid(6, 4):
        x: int8 = B[0] + A[i, j]
        B[0] = x + 1000


def seen_on_the_way(A: int32[6, 4], B: int32[1], C: int32[6]):
    for i, j in allo.grid(6, 4):
        acc: int32 = B[0]
        acc += A[i, j]
        C[i] = acc
        B[0] = acc


def changed_subscript(A: int32[8], B: int32[8], N: int32[1]):
    for i, j in allo.grid(6, 4):
        k: int32 = N[0] % 8
        t: int32 = B[k] + 1
        N[0] = i + j
        B[N[0] % 8] = t


def place_of_the_maximum(A: int32[6, 4], B: int32[1], C: int32[1]):
    for i, j in allo.grid(6, 4):
        if A[i, j] > B[0]:
            B[0] = A[i, j]
            C[0] = i


def alternating(A: int32[6, 4], B: int32[1]):
    for i, j in allo.grid(6, 4):
        B[0] = A[i, j] - B[0]


def another_maximum(A: int32[6, 4], B: int32[1]):
    for i, j in allo.grid(6, 4):
        if A[i, j] > B[0]:
            B[0] = A[i, j] + 1


@pytest.mark.parametrize(
    "kernel", [carries, seen_on_the_way, changed_subscript, place_of_the_maximum, alternating, another_maximum]
)
def test_what_looks_like_an_accumulator(kernel):
    for reassociate in (False, True):
        message = refusal(customize(kernel), "reorder", "j", "i", reassociate=reassociate)
        assert "the loops cannot run in the order j, i" in message and "pass reassociate=True" not in message


def maximum(A: float32[6, 4], B: float32[1]):
    for i, j in allo.grid(6, 4):
        B[0] = max(A[i, j], B[0])


def least_if(A: float32[6, 4], B: float32[1]):
    for i, j in allo.grid(6, 4):
        if B[0] > A[i, j]:
            B[0] = A[i, j]


@pytest.mark.parametrize("kernel", [maximum, least_if])
def test_extremes_of_floats_with_reassociate(kernel):
    message = refusal(customize(kernel), "reorder", "j", "i")
    assert ("pass reassociate=True" in message) == (kernel is maximum)  # of a condition on data nothing is sure
    s = customize(kernel)
    s.reorder("j", "i", reassociate=True)
    assert_faithful(kernel, s)


def test_reassociate_accepts_another_rounding():
    s = customize(convolution)
    s.reorder("q", "r", reassociate=True)
    assert str(s.steps[0]) == 's.reorder("convolution:S_y_x_0.q", "convolution:S_y_x_0.r", reassociate=True)'
    assert_faithful(convolution, s)


def test_reassociate_does_not_overrule_a_dependence():
    message = refusal(customize(wave), "reorder", "j", "i", reassociate=True)
    assert "iteration (i=1, j=1) must run before iteration (i=2, j=0)" in message


def test_bounds_known_at_run_time():
    assert_refused(
        """
        reorder: loop 'j' has run-time bounds
          note: loop 'j' is here
            File, line N, column 9
              for j in range(B[i]):
              ^
        """,
        customize(dynamic),
        "reorder",
        "j",
        "i",
    )


def test_one_loop():
    assert_refused("reorder: at least two loops are needed, got 1", customize(gemm), "reorder", "i")
    assert_refused("reorder: at least two loops are needed, got 0", customize(gemm), "reorder", [])


def test_loop_given_twice():
    assert_refused(
        """
        reorder: loop 'i' is given twice
          note: loop 'i' is here
            File, line N, column 5
              for i, j in allo.grid(4, 8):
              ^
        """,
        customize(gemm),
        "reorder",
        "i",
        "j",
        "i",
    )


def last_written(A: int32[4, 4], B: int32[4]):
    T: int32[4] = 0
    for i in range(4):
        for j in range(4):
            if i + 2 * j < 6:
                T[0] = A[i, j]
    for k in range(4):
        B[k] = T[0]


def test_what_a_later_nest_reads_is_written_in_order():
    assert_refused(
        """
        reorder: the loops cannot run in the order j, i: the statement at line N writes T[0] and writes T[0]: iteration (i=0, j=1) must run before iteration (i=1, j=0)
          note: the statement is here
            File, line N, column 17
              T[0] = A[i, j]
              ^
        """,
        customize(last_written),
        "reorder",
        "j",
        "i",
    )


def test_puts_into_an_array_of_streams_keep_their_order():
    s = customize(gemm)
    s.buffer_at("B", axis="i")
    s.unfold("S_i_j_0", axes=[0])
    s.relay("buf_B", dst="S_i_j_0", axis=0)
    first, second = s.get_loops()["load_buf_B"]
    with pytest.raises(ScheduleError, match=r"writes fifo_buf_B\[0\] and writes fifo_buf_B\[0\]"):
        s.reorder(second, first)


def test_loops_of_different_nests():
    assert_refused(
        """
        reorder: loops 'j' and 'n' are not nested in each other
          note: loop 'j' is here
            File, line N, column 5
              for i, j in allo.grid(8, 8):
              ^
          note: loop 'n' is here
            File, line N, column 5
              for m, n in allo.grid(8, 8):
              ^
        """,
        customize(two),
        "reorder",
        "n",
        "j",
    )


def test_assume_safe_is_a_truth_value():
    assert_refused(
        "reorder: assume_safe must be True or False, got 1",
        customize(gemm),
        "reorder",
        "k",
        "j",
        assume_safe=1,
    )
