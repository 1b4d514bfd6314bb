"""Independence of the instances of a loop body, when each of them runs at its own pace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations_with_replacement

from mlir import ir

from .model import Access, Model
from .pairs import Dependence, Pair, Signs, execution_orders, pair_of, pairs
from .regions import Side
from .violation import Undecided, Violation, first_violation


def between_instances(
    model: Model, loop_ops: Sequence[ir.Operation | ir.OpView], *, streams: bool = True
) -> Violation | Undecided | None:
    """Two iterations that differ in one of the loops and of which the later one changes what the earlier one used.

    Loops around and inside of them may be in any iterations: nothing makes one instance wait for another. A value
    that is written in one and read in a later one is no obstacle, for it can be sent. Without `streams`, what streams
    order already is left out.
    """
    loops = sorted((model.loop(op) for op in loop_ops), key=lambda loop: loop.depth)

    def apart(pair: Pair) -> list[Signs]:
        return [
            {**signs, loop.variable: sign}
            for loop in loops
            for sign in (1, -1)
            for signs in execution_orders(pair, pair.common)
            if signs.get(loop.variable, sign) == sign
        ]

    return first_violation(
        (pair, apart(pair))
        for pair in pairs(list(model.inside(loops[-1])))
        if pair.dependence is not Dependence.FLOW and (streams or not pair.source.buffer.is_stream)
    )


def shared_end(
    model: Model, loop_ops: Sequence[ir.Operation | ir.OpView], is_side: Side
) -> tuple[Access, Access] | None:
    """Two puts, or two gets, that iterations which differ in one of the loops may make at one stream."""
    loops = sorted((model.loop(op) for op in loop_ops), key=lambda loop: loop.depth)
    inside = [access for access in model.inside(loops[-1]) if access.buffer.is_stream]
    uses = Counter((access.op, access.buffer.label) for access in inside)
    # a call that is given two streams of an array may put into one and get from the other
    alone = [a for a in inside if is_side(a.op) or (a.op.name == "func.call" and uses[a.op, a.buffer.label] == 1)]
    for one, two in combinations_with_replacement(alone, 2):
        pair = pair_of(one, two) if one.buffer.label == two.buffer.label else None
        apart = [{loop.variable: sign} for loop in loops for sign in (1, -1)]
        if pair is not None and any(pair.possible(signs) for signs in apart):
            return one, two
    return None
