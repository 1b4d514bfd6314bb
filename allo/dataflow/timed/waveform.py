"""Timed runs as value change dumps: whether each task runs or waits, and how many elements are in each channel."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .figures import RunFigures
from .times import TaskTime, stall_slices

_FIRST, _LAST = 33, 126  # printable characters, of which names of signals in a dump consist


class _Dump:
    """Signals with their changes."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.changes: dict[int, list[str]] = {}
        self.count = 0

    def signal(self, name: str, width: int, changes: Iterable[tuple[int, int]]) -> None:
        """Declare a signal that is 0 at first, and changes to these values in these cycles."""
        code, number = "", self.count
        while True:
            number, digit = divmod(number, _LAST - _FIRST + 1)
            code += chr(_FIRST + digit)
            if not number:
                break
        self.count += 1
        self.lines.append(f"$var wire {width} {code} {name} $end")
        for time, value in ((0, 0), *changes):
            text = f"{value}{code}" if width == 1 else f"b{value:b} {code}"
            self.changes.setdefault(time, []).append(text)


def vcd(run: RunFigures) -> str:
    """The dump; a unit of its time, a nanosecond, stands for a cycle."""
    dump = _Dump()
    lines = dump.lines
    names: set[str] = set()
    lines += [f"$comment {run.top} on {run.target}: 1 ns is one cycle at {run.frequency:g} MHz $end"]
    lines += ["$timescale 1ns $end", f"$scope module {_plain(run.top, names)} $end"]
    for task in run.tasks:
        lines.append(f"$scope module {_plain(task.name, names)} $end")
        dump.signal("running", 1, _running(task))
        dump.signal("waiting", 1, _waiting(run, task))
        lines.append("$upscope $end")
    for channel in run.channels:
        times, levels = (values.tolist() for values in run.replayed.levels(channel.number))
        dump.signal(
            _plain(channel.name, names), max(channel.most.bit_length(), 2), zip(times, levels, strict=True)
        )
    lines += ["$upscope $end", "$enddefinitions $end"]
    for time in sorted(dump.changes):
        lines += [f"#{time}", *dump.changes[time]]
    lines += [f"#{run.cycles}"] if run.cycles not in dump.changes else []
    return "\n".join([*lines, ""])


def _running(task: TaskTime) -> list[tuple[int, int]]:
    return [(task.begin, 1), (task.end, 0)] if task.end > task.begin else []


def _waiting(run: RunFigures, task: TaskTime) -> list[tuple[int, int]]:
    changes: dict[int, int] = {}
    for stall in stall_slices(run.replayed, task):
        changes[stall.begin] = 1  # in the place of the end of the one before
        changes[stall.end] = 0
    return sorted(changes.items())


def _plain(name: str, taken: set[str]) -> str:
    """A name without characters that viewers take for something else; each of them once."""
    plain = re.sub(r"\W+", "_", name).strip("_") or "stream"
    number, found = 1, plain
    while found in taken:
        number += 1
        found = f"{plain}_{number}"
    taken.add(found)
    return found
