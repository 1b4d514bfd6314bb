"""Estimates of rewritten modules: what is done is listed, and nothing else is assumed."""

from __future__ import annotations

import json
from importlib import import_module

import pytest

import allo
from allo.ir.types import float32, int32
from allo.timing.rewrites import Prepared

ESTIMATE = import_module("allo.estimate.estimate")


@pytest.fixture
def nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is assumed, and the module stays as it is."""
    monkeypatch.setattr(ESTIMATE, "prepared", lambda module, options: Prepared(module, ()))


def intervals(kernel, *loops: str) -> tuple[int | None, int | None]:
    s = allo.customize(kernel)
    s.pipeline("i")
    return tuple(allo.estimate(s, rewritten=rewritten).loop("i").interval for rewritten in (False, True))


def one_sum(A: float32[64], y: float32[8]):
    for i in range(64):
        y[3] += A[i]


def sums_of_copies(A: float32[64, 4], y: float32[8]):
    for i in range(64):
        for u in range(4):
            y[3] += A[i, u]


def integers(A: int32[64, 4], y: int32[8]):
    for i in range(64):
        for u in range(4):
            y[3] += A[i, u]


@pytest.mark.parametrize(("kernel", "interval"), [(one_sum, 7), (sums_of_copies, 25), (integers, 2)])
def test_what_is_assumed_is_done(kernel, interval: int) -> None:
    assert intervals(kernel) == (interval, interval)


@pytest.mark.parametrize(
    ("kernel", "interval"),
    [
        (one_sum, 8),  # 1 read + 6 add + 1 write
        (sums_of_copies, 32),  # four times
        (integers, 8),  # 1 read + 1 write each; the sum fits into the cycle of the write
    ],
)
def test_nothing_is_assumed_that_is_not_done(nothing_is_done, kernel, interval: int) -> None:
    assert intervals(kernel)[1] == interval


def test_values_in_branches_wait_for_the_condition(nothing_is_done) -> None:
    def kernel(A: float32[64], B: float32[64]):
        for i in range(64):
            if A[i] > 0.5:
                B[i] = B[i] * 2.0 + 1.0

    s = allo.customize(kernel)
    s.pipeline("i")
    depths = [allo.estimate(s, rewritten=rewritten).loop("i").depth for rewritten in (False, True)]
    assert depths[0] is not None and depths[1] is not None and depths[0] < depths[1]


def test_what_was_done_is_in_all_forms() -> None:
    s = allo.customize(one_sum)
    found = allo.estimate(s, rewritten=True)
    line = one_sum.__code__.co_firstlineno + 2
    told = f"one_sum, line {line}: allo-promote-scalars: y[3] stays in a register while loop 'i' runs"
    assert [str(rewrite) for rewrite in found.rewrites] == [told]
    assert told in str(found)
    assert json.loads(found.to_json())["rewrites"][0]["name"] == "allo-promote-scalars"
    assert "allo-promote-scalars: y[3] stays" in found.to_html()
    assert allo.estimate(s).rewrites == ()


def test_a_sum_that_starts_at_zero_takes_no_addition_for_it() -> None:
    """As in hardware, where operations on constants go."""
    def product(A: int32[8, 16], x: int32[16], y: int32[8]):
        for i in range(8):
            total: int32 = 0
            for j in range(16):
                total += A[i, j] * x[j]
            y[i] = total

    s = allo.customize(product)
    s.pipeline("i")
    s.partition("A", dim=2)
    s.partition("x")
    expected = s.build(target="rtl").predicted_cycles
    assert s.report("u280", profile="rtl", rewritten=True).cycles == expected
