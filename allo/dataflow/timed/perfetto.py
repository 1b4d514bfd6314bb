"""Timed runs as JSON of trace events, which Perfetto and chrome://tracing show; a microsecond stands for a cycle."""

from __future__ import annotations

import json
from typing import Any

from .figures import RunFigures
from .times import stall_slices

_TASKS, _CHANNELS = 1, 2  # "processes" of the viewer


def perfetto(run: RunFigures) -> str:
    """A row for each task, with what it waits for inside, and a counter for each channel."""
    events = [_name("process_name", _TASKS, 0, "tasks"), _name("process_name", _CHANNELS, 0, "streams")]
    for row, task in enumerate(run.tasks):
        events += [
            _name("thread_name", _TASKS, row, task.name),
            {"name": "thread_sort_index", "ph": "M", "pid": _TASKS, "tid": row, "args": {"sort_index": row}},
            _slice(task.name, row, task.begin, task.end),
        ]
        for stall in stall_slices(run.replayed, task):
            events.append(_slice(f"{run.channels[stall.channel].name} is {stall.kind}", row, stall.begin, stall.end))
    for channel in run.channels:
        for time, level in zip(*(values.tolist() for values in run.replayed.levels(channel.number)), strict=True):
            events.append(
                {"name": channel.name, "ph": "C", "ts": time, "pid": _CHANNELS, "tid": 0, "args": {"elements": level}}
            )
    about = {"top": run.top, "target": run.target, "MHz": run.frequency, "cycles": run.cycles, "1 us": "one cycle"}
    lines = ",\n".join(json.dumps(event) for event in events)
    return f'{{"otherData": {json.dumps(about)},\n"traceEvents": [\n{lines}\n]}}\n'


def _name(kind: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}


def _slice(name: str, row: int, begin: int, end: int) -> dict[str, Any]:
    return {"name": name, "ph": "X", "ts": begin, "dur": end - begin, "pid": _TASKS, "tid": row}
