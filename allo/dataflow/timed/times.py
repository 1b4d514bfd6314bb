"""Times of tasks and channels in a timed run: when each runs, for what it waits, how full it gets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..replay import Replayed


@dataclass(frozen=True, slots=True)
class StallSlice:
    """Cycles in which a task waits at a channel that is "full" or "empty"."""

    begin: int
    end: int
    kind: str
    channel: int


@dataclass(frozen=True, slots=True)
class TaskTime:
    """A task at one position: it runs from `begin` to `end`, of which it waits `stalls` cycles.

    `processes` are its stretches in the trace; `stalls_by` says at which channels (kind, channel) it waits how long.
    """

    name: str
    position_of: str
    begin: int
    end: int
    stalls: int
    stalls_by: tuple[tuple[str, int, int], ...]
    processes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChannelTime:
    """A channel: `elements` go through, at most `most` are in it at once; its producer waits `full` cycles for room,
    its consumer `empty` cycles for elements."""

    number: int
    name: str
    element_of: str
    depth: int
    bits: int
    elements: int
    most: int
    full: int
    empty: int
    producer: str
    consumer: str


def task_times(run: Replayed) -> tuple[TaskTime, ...]:
    """The tasks in the order of their numbers; a process without one is a task of its own."""
    groups: dict[object, list[int]] = {}
    for number, process in enumerate(run.trace.processes):
        groups.setdefault((process.task,) if process.task is not None else number, []).append(number)
    return tuple(_task(run, tuple(numbers)) for numbers in groups.values())


def _task(run: Replayed, numbers: tuple[int, ...]) -> TaskTime:
    trace, by = run.trace, dict[tuple[str, int], int]()
    for number in numbers:
        own = slice(int(trace.bounds[number]), int(trace.bounds[number + 1]))
        ends = trace.channel[own] * 2 + trace.is_put[own]
        used, where = np.unique(ends, return_inverse=True)
        sums = np.zeros(len(used), np.int64)
        np.add.at(sums, where, run.waits[own])
        for end, cycles in zip(used.tolist(), sums.tolist(), strict=True):
            if cycles:
                key = ("full" if end % 2 else "empty", end // 2)
                by[key] = by.get(key, 0) + cycles
    first = trace.processes[numbers[0]]
    waits = sorted(((kind, channel, cycles) for (kind, channel), cycles in by.items()), key=lambda w: (-w[2], w[1]))
    return TaskTime(
        first.name, first.position_of, int(run.begins[numbers[0]]), int(run.ends[numbers[-1]]),
        sum(by.values()), tuple(waits), numbers,
    )  # fmt: skip


def channel_times(run: Replayed) -> tuple[ChannelTime, ...]:
    """The channels in the order of their numbers."""
    names = [process.name for process in run.trace.processes]
    most = run.occupied.tolist()
    return tuple(
        ChannelTime(
            n, c.name, c.element_of, int(run.depths[n]), c.bits, len(run.trace.puts[n]), most[n],
            int(run.full[n]), int(run.empty[n]),
            "" if c.producer is None else names[c.producer], "" if c.consumer is None else names[c.consumer],
        )
        for n, c in enumerate(run.trace.channels)
    )  # fmt: skip


def stall_slices(run: Replayed, task: TaskTime) -> list[StallSlice]:
    """When a task waits, in order, without overlaps; waits for the same that follow one another are one."""
    trace, found = run.trace, list[StallSlice]()
    for number in task.processes:
        first, last = int(trace.bounds[number]), int(trace.bounds[number + 1])
        for event in (np.flatnonzero(run.waits[first:last]) + first).tolist():
            end = int(run.times[event])
            begin = max(end - int(run.waits[event]), found[-1].end if found else 0)
            kind, channel = "full" if trace.is_put[event] else "empty", int(trace.channel[event])
            if begin >= end:
                continue
            if found and (found[-1].end, found[-1].kind, found[-1].channel) == (begin, kind, channel):
                begin = found.pop().begin
            found.append(StallSlice(begin, end, kind, channel))
    return found
