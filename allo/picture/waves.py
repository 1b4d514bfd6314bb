"""Waveforms: the values of signals over a part of the time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .bars import ticks
from .canvas import CHARACTER, Canvas, text_width

_LINE, _HIGH, _PAD = 26, 16, 12  # pixels: a row, a signal, an edge


@dataclass(frozen=True, slots=True)
class Wave:
    """A signal of some bits: its values from some times on, the first at the begin of the excerpt or before."""

    name: str
    bits: int
    changes: tuple[tuple[int, str], ...]


def waves(signals: Sequence[Wave], begin: int, end: int, unit: str, width: int = 720) -> str:
    """Each signal from `begin` to `end`: bits as lines, words as values between their changes where these have room."""
    canvas = Canvas()
    left = _PAD + max((text_width(wave.name) for wave in signals), default=0) + CHARACTER
    scale = width / max(1, end - begin)
    bottom = _PAD + _LINE * len(signals)
    for tick in ticks(end - begin):
        x = left + tick * scale
        canvas.path(f"M{x:.1f} {_PAD}V{bottom + 4}", "frame")
        anchor = "end" if tick == end - begin and tick else "middle" if tick else "start"
        canvas.text(x, bottom + 16, str(begin + tick), "dim", anchor=anchor)
    canvas.text(_PAD, bottom + 16, unit, "dim")
    for number, wave in enumerate(signals):
        top = _PAD + number * _LINE + 4
        canvas.text(_PAD, top + 12, wave.name)
        _draw(canvas, wave, left, top, begin, end, scale)
    right = max(left + width, _PAD + text_width(unit))
    return canvas.svg(right + _PAD, bottom + 16 + _PAD)


def _draw(canvas: Canvas, wave: Wave, left: int, top: int, begin: int, end: int, scale: float) -> None:
    line: list[str] = []
    for number, (time, value) in enumerate(wave.changes):
        stop = wave.changes[number + 1][0] if number + 1 < len(wave.changes) else end
        if stop <= begin or time >= end:
            continue
        x, to = (left + (min(max(t, begin), end) - begin) * scale for t in (time, stop))
        if value in ("0", "1") and wave.bits == 1:
            height = top + (0 if value == "1" else _HIGH)
            line.append(f"{'V' if line else f'M{x:.1f} '}{height}H{to:.1f}")
            continue
        line.append(f"M{to:.1f} {top + _HIGH}" if wave.bits == 1 else "")
        canvas.rect(x, top, max(to - x, 0.5), _HIGH, "empty" if set(value) & set("xz") else "area", title=value)
        if text_width(value) + 4 <= to - x:
            canvas.text((x + to) / 2, top + 12, value, anchor="middle")
    if wave.bits == 1 and any(line):
        canvas.path("".join(line), "curve", width=1.5)
