"""What integer operators take: as wide as their values are and their results need, whatever their types say."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import allo
from allo.ir.types import Fixed, Int, int8, int16, int32, int64, uint16, uint32


def bytes_(A: int8[8], B: int8[8], C: int32[8]):
    for i in range(8):
        C[i] += A[i] * B[i]


def halves(A: int16[8], B: int16[8], C: int16[8]):
    for i in range(8):
        C[i] = A[i] * B[i]


def unsigned_halves(A: uint16[8], B: int16[8], C: int32[8]):
    for i in range(8):
        C[i] = A[i] * B[i]


def words(A: int32[8], B: int32[8], C: int32[8]):
    for i in range(8):
        C[i] = A[i] * B[i]


def added(A: int32[8], B: int32[8], C: int32[8]):
    for i in range(8):
        C[i] += A[i] * B[i]


def long_words(A: int32[8], B: int32[8], C: int64[8]):
    for i in range(8):
        C[i] = A[i] * B[i]


def wide(A: int64[8], B: int64[8], C: int64[8]):
    for i in range(8):
        C[i] = A[i] * B[i]


def low_bits(A: int64[8], B: int64[8], C: int16[8]):
    for i in range(8):
        C[i] = A[i] * B[i]


def masked(A: uint32[8], B: uint32[8], C: uint32[8]):
    for i in range(8):
        C[i] = (A[i] & 1023) * (B[i] % 1000)


def subscripts(C: int32[16, 16]):
    for i, j in allo.grid(16, 16):
        C[i, j] = i * j


def fixed(A: Fixed(16, 8)[8], B: Fixed(16, 8)[8], C: Fixed(16, 8)[8]):
    for i in range(8):
        C[i] = A[i] * B[i]


def nibbles(A: Int(4)[8], B: Int(4)[8], C: int8[8]):
    for i in range(8):
        C[i] = A[i] * B[i]


def estimated(kernel: Callable[..., object], loop: str = "i") -> allo.Estimate:
    s = allo.customize(kernel)
    s.pipeline(loop)
    return allo.estimate(s)


@pytest.mark.parametrize(
    ("kernel", "dsp"),
    [(bytes_, 1), (halves, 1), (unsigned_halves, 1), (words, 3), (added, 3), (long_words, 4), (wide, 8), (low_bits, 1),
     (masked, 1), (fixed, 1), (nibbles, 0)],
)  # fmt: skip
def test_products_take_multipliers_of_their_widths(kernel: Callable[..., object], dsp: int) -> None:
    assert estimated(kernel).dsp == dsp


def test_subscripts_are_as_wide_as_their_loops() -> None:
    """4 bits and a sign each: one multiplier, where an index of 32 bits would take three."""
    assert estimated(subscripts, "j").dsp == 1


def test_factors_that_are_constants() -> None:
    """0, 1 and powers of two are wires; with a sign a difference; others are products."""
    taken = {}
    for factor in (0, 1, 2, 1024, -1, -8, 3, 100):

        def scaled(A: int32[8], C: int32[8]):
            for i in range(8):
                C[i] = A[i] * factor  # noqa: B023 - compiled here

        found = estimated(scaled)
        taken[factor] = (found.dsp, found.lut)
    wires = taken[1]
    assert taken[0] <= wires and taken[2] == taken[1024] == wires
    assert taken[-1] == taken[-8] == (0, wires[1] + 32)
    assert taken[3][0] == taken[100][0] == 2


def test_quotients_by_powers_of_two() -> None:
    def quotient(A: uint32[8], B: int32[8], C: uint32[8], D: int32[8]):
        for i in range(8):
            C[i] = A[i] % 8
            D[i] = B[i] // 8

    def signed(A: int32[8], B: int32[8], C: int32[8], D: int32[8]):
        for i in range(8):
            C[i] = A[i] % 7
            D[i] = B[i] // 8

    assert estimated(quotient).loop("i").depth < 10
    assert estimated(signed).loop("i").depth > 30


def test_quotients_that_are_rounded_to_zero_take_a_sum() -> None:
    def halved(A: int32[8], C: int32[8]):
        for i in range(8):
            C[i] = A[i] / 8

    def unsigned_halved(A: uint32[8], C: uint32[8]):
        for i in range(8):
            C[i] = A[i] / 8

    assert estimated(halved).lut - estimated(unsigned_halved).lut == 29  # the quotient


def test_sums_are_no_wider_than_what_is_stored() -> None:
    """Seven terms are exact in 35 bits; what is stored has 16."""

    def short(A: int32[8], C: int16[8]):
        for i in range(8):
            C[i] = A[i] + A[i] + A[i] + A[i] + A[i] + A[i] + A[i]

    def full(A: int32[8], C: int64[8]):
        for i in range(8):
            C[i] = A[i] + A[i] + A[i] + A[i] + A[i] + A[i] + A[i]

    # 33 to 35 bits in place of 16
    assert estimated(full).lut - estimated(short).lut == sum((33, 34, 34, 35, 35, 35)) - 6 * 16


def test_registers_between_stages_are_as_wide_as_their_values() -> None:
    """The remainder waits with the value of `A`: 8 bits, although its type has 32."""

    def waits(A: uint32[8], B: uint32[8], C: uint32[8]):
        for i in range(8):
            C[i] = (B[i] % 7) * 2 + (A[i] & 255)

    def waits_whole(A: uint32[8], B: uint32[8], C: uint32[8]):
        for i in range(8):
            C[i] = (B[i] % 7) * 2 + A[i]

    narrow, whole = estimated(waits), estimated(waits_whole)
    assert narrow.ff < whole.ff


def looked_up(T: int32[500], X: int16[64], C: int32[64]):
    for i in range(64):
        C[i] = T[X[i]]


def summed_up(T: int32[500], X: int16[64], Y: int16[64]):
    for i in range(64):
        T[Y[i]] = T[X[i]] + 1


def test_a_register_file_is_a_multiplexer() -> None:
    """499 choices of one of two, three in a LUT, of 32 bits, which the logic behind waits for."""
    s = allo.customize(looked_up)
    s.pipeline("i")
    memory = allo.estimate(s)
    s.partition("T")
    found = allo.estimate(s)
    assert found.lut - memory.lut == 32 * 167


def test_a_choice_of_many_raises_the_interval_of_a_recurrence() -> None:
    """From registers, values are there at once, but for the choice of one of 500: five LUTs, before the sum, which does
    not fit into the cycle, and whose write takes what is left of the second one."""
    s = allo.customize(summed_up)
    s.pipeline("i")
    s.partition("T")
    loop = allo.estimate(s).loop("i")
    reason = "recurrence through T: choice of 500 + 1 write over distance 1"
    assert (loop.interval, str(loop.reason)) == (2, reason)
    assert allo.estimate(s, frequency=100).loop("i").interval == 1


def test_a_bank_that_is_known_needs_no_choice() -> None:
    """Eight lanes of eight banks, which iterations do not move between; and registers that unrolled loops name."""

    def lanes(A: int32[64], B: int32[64]):
        for i in range(8):
            for j in range(8):
                B[i * 8 + j] = A[i * 8 + j]

    s = allo.customize(lanes)
    s.pipeline("i")
    before = allo.estimate(s).lut
    s.partition("A", dim=1, factor=8)
    assert allo.estimate(s).lut == before
    s.partition("B", dim=1, factor=4)
    assert allo.estimate(s).lut == before

    def crossing(A: int32[64], B: int32[64]):
        for i in range(64):
            B[i] = A[i]

    s = allo.customize(crossing)
    s.pipeline("i")
    before = allo.estimate(s).lut
    s.partition("A", dim=1, factor=8)
    s.partition("B", dim=1, factor=8)
    assert allo.estimate(s).lut - before == 32 * 3 + 8


def test_a_register_file_of_many_elements_is_neither_small_nor_fast() -> None:
    """Seven LUTs in a row are more than a cycle; the tool makes no more than 1,024 banks, so that a note warns."""

    def file(T: int32[16384], X: int16[64], C: int32[64]):
        for i in range(64):
            C[i] = T[X[i]]

    def small(T: int32[64], X: int16[64], C: int32[64]):
        for i in range(64):
            C[i] = T[X[i]]

    few = allo.customize(small)
    few.pipeline("i")
    few.partition("T")
    s = allo.customize(file)
    s.pipeline("i")
    memory = allo.estimate(s)
    s.partition("T")
    found = allo.estimate(s)
    assert found.lut - memory.lut == 32 * 5461
    assert found.loop("i").depth == memory.loop("i").depth == allo.estimate(few).loop("i").depth + 1
    assert "1,024" in " ".join(found.notes)


@pytest.mark.parametrize(("banks", "luts"), [(4, 0), (3, 2 * 9), (5, 2 * 9)])
def test_banks_that_are_no_power_of_two_divide_subscripts(banks: int, luts: int) -> None:
    """A subscript of nine bits: two LUTs a bit, beside the choice of a word."""
    s = allo.customize(looked_up)
    s.pipeline("i")
    memory = allo.estimate(s)
    s.partition("T", dim=1, factor=banks)
    found = allo.estimate(s)
    choices = 32 * -(-(banks - 1) // 3)
    assert found.lut - memory.lut == choices + luts


def test_blocks_whose_length_is_no_power_of_two_divide_subscripts() -> None:
    s = allo.customize(looked_up)
    s.pipeline("i")
    memory = allo.estimate(s)
    s.partition("T", allo.Partition.Block, dim=1, factor=4)
    assert allo.estimate(s).lut - memory.lut == 32 + 18


def test_a_division_of_subscripts_is_in_the_path() -> None:
    """Memory, 1,350 ps for nine bits, and a LUT: the sum does not fit into the cycle any more."""

    def counted(banks: int) -> int:
        s = allo.customize(summed_up)
        s.pipeline("i")
        s.partition("T", dim=1, factor=banks)
        return allo.estimate(s).loop("i").depth

    assert counted(3) == counted(4) + 1
