"""Circles of streams in a region: what their streams hold if tasks take turns on a core, or why they cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mlir import ir

from ...errors import Note, TargetError
from ...ir.builder import string_attr
from ...ir.module import Module
from ...ir.walk import location_of
from ...mapping import StreamCircle, VirtualGraph, circles_in
from ...poly import hang_of
from .weave import NoOrder, Weaver


def with_circles(graph: VirtualGraph, bodies: Module) -> VirtualGraph:
    """The graph with its circles of streams, and what their streams hold when their nodes take turns."""
    found = circles_in(graph)
    return replace(graph, circles=tuple(_circle(graph, bodies, names) for names in found)) if found else graph


def _circle(graph: VirtualGraph, bodies: Module, names: Sequence[str]) -> StreamCircle:
    alone = Module.empty(names[0])
    weaver = weaver_of(graph, bodies, names, alone)
    try:
        steps = weaver.order()
    except NoOrder as error:
        obstacle, waits = _told(weaver, error)
        return StreamCircle(tuple(names), obstacle=obstacle, waits=waits)
    return StreamCircle(tuple(names), dict(weaver.held), weaver.spans(steps), weaver.moves(steps))


def with_own_order(graph: VirtualGraph, module: Module) -> VirtualGraph:
    """The graph with tasks that pass streams to themselves in their own order, where loops do not say how much is held.

    A stream holds what its depth says then. Raises TargetError for one that waits for itself, or might.
    """
    alone = [circle for circle in graph.circles if circle.obstacle and len(circle.nodes) == 1]
    if alone and hang_of(module) is not None:
        at = graph.node(alone[0].nodes[0]).at
        raise TargetError(alone[0].obstacle, at=at, notes=alone[0].waits, hint="let it be deeper, or use an array")
    return replace(graph, circles=tuple(_own_order(graph, own) if own in alone else own for own in graph.circles))


def _own_order(graph: VirtualGraph, circle: StreamCircle) -> StreamCircle:
    own = [stream for stream in graph.streams if stream.producer == stream.consumer == circle.nodes[0]]
    return StreamCircle(circle.nodes, {stream.name: min(stream.depth, stream.tokens) for stream in own})


def weaver_of(graph: VirtualGraph, bodies: Module, names: Sequence[str], into: Module) -> Weaver:
    """A weaver of nodes, with copies of their bodies in a module."""
    members = [graph.node(name) for name in names]
    blocks = []
    for number, node in enumerate(members):
        copy = bodies.function(node.function).operation.clone(ir.InsertionPoint(into.mlir.body))
        copy.attributes["sym_name"] = string_attr(f"member_{number}")
        blocks.append(copy.regions[0].blocks[0])
    return Weaver(graph, members, blocks)


def _told(weaver: Weaver, error: NoOrder) -> tuple[str, tuple[Note, ...]]:
    """Why nodes cannot take turns: who waits for what, with the lines."""
    notes = []
    for piece in error.waiting:
        node, gets = weaver.members[piece.member], weaver.moved(piece)[0]
        if piece.op in weaver.vague:
            notes.append(Note(f"how much '{node.name}' moves here depends on data", location_of(piece.op)))
            continue
        for name, n in gets.items():
            who = weaver.graph.stream(name).producer
            notes.append(Note(f"'{node.name}' waits for {n} of '{name}', which '{who}' puts", location_of(piece.op)))
    names = ", ".join(f"'{node.name}'" for node in weaver.members)
    way = "pass streams in a circle" if len(weaver.members) > 1 else "passes a stream to itself"
    return f"{names} {way}, and no order of iterations has elements in time", tuple(notes)
