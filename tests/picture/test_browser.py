"""Pictures in a real browser: texts as wide as they are drawn lie in their boxes, colours follow the reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from allo.picture.bars import Bar, BarRow, bars
from allo.picture.canvas import KINDS
from allo.picture.graph import svg
from allo.picture.grid import Cell, grid

from .browser import asked
from .test_graph import random_graph

# Texts that reach out of the box of their group, or out of their picture; the fill of the background.
MEASURE = """
  const out = [], within = (a, b) => a.left >= b.left - .5 && a.right <= b.right + .5 &&
                                     a.top >= b.top - .5 && a.bottom <= b.bottom + .5;
  for (const text of document.querySelectorAll('svg text')) {
    const group = text.closest('g'), box = group ? group.querySelector('rect') : text.ownerSVGElement;
    if (!within(text.getBoundingClientRect(), box.getBoundingClientRect())) out.push(text.textContent);
  }
  return [document.querySelectorAll('svg text').length, out,
          getComputedStyle(document.querySelector('.paper')).fill];
"""


def rgb(color: str) -> str:
    return f"rgb({', '.join(str(int(color[k : k + 2], 16)) for k in (1, 3, 5))})"


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_texts_lie_where_they_are_drawn(dark: bool, tmp_path: Path) -> None:
    pictures = [svg(*random_graph(seed)) for seed in range(8)]
    pictures.append(bars([BarRow("a long name of a task", (Bar(0, 9, "busy"),), "waits for something")], 10, 300))
    cells = [Cell(("one line", "another line"), 1), Cell(("WWWWWWWW",), 2)]
    pictures.append(grid("title", ["a", "b"], [("row", cells)], ["a remark that is longer than all cells"]))
    page = f"<!DOCTYPE html><html><body>{''.join(f'<div>{picture}</div>' for picture in pictures)}</body></html>"
    count, outside, paper = asked(page, MEASURE, tmp_path, dark=dark)
    assert count > 100 and outside == []
    assert paper == rgb(KINDS["paper"][2 if dark else 0])
