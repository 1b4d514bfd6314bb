"""Meshes of cores: what each of them runs, and the ways of what lines of cores share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .canvas import CHARACTER, Canvas, text_width

WAYS = (("curve", "busy"), ("hot", "hot-head"), ("line", "head"), ("same", "same"))  # kinds of lines and their heads
_LINE, _PAD, _LANE, _LEAST = 14, 12, 8, 46  # pixels: height of a line, an edge, between two ways, a core

type Place = tuple[int, int]  # column and row


@dataclass(frozen=True, slots=True)
class Way:
    """Something that goes from one core through others, in their order; `number` is that of what is shared."""

    number: int
    cores: tuple[Place, ...]
    dashed: bool = False


def mesh(
    title: str,
    columns: Sequence[str],
    rows: Sequence[tuple[str, Sequence[str]]],
    ways: Sequence[Way],
    shared: Sequence[str],
    remarks: Sequence[str],
) -> str:
    """Cores in columns and rows with a text each (cores without one are empty), the ways of `shared`, and remarks."""
    canvas, lanes = Canvas(), len(shared) * _LANE
    canvas.text(_PAD, _PAD + 10, title, bold=True)
    left = _PAD + max((text_width(name) for name, _ in rows), default=0) + CHARACTER
    top = _PAD + 10 + 2 * _LINE
    inside = max((text_width(text) for _, cells in rows for text in cells), default=0)
    width, height = max(_LEAST, inside + 2 * CHARACTER + lanes), max(_LEAST, _LINE + 16 + lanes)
    for number, name in enumerate(columns):
        canvas.text(left + (number + 0.5) * width, top - 5, name, "dim", anchor="middle")
    for row, (name, cells) in enumerate(rows):
        canvas.text(_PAD, top + (row + 0.5) * height + 4, name, "dim")
        for column, text in enumerate(cells):
            x, y = left + column * width, top + row * height
            canvas.rect(x + 2, y + 2, width - 4, height - 4, "hue0" if text else "same-row", radius=4)
            canvas.text(x + CHARACTER, y + _LINE + 3, text)
    for way in ways:
        lane = (way.number + 1) * _LANE
        _draw(canvas, way, [(left + (c + 1) * width - lane, top + (r + 1) * height - lane) for c, r in way.cores])
    bottom = top + len(rows) * height
    end = canvas.legend(_PAD, bottom + 20, [(WAYS[n % len(WAYS)][0], text) for n, text in enumerate(shared)])
    for number, remark in enumerate(remarks):
        canvas.text(_PAD, bottom + 20 + (number + bool(shared)) * _LINE, remark, "dim")
    right = max([end, left + len(columns) * width, *(_PAD + text_width(text) for text in (title, *remarks))])
    return canvas.svg(right + _PAD, bottom + 20 + len(remarks) * _LINE + _PAD)


def _draw(canvas: Canvas, way: Way, points: Sequence[tuple[float, float]]) -> None:
    """A dot where it begins, and an arrow from one core to the next one."""
    line, head = WAYS[way.number % len(WAYS)]
    x, y = points[0]
    canvas.rect(x - 2.5, y - 2.5, 5, 5, head, radius=2)
    for (x, y), (to_x, to_y) in pairwise(points):
        canvas.path(f"M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}", line, dashed=way.dashed, width=1.5)
        length = max(abs(to_x - x), abs(to_y - y), 1.0)
        dx, dy = (to_x - x) / length, (to_y - y) / length
        corners = [(to_x, to_y)] + [(to_x - 5 * dx + side * dy, to_y - 5 * dy + side * dx) for side in (-2.5, 2.5)]
        canvas.path("M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in corners) + "Z", head)
