"""Grids of cells: elements of an array with their banks, tiles of a mesh with what they run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .canvas import CHARACTER, HUES, Canvas, text_width

_LINE, _PAD = 14, 12  # pixels: height of a line, an edge


@dataclass(frozen=True, slots=True)
class Cell:
    """Lines of text on a ground; cells of one `group` (0 and more) look alike, those of none are empty."""

    lines: tuple[str, ...]
    group: int | None
    title: str = ""

    @property
    def kind(self) -> str:
        return "same-row" if self.group is None else f"hue{self.group % len(HUES)}"


def grid(
    title: str,
    columns: Sequence[str],
    rows: Sequence[tuple[str, Sequence[Cell]]],
    remarks: Sequence[str] = (),
    least: int = 0,
) -> str:
    """A table of cells with the names of its columns and rows, cells of `least` pixels and more, and remarks below."""
    canvas = Canvas()
    canvas.text(_PAD, _PAD + 10, title, bold=True)
    left = _PAD + max((text_width(name) for name, _ in rows), default=0) + CHARACTER
    top = _PAD + 10 + 2 * _LINE
    lefts = []
    x = left
    for number, name in enumerate(columns):
        texts = [name, *(line for _, cells in rows for line in cells[number].lines)]
        lefts.append((x, max(least, max(map(text_width, texts)) + 2 * CHARACTER)))
        canvas.text(x + lefts[-1][1] / 2, top - 5, name, "dim", anchor="middle")
        x += lefts[-1][1]
    y = top
    for name, cells in rows:
        height = _LINE * max(1, *(len(cell.lines) for cell in cells)) + 8
        canvas.text(_PAD, y + height / 2 + 4, name, "dim")
        for cell, (begin, width) in zip(cells, lefts, strict=True):
            canvas.rect(begin, y, width, height, cell.kind, title=cell.title)
            first = y + height / 2 + 4 - _LINE * (len(cell.lines) - 1) / 2
            for number, line in enumerate(cell.lines):
                canvas.text(begin + width / 2, first + number * _LINE, line, anchor="middle")
        y += height
    for number, remark in enumerate(remarks):
        canvas.text(_PAD, y + 20 + number * _LINE, remark, "dim")
    widest = max([x, *(_PAD + text_width(text) for text in (title, *remarks))])
    return canvas.svg(widest + _PAD, y + (_LINE * len(remarks) + 8 if remarks else 0) + _PAD)
