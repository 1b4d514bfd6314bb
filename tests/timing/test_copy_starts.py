"""Least starts of copies, and the least interval that dependences allow."""

from __future__ import annotations

from dataclasses import replace

import pytest

import allo
from allo.ir.types import float32
from allo.timing.copy_starts import CopyStarts
from allo.timing.modulo import solve
from tests.estimate.random_kernels import random_kernel
from tests.seeds import sweep

from .regions import schedules


def without_ports(s: allo.Schedule) -> list[CopyStarts]:
    """The copies of all pipelined loops, of which nothing waits for a port."""
    problems = [replace(done.schedule.problem, memories=()) for done in schedules(s)]
    return [copies for problem in problems if (copies := CopyStarts.of(problem)) is not None]


@sweep(24, quick=6)
def test_nothing_starts_earlier_and_no_interval_is_less(seed: int) -> None:
    """Schedules without ports: the first that is possible is at the least interval, and as early as the copies may."""
    s = allo.customize(random_kernel(seed).function)
    s.pipeline("i")
    for copies in without_ports(s):
        alone = solve(copies.problem, None)
        starts = copies.starts(None)
        assert starts is not None
        for table, least in zip(alone.cycles, starts, strict=True):
            assert (table >= least // copies.problem.period).all()
        assert alone.depth == max(
            (int(least.max()) // copies.problem.period + operation.latency)
            for least, operation in zip(starts, copies.problem.operations, strict=True)
        )
        least = copies.least_interval(0, max(1, alone.depth))
        assert least == 1 or copies.starts(least - 1) is None
        found = solve(copies.problem, 1).interval
        assert found is not None and found >= least


@pytest.mark.parametrize("copies", [1, 2, 5])
def test_the_least_interval_of_a_chain(copies: int) -> None:
    """A sum that is read, added to by one copy after the other, and written: 6 cycles a copy, and 1 for the write."""

    def chain(A: float32[64, 8], S: float32[64]):
        for i in range(64):
            for u in range(copies):
                S[0] = S[0] + A[i, u]

    s = allo.customize(chain)
    s.pipeline("i")
    (found,) = without_ports(s)
    least = found.least_interval(0, 100)
    assert (least, found.starts(least - 1)) == (6 * copies + 1, None)
