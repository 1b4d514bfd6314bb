"""Estimates by the profile of our own library against hand-written designs, simulated cycle by cycle."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import allo
from allo.ir.types import Fixed, float32, float64, int8, int32
from allo.target import load_target


def in_lanes(s: allo.Schedule, *loops: str) -> allo.Schedule:
    for loop in loops:
        s.pipeline(loop)
    s.partition("row", factor=8)
    s.partition("B", dim=2, factor=8)
    s.partition("C", dim=2, factor=8)
    return s


def flat() -> allo.Schedule:
    """Eight sums a cycle in one nest; a row of sums in memory that is read in no time."""
    def gemm(A: float32[64, 64], B: float32[64, 64], C: float32[64, 64], row: float32[64]):
        for i, k, jo in allo.grid(64, 64, 8):
            for j in range(8):
                total: float32 = row[8 * jo + j] + A[i, k] * B[k, 8 * jo + j]
                row[8 * jo + j] = 0.0 if k == 63 else total
                if k == 63:
                    C[i, 8 * jo + j] = total

    return in_lanes(allo.customize(gemm), "jo")


def rows() -> allo.Schedule:
    """A row is set to zero, computed, and written back: three pipelines one after the other."""
    def gemm(A: float32[64, 64], B: float32[64, 64], C: float32[64, 64]):
        row: float32[64]
        for i in range(64):
            for j0 in range(8):
                for l0 in range(8):
                    row[8 * j0 + l0] = 0.0
            for k, jo in allo.grid(64, 8):
                for j in range(8):
                    row[8 * jo + j] += A[i, k] * B[k, 8 * jo + j]
            for j1 in range(8):
                for l1 in range(8):
                    C[i, 8 * j1 + l1] = row[8 * j1 + l1]

    return in_lanes(allo.customize(gemm), "j0", "jo", "j1")


def integers() -> allo.Schedule:
    """`flat` with products of 8 bits."""
    def gemm(A: int8[64, 64], B: int8[64, 64], C: int32[64, 64], row: int32[64]):
        for i, k, jo in allo.grid(64, 64, 8):
            for j in range(8):
                total: int32 = row[8 * jo + j] + A[i, k] * B[k, 8 * jo + j]
                row[8 * jo + j] = 0 if k == 63 else total
                if k == 63:
                    C[i, 8 * jo + j] = total

    return in_lanes(allo.customize(gemm), "jo")


def jacobi() -> allo.Schedule:
    """A point a cycle, with two rows in memory and a window of registers."""
    def sweep(A: float32[30, 30], B: float32[30, 30]):
        for i, j in allo.grid(28, 28):
            B[i + 1, j + 1] = 0.2 * (A[i + 1, j + 1] + A[i + 1, j] + A[i + 1, j + 2] + A[i + 2, j + 1] + A[i, j + 1])

    s = allo.customize(sweep)
    lines = s.reuse_at("A", "i")
    window = s.reuse_at(lines, "j")
    s.partition(lines, dim=1)
    s.partition(window)
    s.pipeline("j")
    return s


@pytest.mark.parametrize(
    ("design", "cycles"), [(flat, 32_781), (rows, 34_689), (integers, 32_772), (jacobi, 935)]
)
def test_cycles_are_those_of_the_simulation(design: Callable[[], allo.Schedule], cycles: int) -> None:
    assert allo.estimate(design(), profile="rtl").cycles == cycles


def test_a_profile_that_lacks_an_operator() -> None:
    def thirds(x: float64[8], y: float64[8]):
        for i in range(8):
            y[i] = x[i] / 3.0

    device = load_target("u280").under("rtl")
    without = replace(device, floats=tuple(row for row in device.floats if row.kind != "div"))
    with pytest.raises(allo.AlloError) as caught:
        allo.estimate(allo.customize(thirds), without)
    assert str(caught.value) == (
        "profile 'rtl' does not say what 'div' on f64 costs\n"
        '  hint: add [[operator]] with kind = "div" and type = "f64" to its file'
    )


def test_what_is_not_built_has_no_estimate() -> None:
    def angles(x: float32[8]):
        for i in range(8):
            x[i] = x[i] % 360.0

    s = allo.customize(angles)
    with pytest.raises(allo.AlloError) as built:
        s.build(target="rtl")
    for rewritten in (False, True):
        with pytest.raises(allo.AlloError) as estimated:
            allo.estimate(s, profile="rtl", rewritten=rewritten)
        assert str(estimated.value) == str(built.value)
    assert "target 'rtl' has no hardware for 'remf' of f32 yet" in str(built.value)
    assert allo.estimate(s).cycles > 8


def test_fixed_point_and_copies_are_what_is_built() -> None:
    T = Fixed(12, 4)

    def scaled(x: T[16], y: T[16], z: T[16]):
        z[:] = x
        for i in range(16):
            y[i] += x[i] * y[i] + z[i]

    s = allo.customize(scaled)
    s.pipeline("i")
    assert allo.estimate(s, profile="rtl", rewritten=True).cycles == s.build(target="rtl").predicted_cycles == 67
