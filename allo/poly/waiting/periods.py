"""Periods of runs: processes do again what they did, with other values of loop variables, so that it need not be run.

A state is where all processes are, and what is in the FIFOs. Two states of a run whose processes are at the same places
with all variables equal but one each, the outermost that has changed, enclose a period: nothing that happens depends on
that variable, or only by its remainder. What a put or get needs is there again in the next period if FIFOs have as
many elements and as much room. So the period repeats until a loop ends, a comparison turns out otherwise, or a FIFO
that fills up is full: as often as that, it is not run but added up. What is found does not depend on the order in which
processes take turns (Kahn's principle), so that any order that they could take is right for what is added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd
from operator import ne
from typing import TYPE_CHECKING

from .tasks import Task, TokenFifo
from .uses import LoopHere, UsedComparison, VariableUse

if TYPE_CHECKING:
    from .run import TokenRun

_FIRST_ROUND = 48  # runs that are over soon are not looked at
_KEPT = 12  # states with processes at the same places
_MOST_KEPT = 4_000_000  # values of variables and FIFOs in all states
_ALWAYS = 1 << 62
_WIDEST = 1 << 16  # values of a term in a period that are looked at


@dataclass(frozen=True, slots=True)
class _State:
    values: tuple[tuple[int, ...], ...]
    fifos: tuple[tuple[int, int, int, int], ...]
    choices: int


class Periods:
    """Looks for periods of a run, between rounds in which each process that can has had its turn."""

    def __init__(self, run: TokenRun) -> None:
        self.run = run
        self.round = 0
        self.seen_at = run.left
        self.kept = 0
        self.states: dict[tuple[int | None, ...], list[_State]] = {}

    def look(self) -> None:
        """Skip as many periods as end here, if a period does."""
        self.round += 1
        run = self.run
        size = len(run.alive) + len(run.fifos)
        if self.round < _FIRST_ROUND or self.seen_at - run.left < size:
            return
        self.seen_at = run.left
        key = (run.started, run.changes, *(task.site for task in run.alive))
        state = self._state()
        known = self.states.setdefault(key, [])
        times, before = max(((self._repeats(one, state), k) for k, one in enumerate(known)), default=(0, 0))
        if times > 0:
            self._skip(known[before], state, times)
            state = self._state()
        if len(known) == _KEPT:
            del known[0]
        known.append(state)
        self.kept += size
        if self.kept > _MOST_KEPT:
            self.states.clear()
            self.kept = 0

    def _state(self) -> _State:
        run = self.run
        values = tuple(tuple(task.values[loop.place] for loop in self._loops(task)) for task in run.alive)
        fifos = tuple((fifo.puts, fifo.gets, fifo.limit, fifo.depth) for fifo in run.fifos)
        return _State(values, fifos, run.choices)

    def _loops(self, task: Task) -> tuple[LoopHere, ...]:
        return () if task.site is None else self.run.program.sites[task.site].loops

    # -- how often a period repeats --------------------------------------------------------------------

    def _repeats(self, before: _State, now: _State) -> int:
        """How often what happened between two states surely happens again; 0 if that is not known."""
        if before.choices != now.choices or len(before.fifos) != len(now.fifos) or before.values == now.values:
            return 0
        if any(a != b and sum(map(ne, a, b)) > 1 for a, b in zip(before.values, now.values, strict=True)):
            return 0
        most = self._fifos_repeat(before, now)
        for task, old, new in zip(self.run.alive, before.values, now.values, strict=True):
            if most <= 0:
                return 0
            if old != new:
                most = min(most, self._task_repeats(task, old, new))
        return max(most, 0)

    def _fifos_repeat(self, before: _State, now: _State) -> int:
        """How often FIFOs have what happened between two states happen again."""
        most = _ALWAYS
        changed = [
            (fifo, was, is_now)
            for fifo, was, is_now in zip(self.run.fifos, before.fifos, now.fifos, strict=True)
            if was != is_now
        ]
        deeper = [fifo for fifo, was, is_now in changed if was[3] != is_now[3]]
        if len(deeper) > 1:
            return 0
        for fifo, was, is_now in changed:
            puts, gets, limit, _ = (b - a for a, b in zip(was, is_now, strict=True))
            if deeper and (puts != limit or (fifo is not deeper[0] and puts != gets)):
                return 0  # all waited when that one got deeper, and would not wait again
            most = min(most, _fifo_repeats(fifo, puts, gets, limit))
        return most

    def _task_repeats(self, task: Task, old: tuple[int, ...], new: tuple[int, ...]) -> int:
        """The same of one process, of which one variable has changed."""
        changed = next(k for k, (a, b) in enumerate(zip(old, new, strict=True)) if a != b)
        loop = self._loops(task)[changed]
        a, b = old[changed], new[changed]
        use = self.run.program.processes[task.process].uses.get(loop.place)
        times = (task.values[loop.place + 1] - 1 - b) // (b - a)
        if use is None or times <= 0:
            return max(times, 0)
        if use.is_fixed or (b - a) % use.period:
            return 0
        return min([times, *self._comparisons(task, loop, use, a, b)])

    def _comparisons(self, task: Task, loop: LoopHere, use: VariableUse, a: int, b: int) -> Iterator[int]:
        """How often each comparison with the variable of a loop turns out as in the period."""
        for test in use.tests:
            gain = test.growth.over(b - a)
            for value in self._terms_that_count(task, loop, test, a, b):
                times = None if value is None else _same_outcomes(value, gain, test.is_equality)
                if value is None or times is not None:
                    yield times or 0
            task.values[loop.place] = b

    def _terms_that_count(
        self, task: Task, loop: LoopHere, test: UsedComparison, a: int, b: int
    ) -> Iterator[int | None]:
        """The values of a term in a period of which one is the first to compare otherwise later; None: not known.

        A term that `is_linear` grows evenly over some iterations' distance: only the values next to 0 count, the first,
        the last, and the one that is 0 after whole periods.
        """
        term, steps = task.tests[test.number], (b - a) // loop.step
        apart = test.growth.period // gcd(test.growth.period, loop.step) if test.is_linear else steps + 1
        if min(apart, steps + 1) > _WIDEST:
            yield None
            return
        for first in range(min(apart, steps + 1)):
            task.values[loop.place] = a + first * loop.step
            value, last = term(), (steps - first) // apart
            if not last:
                yield value
                continue
            growth = test.growth.over(apart * loop.step)
            zero = -value // growth
            places = {0, zero - 1, zero, zero % (steps // apart), last}
            yield from (value + place * growth for place in sorted(places) if 0 <= place <= last)

    # -- adding up -------------------------------------------------------------------------------------

    def _skip(self, before: _State, now: _State, times: int) -> None:
        for task, old, new in zip(self.run.alive, before.values, now.values, strict=True):
            for loop, a, b in zip(self._loops(task), old, new, strict=True):
                task.values[loop.place] += times * (b - a)
        for fifo, was, is_now in zip(self.run.fifos, before.fifos, now.fifos, strict=True):
            puts, gets, limit, depth = (times * (b - a) for a, b in zip(was, is_now, strict=True))
            fifo.puts += puts
            fifo.gets += gets
            fifo.limit += limit
            fifo.depth += depth


def _fifo_repeats(fifo: TokenFifo, puts: int, gets: int, limit: int) -> int:
    """How often a FIFO has the elements and the room that a period needs, in which so much is put and taken."""
    times: list[int] = []
    if fifo.most is not None and limit > 0:
        times.append((fifo.most - fifo.limit) // limit)
    for spare, change, needed, who in (
        (fifo.puts - fifo.gets, puts - gets, gets, fifo.reader),
        (fifo.limit - fifo.puts, limit - puts, puts, fifo.writer),
    ):
        if change and who is not None:
            return 0
        if change < 0:
            times.append((spare - needed) // -change)
    return min(times, default=_ALWAYS)


def _same_outcomes(value: int, gain: int, is_equality: bool) -> int | None:
    """How often `value` may grow by `gain` until it compares otherwise with 0; None for always."""
    if is_equality:
        if value == 0:
            return 0
        return -value // gain - 1 if value % gain == 0 and -value // gain > 0 else None
    if value >= 0:
        return None if gain > 0 else value // -gain
    return None if gain < 0 else -(value // gain) - 1
