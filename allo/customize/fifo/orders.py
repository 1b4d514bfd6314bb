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
    access = max(stage.writes, key=lambda write: len(write.loops))
    alike = [w.subscripts == access.subscripts and access.loops[: len(w.loops)] == w.loops for w in stage.writes]
    if not all(alike):
        raise ScheduleError(
            f"{stage.name} writes '{access.buffer.name}' at several places, in no order of one loop nest",
            notes=[Note(f"{stage.name} writes here", location_of(w.op)) for w in stage.writes],
        )
    loops = access.loops[stage.fixed :]
    order = _order(stage, access, loops, access.op)
    sums = next((n for n, loop in enumerate(order.loops) if not any(loop.stride)), len(loops))
    rest = order.loops[sums:]
    low = [o + sum(min(0, loop.stride[d] * (loop.trip - 1)) for loop in rest) for d, o in enumerate(order.offset)]
    size = [1 + sum(abs(loop.stride[d]) * (loop.trip - 1) for loop in rest) for d in range(order.rank)]
    rows = tuple(row[:sums] for row in order.map)
    return ITensor(tuple(size), order.trips[:sums], order.steps[:sums], rows, tuple(low), order.kind)


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
