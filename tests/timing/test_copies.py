"""Copies of unrolled loops that are built one by one: what is asked of pairs of accesses grows with their number."""

from __future__ import annotations

import pytest

import allo
from allo.ir.types import float32
from allo.poly import meetings


def smoothed(A: float32[64, 64], B: float32[64, 64]):
    for i in range(64):
        for j in range(64):
            B[i, j] += A[i, j] * B[i, j]


def pairs(factor: int, patch: pytest.MonkeyPatch) -> int:
    """How many pairs of accesses are looked at when `factor` copies become hardware."""
    s = allo.customize(smoothed)
    outer, inner = s.split("j", factor)
    s.unroll(inner)
    s.pipeline(outer)
    for name in "AB":
        s.partition(f"smoothed:{name}", dim=2, factor=factor)
    asked = 0

    def counted(*given: object) -> object:
        nonlocal asked
        asked += 1
        return original(*given)

    original = meetings._meetings
    with patch.context() as inside:
        inside.setattr(meetings, "_meetings", counted)
        s.build(target="rtl")
    return asked


def test_pairs_of_accesses_grow_with_the_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (pairs(factor, monkeypatch) for factor in (4, 16))
    assert 0 < many <= 4 * few
