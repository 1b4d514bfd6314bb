"""compute_at: a producer's nest merged with its consumer, or run again for what each iteration reads."""

# Golden text is not wrapped, and kernels declare arrays by annotation.
# ruff: noqa: E501, F821, B007

import allo
from allo import customize
from allo.ir.types import float32, int32

from .checks import assert_faithful, assert_ir, assert_refused, refusal


def pointwise(A: int32[4, 6], C: int32[4, 6]):
    B: int32[4, 6]
    for i, j in allo.grid(4, 6):
        B[i, j] = A[i, j] * 2
    for m, n in allo.grid(4, 6):
        C[m, n] = B[m, n] + 1


def blur(A: int32[10, 8], C: int32[8, 6]):
    B: int32[10, 6]
    for y, x in allo.grid(10, 6):
        B[y, x] = A[y, x] + A[y, x + 1] + A[y, x + 2]
    for r, q in allo.grid(8, 6):
        C[r, q] = B[r, q] + B[r + 1, q] + B[r + 2, q]


def sums(A: float32[6, 8], B: float32[6], C: float32[6, 8]):
    for i in range(6):
        B[i] = 0.0
        for k in range(8):
            B[i] += A[i, k]
    for m in range(6):
        for n in range(8):
            C[m, n] = A[m, n] / B[m]


def scan(A: int32[10], C: int32[9]):
    B: int32[10] = 0
    for i in range(1, 10):
        B[i] = B[i - 1] + A[i]
    for j in range(9):
        C[j] = B[j + 1]


def ahead(A: int32[10], C: int32[10]):
    B: int32[10] = 0
    for i in range(9):
        B[i] = B[i] * 2 + A[i]
    for j in range(9):
        C[j] = B[j + 1]


def overwritten(A: int32[10]):
    B: int32[10] = 0
    for i in range(9):
        B[i] = A[i]
    for j in range(8):
        A[j] = B[j + 1]


def between(A: int32[10], C: int32[10]):
    B: int32[10] = 0
    for i in range(10):
        B[i] = A[i]
    A[3] = 4
    for j in range(10):
        C[j] = B[j]


def kept(A: int32[10], B: int32[10], C: int32[6]):
    for i in range(10):
        B[i] = A[i]
    for j in range(6):
        C[j] = B[j] + B[j + 2]


def used_before(A: int32[10], C: int32[10]):
    B: int32[10]
    for i in range(10):
        B[i] = A[i]
    for j in range(8):
        C[j] = B[9]
        for k in range(2):
            C[j] += B[j + k]


def written_too(A: int32[10], C: int32[10]):
    B: int32[10]
    for i in range(10):
        B[i] = A[i]
    for j in range(8):
        C[j] = B[j + 1]
        B[j] = 0


def twice(A: int32[10], B: int32[10], C: int32[8]):
    for i in range(8):
        B[i] = A[i]
        B[i + 1] = 3
    for j in range(7):
        C[j] = B[j] + B[j + 1]


def indirect(A: int32[10], P: int32[10], C: int32[10]):
    B: int32[10] = 0
    for i in range(10):
        B[P[i]] = A[i]
    for j in range(10):
        C[j] = B[P[j]]


def unread(A: int32[10], B: int32[10], C: int32[8]):
    for i in range(10):
        B[i] = A[i]
    for j in range(8):
        C[j] = A[j]


def time_steps(A: int32[10], C: int32[10]):
    B: int32[10] = 0
    for t in range(3):
        for i in range(8):
            B[i] = A[i] + t
        for j in range(4):
            C[j + t] += B[j + 2] + B[9 - j]


def dynamic(A: int32[8], C: int32[8]):
    B: int32[8]
    for i in range(8):
        B[i] = A[i]
    for j in range(A[0]):
        C[0] += B[0]


def test_merge_at_the_innermost_loop():
    s = customize(pointwise)
    assert s.compute_at("i", "n") is None
    assert_ir(
        s,
        """
        func.func @pointwise(%arg0: memref<4x6xi32> {allo.name = "A"}, %arg1: memref<4x6xi32> {allo.name = "C"}) {
          %alloc = memref.alloc() {allo.name = "B"} : memref<4x6xi32>
          affine.for %arg2 = 0 to 4 {
            affine.for %arg3 = 0 to 6 {
              %0 = affine.load %arg0[%arg2, %arg3] : memref<4x6xi32>
              %1 = arith.extsi %0 : i32 to i34
              %c2_i34 = arith.constant 2 : i34
              %2 = arith.muli %1, %c2_i34 : i34
              %3 = arith.trunci %2 : i34 to i32
              affine.store %3, %alloc[%arg2, %arg3] : memref<4x6xi32>
              %4 = affine.load %alloc[%arg2, %arg3] : memref<4x6xi32>
              %5 = arith.extsi %4 : i32 to i33
              %c1_i33 = arith.constant 1 : i33
              %6 = arith.addi %5, %c1_i33 : i33
              %7 = arith.trunci %6 : i33 to i32
              affine.store %7, %arg1[%arg2, %arg3] : memref<4x6xi32>
            } {allo.name = "n"}
          } {allo.name = "m", allo.nest = "S_m_n_1", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(pointwise, s)


def test_merge_at_an_outer_loop():
    s = customize(pointwise)
    s.compute_at("j", "m")
    assert [loop.name for loop in s.get_loops()["S_m_n_1"]] == ["m", "j", "n"]
    assert_faithful(pointwise, s)


def one_scalar(A: int32[6], B: int32[6], C: int32[6], t: int32[1]):
    for i in range(6):
        t[0] = A[i] * 2
        B[i] = t[0]
    for j in range(6):
        t[0] = B[j] + 1
        C[j] = t[0]


def test_merge_of_nests_that_each_fill_the_same_scratch_space():
    s = customize(one_scalar)
    s.compute_at("i", "j")
    assert [nest.name for nest in s.get_loops()] == ["S_j_1"]
    assert_faithful(one_scalar, s)


def kept_scalar(A: int32[6], B: int32[6], C: int32[6], t: int32[1]):
    for i in range(6):
        t[0] = A[i] * 2
        B[i] = t[0]
    for j in range(6):
        C[j] = t[0] + B[j]


def test_scratch_space_whose_last_value_the_target_reads():
    assert "must run before" in refusal(customize(kept_scalar), "compute_at", "i", "j")


def test_rows_of_a_stencil_are_computed_again():
    s = customize(blur)
    s.compute_at("y", "r")
    assert_ir(
        s,
        """
        func.func @blur(%arg0: memref<10x8xi32> {allo.name = "A"}, %arg1: memref<8x6xi32> {allo.name = "C"}) {
          %alloc = memref.alloc() {allo.name = "B"} : memref<10x6xi32>
          affine.for %arg2 = 0 to 8 {
            affine.for %arg3 = affine_map<(d0) -> (d0)>(%arg2) to affine_map<(d0) -> (d0 + 3)>(%arg2) {
              affine.for %arg4 = 0 to 6 {
                %0 = affine.load %arg0[%arg3, %arg4] : memref<10x8xi32>
                %1 = arith.extsi %0 : i32 to i33
                %2 = affine.load %arg0[%arg3, %arg4 + 1] : memref<10x8xi32>
                %3 = arith.extsi %2 : i32 to i33
                %4 = arith.addi %1, %3 : i33
                %5 = arith.extsi %4 : i33 to i34
                %6 = affine.load %arg0[%arg3, %arg4 + 2] : memref<10x8xi32>
                %7 = arith.extsi %6 : i32 to i34
                %8 = arith.addi %5, %7 : i34
                %9 = arith.trunci %8 : i34 to i32
                affine.store %9, %alloc[%arg3, %arg4] : memref<10x6xi32>
              } {allo.name = "x"}
            } {allo.name = "y"}
            affine.for %arg3 = 0 to 6 {
              %0 = affine.load %alloc[%arg2, %arg3] : memref<10x6xi32>
              %1 = arith.extsi %0 : i32 to i33
              %2 = affine.load %alloc[%arg2 + 1, %arg3] : memref<10x6xi32>
              %3 = arith.extsi %2 : i32 to i33
              %4 = arith.addi %1, %3 : i33
              %5 = arith.extsi %4 : i33 to i34
              %6 = affine.load %alloc[%arg2 + 2, %arg3] : memref<10x6xi32>
              %7 = arith.extsi %6 : i32 to i34
              %8 = arith.addi %5, %7 : i34
              %9 = arith.trunci %8 : i34 to i32
              affine.store %9, %arg1[%arg2, %arg3] : memref<8x6xi32>
            } {allo.name = "q"}
          } {allo.name = "r", allo.nest = "S_r_q_1", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(blur, s)


def test_window_of_a_stencil_is_computed_again():
    s = customize(blur)
    s.compute_at("y", "q")
    assert "for y in range(r, r + 3):" in s.pseudocode() and "for x in range(q, q + 1):" in s.pseudocode()
    assert_faithful(blur, s)


def test_a_stencil_in_tiles():
    s = customize(blur)
    outer, _ = s.split("r", 3)
    s.compute_at("y", outer)
    s.buffer_at("B", axis=outer)
    assert "for y in range(3 * r.outer, min(10, 3 * r.outer + 5)):" in s.pseudocode()
    assert_faithful(blur, s)


def test_reduction_inside_of_the_producer():
    s = customize(sums)
    s.compute_at("i", "m")
    assert [loop.name for loop in s.get_loops()["S_m_1"]] == ["m", "k", "n"]
    s.undo()
    s.compute_at("i", "n")
    assert_faithful(sums, s)


def test_triangle_is_computed_again():
    def corner(A: int32[8, 8], C: int32[6, 6]):
        B: int32[8, 8]
        for i in range(8):
            for j in range(i + 1):
                B[i, j] = A[i, j] * 2
        for m in range(6):
            for n in range(m + 1):
                C[m, n] = B[m, n] + B[m + 1, n]

    s = customize(corner)
    s.compute_at("i", "n")
    assert [loop.name for loop in s.get_loops()["S_m_1"]] == ["m", "n", "i", "j"]
    assert_faithful(corner, s)


def test_values_of_an_earlier_time_step():
    s = customize(time_steps)
    assert_refused(
        """
        compute_at: the nest of loop 'i' cannot be computed at loop 'j': the array is used later, and the target loop does not need all of it (the statement at line N writes B[i])
          note: the statement is here
            File, line N, column 13
              B[i] = A[i] + t
              ^
        """,
        s,
        "compute_at",
        "i",
        "j",
    )


def test_what_another_iteration_writes():
    assert_refused(
        """
        compute_at: the nest of loop 'i' cannot be computed at loop 'j': it reads what another of its iterations writes (the statement at line N writes B[i], the statement at line N reads B[i - 1])
          note: the statement is here
            File, line N, column 9
              B[i] = B[i - 1] + A[i]
              ^
          note: the statement is here
            File, line N, column 16
              B[i] = B[i - 1] + A[i]
                     ^
        """,
        customize(scan),
        "compute_at",
        "i",
        "j",
    )


def test_order_that_a_dependence_forbids():
    assert_refused(
        """
        compute_at: the nest of loop 'i' cannot be computed at loop 'j': the statement at line N writes B[i] and the statement at line N reads B[j + 1]: iteration (i=1) must run before iteration (j=0)
          note: the statement is here
            File, line N, column 9
              B[i] = B[i] * 2 + A[i]
              ^
          note: the statement is here
            File, line N, column 16
              C[j] = B[j + 1]
                     ^
        """,
        customize(ahead),
        "compute_at",
        "i",
        "j",
        assume_safe=True,
    )


def test_inputs_that_the_target_changes():
    assert_refused(
        """
        compute_at: the nest of loop 'i' cannot be computed at loop 'j': the statement at line N reads A[i] and the statement at line N writes A[j]: iteration (i=0) must run before iteration (j=0)
          note: the statement is here
            File, line N, column 16
              B[i] = A[i]
                     ^
          note: the statement is here
            File, line N, column 9
              A[j] = B[j + 1]
              ^
        """,
        customize(overwritten),
        "compute_at",
        "i",
        "j",
    )


def test_statement_between():
    assert_refused(
        """
        compute_at: the nest of loop 'i' cannot be computed at loop 'j': the statement at line N reads A[i] and the statement at line N writes A[3]: iteration (i=3) must run before the second
          note: the statement is here
            File, line N, column 16
              B[i] = A[i]
                     ^
          note: the statement is here
            File, line N, column 5
              A[3] = 4
              ^
        """,
        customize(between),
        "compute_at",
        "i",
        "j",
    )


def test_array_that_is_needed_whole():
    assert_refused(
        """
        compute_at: the nest of loop 'i' cannot be computed at loop 'j': the array is used later, and the target loop does not need all of it (the statement at line N writes B[i])
          note: the statement is here
            File, line N, column 9
              B[i] = A[i]
              ^
        """,
        customize(kept),
        "compute_at",
        "i",
        "j",
    )


def test_array_used_beside_the_target():
    assert_refused(
        """
        compute_at: the nest of loop 'i' cannot be computed at loop 'k': the array is also used beside the target loop (the statement at line N writes B[i], the statement at line N reads B[9])
          note: the statement is here
            File, line N, column 9
              B[i] = A[i]
              ^
          note: the statement is here
            File, line N, column 16
              C[j] = B[9]
                     ^
        """,
        customize(used_before),
        "compute_at",
        "i",
        "k",
    )


def test_array_that_the_target_writes():
    assert_refused(
        """
        compute_at: the nest of loop 'i' cannot be computed at loop 'j': the target's nest writes the array too (the statement at line N writes B[i], the statement at line N writes B[j])
          note: the statement is here
            File, line N, column 9
              B[i] = A[i]
              ^
          note: the statement is here
            File, line N, column 9
              B[j] = 0
              ^
        """,
        customize(written_too),
        "compute_at",
        "i",
        "j",
    )


def test_elements_written_twice():
    assert_refused(
        """
        compute_at: the nest of loop 'i' cannot be computed at loop 'j': the array is used later, and elements of it are written more than once (the statement at line N writes B[i])
          note: the statement is here
            File, line N, column 9
              B[i] = A[i]
              ^
        """,
        customize(twice),
        "compute_at",
        "i",
        "j",
    )


def test_nothing_to_compute():
    s = customize(unread)
    s.split("j", 2)
    assert_refused(
        """
        compute_at: the nest of loop 'i' cannot be computed at loop 'j.outer': the target loop reads nothing that it writes (the statement at line N writes B[i])
          note: the statement is here
            File, line N, column 9
              B[i] = A[i]
              ^
        """,
        s,
        "compute_at",
        "i",
        "j.outer",
    )


def test_what_cannot_be_decided():
    assert_refused(
        """
        compute_at: the nest of loop 'i' cannot be computed at loop 'j', because it cannot be decided: the statement at line N writes B[?], but it has a subscript that is not affine
          note: the statement is here
            File, line N, column 9
              B[P[i]] = A[i]
              ^
          hint: if you know that it is safe, pass assume_safe=True
        """,
        customize(indirect),
        "compute_at",
        "i",
        "j",
    )


def test_assume_safe_accepts_what_cannot_be_decided():
    s = customize(indirect)
    s.compute_at("i", "j", assume_safe=True)
    assert str(s.steps[0]) == 's.compute_at("indirect:S_i_0.i", target_loop="indirect:S_j_1.j", assume_safe=True)'


def test_parallel_target_that_would_share_the_array():
    s = customize(blur)
    s.parallel("r")
    assert_refused(
        """
        compute_at: loop 'r' runs in parallel and could no longer do so: the statement at line N writes B[y, x] and the statement at line N reads B[r, q]: iteration (r=0, y=1, x=0) must run before iteration (r=1, q=0)
          note: the statement is here
            File, line N, column 9
              B[y, x] = A[y, x] + A[y, x + 1] + A[y, x + 2]
              ^
          note: the statement is here
            File, line N, column 19
              C[r, q] = B[r, q] + B[r + 1, q] + B[r + 2, q]
                        ^
        """,
        s,
        "compute_at",
        "y",
        "r",
    )


def test_annotated_producer():
    s = customize(pointwise)
    s.pipeline("j")
    assert_refused(
        """
        compute_at: loop 'j' is annotated with pipeline=1
          note: loop 'j' is here
            File, line N, column 5
              for i, j in allo.grid(4, 6):
              ^
          hint: change the structure of the loop first, then annotate the new loops
        """,
        s,
        "compute_at",
        "i",
        "n",
    )


def test_target_that_comes_first():
    assert_refused(
        """
        compute_at: loop 'i' is not in a nest that follows that of loop 'm' in the same block
          note: loop 'm' is here
            File, line N, column 5
              for m, n in allo.grid(4, 6):
              ^
          note: loop 'i' is here
            File, line N, column 5
              for i, j in allo.grid(4, 6):
              ^
        """,
        customize(pointwise),
        "compute_at",
        "m",
        "i",
    )


def test_one_nest():
    assert_refused(
        """
        compute_at: loops 'i' and 'j' are in one nest
          note: loop 'i' is here
            File, line N, column 5
              for i, j in allo.grid(4, 6):
              ^
          note: loop 'j' is here
            File, line N, column 5
              for i, j in allo.grid(4, 6):
              ^
        """,
        customize(pointwise),
        "compute_at",
        "i",
        "j",
    )


def test_run_time_bounds():
    assert_refused(
        """
        compute_at: loop 'j' has run-time bounds
          note: loop 'j' is here
            File, line N, column 5
              for j in range(A[0]):
              ^
        """,
        customize(dynamic),
        "compute_at",
        "i",
        "j",
    )


def test_a_nest_that_does_nothing():
    def kernel(A: int32[8], B: int32[8]):
        for i in range(8):
            if 3 < -3:
                B[i] = 1
        for i in range(4):
            A[i] = B[i]

    assert_refused(
        "compute_at: the nest of loop 'i' cannot be computed at loop 'i': it writes nothing",
        customize(kernel),
        "compute_at",
        "S_i_0.i",
        "S_i_1.i",
    )
