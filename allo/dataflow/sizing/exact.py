"""Least depths of FIFOs that keep a deadline, from the earliest and latest cycles of everything in a timed trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..replay import FIFO_CYCLES, Replayed, replay
from ..trace import AT_ONCE, Flags, Numbers, Trace, TracedProcess

type Depths = tuple[int, ...]  # of each kind of FIFO that is sized


@dataclass(slots=True, eq=False)
class DepthSearch:
    """A trace, and what was found of it; runs are known by depths, so that none is done twice.

    `kinds` says of each channel which of `count` depths is its own, -1 if its depth stays as it was declared. `written`
    is the trace in the order of the program if that is another one: simulations have no schedule, and must end too.
    """

    trace: Trace
    kinds: Numbers
    count: int
    written: Trace | None = None
    replays: int = 0
    _backward: Trace = field(init=False)
    _known: dict[Depths, int | None] = field(default_factory=dict)
    _last: tuple[Depths, Replayed] | None = None  # the last run, from its begin

    def __post_init__(self) -> None:
        self._backward = backward(self.trace)

    def run(self, depths: Depths | None, *, from_end: bool = False) -> Replayed:
        """A run with FIFOs of these depths (None: no limits), or the run from the end, where all is as late as it can
        be."""
        self.replays += 1
        own = np.array(depths if depths is not None else [0] * self.count, np.int64)
        return replay(self._backward if from_end else self.trace, self._each(own))

    def _each(self, depths: Numbers) -> Numbers:
        """The depth of each channel."""
        return np.where(self.kinds >= 0, depths[self.kinds] if len(depths) else 0, self.trace.depths)

    def cycles(self, depths: Depths) -> int | None:
        """How long a run takes (depths of 0: without limits); None if it never ends."""
        if depths not in self._known:
            found = self.run(depths)
            self._last = depths, found
            ends = not found.stuck and (
                self.written is None or not replay(self.written, self._each(np.array(depths, np.int64))).stuck
            )
            self._known[depths] = found.total if ends else None
        return self._known[depths]

    def enough(self) -> Depths:
        """Depths that slow nothing down: those of the schedules in which all is as early or as late as it can be,
        the smaller one, and of those that are so with FIFOs of these depths, until that helps no more."""
        written = DepthSearch(self.written, self.kinds, self.count).enough() if self.written is not None else None
        found = self._enough()
        return found if written is None else tuple(map(max, found, written))

    def _enough(self) -> Depths:
        found: Depths | None = None
        while True:
            early, late = self._held(found)
            better = min(early, late, key=sum)
            if found is not None and sum(better) >= sum(found):
                return found
            found = better

    def _held(self, depths: Depths | None) -> tuple[Depths, Depths]:
        """The depths that two runs need which take as long as one with `depths`: an early one, and a late one."""
        early, late = self.run(depths), self.run(depths, from_end=True)
        first, last = np.ones(self.count, np.int64), np.ones(self.count, np.int64)
        for channel, kind in enumerate(self.kinds.tolist()):
            if kind >= 0:
                puts, gets = self._times(early, channel)
                first[kind] = max(first[kind], most_held(puts, gets))
                gets, puts = (-times[::-1] for times in self._times(late, channel))
                last[kind] = max(last[kind], most_held(puts, gets))
        return tuple(first.tolist()), tuple(last.tolist())

    def at_least(self, depths: Depths, slack: int) -> Depths:
        """What each depth must be at least, whatever the others, up to `depths`, are, if a run may take `slack` cycles
        longer: the number of elements between the latest put and the earliest gets."""
        known = self._last[1] if self._last is not None and self._last[0] == depths else None
        early, late = known or self.run(depths), self.run(depths, from_end=True)
        least = np.ones(self.count, np.int64)
        for channel, kind in enumerate(self.kinds.tolist()):
            if kind >= 0:
                gets = np.minimum.accumulate(self._times(early, channel)[1][::-1])[::-1]
                puts = early.total - self._times(late, channel)[1][::-1] + slack
                least[kind] = max(least[kind], most_held(puts, gets))
        return tuple(least.tolist())

    def least(self, start: Depths, deadline: int | None, order: Sequence[int]) -> Depths:
        """Depths none of which can be lower without a run of more than `deadline` cycles (None: without end).

        `start` keeps it. Depths are lowered in `order`; each is found by bisection between what it must be and what
        does. A lower depth never makes anything earlier, so that none has to be looked at twice.
        """
        found = list(start)
        low: Depths = (1,) * self.count
        looked: Depths | None = None
        for place in order:
            if found[place] == 1:
                continue
            if deadline is not None and looked != tuple(found):
                looked = tuple(found)
                now = self.cycles(looked)
                assert now is not None
                low = self.at_least(looked, deadline - now)
            least, most = min(low[place], found[place]), found[place]
            while least < most:
                middle = (least + most) // 2
                found[place] = middle
                if self._keeps(tuple(found), deadline):
                    most = middle
                else:
                    least = middle + 1
            found[place] = most
        return tuple(found)

    def _keeps(self, depths: Depths, deadline: int | None) -> bool:
        cycles = self.cycles(depths)
        return cycles is not None and (deadline is None or cycles <= deadline)

    def with_one_less(self, depths: Depths, kind: int) -> int | None:
        """How long a run takes if one depth, above 1, is lower by one; None if it never ends."""
        return self.cycles(tuple(depth - (place == kind) for place, depth in enumerate(depths)))

    def _times(self, run: Replayed, channel: int) -> tuple[Numbers, Numbers]:
        return run.times[run.trace.puts[channel]], run.times[run.trace.gets[channel]]


def most_held(puts: Numbers, gets: Numbers) -> int:
    """The least depth with which no put waits for one of the gets, each of which makes room `FIFO_CYCLES` later."""
    if not len(puts):
        return 1
    made = np.searchsorted(np.maximum.accumulate(gets), puts - FIFO_CYCLES, side="right")
    return max(1, int((np.arange(1, len(puts) + 1) - made).max()))


def backward(trace: Trace) -> Trace:
    """The trace from its end: gets are puts, and what was as late as possible is as early as possible.

    An element that is looked at was put before the first look.
    """
    before: list[list[int]] = [[] for _ in trace.processes]
    for number, process in enumerate(trace.processes):
        for other in process.after:
            before[other].append(number)
    lengths = np.array([process.length for process in trace.processes], np.int64)
    order = _from_end(trace.bounds)
    cycle = (lengths[trace.owner] - trace.cycle)[order]
    processes = tuple(_following(p, tuple(after)) for p, after in zip(trace.processes, before, strict=True))
    if trace.looks is None:
        return Trace(processes, trace.channels, trace.bounds, trace.channel[order], ~trace.is_put[order], cycle)
    looks: Flags = trace.looks[order]
    is_put: Flags = ~trace.is_put[order] & ~looks
    found = Trace(processes, trace.channels, trace.bounds, trace.channel[order], is_put, cycle, looks=looks)
    place = np.argsort(order)  # of each event in the order from the end
    seen = np.flatnonzero(trace.looks)[::-1]  # where an element is looked at several times, first comes last
    found.made[place[seen]] = AT_ONCE
    is_made = trace.made[seen] >= 0
    found.made[place[trace.made[seen[is_made]]]] = place[seen[is_made]]
    return found


def _following(process: TracedProcess, after: tuple[int, ...]) -> TracedProcess:
    return replace(process, after=after)


def _from_end(bounds: Numbers) -> Numbers:
    """The events of each process from its last one to its first one."""
    sizes = np.diff(bounds)
    starts = np.repeat(bounds[:-1], sizes)
    ends = np.repeat(bounds[1:], sizes)
    found: Numbers = starts + ends - 1 - np.arange(bounds[-1])
    return found
