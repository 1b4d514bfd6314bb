"""Bars over cycles: what is at work from when to when, and what it waits for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10

from .canvas import CHARACTER, Canvas, text_width

_LINE, _PAD = 22, 10  # pixels: height of a row, an edge
_WORDS = {"busy": "at work", "full": "waits for room", "empty": "waits for elements", "other": "waits"}


@dataclass(frozen=True, slots=True)
class Bar:
    """Cycles `begin` to `end` of a kind: "busy", or what is waited for: "full" or "empty"."""

    begin: float
    end: float
    kind: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class BarRow:
    """A name, its bars, the later ones on top, and a remark behind them."""

    name: str
    bars: tuple[Bar, ...]
    remark: str = ""


def bars(rows: Sequence[BarRow], cycles: int, width: int) -> str:
    """A line for each row, `width` pixels for all cycles, an axis and a legend; waits are narrower than work."""
    left = _PAD + max((text_width(row.name) for row in rows), default=0) + CHARACTER
    right = max((text_width(row.remark) for row in rows), default=0)
    scale = width / max(1, cycles)
    canvas = Canvas()
    bottom = _PAD + _LINE * len(rows)
    for tick in ticks(cycles):
        x = left + tick * scale
        canvas.path(f"M{x:.1f} {_PAD}V{bottom + 4}", "frame")
        anchor = "end" if tick == cycles and cycles else "middle" if tick else "start"
        canvas.text(x, bottom + 16, str(tick), "dim", anchor=anchor)
    for number, row in enumerate(rows):
        top = _PAD + number * _LINE
        canvas.text(_PAD, top + 15, row.name)
        for bar in row.bars:
            inner = bar.kind != "busy"
            size = max((bar.end - bar.begin) * scale, 0.5)
            canvas.rect(
                left + bar.begin * scale, top + (7 if inner else 4), size, 8 if inner else 14, bar.kind, title=bar.title
            )
        canvas.text(left + width + CHARACTER, top + 15, row.remark, "dim")
    kinds = {bar.kind for row in rows for bar in row.bars}
    end = canvas.legend(left, bottom + 36, [(kind, word) for kind, word in _WORDS.items() if kind in kinds])
    return canvas.svg(max(left + width + CHARACTER + right + _PAD, end), bottom + 36 + _PAD)


def ticks(last: int) -> list[int]:
    """Round numbers from 0 on, and the last one."""
    if last <= 0:
        return [0]
    step = 10 ** floor(log10(last))
    step = next((step // k for k in (5, 2) if last * k // step <= 6 and step % k == 0), step)
    return [*(n for n in range(0, last, step) if last - n > step * 0.6), last]
