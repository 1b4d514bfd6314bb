"""Whether the instances of a loop body are independent when each of them runs at its own pace."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from .model import Model
from .pairs import Dependence, execution_orders, pairs
from .violation import Undecided, Violation, undecided, violation


def between_instances(
    model: Model, loop_ops: Sequence[ir.Operation | ir.OpView], *, streams: bool = True
) -> Violation | Undecided | None:
    """Two iterations that differ in one of the loops and of which the later one changes what the earlier one used.

    Loops around and inside of them may be in any iterations: nothing makes one instance wait for another. A value
    that is written in one and read in a later one is no obstacle, for it can be sent. Without `streams`, what streams
    order already is left out.
    """
    loops = sorted((model.loop(op) for op in loop_ops), key=lambda loop: loop.depth)
    doubt: Undecided | None = None
    for pair in pairs(list(model.inside(loops[-1]))):
        if pair.dependence is Dependence.FLOW or (pair.source.buffer.is_stream and not streams):
            continue
        apart = [
            {**signs, loop.variable: sign}
            for loop in loops
            for sign in (1, -1)
            for signs in execution_orders(pair, pair.common)
            if signs.get(loop.variable, sign) == sign
        ]
        if not any(pair.possible(signs) for signs in apart):
            continue
        if pair.exact and (sample := pair.sample(apart)) is not None:
            return violation(pair, sample)
        doubt = doubt or undecided(pair)
    return doubt
