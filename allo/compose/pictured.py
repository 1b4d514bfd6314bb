"""Vertices and lines of a picture of the dataflow graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mlir import ir

from .._mlir.dialects import allo as allo_d
from ..customize.fifo.depths import depth_of
from ..ir.array_graph import ArrayRole
from ..ir.mlir_types import from_mlir
from ..ir.partitions import divisions_of, is_partitioned
from ..ir.streams import is_stream_type
from ..layout import Banks
from ..picture.graph import Vertex

if TYPE_CHECKING:
    from .graph import BufferNode, DataflowGraph, Use

_LONGEST = 44  # characters of a type; that of a struct may have any number

type Lines = list[tuple[str, str]]


def pictured(graph: DataflowGraph) -> tuple[Mapping[str, Vertex], Lines, Lines]:
    """What is drawn of a graph: its vertices by name, along which data flow, and which are one array."""
    vertices = _vertices(graph)
    return vertices, _flows(graph, vertices), [(edge.source, edge.target) for edge in graph.edges]


def _vertices(graph: DataflowGraph) -> dict[str, Vertex]:
    """All vertices by name: arrays, then their uses."""
    found = {
        name: Vertex(name, node.buffer, _kind(node), node.function, node.details)
        for name, node in graph.nodes.items()
    }
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


def details_of(kind: ir.Type) -> tuple[str, ...]:
    """What is told of an array or stream below its name: the user's type, its partition, its depth."""
    if is_stream_type(kind):
        array = isinstance(kind, ir.MemRefType)
        element = from_mlir(allo_d.StreamType(kind.element_type if array else kind).element_type)
        count = "".join(f"[{extent}]" for extent in kind.shape) if array else ""
        return _short(f"{element!r}{count and f', {count} of them'}"), f"depth {depth_of(kind)}"
    banks = ", ".join(map(str, Banks.read(divisions_of(kind)))) if is_partitioned(kind) else ""
    return (_short(repr(from_mlir(kind)).removesuffix("[]")), *([_short(banks)] if banks else []))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
