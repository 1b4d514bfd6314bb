"""Loop trees beside one another: before and after a step, with what the step has taken away and made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from .canvas import CHARACTER, Canvas, text_width

_LINE, _GAP, _STEP, _PAD = 20, 24, 16, 12  # pixels: a row, between trees, a level, an edge


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A loop, its nest or its function, at a level of a tree."""

    level: int
    text: str
    remark: str = ""

    @property
    def width(self) -> int:
        return _STEP * self.level + text_width(self.text) + text_width(self.remark) + 3 * CHARACTER


def trees(columns: Sequence[tuple[str, Sequence[TreeRow]]]) -> str:
    """Trees with their titles, from the left to the right; what the tree to the left or right has not is coloured."""
    canvas = Canvas()
    x, lowest = _PAD, 0
    for number, (title, rows) in enumerate(columns):
        changed = _changed(rows, columns[number - 1][1] if number else None, "added")
        after = columns[number + 1][1] if number + 1 < len(columns) else None
        changed |= {k: kind for k, kind in _changed(rows, after, "removed").items() if k not in changed}
        width = max([text_width(title), *(row.width for row in rows)])
        canvas.text(x, _PAD + 10, title, bold=True)
        for k, row in enumerate(rows):
            top, begin = _PAD + 22 + k * _LINE, x + _STEP * row.level
            canvas.rect(begin, top, x + width - begin, _LINE - 3, changed.get(k, "same-row"), radius=3)
            canvas.text(begin + CHARACTER, top + 12, row.text)
            canvas.text(x + width - CHARACTER, top + 12, row.remark, "dim", anchor="end")
        lowest = max(lowest, _PAD + 22 + len(rows) * _LINE)
        x += width + _GAP
    return canvas.svg(x - _GAP + _PAD, lowest + _PAD)


def _changed(rows: Sequence[TreeRow], other: Sequence[TreeRow] | None, kind: str) -> dict[int, str]:
    """The rows that another tree has not, with `kind`."""
    if other is None:
        return {}
    blocks = SequenceMatcher(None, other, rows, autojunk=False).get_matching_blocks()
    kept = {place for _, first, size in blocks for place in range(first, first + size)}
    return {place: kind for place in range(len(rows)) if place not in kept}
