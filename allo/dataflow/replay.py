"""Replay of a trace with FIFOs of any depths: when each event happens, what waits for what, or the circle of waits.

All times are exact longest paths (max-plus). An event happens as soon as
- its process has come to it: not before the event that the process does before it, shifted by the cycles between them;
- for get `k` of a channel: `FIFO_CYCLES` after put `k`;
- for put `k` of a channel of `d` elements: `FIFO_CYCLES` after get `k - d`, which has made room.

A process that waits stands still with all that it does later, in the order of its program; in a pipeline, iterations
that have begun before go on. These are the rules by which `allo.timing.control.elements` estimates stages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .trace import Numbers, Trace

FIFO_CYCLES = 1  # until an element that was put can be got, and until the room of one that was got can be used

_AT_ONCE, _NEVER = -1, -2  # of an event that waits for no other one, and for one that does not exist
_NOT_YET = -1


@dataclass(frozen=True, slots=True)
class ProcessWait:
    """A process that waits for ever: for room in a channel, an element of it, or for the end of others.

    `kind` is "full", "empty" or "begin". `for_process` is who would have to go on; None if nobody does it any more.
    """

    process: int
    kind: str
    channel: int | None
    puts: int
    gets: int
    for_process: int | None


@dataclass(frozen=True, eq=False)
class Replayed:
    """The run of a trace: event `n` happens at `times[n]`, after its process has waited for it for `waits[n]` cycles.

    Process `p` runs from `begins[p]` to `ends[p]`; `total` is the last end. If `stuck` is not empty, it has never
    ended: what waits, the circle of those that wait for one another first; times of what never happens are -1.
    """

    trace: Trace
    depths: Numbers
    times: Numbers
    waits: Numbers
    begins: Numbers
    ends: Numbers
    stuck: tuple[ProcessWait, ...] = ()
    circle: tuple[ProcessWait, ...] = ()

    @property
    def total(self) -> int:
        """The cycles of the whole run."""
        return int(self.ends.max(initial=0))

    @cached_property
    def full(self) -> Numbers:
        """The cycles that producers have waited for room, by channel."""
        return self._by_channel(self.trace.is_put)

    @cached_property
    def empty(self) -> Numbers:
        """The cycles that consumers have waited for elements, by channel."""
        return self._by_channel(~self.trace.is_put)

    @cached_property
    def stalls(self) -> Numbers:
        """The cycles that each process has waited after its begin."""
        found = np.zeros(len(self.trace.processes), np.int64)
        np.add.at(found, self.trace.owner, self.waits)
        return found

    @cached_property
    def occupied(self) -> Numbers:
        """How many elements are in each channel at most."""
        return np.array([self.levels(n)[1].max(initial=0) for n in range(len(self.trace.channels))], np.int64)

    def levels(self, channel: int) -> tuple[Numbers, Numbers]:
        """The cycles in which the occupancy of a channel changes, and how many elements are in it from then on.

        An element takes its place until the cycle after its get, in which the next one can be put there.
        """
        puts, gets = (self.times[own] for own in (self.trace.puts[channel], self.trace.gets[channel]))
        puts, gets = puts[puts >= 0], gets[gets >= 0] + FIFO_CYCLES
        times = np.concatenate([puts, gets])
        steps = np.concatenate([np.ones(len(puts), np.int64), -np.ones(len(gets), np.int64)])
        order = np.argsort(times, kind="stable")
        times, levels = times[order], np.cumsum(steps[order])
        last = np.append(times[1:] != times[:-1], True)[: len(times)]
        return times[last], levels[last]

    def _by_channel(self, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Numbers:
        found = np.zeros(len(self.trace.channels), np.int64)
        np.add.at(found, self.trace.channel[chosen], self.waits[chosen])
        return found


def replay(trace: Trace, depths: Sequence[int] | Numbers | None = None) -> Replayed:
    """The run of `trace` with channels of these depths (0: any number of elements), by default as declared."""
    given = trace.depths if depths is None else np.asarray(depths, np.int64)
    if given.shape != (len(trace.channels),) or (given < 0).any():
        raise ValueError(f"a trace of {len(trace.channels)} channels takes as many depths, none below 0: {depths}")
    needs = needed_events(trace, given)
    run = _Run(trace, needs)
    run.run()
    times, begins, ends = (np.array(values, np.int64) for values in (run.times, run.begins, run.ends))
    stuck = run.stuck()
    return Replayed(trace, given, times, _waits(trace, times, begins), begins, ends, stuck, _circle(stuck))


def needed_events(trace: Trace, depths: Numbers) -> Numbers:
    """The event that each one waits for at its channel: -1 for none, -2 for one that does not exist."""
    needs = np.full(len(trace), _AT_ONCE, np.int64)
    for puts, gets, depth in zip(trace.puts, trace.gets, depths.tolist(), strict=True):
        needs[gets] = _padded(puts, len(gets))
        if depth and len(puts) > depth:
            needs[puts[depth:]] = _padded(gets, len(puts) - depth)
    return needs


def _padded(events: Numbers, count: int) -> Numbers:
    missing = max(0, count - len(events))
    return np.concatenate([events[:count], np.full(missing, _NEVER, np.int64)])


def _waits(trace: Trace, times: Numbers, begins: Numbers) -> Numbers:
    """By how much each event makes its process later."""
    late = np.where(times >= 0, times - trace.cycle, 0)
    before = np.empty_like(late)
    before[1:] = late[:-1]
    sizes = np.diff(trace.bounds)
    before[trace.bounds[:-1][sizes > 0]] = begins[sizes > 0]
    return np.where(times >= 0, late - before, 0)


class _Run:
    """Processes that go on until they wait, each in turn."""

    def __init__(self, trace: Trace, needs: Numbers) -> None:
        self.trace = trace
        self.needs: list[int] = needs.tolist()
        self.cycles: list[int] = trace.cycle.tolist()
        self.bounds: list[int] = trace.bounds.tolist()
        count = len(trace.processes)
        self.times = [_NOT_YET] * len(trace)
        self.begins = [_NOT_YET] * count
        self.ends = [_NOT_YET] * count
        self.place = self.bounds[:-1]
        self.late = [0] * count
        self.sleepers = [_NOT_YET] * len(trace)  # of an event, the process that waits for it
        self.missing = [len(process.after) for process in trace.processes]
        self.followers: list[list[int]] = [[] for _ in range(count)]
        for number, process in enumerate(trace.processes):
            for other in process.after:
                self.followers[other].append(number)

    def run(self) -> None:
        """Run all that can be run."""
        ready = [number for number, missing in enumerate(self.missing) if not missing]
        for number in ready:
            self.begins[number] = 0
        while ready:
            number = ready.pop()
            if self._goes_on(number, ready):
                length = self.trace.processes[number].length
                self.ends[number] = end = self.late[number] + length
                for follower in self.followers[number]:
                    self.late[follower] = max(self.late[follower], end)
                    self.missing[follower] -= 1
                    if not self.missing[follower]:
                        self.begins[follower] = self.late[follower]
                        ready.append(follower)

    def _goes_on(self, number: int, ready: list[int]) -> bool:
        """Let a process do all that it can now; whether it has come to its end."""
        needs, times, cycles, sleepers = self.needs, self.times, self.cycles, self.sleepers
        late, end = self.late[number], self.bounds[number + 1]
        event = self.place[number]
        while event < end:
            needed, cycle = needs[event], cycles[event]
            if needed >= 0:
                known = times[needed]
                if known < 0:
                    sleepers[needed] = number
                    break
                late = max(late, known + FIFO_CYCLES - cycle)
            elif needed == _NEVER:
                break
            times[event] = cycle + late
            if sleepers[event] >= 0:
                ready.append(sleepers[event])
            event += 1
        self.place[number], self.late[number] = event, late
        return event == end

    def stuck(self) -> tuple[ProcessWait, ...]:
        """The processes that have not come to their end, and what for."""
        owner, found = self.trace.owner, []
        for number, process in enumerate(self.trace.processes):
            event = self.place[number]
            if self.ends[number] >= 0:
                continue
            if self.missing[number]:
                other = next(other for other in process.after if self.ends[other] < 0)
                found.append(ProcessWait(number, "begin", None, 0, 0, other))
                continue
            channel, needed = int(self.trace.channel[event]), self.needs[event]
            kind = "full" if self.trace.is_put[event] else "empty"
            ends = (self.trace.puts[channel], self.trace.gets[channel])
            puts, gets = (sum(self.times[n] >= 0 for n in own.tolist()) for own in ends)
            maker = int(owner[needed]) if needed >= 0 else None
            found.append(ProcessWait(number, kind, channel, puts, gets, maker))
        return tuple(found)


def _circle(stuck: Sequence[ProcessWait]) -> tuple[ProcessWait, ...]:
    """Processes that wait for one another; nothing if all wait for what nobody does."""
    waits = {wait.process: wait for wait in stuck}
    known: set[int] = set()
    for first in stuck:
        own: dict[int, ProcessWait] = {}
        wait: ProcessWait | None = first
        while wait is not None and wait.process not in known:
            own[wait.process] = wait
            known.add(wait.process)
            wait = waits.get(wait.for_process) if wait.for_process is not None else None
        if wait is not None and wait.process in own:
            way = list(own.values())
            return tuple(way[way.index(wait) :])
    return ()
