"""Times of tasks and channels in a timed run: when each runs, for what it waits, how full it gets."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

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


type Rows = np.ndarray[tuple[int, int], np.dtype[np.int64]]


def stall_rows(run: Replayed, task: TaskTime) -> Rows:
    """When a task waits, in order, without overlaps: begin, end, channel, and 1 if that is full, 0 if it is empty.

    Waits for the same that follow one another are one.
    """
    trace = run.trace
    bounds = [(int(trace.bounds[number]), int(trace.bounds[number + 1])) for number in task.processes]
    events = np.concatenate([np.flatnonzero(run.waits[first:last]) + first for first, last in bounds])
    ends = run.times[events]
    before = np.maximum.accumulate(np.append(0, ends))[:-1]
    begins = np.maximum(ends - run.waits[events], before)
    rows = np.stack([begins, ends, trace.channel[events], trace.is_put[events]], axis=1)[begins < ends]
    starts = np.ones(len(rows), np.bool_)
    starts[1:] = (rows[1:, 2:] != rows[:-1, 2:]).any(axis=1) | (rows[1:, 0] > rows[:-1, 1])
    found: Rows = rows[starts]
    found[:, 1] = rows[np.append(starts[1:], True), 1] if len(rows) else found[:, 1]
    return found


def stall_slices(rows: Rows) -> list[StallSlice]:
    """Rows one by one."""
    return [StallSlice(begin, end, "full" if full else "empty", channel) for begin, end, channel, full in rows.tolist()]


def stall_marks(rows: Rows, cycles: int, count: int) -> list[StallSlice]:
    """What is waited for in most of the time, by `count` equal parts of all cycles; parts with the same are one."""
    edges = np.linspace(0, cycles, count + 1)
    kinds = np.zeros(count, np.int64)  # 2: mostly full, 1: mostly empty
    waited = [_within(rows[rows[:, 3] == full], edges) for full in (0, 1)]
    kinds[waited[0] + waited[1] >= cycles / count / 2] = 1
    kinds[(kinds == 1) & (waited[1] > waited[0])] = 2
    changes = np.flatnonzero(np.diff(kinds)) + 1
    found = []
    for first, last in pairwise([0, *changes.tolist(), count]):
        if kinds[first]:
            own = rows[rows[:, 3] == kinds[first] - 1]
            low, high = np.searchsorted(own[:, 1], edges[first], "right"), np.searchsorted(own[:, 0], edges[last])
            channel = int(np.bincount(own[low:high, 2], own[low:high, 1] - own[low:high, 0]).argmax())
            kind = "full" if kinds[first] == 2 else "empty"
            found.append(StallSlice(round(float(edges[first])), round(float(edges[last])), kind, channel))
    return found


def _within(rows: Rows, edges: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The cycles of rows between each two edges."""
    if not len(rows):
        return np.zeros(len(edges) - 1)
    points = rows[:, :2].reshape(-1)
    sums = np.cumsum(np.stack([np.zeros(len(rows), np.int64), rows[:, 1] - rows[:, 0]], axis=1).reshape(-1))
    return np.diff(np.interp(edges, points, sums))
