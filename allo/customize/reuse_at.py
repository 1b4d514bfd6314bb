"""reuse_at: keep the values of an array that later iterations of a loop read again in a line or window buffer."""

from __future__ import annotations

import re

from mlir import ir

from ..errors import Location, Note, ScheduleError
from ..ir.access import is_affine_load, is_load
from ..ir.module import Module
from ..ir.names import unique_name
from ..ir.walk import LoopView, buffers_of, constant_bounds, location_of
from ..poly import Model, Window, extract, window
from .array.box import Box, loop_labels, loop_names, turn_to_copy, uses_inside
from .array.merge_fill import merge_fill
from .array.shift_register import ShiftRegister, clip, run_earlier
from .nest.rewrite import compose_affine
from .step.handles import Buffer, Loop
from .step.legality import demand_still_parallel, parallel_loops
from .step.primitive import demand_use, primitive
from .step.resolve import buffer_note, find_buffer, find_loop, loop_note


@primitive(any_layout=True)
def reuse_at(
    module: Module, buffer: Buffer, axis: Loop, assume_safe: bool = False, strict: bool = False
) -> Buffer:
    """Keep what later iterations of loop `axis` read again of `buffer` in a buffer that shifts; returns its handle.

        for x in range(n):                  R: T[3]
            B[x] = A[x] + A[x+2]            for x in range(-2, n):    # runs ahead until the buffer is full
                                                R[0] = R[1]; R[1] = R[2]
                                     ->         R[2] = A[x + 2]       # only the new elements
                                                if x >= 0:
                                                    B[x] = R[0] + R[2]

    The buffer has the extents of the box that one iteration reads (dimensions of extent 1 are dropped) and the name
    `A_reuse`: a line buffer if `axis` is an outer loop, a window if it is an inner one. Each iteration shifts it by
    the distance that the box moves, and loads what is new, inside the bounds of the array. A window on a line buffer
    is `s.reuse_at(s.reuse_at("A", "y"), "x")`; the line buffer is then filled in loop `x` too, so that one pass over
    the array does it all (the fill loop of the first step is gone, if nothing else stands between the two loops).
    Where there is nothing to reuse (no element is read in two iterations, the box does not move, or is as large as the
    array), the step does nothing, says so in a warning (`allo.ScheduleNote`) and returns `buffer`; with `strict=True`
    it is refused.
    Refused: a box that moves along several dimensions, or has no constant extents; an array that the loop writes or
    declares, or of run-time extents; accesses through calls or with subscripts that are not affine; a parallel loop
    (one around it that cannot be decided is accepted with `assume_safe=True`). Source: Allo paper, Table 2.
    """
    view = find_loop(module, axis)
    value = find_buffer(module, buffer)
    _check_loop(buffer, axis, view)
    function, nest = module.function(buffer.function), view.chain[0].op
    model = extract(function, nest)
    bounds = constant_bounds(view.op)
    moved = window(model, value, view.op, bounds[0] if bounds else None)
    notes = [loop_note(view), buffer_note(buffer, value)]
    if moved is None:
        raise ScheduleError(f"loop '{view.name}' does not touch '{buffer.name}'", notes=notes)
    _check_uses(model, moved, buffer, value, view)
    nothing = _nothing_to_reuse(moved, buffer, view, notes)
    if nothing is not None:
        demand_use("reuse_at", nothing, strict=strict)
        return buffer

    parallel = parallel_loops(module, axis)
    uses = uses_inside(value, view)
    box = Box.of(model, moved.touched, view)
    name = unique_name(f"{re.sub(r'_reuse(_[0-9]+)?$', '', buffer.name)}_reuse", set(buffers_of(function)))
    register = ShiftRegister(box, moved.moving[0], moved.shift[moved.moving[0]], view)
    labels, taken = loop_labels(buffer, uses, view, box), loop_names(view.chain[0])
    local = register.allocate(name, ir.MemRefType(value.type).element_type)
    if register.iterations_to_fill > moved.slack:
        run_earlier(view, register.iterations_to_fill - moved.slack)
    load = register.advance(value, local, labels, taken)
    for op in uses:
        turn_to_copy(op, local, box)
    filled = extract(function, nest)
    clip(filled, load)
    merge_fill(function, filled, view, load)
    compose_affine([function])
    demand_still_parallel(module, axis, parallel, assume_safe=assume_safe)
    return Buffer(buffer.function, name)


def _check_loop(buffer: Buffer, axis: Loop, view: LoopView) -> None:
    if axis.function != buffer.function:
        raise ScheduleError(f"'{buffer}' and loop '{axis}' are in different functions")
    if view.op.name != "affine.for":
        raise ScheduleError(f"loop '{axis.name}' has run-time bounds", notes=[loop_note(view)])
    if len(view.op.results):
        raise ScheduleError(
            f"loop '{axis.name}' hands on values from one iteration to the next",
            hint="keep such values in a variable (a memref)",
            notes=[loop_note(view)],
        )


def _check_uses(model: Model, moved: Window, buffer: Buffer, value: ir.Value, view: LoopView) -> None:
    """The loop must only read the array, by affine loads, and the array must live longer than the loop."""
    touched = moved.touched
    if any(member.op == view.op for member in touched.buffer.scope):
        raise ScheduleError(
            f"'{buffer.name}' is declared inside loop '{view.name}': no value of it lives in two iterations",
            notes=[loop_note(view), buffer_note(buffer, value)],
        )
    for access in model.inside(touched.loop):
        if access.is_write and access.buffer.label == touched.buffer.label:
            source = access.source
            place = Location(source.file, source.line, source.column) if source.line else None
            raise ScheduleError(
                f"loop '{view.name}' writes '{buffer.name}', and a value kept from an earlier iteration may be old",
                hint="reuse_at keeps arrays that the loop only reads",
                notes=[Note("the statement is here", place), loop_note(view)],
            )
    for op in uses_inside(value, view):
        if not is_affine_load(op):
            what = "passes it to a call" if op.name == "func.call" else f"uses it as a whole ({op.name})"
            if is_load(op):
                what = "has subscripts that are not affine"
            raise ScheduleError(
                f"'{buffer.name}' cannot be kept here: a statement in the loop {what}",
                notes=[Note("the statement is here", location_of(op)), loop_note(view)],
            )


def _nothing_to_reuse(moved: Window, buffer: Buffer, view: LoopView, notes: list[Note]) -> ScheduleError | None:
    """Why a buffer that shifts would be of no use; raises ScheduleError unless it moves along one dimension at most
    and has a constant size."""
    if not moved.reused:
        return ScheduleError(
            f"nothing to reuse: no element of '{buffer.name}' is read in two iterations of '{view.name}'",
            hint="take the loop whose iterations overlap, or buffer_at() for a plain copy",
            notes=notes,
        )
    for position, reach in enumerate(moved.touched.extents):
        if reach.lower is None or reach.size is None:
            raise ScheduleError(
                f"the part of dimension {position + 1} of '{buffer.name}' that an iteration of '{view.name}' "
                f"reads has no constant extent: {reach.reason}",
                notes=notes,
            )
    if not moved.moving:
        return ScheduleError(
            f"the part of '{buffer.name}' that an iteration of '{view.name}' reads does not move: nothing to shift",
            hint="buffer_at() on a loop around it keeps that part",
            notes=notes,
        )
    if len(moved.moving) > 1:
        dimensions = " and ".join(str(dimension + 1) for dimension in moved.moving)
        raise ScheduleError(
            f"the window that '{view.name}' reads of '{buffer.name}' moves along dimensions {dimensions} at once",
            hint="take a loop that moves it along one dimension",
            notes=notes,
        )
    (dimension,) = moved.moving
    size, extent = moved.touched.extents[dimension].size, moved.touched.buffer.shape[dimension]
    if size is not None and extent is not None and size >= extent:
        return ScheduleError(
            f"an iteration of '{view.name}' may read {size} elements along dimension {dimension + 1} of "
            f"'{buffer.name}', which has {extent}: a buffer that shifts would save nothing",
            hint="buffer_at() on a loop around it keeps all of them",
            notes=notes,
        )
    return None
