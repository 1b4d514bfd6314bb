"""Loops in hardware: sequences, pipelines, unrolled copies, bounds that vary, calls, conditions around loops."""

from __future__ import annotations

import numpy as np

import allo
from allo.customize import Partition
from allo.ir.types import float32, index, int8, int32

from .simulated import assert_as_predicted

RANDOM = np.random.default_rng(21)


def numbers(*shape: int, dtype: type = np.int32) -> np.ndarray:
    return RANDOM.integers(-100, 100, shape).astype(dtype)


def gemm(A: int32[8, 8], B: int32[8, 8], C: int32[8, 8]):
    for i, j in allo.grid(8, 8):
        for k in allo.reduction(8):
            C[i, j] += A[i, k] * B[k, j]


def test_loops_one_after_the_other() -> None:
    made = assert_as_predicted(allo.customize(gemm), numbers(8, 8), numbers(8, 8), numbers(8, 8))
    assert made.cycles == made.predicted_cycles == 3409


def test_a_nest_as_one_pipeline() -> None:
    s = allo.customize(gemm)
    s.reorder("k", "j")
    s.pipeline("j")
    made = assert_as_predicted(s, numbers(8, 8), numbers(8, 8), numbers(8, 8))
    assert made.cycles == 8 * 8 * 8 + 4


def test_quotients_by_constants_are_products() -> None:
    def digits(A: int32[64], Q: int32[64], R: int32[64]):
        for i in range(64):
            Q[i] = A[i] // 7
            R[i] = A[i] % 10

    s = allo.customize(digits)
    s.pipeline("i")
    A = np.random.default_rng(3).integers(-(1 << 31), 1 << 31, 64).astype(np.int32)
    A[:3] = [-(1 << 31), (1 << 31) - 1, -1]
    made = assert_as_predicted(s, A, numbers(64), numbers(64))
    assert "allo_divmod" not in made.code and "allo_mul" in made.code
    assert made.cycles < 80  # a divider alone takes 32 behind the last element


def test_products_of_copies_by_one_factor_share_a_multiplier() -> None:
    def product(A: int8[16, 8], B: int8[8, 4], C: int32[16, 4]):
        for i in range(16):
            for j in range(4):
                total: int32 = 0
                for k in range(8):
                    total += A[i, k] * B[k, j]
                C[i, j] = total

    s = allo.customize(product)
    s.pipeline("i")
    s.partition("A", dim=2)
    s.partition("B", dim=0)
    s.partition("C", dim=2)
    A, B = numbers(16, 8, dtype=np.int8), numbers(8, 4, dtype=np.int8)
    A[0], B[:, 0], B[:, 1] = -128, -128, 127
    made = assert_as_predicted(s, A, B, numbers(16, 4))
    assert made.code.count("allo_mul #") == 8 * 4 // 2


def test_an_unrolled_loop_on_banks() -> None:
    s = allo.customize(gemm)
    s.pipeline("j")
    s.partition("A", dim=2, factor=4)
    s.partition("B", dim=1, factor=4)
    made = assert_as_predicted(s, numbers(8, 8), numbers(8, 8), numbers(8, 8), random_state=3)
    assert made.cycles == 8 * 8 + 4


def test_writes_that_later_ones_overwrite_take_no_port() -> None:
    """Between the first and the last write of an element there are writes of others."""

    def kernel(A: int32[8, 4], B: int32[8, 4]):
        for i in range(0, 2, 2):
            B[3, 3 - i] = A[3 - i, i + 1] + 1
            for j in range(i, 6):
                A[j, 3] = B[i, 3] - j

    s = allo.customize(kernel)
    s.pipeline("i", initiation_interval=3)
    s.buffer_at("A", axis="i")
    assert_as_predicted(s, numbers(8, 4), numbers(8, 4))


def test_reads_behind_writes_that_may_be_of_their_element_have_ports() -> None:
    def kernel(A: int32[12, 12], B: int32[12, 12], L: int32[12, 12]):
        for i in range(2, 6):
            if i + i < 5:
                L[5 - i, i + 2] += L[2 * i, i] * 3 + A[2 * i, i + 1]
            for j in range(0, 6):
                for k in range(0, 3):
                    B[5 - j, j] = L[2 * i, 3] * 3 + L[k + i, i]
                    L[j - k + 5, 3] += L[j, j + i] * 3 + L[k + 1, 2 * j]

    s = allo.customize(kernel)
    s.pipeline("i", initiation_interval=2)
    assert_as_predicted(s, *(numbers(12, 12) for _ in range(3)))


def test_floats_with_a_recurrence() -> None:
    def total(x: float32[16], y: float32[16]) -> float32:
        found: float32 = 0.0
        for i in range(16):
            found += x[i] * y[i]
        return found

    s = allo.customize(total)
    s.pipeline("i")
    x, y = (RANDOM.standard_normal(16).astype(np.float32) for _ in range(2))
    made = assert_as_predicted(s, x, y)
    assert made.cycles == 135  # 16 sums of 7 registers and a write, what is around them, and 1 to end


def test_bounds_that_vary_calls_and_conditions_around_loops() -> None:
    def row(A: int32[8, 8], x: int32[8], i: int32):
        for j in range(8):
            x[j] += A[i, j]

    def sums(A: int32[8, 8], x: int32[8], y: int8[8]):
        for i in range(8):
            for j in range(i, 8):
                A[i, j] = A[i, j] - A[j, i]
            if i > 3:
                row(A, x, i)
            y[i] = x[i] // 3

    assert_as_predicted(allo.customize(sums), numbers(8, 8), numbers(8), numbers(8, dtype=np.int8))


def test_straight_code_that_a_pipeline_calls_is_part_of_it() -> None:
    def clamped(x: int32) -> int32:
        return 0 if x < 0 else x

    def polynomial(x: int32, c: int32[4]) -> int32:
        terms: int32[2] = [c[0] * x, c[1] * x * x]
        sum: int32 = c[2]
        for k in range(2):
            sum += terms[k]
        return clamped(sum) - clamped(terms[1])

    def count(seen: int32[16], place: int32):
        seen[place] += 1

    def top(A: int32[32], C: int32[4], B: int32[32], H: int32[16]):
        for i in range(32):
            B[i] = polynomial(A[i], C) - polynomial(A[i] + 1, C)
            count(H, A[i] & 15)

    s = allo.customize(top)
    s.unroll("polynomial:k")
    s.pipeline("i")
    s.partition("top:C", dim=0)
    made = assert_as_predicted(s, numbers(32), numbers(4), np.zeros(32, np.int32), np.zeros(16, np.int32))
    (loop,) = made.loops
    assert loop.iterations == 32 and loop.intervals[0] <= 3


def test_a_value_that_a_condition_replaces() -> None:
    """It was taken from the store that surely runs, although another one behind it did."""

    def positive(x: int32[8], y: int32[8]):
        for i in range(8):
            t: int32 = 7
            if x[i] > 0:
                t = x[i]
                y[i] = t
            y[i] += t

    s = allo.customize(positive)
    s.pipeline("i")
    assert_as_predicted(s, numbers(8), numbers(8))


def test_while_loops_constants_and_single_bits() -> None:
    def search(x: int32[8], y: int32[8]) -> int32:
        weights: int32[6] = [3, 1, 2, 5, -4, 7]
        n: int32 = 0
        while n < 7 and x[n] > 0:
            y[n] = x[n] * weights[n % 6]
            y[n][3] = x[n][0]
            n += 1
        return n

    x = np.array([3, 4, 9, 2, -1, 0, 3, 4], np.int32)
    made = assert_as_predicted(allo.customize(search), x, numbers(8))
    assert made.predicted_cycles is None


def test_a_default_that_a_guarded_load_replaces() -> None:
    """The load stays under its condition, since its element does not exist in the last iteration."""

    def shifted(x: int32[8], y: int32[8]):
        for i in range(8):
            t: int32 = 5
            if i < 7:
                t = x[i + 1]
            y[i] = t + y[i]

    s = allo.customize(shifted)
    s.pipeline("i")
    assert_as_predicted(s, numbers(8), numbers(8))


def test_subscripts_that_choose_among_banks() -> None:
    def gathered(x: int32[12], y: int32[12], z: int32[12]):
        for i in range(12):
            z[i * 5 % 12] = x[i * 7 % 12] + y[i * 5 % 12]

    s = allo.customize(gathered)
    s.partition("x", factor=3)
    s.partition("y", factor=4, partition_type=Partition.Block)
    s.partition("z", factor=5)
    s.pipeline("i")
    assert_as_predicted(s, numbers(12), numbers(12), numbers(12))


def of_block(b: index, A: int32[20, 8], C: int32[10, 8]):
    for r in range(10):
        for q in range(8):
            C[r, q] = A[10 * b + r, q] + 1


def by_blocks(A: int32[20, 8], C: int32[10, 8], D: int32[10, 8]):
    for b in range(2):
        of_block(b, A, C)
        for r, q in allo.grid(10, 8):
            D[r, q] += C[r, q]


def test_sums_of_indices_choose_banks() -> None:
    """`10 * b + r` is computed, where a call was inlined: each of five copies still reads a bank of its own."""
    s, part = allo.customize(by_blocks), allo.customize(of_block)
    outer, inner = part.split("r", 5)
    part.reorder(outer, "q", inner)
    part.unroll(inner)
    part.pipeline("q")
    part.partition("of_block:A", dim=1, factor=5)
    part.partition("of_block:C", dim=1, factor=5)
    s.compose(part)
    s.inline("of_block")
    assert_as_predicted(s, numbers(20, 8), numbers(10, 8), numbers(10, 8))


def test_counters_hold_the_number_behind_the_last_one() -> None:
    """Of bounds in which two variables cancel, and of steps that leave the range of the loop."""

    def moving(A: int32[12]):
        for u in range(4):
            for v in range(4):
                for y in range(v - u + 3, v - u + 5):
                    A[y] += v
        for u in range(2):
            for y in range(u, u + 6, 4):
                A[y] += 7

    assert_as_predicted(allo.customize(moving), numbers(12))


def test_loops_get_constant_bounds_from_those_around_them() -> None:
    """`j` ends at `i`, which is 1: it is unrolled in the pipeline as other loops are."""

    def once(A: int32[8], B: int32[8]):
        for i in range(1, 3, 2):
            A[i] = A[i] - i
            for j in range(i):
                for k in range(1, 5):
                    B[j + k] = A[j] * 3 + B[j]

    s = allo.customize(once)
    s.unroll("k", factor=2)
    s.pipeline("i", initiation_interval=3)
    assert_as_predicted(s, numbers(8), numbers(8))


def test_reads_in_front_of_a_loop_have_the_ports_of_all_their_cycles() -> None:
    """Three reads of one bank take two cycles, the second of which the first iteration once took too."""

    def scaled(A: int32[8], B: int32[32]):
        for i in range(8):
            A[i] += B[i + 4] * B[1] + B[2] * B[3]

    A, B = np.arange(8, dtype=np.int32), np.arange(32, dtype=np.int32) ** 2 + 3
    wanted = A + B[4:12] * B[1] + B[2] * B[3]
    s = allo.customize(scaled)
    s.pipeline("i")
    assert_as_predicted(s, A, B)
    np.testing.assert_array_equal(A, wanted)


def test_writes_that_never_run_give_nothing() -> None:
    """The copies behind a tail never run; reads in them once asked for what writes have."""

    def updated(A: int32[16, 6], V: int32[16]):
        for i in range(8):
            for j in range(4):
                if V[(2 * i + 2) % 16] > 1:
                    V[j] += A[i, (j // 2) % 6] + V[(5 * i) % 16]
                if V[(j + 1) % 16] > -3:
                    A[j, 5 - (i % 6)] = V[j]

    s = allo.customize(updated)
    s.pipeline("i", initiation_interval=2)
    s.split("j", factor=3)
    A, V = np.arange(96, dtype=np.int32).reshape(16, 6) - 40, np.arange(16, dtype=np.int32) - 3
    assert_as_predicted(s, A, V)


def test_loops_without_iterations_in_a_pipeline() -> None:
    """Neither an estimate nor hardware has any copies of them."""

    def passed(A: int32[12], B: int32[12]):
        for i in range(1, 3):
            A[i] += 5
            for j in range(1, 1):
                B[i - j + 5] = B[2 * i] + 1
                for k in range(3, 3):
                    B[k] = A[k]

    s = allo.customize(passed)
    s.pipeline("i")
    assert_as_predicted(s, np.arange(12, dtype=np.int32), np.arange(12, dtype=np.int32))
    assert allo.estimate(s).cycles is not None


def test_reads_behind_a_write_share_with_none_before_it() -> None:
    """A read that never runs takes what was read at first; others, behind a write, once shared with that."""

    def moved(A: int32[12, 12], L: int32[12, 12]):
        for i in range(2, 4):
            for j in range(6):
                for k in range(5):
                    if k + i < 5:
                        A[5 - i, j + 1] = L[3, 5 - k] * 3 + A[3, k + 1]

    A, L = (numbers(144).reshape(12, 12) for _ in range(2))
    wanted = A.copy()
    allo.interpret(moved)(wanted, L)
    s = allo.customize(moved)
    s.pipeline("i", initiation_interval=3)
    assert_as_predicted(s, A, L)
    np.testing.assert_array_equal(A, wanted)
