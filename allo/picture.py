"""Pictures: texts as HTML, tables as text; arrays, streams and what uses them as DOT and SVG, a box a function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

_CHARACTER, _LINE, _GAP, _PAD = 7, 26, 46, 18  # pixels: width of a character, height of a vertex, between vertices
_FILL = {"array": "#eef4ff", "stream": "#fff3d6", "nest": "#e9f7ea", "call": "#f3e9f7", "statement": "#f4f4f4"}


def preformatted(text: str) -> str:
    """A text as a notebook shows it: with its lines and columns."""
    return f'<pre style="line-height: 1.3">{escape(text)}</pre>'


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows with aligned columns, the first a header."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]


@dataclass(frozen=True, slots=True)
class Vertex:
    """What is drawn: an array, or a part of a function that uses arrays."""

    name: str
    label: str
    kind: str
    function: str


def dot(
    vertices: Mapping[str, Vertex],
    flows: Iterable[tuple[str, str]],
    same: Iterable[tuple[str, str]],
    functions: Iterable[str],
) -> str:
    """The graph in the DOT language: a cluster for each function, dashed lines between what is the `same`."""
    lines = ["digraph dataflow {", "  rankdir=LR;", "  node [style=filled];"]
    for function in (*functions, ""):
        inside = [v for v in vertices.values() if v.function == function]
        indent = "    " if function else "  "
        if function:
            lines += [f"  subgraph {_quoted(f'cluster_{function}')} {{", f"    label={_quoted(function)};"]
        for vertex in inside:
            shape = "ellipse" if vertex.kind in ("array", "stream") else "box"
            lines.append(
                f"{indent}{_quoted(vertex.name)} [label={_quoted(vertex.label)}, shape={shape}, "
                f'fillcolor="{_FILL[vertex.kind]}"];'
            )
        if function:
            lines.append("  }")
    lines += [f"  {_quoted(a)} -> {_quoted(b)};" for a, b in flows]
    lines += [f"  {_quoted(a)} -> {_quoted(b)} [style=dashed, arrowhead=none];" for a, b in same]
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    """A string of the DOT language, whatever is in the names of a program; it is shown as it is."""
    shown = "".join(letter if letter.isprintable() else f"<U+{ord(letter):04X}>" for letter in text)
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _ranks(inside: list[Vertex], flows: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The column of each vertex of a function: behind those it gets data from; what closes a cycle does not count."""
    order = {vertex.name: position for position, vertex in enumerate(inside)}
    after: dict[str, list[str]] = {name: [] for name in order}
    for a, b in flows:
        if a in order and b in order:
            after[a].append(b)
    ranks = dict.fromkeys(order, 0)
    for _ in order:
        changed = False
        for a, targets in after.items():
            for b in targets:
                if ranks[b] <= ranks[a] < len(order) and a not in after[b]:
                    ranks[b], changed = ranks[a] + 1, True
        if not changed:
            break
    columns = {rank: column for column, rank in enumerate(sorted(set(ranks.values())))}
    return {name: columns[rank] for name, rank in ranks.items()}


@dataclass(frozen=True, slots=True)
class _Place:
    x: int
    y: int
    width: int

    @property
    def left(self) -> str:
        return f"{self.x} {self.y + _LINE // 2}"

    @property
    def right(self) -> str:
        return f"{self.x + self.width} {self.y + _LINE // 2}"


def svg(
    vertices: Mapping[str, Vertex],
    flows: Sequence[tuple[str, str]],
    same: Sequence[tuple[str, str]],
    functions: Sequence[str],
) -> str:
    """The graph as SVG: a box for each function, the last one on top, with its vertices from the left to the right."""
    places: dict[str, _Place] = {}
    boxes: list[str] = []
    top, width = _PAD, 0
    for function in (*reversed(functions), ""):
        inside = [v for v in vertices.values() if v.function == function]
        if not inside:
            continue
        right, bottom = _place(inside, flows, top + _PAD, places)
        boxes.append(
            f'<rect x="{_PAD // 2}" y="{top - 4}" width="{right}" height="{bottom - top + _PAD}" rx="6" fill="none" '
            f'stroke="#999"/><text x="{_PAD}" y="{top + 10}" font-weight="bold">'
            f"{escape(function or 'constants')}</text>"
        )
        top, width = bottom + 2 * _PAD, max(width, right + _PAD)
    lines = [_edge(places[a], places[b], "") for a, b in flows]
    lines += [_edge(places[a], places[b], ' stroke-dasharray="4 3"') for a, b in same]
    shapes = [_shape(vertex, places[vertex.name]) for vertex in vertices.values()]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" '
        f'viewBox="0 0 {width} {top}" font-family="monospace" font-size="11">'
    )
    arrow = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>'
    )
    return "\n".join([head, arrow, *boxes, *lines, *shapes, "</svg>", ""])


def _place(
    inside: list[Vertex], flows: Sequence[tuple[str, str]], top: int, places: dict[str, _Place]
) -> tuple[int, int]:
    """Give each vertex of a function its place; the right and the lower end of them."""
    ranks = _ranks(inside, flows)
    columns = [[v for v in inside if ranks[v.name] == column] for column in range(max(ranks.values()) + 1)]
    x, bottom = _PAD, top
    for column in columns:
        width = max(len(v.label) for v in column) * _CHARACTER + _PAD
        for row, vertex in enumerate(column):
            y = top + row * (_LINE + 10) + 4
            places[vertex.name] = _Place(x, y, width)
            bottom = max(bottom, y + _LINE)
        x += width + _GAP
    return x, bottom


def _edge(a: _Place, b: _Place, style: str) -> str:
    arrow = "" if style else ' marker-end="url(#arrow)"'
    start, end = (a.right, b.left) if a.x <= b.x else (a.left, b.right)
    bend = _GAP // 2 if a.x <= b.x else -_GAP // 2
    (x1, y1), (x2, y2) = (map(int, point.split()) for point in (start, end))
    path = f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
    return f'<path d="{path}" fill="none" stroke="#555"{style}{arrow}/>'


def _shape(vertex: Vertex, place: _Place) -> str:
    radius = _LINE // 2 if vertex.kind in ("array", "stream") else 3
    return (
        f'<g><title>{escape(vertex.name)}</title><rect x="{place.x}" y="{place.y}" width="{place.width}" '
        f'height="{_LINE}" rx="{radius}" fill="{_FILL[vertex.kind]}" stroke="#777"/>'
        f'<text x="{place.x + place.width // 2}" y="{place.y + _LINE // 2 + 4}" text-anchor="middle">'
        f"{escape(vertex.label)}</text></g>"
    )
