"""Dependences between the iterations of one loop."""

from __future__ import annotations

from mlir import ir

from .model import Model, ModelLoop
from .pairs import Pair, Signs, pairs
from .violation import Undecided, Violation, first_violation


def carried_by(model: Model, loop_op: ir.Operation | ir.OpView) -> Violation | Undecided | None:
    """A dependence between two iterations of the loop, within one iteration of the loops around it."""
    loop = model.loop(loop_op)
    return first_violation((pair, [later(pair, loop)]) for pair in pairs(list(model.inside(loop))))


def later(pair: Pair, loop: ModelLoop) -> Signs:
    """The sink runs in a later iteration of the loop, within one iteration of the loops around it."""
    return {outer.variable: 0 for outer in pair.common[: loop.depth]} | {loop.variable: 1}
