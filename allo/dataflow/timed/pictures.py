"""Pictures of timed runs as SVG: bars of tasks over the cycles, the graph of tasks, occupancies of channels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...picture.bars import Bar, BarRow, bars
from ...picture.canvas import CHARACTER, Canvas, text_width
from ...picture.graph import Vertex, svg
from .figures import RunFigures
from .times import ChannelTime, TaskTime, stall_marks, stall_rows

_LINE, _WIDTH, _PAD = 22, 640, 10  # pixels: of a row, all cycles, an edge
_ROWS, _FILLS = 64, 16  # tasks and channels that are drawn

type Picture = tuple[str, str]  # with a remark on what is left out


def gantt(run: RunFigures) -> Picture:
    """A bar for each task, with what it waits for in other colours."""
    busy = [task for task in run.tasks if task.end > task.begin]
    tasks = _chosen(busy, [task.stalls for task in busy], _ROWS)
    return bars([_row(run, task) for task in tasks], run.cycles, _WIDTH), _left_out(
        len(busy), len(tasks), "tasks", "wait longest"
    )


def _row(run: RunFigures, task: TaskTime) -> BarRow:
    """Waits are a pixel long at least."""
    marks = stall_marks(stall_rows(run.replayed, task), run.cycles, _WIDTH)
    waits = (
        Bar(s.begin, s.end, s.kind, f"{run.channels[s.channel].name} is {s.kind}, {s.begin} to {s.end}") for s in marks
    )
    return BarRow(task.name, (Bar(task.begin, task.end, "busy", f"{task.begin} to {task.end}"), *waits))


def graph(run: RunFigures) -> Picture:
    """Tasks, those of a grid as one, and the streams between them: redder where more cycles are waited for them."""
    of = {task.name: task.position_of or task.name for task in run.tasks}
    links: dict[tuple[str, str, str], list[ChannelTime]] = {}
    for channel in run.channels:
        if channel.producer and channel.consumer:
            key = (of[channel.producer], of[channel.consumer], channel.element_of or channel.name)
            links.setdefault(key, []).append(channel)
    if not links:
        return "", ""
    most = max(map(_waited, links.values()))
    critical = {of[run.replayed.trace.processes[step.process].name] for step in run.critical.steps}
    vertices: dict[str, Vertex] = {}
    for name in dict.fromkeys(of[task.name] for task in run.tasks):
        if any(name in key[:2] for key in links):
            own = [task for task in run.tasks if of[task.name] == name]
            told = f"{min(task.begin for task in own)} to {max(task.end for task in own)}"
            many = [f"{len(own)} positions"] if len(own) > 1 else []
            bound = ["binds the total"] if name in critical else []
            vertices[f"task {name}"] = Vertex(f"task {name}", name, "call", run.top, (*many, told, *bound))
    flows = []
    for number, ((producer, consumer, name), channels) in enumerate(links.items()):
        place = f"stream {number}"
        details = stream_details(channels)
        vertices[place] = Vertex(place, name, "stream", run.top, details, _waited(channels) / most if most else 0.0)
        flows += [(f"task {producer}", place), (place, f"task {consumer}")]
    return svg(vertices, flows, (), (run.top,), "cycles are simulated"), ""


def _waited(channels: Sequence[ChannelTime]) -> int:
    return sum(channel.full + channel.empty for channel in channels)


def stream_details(channels: Sequence[ChannelTime]) -> tuple[str, ...]:
    """What is told of a stream, or of an array of them: how many, how full of what depth, how long its ends wait."""
    many = [f"{len(channels)} streams"] if len(channels) > 1 else []
    depths = sorted({channel.depth for channel in channels})
    depth = str(depths[0]) if len(depths) == 1 else f"{depths[0]} to {depths[-1]}"
    waited = _waited(channels)
    most = f"{max(channel.most for channel in channels)} of depth {depth}" if depths[0] else "depth unknown"
    return (*many, most, *([f"{waited} cycles waited"] if waited else []))


def fills(run: RunFigures) -> Picture:
    """How many elements are in each channel over the cycles."""
    channels = _chosen(run.channels, [channel.full + channel.empty for channel in run.channels], _FILLS)
    left = _PAD + max((text_width(_filled(channel)) for channel in channels), default=0) + CHARACTER
    canvas = Canvas()
    for number, channel in enumerate(channels):
        top = number * 2 * _LINE
        canvas.text(_PAD, top + 26, _filled(channel))
        canvas.rect(left, top + 4, _WIDTH, 2 * _LINE - 10, "track")
        if path := _steps(run, channel, left, top + 2 * _LINE - 6):
            canvas.path(path, "area")
    picture = canvas.svg(left + _WIDTH + _PAD, 2 * _LINE * len(channels) + _PAD)
    return picture, _left_out(len(run.channels), len(channels), "streams", "are waited for longest")


def _filled(channel: ChannelTime) -> str:
    return f"{channel.name}: {channel.most}" + (f" of {channel.depth}" if channel.depth else "")


def _steps(run: RunFigures, channel: ChannelTime, left: int, bottom: int) -> str:
    """A path of steps; in each pixel the most that is in the channel. Empty if nothing ever is."""
    times, levels = run.replayed.levels(channel.number)
    if not len(times):
        return ""
    scale = _WIDTH / max(1, run.cycles + 1)
    pixels = (times * scale).astype(np.int64)
    firsts = np.append(0, np.flatnonzero(np.diff(pixels)) + 1)
    highest = np.maximum.reduceat(np.maximum(levels, np.append(0, levels[:-1])), firsts)
    lasts = levels[np.append(firsts[1:] - 1, len(levels) - 1)]
    height = (2 * _LINE - 10) / max(channel.most, 1)
    path = [f"M{left} {bottom}"]
    for pixel, high, last in zip(pixels[firsts].tolist(), highest.tolist(), lasts.tolist(), strict=True):
        path.append(f"H{left + pixel}V{bottom - high * height:.1f}")
        if last != high:
            path.append(f"V{bottom - last * height:.1f}")
    return f"{''.join(path)}H{left + _WIDTH}V{bottom}z"


def _chosen[T](found: Sequence[T], weights: Sequence[int], most: int) -> list[T]:
    """The heaviest ones, in their order."""
    order = sorted(range(len(found)), key=lambda n: (-weights[n], n))[:most]
    return [found[n] for n in sorted(order)]


def _left_out(count: int, shown: int, what: str, why: str) -> str:
    return "" if count == shown else f"{shown} of {count} {what}: those that {why}."
