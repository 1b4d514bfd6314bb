"""Functions of tasks that take turns on one core: the statements of all, in the order that a weaver finds."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from mlir import ir

from ...ir.builder import Builder, affine_constant, affine_dim, index_type
from ...ir.context import context
from ...ir.module import Module
from ...ir.passes import run_passes
from ...ir.walk import constant_bounds, induction_variable, statements, trip_count
from ...mapping import VirtualGraph, VirtualNode
from ..element_class import COMPOSED
from .circles import weaver_of
from .core_marks import mark_places
from .ranges import loop_like
from .weave import Alone, Piece, Step, Weaver, Woven


def woven_function(
    graph: VirtualGraph, bodies: Module, nodes: Sequence[VirtualNode], into: Module, symbol: str
) -> ir.Operation:
    """The function of nodes of a circle that share a core, in a module: its parameters are those of all, in turn.

    All nodes of the circle are in the order, of which those of other cores are left out. Arrays of each have places of
    their own.
    """
    names = next(circle.nodes for circle in graph.circles if nodes[0].name in circle.nodes)
    weaver = weaver_of(graph, bodies, names, into)
    own = [names.index(node.name) for node in nodes]
    for member in own:
        mark_places(weaver.blocks[member], f" of {names[member]}")
    steps = weaver.order()
    kinds = [argument.type for member in own for argument in weaver.blocks[member].arguments]
    text = f"func.func @{symbol}({', '.join(f'%a{k}: {kind}' for k, kind in enumerate(kinds))}) {{ return }}"
    with context():
        parsed = ir.Module.parse(f"module {{ {text} }}")
    made: ir.Operation = parsed.body.operations[0].operation.clone(ir.InsertionPoint(into.mlir.body))
    block = made.regions[0].blocks[0]
    arguments = iter(block.arguments)
    for member in own:
        for argument in weaver.blocks[member].arguments:
            argument.replace_all_uses_with(next(arguments))
    end = statements(block)[-1]
    _Writer(weaver, own).write(steps, end, {})
    for body in weaver.blocks:
        body.owner.operation.erase()
    run_passes(COMPOSED, made)
    return made


@dataclass(slots=True)
class _Writer:
    """What writes the steps of some members; copies of loops whose bodies have been taken go at the end."""

    weaver: Weaver
    own: Container[int]
    emptied: list[ir.Operation] = field(default_factory=list)

    def write(self, steps: Sequence[Step], end: ir.Operation, known: dict[ir.Operation, ir.Operation]) -> None:
        """Write steps in front of an operation; `known` are the copies that statements of loops are."""
        for step in steps:
            match step:
                case Piece():
                    self._piece(step, end, known)
                case Alone():
                    if step.piece.member in self.own:
                        known = {**known, **self._opened(step.piece, end, known, None)}
                case Woven():
                    pieces = [piece for piece in step.pieces if piece.member in self.own]
                    if pieces:
                        loop = loop_like(pieces[0].op, step.count, end)
                        *_, inner = statements(loop.regions[0].blocks[0])
                        copies = dict(known)
                        for piece in pieces:
                            copies |= self._opened(piece, inner, known, induction_variable(loop))
                        self.write(step.body, inner, copies)
        if end.name == "func.return":
            for loop in self.emptied:
                loop.erase()

    def _piece(self, piece: Piece, end: ir.Operation, known: dict[ir.Operation, ir.Operation]) -> None:
        if piece.member not in self.own:
            return
        if piece.count == (trip_count(piece.op) if constant_bounds(piece.op) is not None else 1):
            known.get(piece.op, piece.op).move_before(end)
            return
        loop = loop_like(piece.op, piece.count, end)
        *_, inner = statements(loop.regions[0].blocks[0])
        for copy in self._opened(piece, inner, known, induction_variable(loop)).values():
            copy.move_before(inner)

    def _opened(
        self, piece: Piece, end: ir.Operation, known: dict[ir.Operation, ir.Operation], variable: ir.Value | None
    ) -> dict[ir.Operation, ir.Operation]:
        """The statements of a copy of a loop, for iteration number `first`, or `first + variable`."""
        bounds = constant_bounds(piece.op)
        assert bounds is not None
        copy: ir.Operation = known.get(piece.op, piece.op).clone(ir.InsertionPoint(end))
        start = affine_constant(bounds[0] + bounds[2] * piece.first)
        if variable is None:
            place, operands = ir.AffineMap.get(0, 0, [start], context()), []
        else:
            place, operands = ir.AffineMap.get(1, 0, [affine_dim(0) * bounds[2] + start], context()), [variable]
        value = Builder.before(copy).value("affine.apply", index_type(), operands, {"map": ir.AffineMapAttr.get(place)})
        induction_variable(copy).replace_all_uses_with(value)
        self.emptied.append(copy)
        originals, copies = (statements(loop.regions[0].blocks[0])[:-1] for loop in (piece.op, copy))
        return dict(zip(originals, copies, strict=True))

