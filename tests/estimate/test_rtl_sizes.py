"""Sizes of hardware of our own: beside counts of Yosys, and what each of them is made of."""

from __future__ import annotations

import pytest

import allo
from allo.ir.types import float32, int32
from polybench import load
from polybench.measured_rtl import read
from polybench.sizes_rtl import counted, errors


def sizes(s: allo.Schedule) -> tuple[int, int]:
    found = allo.estimate(s, profile="rtl").resources
    return found.dsp, found.lut


@pytest.mark.parametrize("kernel", ["gemm", "trmm", "heat_3d", "floyd_warshall"])
def test_blocks_are_those_that_are_counted(kernel: str) -> None:
    (known,) = (row for row in read() if (row.kernel, row.design) == (kernel, "vanilla"))
    assert known.lut is not None
    schedule = load(kernel).designs["vanilla"].customized(known.size)
    found = allo.estimate(schedule, profile="rtl", rewritten=True).resources
    assert found.dsp == known.dsp
    assert found.lut == pytest.approx(known.lut, rel=0.35 if kernel == "floyd_warshall" else 0.12)


@pytest.mark.slow
def test_errors_are_small_as_a_rule() -> None:
    found = errors(counted())
    shares = {block: sum(abs(part) <= 0.2 for part in parts) / len(parts) for block, parts in found.items()}
    assert shares["lut"] >= 0.85 and shares["ff"] >= 0.85 and shares["dsp"] >= 0.8


def test_loops_in_turn_share_units_and_choose_their_operands() -> None:
    def twice(A: float32[64], x: float32, y: float32):
        for i in range(64):
            A[i] *= x
        for j in range(64):
            A[j] *= y

    def once(A: float32[64], x: float32):
        for i in range(64):
            A[i] *= x

    (dsp, lut), (alone, least) = (sizes(allo.customize(kernel)) for kernel in (twice, once))
    assert dsp == alone == 2
    assert lut - least - 45 == round(0.6 * 64)  # a loop more, and a choice between two operands of 32 bits twice


def test_branches_in_a_pipeline_have_units_of_their_own() -> None:
    def either(A: float32[64], x: float32, n: int32):
        for i in range(64):
            if n > 3:
                A[i] *= x
            else:
                A[i] = A[i] * (x + 1.0)

    s = allo.customize(either)
    assert sizes(s)[0] == 4
    s.pipeline("i")
    assert sizes(s)[0] == 4
    s.pipeline("i", initiation_interval=2)  # in turn within the interval
    assert sizes(s)[0] == 2


def test_calls_in_turn_are_instances() -> None:
    def scaled(A: float32[64], x: float32):
        for i in range(64):
            A[i] *= x

    def both(A: float32[64], B: float32[64], x: float32):
        scaled(A, x)
        scaled(B, x)

    assert sizes(allo.customize(both))[0] == 4


@pytest.mark.parametrize(("factor", "dsp"), [(3.0, 2), (0.25, 0), (-2.0, 0)])
def test_a_product_with_a_power_of_two_moves_the_exponent(factor: float, dsp: int) -> None:
    def scaled(A: float32[64]):
        for i in range(64):
            A[i] *= factor

    assert sizes(allo.customize(scaled))[0] == dsp


@pytest.mark.parametrize(("columns", "banks", "products"), [(100, 1, 2), (128, 1, 0), (100, 4, 2), (100, 100, 0)])
def test_rows_of_addresses_are_multiplied(columns: int, banks: int, products: int) -> None:
    """`i` and `i1` by the words of a row in a bank, unless that is a power of two; the same product is made once."""

    def moved(A: int32[64, columns], B: int32[64, columns]):
        for i in range(64):
            for j in range(columns):
                B[i, j] = A[i, j] + A[63 - i, j]
        for i1 in range(64):
            for j1 in range(columns):
                B[i1, j1] += 1

    s = allo.customize(moved)
    if banks > 1:
        for array in "AB":
            s.partition(array, dim=2, factor=banks)
    assert sizes(s)[0] == products


def test_units_without_subnormal_numbers_are_smaller() -> None:
    def scaled(A: float32[64], x: float32):
        for i in range(64):
            A[i] *= x

    s = allo.customize(scaled)
    kept, flushed = (allo.estimate(s, profile="rtl", subnormals=given) for given in ("keep", "flush"))
    assert (kept.resources.dsp, kept.cycles) == (flushed.resources.dsp, flushed.cycles)
    assert kept.resources.lut - flushed.resources.lut == 693 - 164
    with pytest.raises(allo.TargetError) as unknown:
        allo.estimate(s, profile="rtl", subnormals="drop")
    assert str(unknown.value) == "subnormals must be \"keep\" or \"flush\", got 'drop'"
    with pytest.raises(allo.TargetError) as others:
        allo.estimate(s, subnormals="flush")
    assert str(others.value) == (
        "units of floats with and without subnormal numbers are those of hardware of our own\n"
        '  hint: take profile="rtl": what other tools have is in their profiles'
    )
