"""Timed runs as JSON of trace events, which Perfetto and chrome://tracing show; a microsecond stands for a cycle."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..trace import Numbers
from .figures import RunFigures
from .times import StallSlice, stall_marks, stall_rows, stall_slices

_TASKS, _CHANNELS = 1, 2  # "processes" of the viewer
_MOST, _MARKS = 200_000, 2_000  # waits, or changes of occupancies, that are written; marks a row if there are more


def perfetto(run: RunFigures) -> str:
    """A row for each task, with what it waits for inside, and a counter for each channel.

    Where there is too much for a viewer, waits and the most that is in a channel are those of parts of all cycles.
    """
    events = [_name("process_name", _TASKS, 0, "tasks"), _name("process_name", _CHANNELS, 0, "streams")]
    waits = _waits(run)
    for row, task in enumerate(run.tasks):
        events += [
            _name("thread_name", _TASKS, row, task.name),
            {"name": "thread_sort_index", "ph": "M", "pid": _TASKS, "tid": row, "args": {"sort_index": row}},
            _slice(task.name, row, task.begin, task.end),
        ]
        for stall in waits[row]:
            events.append(_slice(f"{run.channels[stall.channel].name} is {stall.kind}", row, stall.begin, stall.end))
    thin = len(run.replayed.trace) > _MOST
    for channel in run.channels:
        times, levels = run.replayed.levels(channel.number)
        if thin:
            times, levels = _thinned(times, levels, run.cycles)
        for time, level in zip(times.tolist(), levels.tolist(), strict=True):
            events.append(
                {"name": channel.name, "ph": "C", "ts": time, "pid": _CHANNELS, "tid": 0, "args": {"elements": level}}
            )
    about = {"top": run.top, "target": run.target, "MHz": run.frequency, "cycles": run.cycles, "1 us": "one cycle"}
    lines = ",\n".join(json.dumps(event) for event in events)
    return f'{{"otherData": {json.dumps(about)},\n"traceEvents": [\n{lines}\n]}}\n'


def _waits(run: RunFigures) -> list[list[StallSlice]]:
    """What each task waits for."""
    rows = [stall_rows(run.replayed, task) for task in run.tasks]
    if sum(map(len, rows)) <= _MOST:
        return [stall_slices(own) for own in rows]
    return [stall_marks(own, run.cycles, _MARKS) for own in rows]


def _thinned(times: Numbers, levels: Numbers, cycles: int) -> tuple[Numbers, Numbers]:
    """The most in each of some parts of all cycles, where it changes."""
    if len(times) <= _MARKS:
        return times, levels
    parts = times * _MARKS // (cycles + 1)
    firsts = np.append(0, np.flatnonzero(np.diff(parts)) + 1)
    most = np.maximum.reduceat(levels, firsts)
    changed = np.append(True, most[1:] != most[:-1])
    return times[firsts][changed], most[changed]


def _name(kind: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}


def _slice(name: str, row: int, begin: int, end: int) -> dict[str, Any]:
    return {"name": name, "ph": "X", "ts": begin, "dur": end - begin, "pid": _TASKS, "tid": row}
