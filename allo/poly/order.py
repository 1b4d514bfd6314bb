"""Dependences that a new order of nested loops would reverse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from mlir import ir

from ..ir.walk import statement_of
from .footprint import reads_before_writes
from .linear import Linear, variable
from .model import Access, Model, ModelBuffer, ModelLoop
from .pairs import Pair, Signs, execution_orders, pairs
from .preserved import Reordering
from .relations import written_order
from .updates import Reductions, exchangeable, updates_of
from .violation import Undecided, Violation, undecided, violation


def order_violation(
    model: Model,
    old_loops: Sequence[ir.Operation | ir.OpView],
    new_loops: Sequence[ir.Operation | ir.OpView],
    *,
    reductions: Reductions = Reductions.ORDERED,
    to_end: bool = False,
) -> Violation | Undecided | None:
    """A dependence that does not survive when `old_loops` (outer to inner) run in the order of `new_loops`, of an array
    of which then some read may see, or some element keep, another value.

    The loops are nested in one another; other loops may stand between them and stay where they are.
    Statements between the loops are distributed: a statement that the loop L does not enclose runs before
    (or after, as written) all iterations of L, so if L moves outwards over loops that do enclose the
    statement, these run for the statement alone before (after) L; what other loops enclose gets loops of its
    own, which run after (before) those. The iterations themselves stay the same:
    it is for the caller to express their bounds in the new order. Undecided is also the answer where a
    variable allocated between the loops would have to be kept for more than one iteration.
    `reductions` says which updates (`x += e`) of one element may change their order. `to_end` says that the loops are
    statements of the function, and that all that runs after them is in the model: what it overwrites may be another
    value before.
    """
    old = [model.loop(op) for op in old_loops]
    new = [model.loop(op) for op in new_loops]
    chain = _chain(model, old)
    if sorted(loop.variable for loop in old) != sorted(loop.variable for loop in new):
        raise ValueError("the new loops are not a permutation of the old ones")
    moved = {loop.variable for loop in old}
    remaining = iter(new)
    permuted = [next(remaining) if loop.variable in moved else loop for loop in chain]
    if permuted == chain:
        return None
    accesses = list(model.inside(chain[0]))
    doubt: Undecided | None = None
    private: dict[str, bool] = {}
    change: Reordering | None = None
    apart = not any("allo.dataflow" in loop.op.attributes for loop in chain)  # stages of dataflow run at once
    updates = {} if reductions is Reductions.ORDERED else updates_of(accesses)
    rounding: Violation | None = None
    for pair in pairs(accesses):
        exchange = exchangeable(updates, pair.source.op, pair.sink.op)
        if exchange is not None and (reductions is Reductions.ANY or exchange.exact or rounding is not None):
            continue
        reversals = _reversals(pair, chain, permuted)
        if not any(pair.possible(signs) for signs in reversals):
            continue
        buffer = pair.source.buffer
        if buffer.label not in private:
            private[buffer.label] = _is_private(model, buffer, chain[-1])
        change = change or _change(model, to_end, chain, permuted)
        if private[buffer.label] or (apart and change.keeps_values(pair)):
            continue
        if pair.exact and (sample := pair.sample(reversals)) is not None:
            if exchange is None:
                return violation(pair, sample)
            rounding = replace(violation(pair, sample), reassociable=True)
            continue
        doubt = doubt or undecided(pair)
    return rounding or doubt or _outgrown(accesses, chain, permuted)


def writes_again(model: Model, loop_op: ir.Operation | ir.OpView) -> bool:
    """Whether what runs after a loop, a statement of the function, writes an array that the loop writes."""
    loop = model.loop(loop_op)
    written = {access.buffer.label for access in model.inside(loop) if access.is_write}
    later = [access for access in model.accesses if access.path[0] > loop.path[0]]
    return any(access.is_write and access.buffer.label in written for access in later)


def _chain(model: Model, loops: list[ModelLoop]) -> list[ModelLoop]:
    """All loops from the first to the last of `loops`."""
    outermost, innermost = loops[0], loops[-1]
    by_path = {loop.path: loop for loop in model.loops}
    chain = [by_path[innermost.path[: depth + 1]] for depth in range(outermost.depth, innermost.depth + 1)]
    wanted = {loop.variable for loop in loops}
    if [loop.variable for loop in chain if loop.variable in wanted] != [loop.variable for loop in loops]:
        raise ValueError("the loops are not nested in one another, outer to inner")
    return chain


def _enclosing(access: Access, chain: list[ModelLoop]) -> int:
    """How many loops of the chain are around the access."""
    count = 0
    for loop in chain:
        if len(access.loops) <= loop.depth or access.loops[loop.depth].variable != loop.variable:
            break
        count += 1
    return count


def _side(access: Access, chain: list[ModelLoop]) -> tuple[int, int]:
    """The number of loops of the chain around the access; -1 (1) if it is before (after) the next one."""
    count = _enclosing(access, chain)
    if count == len(chain):
        return count, 0
    depth = chain[count].depth
    return count, -1 if access.path[depth] < chain[count].path[depth] else 1


def _reversals(pair: Pair, chain: list[ModelLoop], permuted: list[ModelLoop]) -> list[Signs]:
    """The ways in which the source runs before the sink now and after it in the new order."""
    source_count, source_side = _side(pair.source, chain)
    sink_count, sink_side = _side(pair.sink, chain)
    position = {loop.variable: k for k, loop in enumerate(chain)}
    branches: list[Signs] = []
    equal: dict[int, int] = {}
    for loop in permuted:
        level = position[loop.variable]
        in_source, in_sink = level < source_count, level < sink_count
        if in_source and in_sink:
            branches.append(equal | {loop.variable: -1})
            equal = equal | {loop.variable: 0}
            continue
        # What is outside of the loop comes before all or after all of its iterations, the outermost first (last).
        source_rank = 0 if in_source else source_side * (len(chain) - source_count)
        sink_rank = 0 if in_sink else sink_side * (len(chain) - sink_count)
        if source_rank > sink_rank:
            branches.append(equal)
        if source_rank != sink_rank:
            break
    inner = pair.common[chain[0].depth :]
    result: list[Signs] = []
    for before in execution_orders(pair, inner):
        for after in branches:
            if all(before.get(number, sign) == sign for number, sign in after.items()):
                signs = {**before, **after}
                if pair.allows(signs):
                    result.append(signs)
    return result


def _change(model: Model, to_end: bool, chain: list[ModelLoop], permuted: list[ModelLoop]) -> Reordering:
    """The accesses of a nest with the order in which they would run; `to_end`: of its statement, and what follows."""
    position = {loop.variable: k for k, loop in enumerate(chain)}
    first = chain[0]
    start = 0 if to_end else first.depth
    nest = list(model.inside(first))
    accesses = [access for access in model.accesses if access.path[0] >= first.path[0]] if to_end else nest
    before = 2 * (first.depth - start) + 1  # what is in front of the loops in question

    def new_order(access: Access) -> Sequence[Linear]:
        if access.path[: first.depth + 1] != first.path:
            return written_order(access, start)
        count, side = _side(access, chain)
        forms = [*written_order(access, start)[:before]]
        for loop in permuted:
            inside = position[loop.variable] < count
            rank = 0 if inside else side * (len(chain) - count)
            forms += [Linear(rank), variable(loop.variable) if inside else Linear(0)]
        return [*forms, *written_order(access, first.depth + count)]

    outer, orders = nest[0].loops[:start], (partial(written_order, start=start), new_order)
    places = list(dict.fromkeys(statement_of(access.op) for access in accesses)) if to_end else [first.op]
    return Reordering(model, accesses, outer, orders, places)


def _outgrown(accesses: list[Access], chain: list[ModelLoop], permuted: list[ModelLoop]) -> Undecided | None:
    """A variable allocated between the loops that, in the new order, must live for several iterations."""
    numbers = {loop.variable for loop in chain}
    for access in accesses:
        scope = {loop.variable for loop in access.buffer.scope} & numbers
        if not scope or access.buffer.origin == "carried":
            continue
        count = _enclosing(access, chain)
        inside = {loop.variable for loop in chain[:count]} - scope
        order = [loop.variable for loop in permuted]
        last = max(order.index(number) for number in scope)
        moved_out = next((loop for loop in permuted[:last] if loop.variable in inside), None)
        if moved_out is not None:
            kept = next(loop.name for loop in reversed(permuted) if loop.variable in scope)
            return Undecided(
                f"'{access.buffer.name}' is a new variable in each iteration of '{kept}', "
                f"and '{moved_out.name}' inside of that iteration would move out of it",
                access,
            )
    return None


def _is_private(model: Model, buffer: ModelBuffer, innermost: ModelLoop) -> bool:
    """Is the buffer scratch space of single iterations, so that nothing passes from one to another?"""
    if buffer.origin != "alloc" or buffer.is_stream:
        return False
    return model.used_only_in(buffer, [innermost.op]) and not reads_before_writes(model, buffer, innermost)
