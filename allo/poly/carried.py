"""Dependences between the iterations of one loop."""

from __future__ import annotations

from mlir import ir

from .footprint import reads_before_writes
from .model import Model, ModelLoop
from .pairs import Pair, Signs, pairs
from .updates import exchangeable, updates_of
from .violation import Undecided, Violation, first_violation


def carried_by(model: Model, loop_op: ir.Operation | ir.OpView) -> Violation | Undecided | None:
    """A dependence between two iterations of the loop, within one iteration of the loops around it."""
    loop = model.loop(loop_op)
    return first_violation((pair, [later(pair, loop)]) for pair in pairs(list(model.inside(loop))))


def passed_on(model: Model, loop_op: ir.Operation | ir.OpView) -> Violation | Undecided | None:
    """A value that an iteration of the loop may read and an earlier one has written, within one iteration of the loops
    around it. Updates of an element (`x += e`) do not count: parts of a sum can be made at once."""
    loop = model.loop(loop_op)
    accesses = list(model.inside(loop))
    updates = updates_of(accesses)
    is_exposed: dict[str, bool] = {}

    def passes(pair: Pair) -> bool:
        source, sink = pair.source, pair.sink
        if not source.is_write or sink.is_write or exchangeable(updates, source.op, sink.op) is not None:
            return False
        label = source.buffer.label
        if label not in is_exposed:
            is_exposed[label] = reads_before_writes(model, source.buffer, loop)
        return is_exposed[label]

    return first_violation((pair, [later(pair, loop)]) for pair in pairs(accesses) if passes(pair))


def later(pair: Pair, loop: ModelLoop) -> Signs:
    """The sink runs in a later iteration of the loop, within one iteration of the loops around it."""
    return {outer.variable: 0 for outer in pair.common[: loop.depth]} | {loop.variable: 1}
