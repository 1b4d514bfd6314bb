"""Dependences between the iterations of one loop."""

from __future__ import annotations

from mlir import ir

from .model import Model
from .pairs import Signs, pairs
from .violation import Undecided, Violation, undecided, violation


def carried_by(model: Model, loop_op: ir.Operation | ir.OpView) -> Violation | Undecided | None:
    """A dependence between two iterations of the loop, within one iteration of the loops around it."""
    loop = model.loop(loop_op)
    doubt: Undecided | None = None
    for pair in pairs(list(model.inside(loop))):
        signs: Signs = {outer.variable: 0 for outer in pair.common[: loop.depth]} | {loop.variable: 1}
        if not pair.possible(signs):
            continue
        if pair.exact and (sample := pair.sample([signs])) is not None:
            return violation(pair, sample)
        doubt = doubt or undecided(pair)
    return doubt
