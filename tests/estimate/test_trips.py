"""How often loops run on average, against counting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import allo
from allo.ir.types import float32

N = 12


def rectangular(A: float32[N, N]):
    for i in range(N):
        for j in range(2, N, 3):
            A[i, j] = 0.0


def triangular(A: float32[N, N]):
    for i in range(N):
        for j in range(i):
            for k in range(j + 1, N):
                A[i, j] += A[j, k]


def both_bounds(A: float32[N, 2 * N]):
    for i in range(N):
        for j in range(i, 2 * i + 1):
            A[i, j] = 0.0


def empty_at_times(A: float32[N, N]):
    for i in range(N):
        for j in range(3, i):
            A[i, j] = 0.0


COUNTS = {
    rectangular: {"j": len(range(2, N, 3))},
    triangular: {
        "j": sum(range(N)) / N,
        "k": sum(N - j - 1 for i in range(N) for j in range(i)) / sum(range(N)),
    },
    both_bounds: {"j": sum(i + 1 for i in range(N)) / N},
    empty_at_times: {"j": sum(len(range(3, i)) for i in range(N)) / N},
}


@pytest.mark.parametrize("kernel", COUNTS, ids=lambda k: k.__name__)
def test_means_are_exact(kernel: Callable[..., Any]) -> None:
    found = allo.estimate(allo.customize(kernel))
    for name, mean in COUNTS[kernel].items():
        assert found.loop(name).trips == pytest.approx(mean, abs=1e-12)


def test_a_tail_that_does_not_divide() -> None:
    s = allo.customize(rectangular)
    s.split("i", 5)
    found = allo.estimate(s)
    assert found.loop("i.outer").trips == 3
    assert (found.loop("i.inner").trips or 0) * 3 >= N


def test_large_extents_cost_no_more() -> None:
    """The sum is a polynomial, not a loop over 10**10 iterations."""

    def large(A: float32[100000]):
        for i in range(100000):
            for j in range(i):
                A[j] += 1.0

    assert allo.estimate(allo.customize(large)).loop("j").trips == (100000 - 1) / 2


def run_time(n: allo.ir.types.index, A: float32[N]):
    for i in range(n):
        A[i] = 0.0


def test_run_time_extents_are_unknown_or_assumed() -> None:
    s = allo.customize(run_time)
    unknown = allo.estimate(s)
    assert unknown.cycles is None and unknown.milliseconds is None
    assert unknown.notes == (
        "run_time: how often loop 'i' runs is known at run time only; state it with trips={\"i\": ...}",
    )
    assumed = allo.estimate(s, trips={"i": 10})
    assert assumed.cycles is not None and assumed.cycles > 10
    assert "~10" in str(assumed)


def test_trips_of_a_loop_that_is_not_there() -> None:
    with pytest.raises(allo.AlloError) as caught:
        allo.estimate(allo.customize(run_time), trips={"ii": 10})
    assert str(caught.value) == "trips names no loop of the kernel: 'ii'\n  hint: did you mean 'i'?"


def bounded(n: allo.ir.types.index, A: float32[2 * N]):
    for i in range(N):
        if i < n:
            for j in range(i):
                for k in range(min(n, 5)):
                    A[j + k] += 1.0


def test_a_bound_is_stated_where_there_is_one() -> None:
    found = allo.estimate(allo.customize(bounded))
    assert found.loop("k").trips is None
    assert "is known at run time only (at most 5 times)" in found.notes[0]
