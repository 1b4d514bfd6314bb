"""Chains of processing elements: an array between them becomes FIFOs from one to the next."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from mlir import ir

from ...errors import Note, ScheduleError
from ...ir.access import is_affine_access
from ...ir.builder import Builder
from ...ir.module import Module
from ...ir.names import unique_name
from ...ir.walk import LoopView, location_of, operations
from ...poly import Access, Model, Transfer, extract, fifo_obstacle
from ..function.calls import function_around
from ..function.inlining import inline_inside
from ..step.handles import Buffer
from ..step.resolve import buffer_note, loop_note
from .accesses import (
    Get,
    create,
    demand_fifo,
    fifo_at,
    get_at_loads,
    gets_of,
    put_at_stores,
    stream_type,
)
from .first_values import drop_first_values
from .stages import Stage, stages_of


def chain(
    module: Module,
    buffer: Buffer,
    value: ir.Value,
    outermost: ir.Operation,
    spatial: Sequence[LoopView],
    along: LoopView,
    depth: int,
    *,
    assume_safe: bool,
) -> ir.Value:
    """Make FIFOs of an array that the elements of a nest share, one for each element of the array's place in the nest.

    Those subscripts that only the position in the nest decides tell which FIFO it is; the others are its time.
    """
    _open_calls(module, buffer, outermost)
    model = extract(function_around(value.owner.operation))
    stage = _users(model, value)
    inner = spatial[-1].op
    inside = [a for a in (*stage.writes, *stage.reads) if any(loop.op == inner for loop in a.loops)]
    _check_users(buffer, value, stage, inside, along)
    lanes = _lanes(model, buffer, value, inside, spatial, along)
    gets = [*_gets(stage, inside, len(spatial[-1].chain)), *_gets(stage, _others(stage.reads, inside), stage.fixed)]
    writes = [_transfer(stage, access, len(access.loops)) for access in stage.writes]
    reads = [_transfer(stage, place.loads[0], place.depth) for place in gets]
    demand_fifo(fifo_obstacle(writes, reads, lanes), buffer.name, assume_safe=assume_safe)

    memref = ir.MemRefType(value.type)
    time = [extent for d, extent in enumerate(memref.shape) if d not in lanes]
    kind = stream_type(memref.element_type, time, depth)
    extents = [memref.shape[d] for d in lanes]
    allocation = value.owner.operation
    name = unique_name(f"fifo_{buffer.name}", _names(allocation))
    fifos = create(Builder.before(allocation), kind, name, extents)
    put_at_stores(stage.writes, partial(fifo_at, fifos, lanes), keep=False)
    get_at_loads(gets, partial(fifo_at, fifos, lanes))
    allocation.erase()
    return fifos


def _open_calls(module: Module, buffer: Buffer, nest: ir.Operation) -> None:
    """Put the bodies of functions in the place of their calls, without copies that they overwrite at once."""
    calls = operations(nest.regions[0].blocks[0], "func.call")
    if not calls:
        return
    inline_inside(module, nest)
    model = extract(function_around(nest))
    for op in operations(nest.regions[0].blocks[0], "memref.alloc"):
        local = Buffer(buffer.function, ir.StringAttr(op.attributes["allo.name"]).value)
        drop_first_values(stages_of(module, local, op.results[0], model))


def _users(model: Model, value: ir.Value) -> Stage:
    """All accesses of the array, in one stage that starts at its allocation."""
    known = model.buffer(value)
    label = "" if known is None else known.label
    accesses = [access for access in model.accesses if access.buffer.label == label]
    fixed = 0 if known is None else len(known.scope)
    writes = tuple(access for access in accesses if access.is_write)
    reads = tuple(access for access in accesses if not access.is_write)
    return Stage(value.owner.operation, None, value, model, fixed, writes, reads)


def _check_users(buffer: Buffer, value: ir.Value, stage: Stage, inside: list[Access], along: LoopView) -> None:
    for use in value.uses:
        op = use.owner.operation
        if not is_affine_access(op):
            raise ScheduleError(
                f"'{buffer.name}' is passed on to a call or a view, or has subscripts that are not affine",
                notes=[Note("the statement is here", location_of(op))],
            )
    reads = [access for access in inside if not access.is_write]
    if not reads or len(reads) == len(inside):
        raise ScheduleError(
            f"'{buffer.name}' does not go from one processing element to the next: the nest "
            f"{'only reads' if reads else 'only writes' if inside else 'does not use'} it",
            hint=f'make a copy in each element first: s.buffer_at("{buffer}", axis="{along.name}")' if reads else None,
            notes=[buffer_note(buffer, value), loop_note(along)],
        )
    loops = [loop for access in (*stage.writes, *stage.reads) for loop in access.loops[stage.fixed :]]
    parallel = next((loop for loop in loops if "allo.parallel" in loop.op.attributes), None)
    if parallel is not None:
        raise ScheduleError(
            f"loop '{parallel.name}' runs in parallel, but a FIFO has an order",
            notes=[Note(f"loop '{parallel.name}' is here", location_of(parallel.op))],
        )


def _lanes(
    model: Model,
    buffer: Buffer,
    value: ir.Value,
    inside: list[Access],
    spatial: Sequence[LoopView],
    along: LoopView,
) -> list[int]:
    """The dimensions of the array that the position of an element in the nest decides."""
    positions = {model.loop(view.op).variable for view in spatial}
    way = model.loop(along.op).variable
    lanes = [
        d
        for d in range(len(inside[0].subscripts))
        if all(number in positions for access in inside for number, _ in access.subscripts[d].terms)
    ]
    moving = [d for d in lanes if any(n == way for access in inside for n, _ in access.subscripts[d].terms)]
    if not any(len({access.subscripts[d] for access in inside}) > 1 for d in moving):
        raise ScheduleError(
            f"'{buffer.name}' does not go from one processing element to the next along '{along.name}'",
            hint="an element reads what the one before it writes: X[p] and X[p + 1]",
            notes=[buffer_note(buffer, value), loop_note(along)],
        )
    return lanes


def _others(accesses: Sequence[Access], inside: list[Access]) -> list[Access]:
    return [access for access in accesses if access not in inside]


def _gets(stage: Stage, accesses: Sequence[Access], outside: int) -> list[Get]:
    """The gets for some of the loads; those in the nest stay inside of its first `outside` loops."""
    reads = tuple(access for access in stage.reads if access in accesses)
    return gets_of(Stage(stage.op, None, stage.value, stage.model, outside, (), reads))


def _transfer(stage: Stage, access: Access, depth: int) -> Transfer:
    return Transfer(access, stage.fixed, depth, stage.model.function)


def _names(allocation: ir.Operation) -> set[str]:
    entry = function_around(allocation).operation.regions[0].blocks[0]
    named = (op for op in operations(entry) if op.name != "affine.for" and "allo.name" in op.attributes)
    return {ir.StringAttr(op.attributes["allo.name"]).value for op in named}
