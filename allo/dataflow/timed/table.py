"""Timed runs as printed tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .critical import CriticalPath, Hop
from .figures import RunFigures
from .times import ChannelTime, TaskTime

_MOST = 24  # rows of tasks or channels; of more, those of a grid or an array are one

TASKS = ("task", "begin", "end", "waits", "for")
CHANNELS = ("channel", "elements", "depth", "most", "full", "empty", "from", "to")


def table(run: RunFigures) -> str:
    """The run as text: the whole, its tasks, its channels, and what binds the total."""
    return "\n".join([
        headline(run),
        "",
        *_aligned([TASKS, *task_rows(run)]),
        *(["", *_aligned([CHANNELS, *channel_rows(run)])] if run.channels else []),
        "",
        *binding(run),
        *(["", *run.notes] if run.notes else []),
    ])  # fmt: skip


def headline(run: RunFigures) -> str:
    """What the figures are."""
    return (
        f"{run.top} on {run.target} at {run.frequency:g} MHz: *{run.cycles}* cycles = {run.milliseconds:.4g} ms, "
        f"*simulated* {run.basis}"
    )


def task_rows(run: RunFigures) -> list[tuple[str, ...]]:
    """A row for each task that does something, or for each grid."""
    shown = [task for task in run.tasks if task.end > task.begin or task.stalls]
    if len(shown) <= _MOST:
        return [_task(run, [task], task.name) for task in shown]
    groups: dict[str, list[TaskTime]] = {}
    for task in shown:
        groups.setdefault(task.position_of or task.name, []).append(task)
    return [_task(run, own, _counted(name, len(own), "positions")) for name, own in groups.items()]


def _task(run: RunFigures, tasks: Sequence[TaskTime], name: str) -> tuple[str, ...]:
    waits: dict[tuple[str, str], int] = {}
    for task in tasks:
        for kind, number, cycles in task.stalls_by:
            channel = run.channels[number]
            key = (kind, channel.name if len(tasks) == 1 else channel.element_of or channel.name)
            waits[key] = waits.get(key, 0) + cycles
    most = sorted(waits.items(), key=lambda item: (-item[1], item[0]))[:3]
    causes = ", ".join(f"{_wanted(kind)} '{channel}' {cycles}" for (kind, channel), cycles in most)
    begin, end = min(task.begin for task in tasks), max(task.end for task in tasks)
    return name, str(begin), str(end), str(sum(task.stalls for task in tasks)), causes


def _wanted(kind: str) -> str:
    return "room in" if kind == "full" else "elements of"


def channel_rows(run: RunFigures) -> list[tuple[str, ...]]:
    """A row for each channel, or for each array of them."""
    if len(run.channels) <= _MOST:
        return [_channel([channel], channel.name) for channel in run.channels]
    groups: dict[str, list[ChannelTime]] = {}
    for channel in run.channels:
        groups.setdefault(channel.element_of or channel.name, []).append(channel)
    return [_channel(own, _counted(name, len(own), "streams")) for name, own in groups.items()]


def _channel(own: Sequence[ChannelTime], name: str) -> tuple[str, ...]:
    sums = [sum(values) for values in zip(*((c.elements, c.full, c.empty) for c in own), strict=True)]
    ends = [_only([c.producer for c in own]), _only([c.consumer for c in own])]
    depths = sorted({c.depth for c in own})
    depth = "any" if depths == [0] else str(depths[0]) if len(depths) == 1 else f"{depths[0]} to {depths[-1]}"
    return name, str(sums[0]), depth, str(max(c.most for c in own)), str(sums[1]), str(sums[2]), *ends


def _only(names: Iterable[str]) -> str:
    found = list(dict.fromkeys(name for name in names if name))
    return found[0] if len(found) == 1 else f"{len(found)} tasks"


def _counted(name: str, count: int, what: str) -> str:
    return name if count == 1 else f"{name} ({count} {what})"


def binding(run: RunFigures) -> list[str]:
    """What the total depends on, in a few lines."""
    path = run.critical
    shares = path.of_processes(len(run.replayed.trace.processes))
    by: dict[str, int] = {}
    for process, cycles in zip(run.replayed.trace.processes, shares, strict=True):
        by[process.name] = by.get(process.name, 0) + cycles
    most = sorted((item for item in by.items() if item[1]), key=lambda item: (-item[1], item[0]))[:4]
    lines = ["critical path: " + (", ".join(f"{name} for {cycles} cycles" for name, cycles in most) or "nothing")]
    if path.circle:
        lines.append(_round(run, path))
    return lines


def _round(run: RunFigures, path: CriticalPath) -> str:
    names = [process.name for process in run.replayed.trace.processes]
    ways = [f"{names[hop.waiting]} {_reason(run, hop)} {names[hop.waits_for]}" for hop in reversed(path.circle)]
    return f"critical cycle, {path.rounds} times in {path.cycles} cycles: " + "; ".join(ways)


def _reason(run: RunFigures, hop: Hop) -> str:
    if hop.channel is None:
        return "begins behind"
    return f"waits for {_wanted(hop.kind)} '{run.channels[hop.channel].name}' by"


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows with aligned columns, the first a header."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]
