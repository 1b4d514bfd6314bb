"""Plots with two logarithmic axes: designs with their front, and rooflines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from .canvas import Canvas, text_width

_LEFT, _TOP, _WIDTH, _HEIGHT, _BELOW = 76, 34, 440, 260, 64  # pixels


@dataclass(frozen=True, slots=True)
class Mark:
    """A point; `best` ones are larger, and have their label beside them."""

    x: float
    y: float
    label: str = ""
    best: bool = False


type Curve = Sequence[tuple[float, float]]


def plot(title: str, x: str, y: str, marks: Sequence[Mark], curves: Sequence[Curve] = (), remark: str = "") -> str:
    """Points and lines over logarithmic axes with the names `x` and `y`; all coordinates are above 0."""
    canvas = Canvas()
    points = [(mark.x, mark.y) for mark in marks] + [point for curve in curves for point in curve]
    (left, right), (low, high) = (_decades([point[axis] for point in points]) for axis in (0, 1))

    def at(point: tuple[float, float]) -> tuple[float, float]:
        across = (log10(point[0]) - left) / (right - left)
        return _LEFT + across * _WIDTH, _TOP + _HEIGHT - (log10(point[1]) - low) / (high - low) * _HEIGHT

    canvas.text(_LEFT, 20, title, bold=True)
    canvas.rect(_LEFT, _TOP, _WIDTH, _HEIGHT, "frame")
    for decade in range(left, right + 1):
        place, _ = at((10.0**decade, 10.0**low))
        canvas.path(f"M{place:.1f} {_TOP}v{_HEIGHT}", "frame")
        canvas.text(place, _TOP + _HEIGHT + 16, _power(decade), "dim", anchor="middle")
    for decade in range(low, high + 1):
        _, place = at((10.0**left, 10.0**decade))
        canvas.path(f"M{_LEFT} {place:.1f}h{_WIDTH}", "frame")
        canvas.text(_LEFT - 6, place + 4, _power(decade), "dim", anchor="end")
    canvas.text(_LEFT + _WIDTH / 2, _TOP + _HEIGHT + 34, x, anchor="middle")
    canvas.text(6, 20, y)
    for curve in curves:
        canvas.path("M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in map(at, curve)), "curve", width=2)
    _draw_marks(canvas, [(mark, *at((mark.x, mark.y))) for mark in marks])
    if remark:
        canvas.text(_LEFT, _TOP + _HEIGHT + 52, remark, "dim")
    return canvas.svg(max(_LEFT + _WIDTH + 24, _LEFT + text_width(remark) + 8), _TOP + _HEIGHT + _BELOW)


def _draw_marks(canvas: Canvas, marks: Sequence[tuple[Mark, float, float]]) -> None:
    """Points, the best on top; a label is left out where it would lie on another one."""
    taken: list[tuple[float, float, float]] = []
    for mark, x, y in sorted(marks, key=lambda found: found[0].best):
        size = 4 if mark.best else 2.5
        canvas.rect(x - size, y - size, 2 * size, 2 * size, "best" if mark.best else "dot", title=mark.label, radius=4)
        if mark.best and mark.label:
            width = text_width(mark.label)
            begin = x + 8 if x + 8 + width <= _LEFT + _WIDTH else x - 8 - width
            line = y - 6 if y - 18 > _TOP else y + 16
            if all(begin + width < a or b < begin or abs(line - c) > 13 for a, b, c in taken):
                canvas.text(begin, line, mark.label)
                taken.append((begin, begin + width, line))


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around values."""
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    return low, max(high, low + 1)


def _power(decade: int) -> str:
    return f"{10**decade:,}" if 0 <= decade <= 5 else f"1e{decade}"
