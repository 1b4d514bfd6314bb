"""Layouts that parameters of tasks may have instead of rows: what DMA engines, or other tasks, then do for moves."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ....ir.builder import Builder
from ....ir.module import Module
from ....ir.walk import argument_names, entry_block, location_of, statement_of
from ....layout import ArrayMove
from ....mapping import VirtualGraph
from .move_calls import erase_move, move_in, write_move

type Place = tuple[str, int]  # a function, and the number of a parameter


@dataclass(frozen=True, slots=True)
class KeptCopy:
    """A move that a core does with loops, and the limit that keeps DMA engines from it."""

    function: str
    array: str
    reason: str

    def __str__(self) -> str:
        return f"{self.function}: '{self.array}' is copied into another order: {self.reason}"


def wanted_layout(module: Module, place: Place) -> ArrayMove | str | None:
    """The move from rows to the layout in which a function uses a parameter; why it is none, or None if it is rows."""
    entry = entry_block(module.function(place[0]))
    assert entry is not None
    value = entry.arguments[place[1]]
    layouts: list[ArrayMove] = []
    others: list[ir.Operation] = []
    for use in value.uses:
        op = use.owner.operation
        move = move_in(module, op)
        if move is None:
            others.append(op)
        else:
            layouts.append((move if op.operands[0] == value else move.inverse).normal)
    if not layouts:
        return None
    if others:
        line = location_of(statement_of(others[0]))
        return f"it is used by other loops too{f' (line {line.line})' if line else ''}"
    if any(layout != layouts[0] for layout in layouts):
        return "kernels want it in different orders"
    return layouts[0]


def give_layout(module: Module, place: Place) -> None:
    """Let a parameter have the layout in which it is wanted, in place: moves from and to it are copies then."""
    entry = entry_block(module.function(place[0]))
    assert entry is not None
    value = entry.arguments[place[1]]
    for op in [use.owner.operation for use in value.uses]:
        move = move_in(module, op)
        assert move is not None
        same = ArrayMove.of([len(move)], [1], [1])
        source, target = op.operands
        write_move(module, Builder.before(op), source, target, same)
        erase_move(module, op)


def stream_layouts(
    module: Module, graph: VirtualGraph, functions: set[str]
) -> tuple[set[Place], list[KeptCopy]]:
    """The parameters with blocks of streams that can have the layout in which both ends want them, and the others."""
    groups = _joined(graph)
    given: set[Place] = set()
    kept: list[KeptCopy] = []
    for group in groups:
        wanted = {place: wanted_layout(module, place) for place in group if place[0] in functions}
        moved = {place: own for place, own in wanted.items() if not _is_rows(own)}
        if not moved:
            continue
        orders = list(moved.values())
        if len(moved) == len(group) and all(isinstance(own, ArrayMove) and own == orders[0] for own in orders):
            given |= group
            continue
        for place, own in moved.items():
            reason = own if isinstance(own, str) else "the other end of the stream has rows, or another order"
            name = argument_names(module.function(place[0]))[place[1]]
            kept.append(KeptCopy(place[0], name, reason))
    return given, kept


def _is_rows(layout: ArrayMove | str | None) -> bool:
    return layout is None or (isinstance(layout, ArrayMove) and layout.is_identity)


def _joined(graph: VirtualGraph) -> list[set[Place]]:
    """Parameters that are ends of the same streams, directly or by way of others."""
    groups: dict[Place, set[Place]] = {}
    ends: dict[str, list[Place]] = {}
    for node in graph.nodes:
        for end in node.ends:
            if end.over is not None:
                ends.setdefault(end.stream, []).append((node.function, end.parameter))
    for places in ends.values():
        group = set(places).union(*(groups.get(place, set()) for place in places))
        for place in group:
            groups[place] = group
    found: list[set[Place]] = []
    for group in groups.values():
        if group not in found:
            found.append(group)
    return found
