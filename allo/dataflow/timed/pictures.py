"""Pictures of timed runs as SVG: bars of tasks over the cycles, the graph of tasks, occupancies of channels."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from .figures import RunFigures
from .times import ChannelTime, TaskTime, stall_marks, stall_rows

_CHARACTER, _LINE, _WIDTH, _PAD = 7, 22, 640, 10  # pixels: of a character, a row, all cycles, an edge
_ROWS, _FILLS = 64, 16  # tasks and channels that are drawn
_COLORS = {"full": "#e90", "empty": "#d33"}

type Picture = tuple[str, str]  # with a remark on what is left out


def gantt(run: RunFigures) -> Picture:
    """A bar for each task, with what it waits for in other colours."""
    busy = [task for task in run.tasks if task.end > task.begin]
    tasks = _chosen(busy, [task.stalls for task in busy], _ROWS)
    left = (max((len(task.name) for task in tasks), default=0) + 2) * _CHARACTER
    scale = _WIDTH / max(1, run.cycles)
    rows = []
    for number, task in enumerate(tasks):
        top = number * _LINE
        rows.append(f'<text x="0" y="{top + 15}">{escape(task.name)}</text>')
        rows.append(_bar(left, top, scale, task.begin, task.end, "#47a", f"{task.begin} to {task.end}"))
        rows += [_bar(left, top, scale, *slice_) for slice_ in _stalls(run, task)]
    axis = _LINE * len(tasks) + 12
    rows.append(f'<text x="{left}" y="{axis}">0</text>')
    rows.append(f'<text x="{left + _WIDTH}" y="{axis}" text-anchor="end">{run.cycles}</text>')
    return _svg(left + _WIDTH + _PAD, axis + 6, rows), _left_out(len(busy), len(tasks), "tasks", "wait longest")


def _stalls(run: RunFigures, task: TaskTime) -> list[tuple[int, int, str, str]]:
    """Waits as bars, a pixel at least."""
    marks = stall_marks(stall_rows(run.replayed, task), run.cycles, _WIDTH)
    return [
        (s.begin, s.end, _COLORS[s.kind], f"{run.channels[s.channel].name} is {s.kind}, {s.begin} to {s.end}")
        for s in marks
    ]


def _bar(left: int, top: int, scale: float, begin: int, end: int, color: str, title: str) -> str:
    width = max((end - begin) * scale, 0.5)
    return (
        f'<rect x="{left + begin * scale:.1f}" y="{top + 4}" width="{width:.1f}" height="14" fill="{color}">'
        f"<title>{escape(title)}</title></rect>"
    )


# -- the graph -----------------------------------------------------------------------------------------------


def graph(run: RunFigures) -> Picture:
    """Tasks, those of a grid as one, and the streams between them: redder where more cycles are waited for them."""
    of = {task.name: task.position_of or task.name for task in run.tasks}
    edges: dict[tuple[str, str, str], int] = {}
    for channel in run.channels:
        if channel.producer and channel.consumer:
            key = (of[channel.producer], of[channel.consumer], channel.element_of or channel.name)
            edges[key] = edges.get(key, 0) + channel.full + channel.empty
    names = list(dict.fromkeys(of[task.name] for task in run.tasks if any(of[task.name] in key[:2] for key in edges)))
    if not names:
        return "", ""
    columns = _columns(names, [key[:2] for key in edges])
    places, width, height = _places(names, columns, edges)
    critical = {of[run.replayed.trace.processes[step.process].name] for step in run.critical.steps}
    most = max(edges.values(), default=0)
    shapes = [
        _edge(places, key, stalls, most, number) for number, (key, stalls) in enumerate(edges.items())
    ]
    shapes += [_box(name, places[name], name in critical) for name in names]
    arrow = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="9" markerHeight="9" orient="auto" '
        'markerUnits="userSpaceOnUse"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>'
    )
    return _svg(width, height, [arrow, *shapes]), ""


def _columns(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The column of each task: behind those that come earlier in the program and put into its streams."""
    order = {name: number for number, name in enumerate(names)}
    found = dict.fromkeys(names, 0)
    for name in names:
        sources = [found[a] + 1 for a, b in edges if b == name and order[a] < order[name]]
        found[name] = max(sources, default=0)
    return found


def _places(
    names: Sequence[str], columns: dict[str, int], edges: dict[tuple[str, str, str], int]
) -> tuple[dict[str, tuple[int, int, int]], int, int]:
    """Left, top and width of each box, and the size of the whole."""
    gap = (max(len(f"{key[2]}: {stalls}") for key, stalls in edges.items()) + 3) * _CHARACTER
    places: dict[str, tuple[int, int, int]] = {}
    left, bottom = _PAD, 0
    for column in range(max(columns.values()) + 1):
        own = [name for name in names if columns[name] == column]
        width = (max(len(name) for name in own) + 2) * _CHARACTER
        for row, name in enumerate(own):
            top = 3 * _LINE + row * 3 * _LINE + column % 2 * _LINE
            places[name] = (left, top, width)
            bottom = max(bottom, top + 3 * _LINE)
        left += width + gap
    return places, left - gap + 4 * _PAD, bottom


def _edge(
    places: dict[str, tuple[int, int, int]], key: tuple[str, str, str], stalls: int, most: int, number: int
) -> str:
    (left, top, width), (other, below, _) = places[key[0]], places[key[1]]
    x, y, to, down = left + width, top + _LINE // 2, other, below + _LINE // 2
    shift = (number % 3 - 1) * 5
    share = stalls / most if most else 0.0
    color = f"rgb({85 + round(150 * share)},{85 - round(45 * share)},{85 - round(45 * share)})"
    bend = max((to - x) // 2, 30) if to > x else 60
    arch = shift if to > x else -2 * _LINE + 2 * shift
    path = f"M{x} {y + shift}C{x + bend} {y + arch} {to - bend} {down + arch} {to} {down + shift}"
    label = f"{key[2]}: {stalls}" if stalls else key[2]
    middle = ((x + to) // 2, (y + down) // 2 + round(0.75 * arch) + shift - 4)
    return (
        f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{1 + 3 * share:.1f}" marker-end="url(#arrow)">'
        f"<title>{escape(label)} cycles waited</title></path>"
        f'<text x="{middle[0]}" y="{middle[1]}" text-anchor="middle" fill="{color}">{escape(label)}</text>'
    )


def _box(name: str, place: tuple[int, int, int], critical: bool) -> str:
    left, top, width = place
    weight = ' font-weight="bold"' if critical else ""
    return (
        f'<rect x="{left}" y="{top}" width="{width}" height="{_LINE}" rx="3" fill="#e9f0fa" stroke="#47a"/>'
        f'<text x="{left + width // 2}" y="{top + 15}" text-anchor="middle"{weight}>{escape(name)}</text>'
    )


# -- occupancies ---------------------------------------------------------------------------------------------


def fills(run: RunFigures) -> Picture:
    """How many elements are in each channel over the cycles."""
    channels = _chosen(run.channels, [channel.full + channel.empty for channel in run.channels], _FILLS)
    left = (max((len(_filled(channel)) for channel in channels), default=0) + 2) * _CHARACTER
    rows = []
    for number, channel in enumerate(channels):
        top = number * 2 * _LINE
        rows.append(f'<text x="0" y="{top + 26}">{escape(_filled(channel))}</text>')
        rows.append(f'<rect x="{left}" y="{top + 4}" width="{_WIDTH}" height="{2 * _LINE - 10}" fill="#f2f4f8"/>')
        rows.append(_steps(run, channel, left, top + 2 * _LINE - 6))
    picture = _svg(left + _WIDTH + _PAD, 2 * _LINE * len(channels) + _PAD, rows)
    return picture, _left_out(len(run.channels), len(channels), "streams", "are waited for longest")


def _filled(channel: ChannelTime) -> str:
    return f"{channel.name}: {channel.most}" + (f" of {channel.depth}" if channel.depth else "")


def _steps(run: RunFigures, channel: ChannelTime, left: int, bottom: int) -> str:
    """A line of steps; in each pixel the most that is in the channel."""
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
    return f'<path d="{"".join(path)}H{left + _WIDTH}V{bottom}z" fill="#9bd" stroke="#47a"/>'


# -- pages ---------------------------------------------------------------------------------------------------


def _chosen[T](found: Sequence[T], weights: Sequence[int], most: int) -> list[T]:
    """The heaviest ones, in their order."""
    order = sorted(range(len(found)), key=lambda n: (-weights[n], n))[:most]
    return [found[n] for n in sorted(order)]


def _left_out(count: int, shown: int, what: str, why: str) -> str:
    return "" if count == shown else f"{shown} of {count} {what}: those that {why}."


def _svg(width: int, height: int, shapes: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="monospace" font-size="11">'
    )
    return "\n".join([head, *shapes, "</svg>"])
