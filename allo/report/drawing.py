"""Drawings of the dataflow graph of a schedule: DOT text, and SVG with a box for each function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..compose.graph import ArrayRole, BufferNode, DataflowGraph, Use, dataflow_graph
from ..ir.recursion import reads_programs
from ..picture import Vertex, dot, svg

if TYPE_CHECKING:
    from ..customize import Schedule


@dataclass(frozen=True, slots=True)
class Drawing:
    """The picture of a dataflow graph; a notebook shows it by itself."""

    dot: str
    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write the picture: DOT for a name that ends in `.dot` or `.gv`, SVG for `.svg`. ValueError for another."""
        texts = {".dot": self.dot, ".gv": self.dot, ".svg": self.svg}
        file = Path(path)
        if file.suffix not in texts:
            raise ValueError(f"cannot draw to '{path}': the name must end in {', '.join(texts)}")
        file.write_text(texts[file.suffix])


@reads_programs
def draw(schedule: Schedule) -> Drawing:
    """The picture of `schedule` as it is now: arrays and streams, what writes and reads them, and what is one array."""
    graph = dataflow_graph(schedule.ir)
    vertices = _vertices(graph)
    flows, same = _flows(graph, vertices), [(e.source, e.target) for e in graph.edges]
    functions = schedule.ir.names()
    return Drawing(dot(vertices, flows, same, functions), svg(vertices, flows, same, functions))


def _vertices(graph: DataflowGraph) -> dict[str, Vertex]:
    """All vertices by name: arrays, then their uses."""
    found = {name: Vertex(name, node.buffer, _kind(node), node.function) for name, node in graph.nodes.items()}
    for name in graph.nodes:
        for use in graph.users(name):
            if use.kind != "return":
                found.setdefault(_use_name(use), Vertex(_use_name(use), use.part, use.kind, use.function))
    return found


def _kind(node: BufferNode) -> str:
    if node.role is ArrayRole.GLOBAL:
        return "statement"
    return "stream" if "!allo.stream" in node.type else "array"


def _use_name(use: Use) -> str:
    place = f"@{use.at.line}" if use.at is not None and use.kind != "nest" else ""
    return f"{use.function}:{use.part}{place}()"


def _flows(graph: DataflowGraph, vertices: Mapping[str, Vertex]) -> list[tuple[str, str]]:
    """From what writes an array to the array, and from the array to what reads it."""
    found: dict[tuple[str, str], None] = {}
    for name in graph.nodes:
        for use in graph.producers(name):
            found[_use_name(use), name] = None
        for use in graph.consumers(name):
            found[name, _use_name(use)] = None
    return [(a, b) for a, b in found if a in vertices and b in vertices]
