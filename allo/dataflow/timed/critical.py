"""Critical path of a replayed trace: the processes and waits that its last cycle depends on, and their circle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np

from ..replay import FIFO_CYCLES, Replayed, needed_events


@dataclass(frozen=True, slots=True)
class CriticalStep:
    """A process that binds the total from `begin` to `end`, because what it waits for before that comes then.

    `kind` is "full" or "empty" for a wait at `channel`, "begin" for the end of another process, "" for the first step.
    A pipeline may end a step before it begins: the iteration behind one that waits starts earlier than that goes on.
    """

    process: int
    begin: int
    end: int
    kind: str
    channel: int | None


@dataclass(frozen=True, slots=True)
class Hop:
    """A wait that binds: `waiting` needs what `waits_for` does at a channel that is "full" or "empty", or its end."""

    waiting: int
    waits_for: int
    kind: str
    channel: int | None


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """All steps, the first one first, and the circle of waits that they go round most often.

    It was gone round `rounds` times, in so many `cycles` together; () if no process waits for itself through others.
    """

    steps: tuple[CriticalStep, ...]
    circle: tuple[Hop, ...]
    rounds: int
    cycles: int

    def of_processes(self, count: int) -> list[int]:
        """The cycles that each of `count` processes is on the path; the rest is the latency of FIFOs."""
        found = [0] * count
        for step in self.steps:
            found[step.process] += step.end - step.begin
        return found


def critical_path(run: Replayed) -> CriticalPath:
    """What the total of a run that has ended depends on."""
    trace = run.trace
    if not trace.processes:
        return CriticalPath((), (), 0, 0)
    steps = _steps(run)
    hops = [
        Hop(step.process, before.process, step.kind, step.channel)
        for before, step in pairwise(steps)
    ]
    circle, rounds, cycles = _circle(hops, [step.begin for step in steps[1:]])
    return CriticalPath(tuple(steps), circle, rounds, cycles)


def _steps(run: Replayed) -> list[CriticalStep]:
    trace = run.trace
    places = np.arange(len(trace))
    bound = np.maximum.accumulate(np.where(run.waits > 0, places, -1)) if len(trace) else places
    # of millions of events, the path needs few
    given = (bound, needed_events(trace, run.depths), run.times, trace.owner)
    last_wait, needs, times, owner = (cast(Sequence[int], memoryview(values)) for values in given)
    bounds: list[int] = trace.bounds.tolist()
    process = int(np.argmax(run.ends))
    end, place = int(run.ends[process]), bounds[process + 1] - 1
    found: list[CriticalStep] = []
    while True:
        event = last_wait[place] if place >= bounds[process] else -1
        if event < bounds[process]:
            begin = int(run.begins[process])
            before = [other for other in trace.processes[process].after if run.ends[other] == begin]
            found.append(CriticalStep(process, begin, end, "begin" if before else "", None))
            if not before:
                return found[::-1]
            process = before[0]
            end, place = begin, bounds[process + 1] - 1
            continue
        kind = "full" if trace.is_put[event] else "empty"
        found.append(CriticalStep(process, times[event], end, kind, int(trace.channel[event])))
        place = needs[event]
        process, end = owner[place], times[event] - FIFO_CYCLES


def _circle(hops: Sequence[Hop], times: Sequence[int]) -> tuple[tuple[Hop, ...], int, int]:
    """The sequence of hops, from a process back to it, that is gone most often in a row."""
    if not hops:
        return (), 0, 0
    often = Counter(hops).most_common(1)[0][0]
    places = [n for n, hop in enumerate(hops) if hop == often]
    rounds: Counter[tuple[Hop, ...]] = Counter()
    cycles: Counter[tuple[Hop, ...]] = Counter()
    for first, second in pairwise(places):
        way = tuple(hops[first:second])
        rounds[way] += 1
        cycles[way] += times[second] - times[first]
    if not rounds:
        return (), 0, 0
    best = max(rounds, key=lambda way: cycles[way])
    return best, rounds[best], cycles[best]
