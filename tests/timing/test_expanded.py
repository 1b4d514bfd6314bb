"""Intervals of loops all of whose occurrences are looked at: what is overwritten, at the ends, or under conditions."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import allo
from allo.ir.types import float32, int32
from allo.timing.interval.recurrence import recurrence_of, words
from allo.timing.pipeline import exchangeable
from allo.timing.problem.dependences import graph_of

from .regions import region_of

EXPANDED = import_module("allo.timing.interval.expanded")  # `allo.estimate` is a function, too


def found(kernel: Callable[..., Any]) -> tuple[int, str]:
    """The interval that recurrences demand, and which one does."""
    s = allo.customize(kernel)
    s.pipeline("i")
    region, budget = region_of(s)
    graph = graph_of(region, budget, exchangeable(region))
    recurrence = recurrence_of(graph, 1)
    return (1, "") if recurrence is None else (recurrence.interval, words(graph, recurrence))


@pytest.mark.parametrize("extent", [8, 64])
def test_a_value_that_is_overwritten_passes_nothing_on(extent: int) -> None:
    def killed(A: float32[80], B: float32[80], C: float32[80]):
        for i in range(extent):
            A[i + 3] = A[i] * C[i]
            A[(2 * i + 6) // 2] = B[i]

    assert found(killed) == (1, "")


def test_a_value_that_a_condition_may_keep_is_passed_on() -> None:
    def kept(A: float32[80], B: float32[80], C: float32[80]):
        for i in range(64):
            A[i + 3] = A[i] * C[i]
            if B[i] > 0.5:
                A[(2 * i + 6) // 2] = B[i]

    assert found(kept) == (2, "recurrence through A: 1 read + 3 mul + 2 x 1 write over distance 3")


@pytest.mark.parametrize("extent", [8, 100000])
def test_the_first_iterations_of_a_long_loop_tell_how_it_goes_on(extent: int) -> None:
    """By running eight iterations: 4, where differences of copies alone say more."""

    def shifted(A: float32[100010], B: float32[100010]):
        for i in range(extent):
            for u in range(3):
                A[i + u + 3] = A[i + 2 * u] * B[i]

    assert found(shifted)[0] == 4


def test_quotients_that_never_meet() -> None:
    def apart(A: float32[80], B: float32[80]):
        for i in range(6):
            A[(i + 6) // 3] = A[i + 7] + B[i]

    def together(A: float32[80], B: float32[80]):
        for i in range(6):
            A[(i + 6) // 3 + 8] = A[i + 7] + B[i]

    assert found(apart) == (1, "")
    assert found(together) == (8, "recurrence through A: 1 read + 6 add + 1 write over distance 1")


def test_subscripts_that_are_one_element_of_an_array_are_equal() -> None:
    """The sum over four copies is a chain of wires, and comes back through memory once."""

    def histogram(A: float32[80], P: int32[80], B: float32[80]):
        for i in range(64):
            for u in range(4):
                A[P[i]] = A[P[i]] + B[u]

    assert found(histogram) == (26, "recurrence through A: 1 read + 4 x 6 add + 1 write over distance 1")


def test_subscripts_that_may_be_equal_are_not_compared() -> None:
    """Each copy writes and reads the memory, in case that it is the element of the one before."""

    def histogram(A: float32[80], P: int32[80, 4], B: float32[80]):
        for i in range(64):
            for u in range(4):
                A[P[i, u]] = A[P[i, u]] + B[u]

    s = allo.customize(histogram)
    s.bind("A", allo.Memory(resource="BRAM", storage_type="RAM_1WNR"))
    s.partition("P", dim=2)
    s.pipeline("i")
    loop = allo.estimate(s).loop("i")
    assert loop.interval == 4 * (1 + 6 + 1)
    assert str(loop.reason) == "recurrence through A: 4 x 1 read + 4 x 6 add + 4 x 1 write over distance 1"


def test_an_array_that_is_written_does_not_name_an_element() -> None:
    """P may hold something else in each copy."""

    def renamed(A: float32[80], P: int32[80], B: float32[80]):
        for i in range(8):
            for u in range(2):
                A[P[0]] = A[P[0]] + B[i + u]
                P[u] = P[u] + 1

    def named(A: float32[80], P: int32[80], B: float32[80]):
        for i in range(8):
            for u in range(2):
                A[P[0]] = A[P[0]] + B[i + u]

    assert found(named)[0] == 14
    assert found(renamed)[0] > 14


def test_branches_of_one_condition_pass_nothing_on() -> None:
    def either(A: float32[80], B: float32[80]):
        for i in range(64):
            if B[i] > 0.5:
                A[i + 1] = B[i] * 2.0
            else:
                A[i] = A[i + 1] * 3.0 + 1.0

    assert found(either)[0] == 1


def test_elements_that_stay_are_registers() -> None:
    def pair(A: float32[80], B: float32[80]):
        for i in range(64):
            for u in range(2):
                A[4 * u] = A[4 * u] * B[i]
            A[4] = A[4] + A[0]

    assert found(pair)[0] == 10  # 3 mul + 6 add + 1 write, without a read


def test_an_array_of_each_iteration_carries_nothing() -> None:
    def own(A: float32[80], B: float32[80]):
        for i in range(16):
            T: float32[8] = 0.0
            for u in range(4):
                T[(u * u) % 8] = A[i + u]
            for v in range(4):
                B[i + v] = T[v] * 2.0

    assert found(own) == (1, "")


@pytest.mark.parametrize("copies", [200, 4000])
def test_many_copies_are_not_looked_at(copies: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost is limited: only numbers that are multiplied tell that there are too many."""

    def never(*_: object) -> None:
        raise AssertionError("looked at")

    def many(A: float32[16], B: float32[4000]):
        for i in range(6):
            for u in range(copies):
                A[i + 4] = A[i + 1] + B[u]
                A[i + 1] = A[i + 3] * B[u]

    monkeypatch.setattr(EXPANDED, "Expanded", never)
    assert found(many)[0] == 11


def test_a_register_that_a_condition_guards() -> None:
    def scaled(A: float32[80], B: float32[80]):
        for i in range(16):
            if 2 * i < 9:
                A[0] = A[0] * B[i]

    assert found(scaled)[0] == 4  # 3 mul + 1 write


def test_schedules_take_what_copies_demand() -> None:
    """The first copy has none before it: 7 in place of 10 cycles, and ports enough for it."""

    def sum_and_use(A: float32[8], B: float32[3]):
        for i in range(5):
            for u in range(3):
                A[i + 3] = A[i + 1] + A[i]
                A[i] = A[i] + B[u]

    s = allo.customize(sum_and_use)
    s.partition("A")
    s.pipeline("i")
    loop = allo.estimate(s).loop("i")
    assert str(loop.reason).startswith("recurrence")
    assert loop.interval == found(sum_and_use)[0]
