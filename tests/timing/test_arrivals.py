"""When copies arrive at others: tables against all pairs of copies; trees; and schedules that are levelled."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import allo
from allo.ir.types import float32
from allo.timing.check import violations
from allo.timing.leveling import levelled
from allo.timing.problem.arrivals import arrival, joined
from allo.timing.problem.problem import Move, Operation, Passing, Precedence, Problem
from allo.timing.schedule import schedule_of
from tests.seeds import sweep

from .enumerated import broken, copies_of, in_tree, waits
from .regions import schedules
from .test_check import chain, lanes, schedule, sums


@sweep(40)
def test_every_pair_of_copies(seed: int) -> None:
    random = np.random.default_rng(seed)
    trips = tuple(int(n) for n in random.integers(1, 6, 2))
    moves = []
    for loop, trip in enumerate(trips):
        low, high = sorted(int(n) for n in random.integers(-trip, trip + 1, 2))
        moves += [Move(loop, low, high)] if random.random() < 0.8 else []
    precedence = Precedence(0, 1, Passing.CYCLES, 2, 0, tuple(moves))
    both = tuple(Operation(name, "compute", 1, 0, (0, 1)) for name in "ab")
    problem = Problem(10, trips, ("u", "v"), both, (precedence,))
    starts = random.integers(0, 9, trips) * 10
    if random.random() < 0.3:
        starts[...] = starts[:1]
    found = np.broadcast_to(arrival(problem, precedence, starts, 0), trips)
    for copy in copies_of(problem, 1):
        pairs = (first for first in copies_of(problem, 0) if waits(problem, precedence, first, copy))
        latest = max((int(starts[first]) + 20 for first in pairs), default=-1)
        assert max(int(found[copy]), -1) == latest


@pytest.mark.parametrize("count", [2, 3, 5, 6, 8, 11, 14, 16, 23])
def test_a_tree_joins_all(count: int) -> None:
    """Each copy has below it what the checker says; copy 0 has all."""
    problem = Problem(1, (count,), ("k",), (), ())
    left, right = joined(count)
    for copy in range(count):
        below, waiting = set[int](), [copy]
        while waiting:
            at = waiting.pop()
            waiting += [int(n) for n in (left[at], right[at]) if n < count and n not in below]
            below |= {int(n) for n in (left[at], right[at]) if n < count}
        assert below == {n for n in range(count) if in_tree(problem, (0,), (n,), (copy,))}


@pytest.mark.parametrize(("kernel", "interval"), [*product([sums, chain], [0, 1, 2]), (lanes, 0)])
def test_levelled_schedules_can_be_built(kernel: object, interval: int) -> None:
    found = schedule(kernel)
    assert found.interval is not None
    starts = [table * found.problem.period for table in found.cycles]
    longer = schedule_of(found.problem, starts, found.interval + interval)
    assert longer.interval is not None
    later = levelled(found.problem, starts, longer.interval)
    assert violations(schedule_of(found.problem, later, longer.interval)) == []


def test_copies_of_which_no_operand_knows() -> None:
    """The second copy takes what the first has stored, although both compute the same term."""

    def squares(S: float32[64], B: float32[64]):
        for i in range(64):
            for _v in range(3):
                S[i] = S[i] * B[i]

    found = schedule(squares)
    assert broken(found) == []
    assert (found.interval, found.depth) == (1, 1 + 3 * 3 + 1)


def test_the_sum_so_far_is_added_last() -> None:
    """Sums of eight in a tree take 24 cycles, and each 16th iteration goes on with one, for which 8 cycles do."""

    def totals(A: float32[8, 16, 8], y: float32[16]):
        for i in range(8):
            for j in range(16):
                for u in range(8):
                    y[j] += A[i, j, u]

    s = allo.customize(totals)
    s.pipeline("j")
    s.partition("A", dim=3)
    s.bind("y", allo.Memory(resource="BRAM"))
    done = schedules(s, profile="vitis_hls_2023.2", unsafe_math=True)[-1]
    assert (done.interval, violations(done.schedule), broken(done.schedule)) == (1, [], [])
