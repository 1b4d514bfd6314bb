"""Regions: whether the statements of a block can run as stages, with data that flow forward from one producer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from mlir import ir

from .carried import later
from .fifo_order import Transfer, overwritten
from .model import Access, Model
from .pairs import Pair, pair_of, pairs
from .violation import Undecided, Violation, first_violation

type Side = Callable[[ir.Operation], bool]  # whether an operation is at that side of a stream


@dataclass(frozen=True, slots=True)
class Clash:
    """Two stages that cannot run at the same time: `first` and `second` are what they do to one array.

    `first` stands in the earlier stage; if it is a write, the array has two producers, else data flow backwards.
    """

    first: Access
    second: Access


def stage_clash(model: Model, statements: Sequence[ir.Operation]) -> Clash | None:
    """The first array that two statements write, or that one writes although an earlier one reads it."""
    arrays: dict[str, list[tuple[int, Access]]] = {}
    for access in model.accesses:
        if access.buffer.origin != "carried" and not access.buffer.is_stream:
            number = _number(access.op, statements)
            if number is not None:
                arrays.setdefault(access.buffer.label, []).append((number, access))
    for uses in arrays.values():
        for number, access in uses:
            earlier = [other for n, other in uses if n < number] if access.is_write else []
            if earlier:
                return Clash(next((other for other in earlier if other.is_write), earlier[0]), access)
    return None


def wholly_overwritten(model: Model, first: ir.Operation, second: ir.Operation) -> bool:
    """Whether a statement surely replaces all that an earlier one writes, without reading any of it."""
    sides = [[a for a in model.accesses if _number(a.op, [op]) is not None] for op in (first, second)]
    written = {access.buffer.label for access in sides[0] if access.is_write}
    used = [access for access in sides[1] if access.buffer.label in written]
    if len(written) != 1 or not used or not all(access.is_write for access in used):
        return False
    around = next((k for k, loop in enumerate(used[0].loops) if _number(loop.op, [second]) is not None), 0)
    ends = [
        [Transfer(access, around, len(access.loops), model.function) for access in side if access.is_write]
        for side in (sides[0], used)
    ]
    return overwritten(*ends)


def same_stream(model: Model, first: ir.Operation, second: ir.Operation, is_side: Side) -> bool:
    """Whether two statements may be at one side (a put or a get) of one stream, or pass it to a call."""
    ends: list[list[Access]] = [[], []]
    for access in model.accesses:
        number = _number(access.op, (first, second)) if access.buffer.is_stream else None
        if number is not None and (is_side(access.op) or access.op.name == "func.call"):
            ends[number].append(access)
    for one, two in product(*ends):
        pair = pair_of(one, two) if one.buffer.label == two.buffer.label else None
        if pair is not None and pair.possible({loop.variable: 0 for loop in pair.common}):
            return True
    return False


def backward_between_iterations(
    model: Model, loop_op: ir.Operation | ir.OpView, statements: Sequence[ir.Operation]
) -> Violation | Undecided | None:
    """A dependence from a later statement of the loop's body to an earlier one of a later iteration."""
    loop = model.loop(loop_op)

    def is_backward(pair: Pair) -> bool:
        source, sink = _number(pair.source.op, statements), _number(pair.sink.op, statements)
        return source is not None and sink is not None and source > sink and not pair.source.buffer.is_stream

    backward = filter(is_backward, pairs(list(model.inside(loop))))
    return first_violation((pair, [later(pair, loop)]) for pair in backward)


def forbidden_cuts(
    model: Model, loop_op: ir.Operation | ir.OpView, statements: Sequence[ir.Operation]
) -> dict[int, Violation | Undecided]:
    """Before which statements of its body a loop cannot be cut in two, of which the second runs after the first one,
    with a dependence from what would follow to what would go before: of the same array or stream, in a later iteration.
    """
    loop, found = model.loop(loop_op), dict[int, Violation | Undecided]()
    for pair in pairs(list(model.inside(loop))):
        source, sink = _number(pair.source.op, statements), _number(pair.sink.op, statements)
        if source is None or sink is None or all(cut in found for cut in range(sink + 1, source + 1)):
            continue
        answer = first_violation([(pair, [later(pair, loop)])])
        if answer is not None:
            found = dict.fromkeys(range(sink + 1, source + 1), answer) | found
    return found


def _number(op: ir.Operation, statements: Sequence[ir.Operation]) -> int | None:
    """Which statement an operation is in."""
    current: ir.Operation | None = op
    while current is not None:
        for number, statement in enumerate(statements):
            if statement == current:
                return number
        current = None if current.parent is None else current.parent.operation
    return None
