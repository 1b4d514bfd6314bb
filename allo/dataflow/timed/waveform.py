"""Timed runs as value change dumps: whether each task runs or waits, and how many elements are in each channel."""

from __future__ import annotations

import re

import numpy as np

from ..trace import Numbers
from .figures import RunFigures
from .times import TaskTime, stall_rows

_FIRST, _LAST = 33, 126  # printable characters, of which names of signals in a dump consist


class _Dump:
    """Signals with their changes."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.times: list[Numbers] = []
        self.texts: list[str] = []
        self.count = 0

    def signal(self, name: str, width: int, times: Numbers, values: Numbers) -> None:
        """Declare a signal that is 0 at first, and changes to these values in these cycles."""
        code, number = "", self.count
        while True:
            number, digit = divmod(number, _LAST - _FIRST + 1)
            code += chr(_FIRST + digit)
            if not number:
                break
        self.count += 1
        self.lines.append(f"$var wire {width} {code} {name} $end")
        self.times.append(np.append(0, times))
        shown = {value: f"{value}{code}" if width == 1 else f"b{value:b} {code}" for value in {0, *values.tolist()}}
        self.texts += [shown[0], *(shown[value] for value in values.tolist())]

    def changes(self, end: int) -> list[str]:
        """All changes in the order of time, up to the end."""
        times = np.concatenate(self.times) if self.times else np.zeros(0, np.int64)
        order, found, now = np.argsort(times, kind="stable"), list[str](), -1
        for place, time in zip(order.tolist(), times[order].tolist(), strict=True):
            if time != now:
                found.append(f"#{time}")
                now = time
            found.append(self.texts[place])
        return found if now >= end else [*found, f"#{end}"]


def vcd(run: RunFigures) -> str:
    """The dump; a unit of its time, a nanosecond, stands for a cycle."""
    dump, names = _Dump(), set[str]()
    lines = dump.lines
    lines += [f"$comment {run.top} on {run.target}: 1 ns is one cycle at {run.frequency:g} MHz $end"]
    lines += ["$timescale 1ns $end", f"$scope module {_plain(run.top, names)} $end"]
    for task in run.tasks:
        lines.append(f"$scope module {_plain(task.name, names)} $end")
        runs = [task.begin, task.end] if task.end > task.begin else []
        dump.signal("running", 1, np.array(runs, np.int64), np.array([1, 0][: len(runs)], np.int64))
        dump.signal("waiting", 1, *_waiting(run, task))
        lines.append("$upscope $end")
    for channel in run.channels:
        width = max(channel.most.bit_length(), 2)
        dump.signal(_plain(channel.name, names), width, *run.replayed.levels(channel.number))
    lines += ["$upscope $end", "$enddefinitions $end"]
    return "\n".join([*lines, *dump.changes(run.cycles), ""])


def _waiting(run: RunFigures, task: TaskTime) -> tuple[Numbers, Numbers]:
    rows = stall_rows(run.replayed, task)
    joined = rows[1:, 0] == rows[:-1, 1]  # one wait follows the other at once
    begins, ends = rows[np.append(True, ~joined)[: len(rows)], 0], rows[np.append(~joined, True)[: len(rows)], 1]
    times = np.stack([begins, ends], axis=1).reshape(-1)
    return times, np.tile(np.array([1, 0], np.int64), len(begins))


def _plain(name: str, taken: set[str]) -> str:
    """A name without characters that viewers take for something else; each of them once."""
    plain = re.sub(r"\W+", "_", name).strip("_") or "stream"
    number, found = 1, plain
    while found in taken:
        number += 1
        found = f"{plain}_{number}"
    taken.add(found)
    return found
