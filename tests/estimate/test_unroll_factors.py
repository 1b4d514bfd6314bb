"""The work of an estimate grows with the text of a design, not with its unroll factors and processing elements."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import allo
from allo.ir.types import float32, int8, int32
from tests.seeds import sampled
from tests.work import calls_of


def gemm(factor: int) -> allo.Schedule:
    """Lanes in banks of their own."""
    s = rows(factor)
    s.partition("B", dim=2, factor=factor)
    s.partition("C", dim=2, factor=factor)
    return s


def rows(factor: int) -> allo.Schedule:
    """All lanes in one bank: the interval is as long as the ports take."""

    def gemm(A: float32[64, 64], B: float32[64, 4096], C: float32[64, 4096]):
        for i, k, j in allo.grid(64, 64, 4096):
            C[i, j] += A[i, k] * B[k, j]

    s = allo.customize(gemm)
    s.pipeline(s.split("j", factor)[0])
    return s


def conv(factor: int) -> allo.Schedule:
    def conv(X: int8[factor, 66, 66], W: int8[factor, 3, 3], Y: int32[64, 64]):
        for y, x in allo.grid(64, 64):
            for c, r, q in allo.grid(factor, 3, 3):
                Y[y, x] += X[c, y + r, x + q] * W[c, r, q]

    s = allo.customize(conv)
    s.pipeline("x")
    s.partition("X", dim=1)
    s.partition("W")
    return s


def jacobi(factor: int) -> allo.Schedule:
    def jacobi(A: float32[1026, 1026], B: float32[1026, 1026]):
        for i in range(1, 1025):
            for j in range(1, 1025):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])

    s = allo.customize(jacobi)
    s.pipeline(s.split("j", factor)[0])
    s.partition("A", dim=2, factor=factor)
    s.partition("B", dim=2, factor=factor)
    return s


def delay_line(factor: int) -> allo.Schedule:
    """Reads and writes of one bank that turn around for the ports."""

    def fir(x: float32[512], y: float32[512], c: float32[factor]):
        line: float32[factor] = 0.0
        for i in range(512):
            for n in range(factor - 1):
                line[factor - 1 - n] = line[factor - 2 - n]
            line[0] = x[i]
            total: float32 = 0.0
            for n in range(factor):
                total += line[n] * c[n]
            y[i] = total

    s = allo.customize(fir)
    s.pipeline("i")
    return s


def systolic(factor: int) -> allo.Schedule:
    """A grid of processing elements that pass on what they get."""
    side = factor // 8

    def systolic(A: float32[side, 64], B: float32[64, side], C: float32[side, side]):
        for i, j in allo.grid(side, side, name="PE"):
            total: float32 = 0.0
            for k in range(64):
                total += A[i, k] * B[k, j]
            C[i, j] = total

    s = allo.customize(systolic)
    s.pipeline("k")
    rows, columns = s.buffer_at("A", "j"), s.buffer_at("B", "j")
    elements = s.unfold("PE", axes=[0, 1])
    s.relay(rows, elements, axis=1, depth=4)
    s.relay(columns, elements, axis=0, depth=4)
    s.dataflow("systolic")
    return s


@pytest.mark.parametrize("design", sampled([gemm, rows, conv, jacobi, delay_line, systolic]))
def test_unroll_factors_do_not_change_the_work(design: Callable[[int], allo.Schedule]) -> None:
    def work(factor: int) -> int:
        s = design(factor)
        return calls_of(lambda: allo.estimate(s))

    least = work(32)
    assert all(work(factor) <= 1.1 * least for factor in (64, 128, 256))
