"""Small programs that one dropped condition would let through, and that would then compute something else."""

# ruff: noqa: F821 - kernels declare arrays without a value

import numpy as np
import pytest

from allo import ScheduleError, customize, grid
from allo.ir.types import Fixed, int32

from .checks import assert_same_meaning


def read_before_the_inner_loop(A: int32[4, 6], C: int32[4, 6], D: int32[4]):
    B: int32[4, 6]
    for i, j in grid(4, 6):
        B[i, j] = A[i, j] * 2
    for m in range(4):
        D[m] = B[m, 5]
        for n in range(6):
            C[m, n] = B[m, n] + 1


def test_a_read_before_the_inner_loop_keeps_a_nest_out_of_it():
    with pytest.raises(ScheduleError, match=r"iteration \(i=0, j=5\) must run before iteration \(m=0\)"):
        customize(read_before_the_inner_loop).compute_at("i", "n")
    s = customize(read_before_the_inner_loop)
    s.compute_at("i", "m")
    assert_same_meaning(read_before_the_inner_loop, s)


def read_beside_the_stencil(A: int32[5, 6], C: int32[4, 6], D: int32[4]):
    B: int32[5, 6]
    for i, j in grid(5, 6):
        B[i, j] = A[i, j] * 2
    for m in range(4):
        D[m] = B[m, 5]
        for n in range(6):
            C[m, n] = B[m, n] + B[m + 1, n]


def test_a_read_beside_the_target_needs_what_is_not_yet_computed():
    with pytest.raises(ScheduleError, match="the array is also used beside the target loop"):
        customize(read_beside_the_stencil).compute_at("j", "n")
    s = customize(read_beside_the_stencil)
    s.compute_at("j", "m")
    assert_same_meaning(read_beside_the_stencil, s)


def kept_from_time_steps_before(A: int32[4], C: int32[3, 2]):
    B: int32[8]
    for t in range(3):
        for i in range(4):
            B[t + i] = A[i] + 10 * t
        for j in range(2):
            C[t, j] = B[j + 2 - t]


def test_what_the_next_outer_iteration_reads_is_computed():
    with pytest.raises(
        ScheduleError, match="the array is used later, and the target loop does not need all of it"
    ):
        customize(kept_from_time_steps_before).compute_at("i", "j")


def every_other(A: int32[8], C: int32[8]):
    B: int32[8] = 0
    for i in range(0, 8, 2):
        B[i] = A[i] + 5
    for j in range(8):
        C[j] = B[j] + 1


def test_loops_with_different_steps_are_not_merged():
    s = customize(every_other)
    s.compute_at("i", "j")
    assert_same_meaning(every_other, s)


def two_trailing_groups(A: int32[4, 3, 2], B: int32[4, 3], D: int32[4]):
    for i in range(4):
        for j in range(3):
            for k in range(2):
                A[i, j, k] += 1
            B[i, j] = B[i, j] * 2 + 1
        D[i] = B[i, 2]


def two_leading_groups(A: int32[4, 3, 2], B: int32[4, 3], D: int32[4]):
    for i in range(4):
        D[i] = B[i, 2]
        for j in range(3):
            B[i, j] = B[i, j] * 2 + D[i]
            for k in range(2):
                A[i, j, k] += 1


@pytest.mark.parametrize(
    "kernel", [two_trailing_groups, two_leading_groups], ids=lambda kernel: kernel.__name__
)
@pytest.mark.parametrize("order", ["kij", "kji", "ikj", "jki"])
def test_groups_between_loops_keep_their_order(kernel, order):
    s = customize(kernel)
    s.reorder(*order)
    assert_same_meaning(kernel, s)


def last_of_a_triangle(A: int32[4, 4], B: int32[4, 4], C: int32[1]):
    x: int32 = 0
    for i in range(4):
        for j in range(4 - i):
            x = A[i, j]
            B[i, j] = x
    C[0] = x


def test_the_last_value_of_a_scalar_that_is_read_behind_the_loops():
    with pytest.raises(
        ScheduleError, match=r"cannot run in the order j, i: the statement at line .* writes x"
    ):
        customize(last_of_a_triangle).reorder("j", "i")


def private_of_a_triangle(A: int32[4, 4], B: int32[4, 4]):
    x: int32
    for i in range(4):
        for j in range(4 - i):
            x = A[i, j]
            B[i, j] = x * x


def test_a_scalar_that_only_one_iteration_uses_is_no_obstacle():
    s = customize(private_of_a_triangle)
    s.reorder("j", "i")
    assert_same_meaning(private_of_a_triangle, s)


Saturated, Rounded, Cut, Same = (
    Fixed(12, 6, "rnd", "sat"),
    Fixed(12, 6, "rnd", "wrap"),
    Fixed(10, 4),
    Fixed(12, 6),
)


@pytest.mark.parametrize(("between", "exact"), [(Saturated, False), (Rounded, False), (Cut, False), (Same, True)])
def test_sums_of_fixed_point_numbers_that_are_converted_on_the_way(between, exact):
    def kernel(A: Fixed(16, 8)[6, 4], C: Fixed(12, 6)[1]):
        for i, j in grid(6, 4):
            C[0] = between(C[0] + A[i, j])

    s = customize(kernel)
    if not exact:
        with pytest.raises(ScheduleError, match="cannot run in the order j, i"):
            s.reorder("j", "i")
        return
    s.reorder("j", "i")
    A = np.random.default_rng(2).integers(-3000, 3000, (6, 4)) / 256
    results = [np.zeros(1), np.zeros(1)]
    s.build()(A, results[0])
    customize(kernel).build()(A, results[1])
    assert results[0] == results[1] != 0


def antisymmetric(A: int32[4, 4], C: int32[4, 4]):
    B: int32[4, 4]
    for i, j in grid(4, 4):
        B[i, j] = A[i, j] * 3
    for x, y in grid(4, 4):
        C[x, y] = B[x, y] - B[y, x]


def test_elements_with_other_subscripts_are_not_one_get():
    with pytest.raises(
        ScheduleError, match=r"B\[0, 1\] is read more than once, but a FIFO gives an element once"
    ):
        customize(antisymmetric).relay("antisymmetric:B", "S_x_y_1")


def square(A: int32[4, 4], C: int32[4, 4]):
    B: int32[4, 4]
    for i, j in grid(4, 4):
        B[i, j] = A[i, j] * 3
    for x, y in grid(4, 4):
        C[x, y] = B[x, y] - B[x, y] * 2


def test_the_same_element_twice_is_one_get():
    s = customize(square)
    s.relay("square:B", "S_x_y_1")
    assert_same_meaning(square, s)
