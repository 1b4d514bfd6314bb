"""Replay of a trace with FIFOs of any depths: when each event happens, what waits for what, or the circle of waits.

All times are exact longest paths (max-plus). An event happens as soon as
- its process has come to it: not before the event that the process does before it, shifted by the cycles between them;
- for get `k` of a channel: `FIFO_CYCLES` after put `k`;
- for put `k` of a channel of `d` elements: `FIFO_CYCLES` after get `k - d`, which has made room.

A process that waits stands still with all that it does later, in the order of its program; in a pipeline, iterations
that have begun before go on. These are the rules by which `allo.timing.control.elements` estimates stages. Where a
trace has `steps`, what comes later stands still while something waits, and not before: so does hardware of our own,
which does not know beforehand that it will have to wait. Such times are those of a machine and no longest paths.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from allo import _mlir

from .trace import Numbers, Trace, padded

FIFO_CYCLES = 1  # until an element that was put can be got, and until the room of one that was got can be used

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
    """The run of a trace: event `n` happens at `times[n]`.

    Process `p` runs from `begins[p]` to `ends[p]`; `total` is the last end. If `stuck` is not empty, it has never
    ended: what waits, the circle of those that wait for one another first; times of what never happens are -1.
    """

    trace: Trace
    depths: Numbers
    times: Numbers
    begins: Numbers
    ends: Numbers
    stuck: tuple[ProcessWait, ...] = ()
    circle: tuple[ProcessWait, ...] = ()
    waits: Numbers = field(kw_only=True)  # how long each event waits, and holds up its process

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
    found = _ran(trace, needs)
    stuck = _stuck(trace, needs, found)
    circle, waits = _circle(stuck), np.maximum(found.waits, 0)
    return Replayed(trace, given, found.times, found.begins, found.ends, stuck, circle, waits=waits)


def needed_events(trace: Trace, depths: Numbers) -> Numbers:
    """The event that each one waits for at its channel: -1 for none, -2 for one that does not exist."""
    needs = trace.made.copy()
    for puts, gets, depth in zip(trace.puts, trace.gets, depths.tolist(), strict=True):
        if depth and len(puts) > depth:
            needs[puts[depth:]] = padded(gets, len(puts) - depth)
    return needs


def _ran(trace: Trace, needs: Numbers) -> _Found:
    """When everything happens, by the run-time library."""
    count = len(trace.processes)
    sizes = (len(trace), count, count, count, len(trace))
    found = _Found(*(np.full(size, _NOT_YET, np.int64) for size in sizes))
    lengths = np.array([process.length for process in trace.processes], np.int64)
    after_bounds = np.cumsum([0, *(len(process.after) for process in trace.processes)])
    after = np.array([other for process in trace.processes for other in process.after], np.int64)
    given = (trace.bounds, needs, trace.cycle, lengths, after_bounds, after)
    rows = [np.ascontiguousarray(values, np.int64) for values in given]
    steps = 0 if trace.steps is None else trace.steps.ctypes.data
    _library().allo_replay(
        (ctypes.c_int64 * 9)(count, FIFO_CYCLES, *(row.ctypes.data for row in rows), steps),
        (ctypes.c_int64 * 5)(
            *(own.ctypes.data for own in (found.times, found.begins, found.ends, found.places, found.waits))
        ),
    )
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """What happens when, the event at which each process is, and how long each event waits."""

    times: Numbers
    begins: Numbers
    ends: Numbers
    places: Numbers
    waits: Numbers


@cache
def _library() -> Any:
    return ctypes.CDLL(_mlir.runtime_library())


def _stuck(trace: Trace, needs: Numbers, found: _Found) -> tuple[ProcessWait, ...]:
    """The processes that have not come to their end, and what for."""
    waits = []
    owner = trace.owner
    for number in np.flatnonzero(found.ends < 0).tolist():
        if found.begins[number] < 0:
            other = next(other for other in trace.processes[number].after if found.ends[other] < 0)
            waits.append(ProcessWait(number, "begin", None, 0, 0, other))
            continue
        event = int(found.places[number])
        channel, needed = int(trace.channel[event]), int(needs[event])
        kind = "full" if trace.is_put[event] else "empty"
        puts, gets = (int((found.times[own[channel]] >= 0).sum()) for own in (trace.puts, trace.gets))
        maker = int(owner[needed]) if needed >= 0 else None
        waits.append(ProcessWait(number, kind, channel, puts, gets, maker))
    return tuple(waits)


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
