"""Orders of FIFOs as iterative tensors: in which a stage puts the elements of an array, and in which one takes them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mlir import ir

from ...errors import Note, ScheduleError
from ...ir.walk import constant_bounds, location_of
from ...layout import ITensor
from ...poly import Access, ModelLoop
from .accesses import Get
from .stages import Stage


def order_of_get(stage: Stage, get: Get) -> ITensor:
    """The order in which a stage takes elements. Raises ScheduleError where loops with constant bounds give none."""
    access = get.loads[0]
    return _order(stage, access, access.loops[stage.fixed : get.depth], get.anchor)


def order_of_puts(stage: Stage) -> ITensor:
    """The order in which a stage completes the elements that it writes, by loops that each go on to others.

    What it sums up in inner loops is complete behind them, and passes in the order of memory, as `relay` has it.
    Raises ScheduleError where loops with constant bounds give no such order.
    """
    writes = sorted(stage.writes, key=lambda write: -len(write.loops))
    orders = [_order(stage, write, write.loops[stage.fixed :], write.op) for write in writes]
    alone = all(write.loops == writes[0].loops and write.subscripts == writes[0].subscripts for write in writes)
    counts = [next((n for n, loop in enumerate(o.loops) if not any(loop.stride)), len(o.loops)) for o in orders]
    together = zip(*(write.loops for write in writes), strict=False)
    shared = next((n for n, same in enumerate(together) if len(set(same)) > 1), None)
    outer = min(counts if shared is None or alone else [*counts, shared - stage.fixed])
    first = orders[0]
    if any(order.loops[:outer] != first.loops[:outer] for order in orders):
        raise ScheduleError(
            f"{stage.name} writes '{writes[0].buffer.name}' at several places, in no order of one loop nest",
            notes=[Note(f"{stage.name} writes here", location_of(write.op)) for write in writes],
        )
    boxes = [_inner_box(order, outer) for order in orders]
    low = tuple(min(ends[d][0] for ends in boxes) for d in range(first.rank))
    size = tuple(max(ends[d][1] for ends in boxes) + 1 - low[d] for d in range(first.rank))
    rows = tuple(row[:outer] for row in first.map)
    return ITensor(size, first.trips[:outer], first.steps[:outer], rows, low, first.kind)


def _inner_box(order: ITensor, outer: int) -> list[tuple[int, int]]:
    """The least and the greatest subscript of each dimension in the first iteration of the outer loops."""
    moves = [[loop.stride[d] * (loop.trip - 1) for loop in order.loops[outer:]] for d in range(order.rank)]
    return [
        (start + sum(min(0, move) for move in own), start + sum(max(0, move) for move in own))
        for start, own in zip(order.offset, moves, strict=True)
    ]


def _order(stage: Stage, access: Access, loops: Sequence[ModelLoop], anchor: ir.Operation) -> ITensor:
    """The order of the elements of an access that happens once in each iteration of the loops."""
    name, op = access.buffer.name, anchor
    while op != stage.op:
        assert op.parent is not None
        op = op.parent.operation
        if op.name != "affine.for":
            raise _unordered(stage, name, "in a branch, or in a loop with run-time bounds", op)
    bounds = [constant_bounds(loop.op) for loop in loops]
    known = [b for b in bounds if b is not None]
    if len(known) < len(loops):
        loop = loops[bounds.index(None)]
        raise _unordered(stage, name, f"in loop '{loop.name}', whose bounds are no constants", loop.op)
    own = {loop.variable: k for k, loop in enumerate(loops)}
    rows, low = [], []
    for form in access.subscripts:
        if access.rows or any(number not in own for number, _ in form.terms):
            raise _unordered(stage, name, f"as {access.text}, no sum of its loops", access.op)
        row = [0] * len(loops)
        for number, factor in form.terms:
            row[own[number]] = factor
        rows.append(tuple(row))
        low.append(form.constant + sum(factor * known[own[number]][0] for number, factor in form.terms))
    trips = tuple(max(0, -(-(upper - lower) // step)) for lower, upper, step in known)
    if prod(trips) == 0:
        raise _unordered(stage, name, "in loops without iterations", stage.op)
    steps = tuple(step for _, _, step in known)
    memref = ir.MemRefType(stage.value.type)
    return ITensor((1,) * memref.rank, trips, steps, tuple(rows), tuple(low), str(memref.element_type))


def _unordered(stage: Stage, array: str, where: str, op: ir.Operation) -> ScheduleError:
    return ScheduleError(
        f"{stage.name} uses '{array}' {where}, and its order is no iterative tensor",
        hint="a converter is between loop nests with constant bounds and without branches around the array",
        notes=[Note("it is here", location_of(op))],
    )
