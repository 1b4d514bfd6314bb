"""Pictures of dataflow graphs: what is used and what uses it, in a frame for each function, as SVG and in DOT."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .canvas import CHARACTER, Canvas, text_width
from .layered import GAP, GraphLayout, layered
from .text import printable

_LINE, _DETAIL, _PAD, _LANE, _HEAD = 26, 13, 14, 5, 22  # pixels: a vertex, a further line, edges, between lines, titles
_ORDER = ("call", "nest", "statement", "array", "stream")
_WORDS = {
    "array": "array", "stream": "FIFO", "nest": "loop nest", "call": "task or call", "statement": "statement, constant",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Vertex:
    """What is drawn: an array, or a part of a function that uses arrays; `details` are lines below its label.

    `heat` is how much is waited for it, as a share of the most.
    """

    name: str
    label: str
    kind: str
    function: str
    details: tuple[str, ...] = ()
    heat: float = 0.0

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return max(map(text_width, (self.label, *self.details))) + 2 * CHARACTER, _LINE + _DETAIL * len(self.details)


type Lines = Sequence[tuple[str, str]]


def dot(vertices: Mapping[str, Vertex], flows: Lines, same: Lines, functions: Iterable[str]) -> str:
    """The graph in the DOT language: a cluster for each function, dashed lines between what is the `same`."""
    lines = ["digraph dataflow {", "  rankdir=LR;", "  node [style=filled, fillcolor=white];"]
    for function in (*functions, ""):
        inside = [v for v in vertices.values() if v.function == function]
        indent = "    " if function else "  "
        if function:
            lines += [f"  subgraph {_quoted(f'cluster_{function}')} {{", f"    label={_quoted(function)};"]
        for vertex in inside:
            shape = "ellipse" if vertex.kind in ("array", "stream") else "box"
            label = _quoted(vertex.label, *vertex.details)
            lines.append(f"{indent}{_quoted(vertex.name)} [label={label}, shape={shape}];")
        if function:
            lines.append("  }")
    lines += [f"  {_quoted(a)} -> {_quoted(b)};" for a, b in flows]
    lines += [f"  {_quoted(a)} -> {_quoted(b)} [style=dashed, arrowhead=none];" for a, b in same]
    return "\n".join([*lines, "}", ""])


def _quoted(*lines: str) -> str:
    """A string of the DOT language, whatever is in the names of a program; it is shown as it is."""
    return '"' + "\\n".join(printable(text).replace("\\", "\\\\").replace('"', '\\"') for text in lines) + '"'


@dataclass(frozen=True, slots=True)
class _Frame:
    """A function, whose frame begins at `top` with its title, and the layout of its vertices."""

    function: str
    layout: GraphLayout
    flows: Lines
    top: int
    bottom: int


def svg(
    vertices: Mapping[str, Vertex], flows: Lines, same: Lines, functions: Sequence[str], remark: str = ""
) -> str:
    """The graph as SVG: a frame for each function, the last one on top, its vertices from the left to the right.

    What is the `same` in several frames is joined by dashed lines, which run between columns, between frames and to the
    left of them, so that they cross no vertex. `remark` is written below.
    """
    gaps = [f for f in (*reversed(functions), "") if any(v.function == f for v in vertices.values())]
    number_of = {v.name: gaps.index(v.function) for v in vertices.values()}
    routes = [_Route(a, b, number_of[a], number_of[b]) for a, b in same if a in number_of and b in number_of]
    gutters = {a: k for k, a in enumerate(dict.fromkeys(route.a for route in routes if route.leaves != route.enters))}
    left = _PAD + _LANE * len(gutters)
    frames, top = [], _PAD
    for number, function in enumerate(gaps):
        top += _LANE * _lanes(routes, number)
        frames.append(_frame(function, vertices, flows, left + GAP, top))
        top = frames[-1].bottom + _PAD
    bottom = top + _LANE * _lanes(routes, len(gaps))
    width = max((frame.layout.width for frame in frames), default=0) + left + 2 * GAP
    canvas = Canvas()
    places = {}
    for frame in frames:
        canvas.rect(left, frame.top, frame.layout.width + 2 * GAP, frame.bottom - frame.top, "frame", radius=6)
        canvas.text(left + GAP, frame.top + 15, frame.function or "constants", bold=True)
        for name, box in frame.layout.boxes.items():
            places[name] = (box.x, box.y, box.width, box.height)
    _draw_same(canvas, routes, gutters, frames, places, bottom)
    for frame in frames:
        _draw_flows(canvas, frame, vertices)
    for vertex in vertices.values():
        _draw(canvas, vertex, places[vertex.name])
    return _finished(canvas, vertices, bool(routes), remark, width + _PAD, bottom)


@dataclass(frozen=True, slots=True)
class _Route:
    """A dashed line from `a` in frame `above` to `b` in another, by way of the spaces above some frames."""

    a: str
    b: str
    above: int
    below: int

    @property
    def leaves(self) -> int:
        return self.above + (self.below > self.above)

    @property
    def enters(self) -> int:
        return self.below + (self.below < self.above)


def _lanes(routes: Sequence[_Route], gap: int) -> int:
    """How many lines run above frame `gap`."""
    return len(dict.fromkeys(route.a for route in routes if gap in (route.leaves, route.enters)))


def _frame(function: str, vertices: Mapping[str, Vertex], flows: Lines, left: int, top: int) -> _Frame:
    inside = {v.name: v.size for v in vertices.values() if v.function == function}
    own = [(a, b) for a, b in flows if a in inside and b in inside]
    least = text_width(function or "constants") + CHARACTER
    layout = layered(inside, own, at=(left, top + _HEAD), least=least)
    return _Frame(function, layout, own, top, top + _HEAD + layout.height + _PAD)


def _draw_same(
    canvas: Canvas,
    routes: Sequence[_Route],
    gutters: Mapping[str, int],
    frames: Sequence[_Frame],
    places: Mapping[str, tuple[int, int, int, int]],
    bottom: int,
) -> None:
    """Dashed lines between columns and frames; those of one vertex share their ways."""
    lanes: dict[tuple[int, str], int] = {}
    used: dict[int, int] = {}
    for route in routes:
        for gap in (route.leaves, route.enters):
            if (gap, route.a) not in lanes:
                lanes[gap, route.a] = used.setdefault(gap, 0)
                used[gap] += 1
    upper = [frame.top for frame in frames] + [bottom]
    for route in routes:
        (x, y, _, height), (to, down, _, other) = places[route.a], places[route.b]
        if route.above == route.below:
            start, end = x - 8, to - 8
        else:
            start, end = (x - 8 - 3 * (lanes[gap, route.a] % 8) for gap in (route.leaves, route.enters))
            end += to - x
        path = f"M{x} {y + height - 4}H{start}"
        leave = upper[route.leaves] - _LANE * (lanes[route.leaves, route.a] + 1)
        path += f"V{leave}"
        if route.leaves != route.enters:
            enter = upper[route.enters] - _LANE * (lanes[route.enters, route.a] + 1)
            path += f"H{_PAD + _LANE * gutters[route.a]}V{enter}"
        path += f"H{end}V{down + other - 4}H{to}"
        canvas.path(path, "same", dashed=True, title=f"{route.a} is {route.b}")


def _draw_flows(canvas: Canvas, frame: _Frame, vertices: Mapping[str, Vertex]) -> None:
    for (a, b), (path, tip, top, turned) in zip(frame.flows, frame.layout.paths, strict=True):
        heat = max(vertices[a].heat, vertices[b].heat)
        kind = "hot" if heat else "line"
        title = f"{vertices[a].label} to {vertices[b].label}"
        canvas.path(path, kind, title=title, width=1 + 2 * heat)
        back = 7 if turned else -7
        canvas.path(f"M{tip + back} {top - 4}L{tip} {top}L{tip + back} {top + 4}z", "hot-head" if heat else "head")


def _draw(canvas: Canvas, vertex: Vertex, place: tuple[int, int, int, int]) -> None:
    x, y, width, height = place
    canvas.begin(vertex.name)
    canvas.rect(x, y, width, height, vertex.kind, radius=12 if vertex.kind in ("array", "stream") else 3)
    canvas.text(x + width / 2, y + 17, vertex.label, anchor="middle")
    for number, line in enumerate(vertex.details):
        kind = "warn" if vertex.heat and number == len(vertex.details) - 1 else "dim"
        canvas.text(x + width / 2, y + 17 + _DETAIL * (number + 1), line, kind, anchor="middle")
    canvas.end()


def _finished(
    canvas: Canvas, vertices: Mapping[str, Vertex], joined: bool, remark: str, width: int, bottom: int
) -> str:
    """The picture with its legend and remark."""
    kinds = {vertex.kind for vertex in vertices.values()}
    entries = [(kind, _WORDS[kind]) for kind in _ORDER if kind in kinds]
    entries += [("same", "one array")] if joined else []
    entries += [("hot", "waited for")] if any(vertex.heat for vertex in vertices.values()) else []
    right = canvas.legend(_PAD, bottom + 12, entries)
    height = bottom + 12 + _PAD
    if remark:
        canvas.text(_PAD, height + 4, remark, "dim")
        height += 18
    return canvas.svg(max(width, right, text_width(remark) + 2 * _PAD), height)
