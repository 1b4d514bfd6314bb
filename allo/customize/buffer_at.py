"""buffer_at: work on a small copy of the part of an array that one iteration of a loop touches."""

from __future__ import annotations

from mlir import ir

from ..errors import Location, Note, ScheduleError
from ..ir.module import Module
from ..ir.streams import is_stream_type
from ..ir.walk import LoopView
from ..poly import Access, Undecided, extract
from .array.copy_part import copy_part
from .array.first_constant import take_constant
from .nest.rewrite import compose_affine
from .step.handles import Buffer, Loop
from .step.legality import demand_still_parallel, parallel_loops
from .step.primitive import primitive
from .step.resolve import buffer_note, find_buffer, find_loop, loop_note


@primitive(any_layout=True)
def buffer_at(
    module: Module, buffer: Buffer, axis: Loop, init: float | None = None, assume_safe: bool = False
) -> Buffer:
    """Keep what each iteration of loop `axis` touches of `buffer` in a new local array; returns its handle.

        for i in range(m):            for i in range(m):
            for j in range(n):            buf: T[n]
                A[i, j] += ...   ->       for j_init in range(n): buf[j_init] = A[i, j_init]
                                          for j in range(n):      buf[j] += ...
                                          for j_back in range(n): A[i, j_back] = buf[j_back]

    The array has the extents of the touched box; dimensions of extent 1 are dropped. It is filled first only if an
    element may be read before it is written (or not all are written), and written back only if it is written. With
    `init`, it is filled with this number instead, which must be what the elements hold when an iteration begins: a
    statement before the loop gives it to them (`C: T[m, n] = 0`), and nothing else comes before; that statement is gone
    if nothing reads it any more.
    Refused: a loop that does not touch the buffer, a box without constant extents, a buffer declared inside the loop,
    accesses inside the loop that go through calls, streams, another first value than `init`, and a parallel loop whose
    iterations would write back elements of each other (`assume_safe=True` accepts a parallel loop where that cannot
    be decided).
    Source: Allo paper, Table 2 and section 3.1 (Fig. 2).
    """
    view = find_loop(module, axis)
    value = find_buffer(module, buffer)
    if axis.function != buffer.function:
        raise ScheduleError(f"'{buffer}' and loop '{axis}' are in different functions")
    if view.op.name != "affine.for":
        raise ScheduleError(f"loop '{axis.name}' has run-time bounds", notes=[loop_note(view)])
    if is_stream_type(value.type):
        raise ScheduleError(
            f"'{buffer}' holds streams, of which there are no copies",
            hint="buffer the array whose elements the streams carry, before it is relayed",
            notes=[buffer_note(buffer, value)],
        )
    function = module.function(buffer.function)
    model = extract(function, view.chain[0].op)
    parallel = parallel_loops(module, axis)
    part = copy_part(function, model, buffer, value, view)
    if init is not None:
        for load in part.loaded:
            _begin_with(function, buffer, load, init, view)
    compose_affine([function])
    demand_still_parallel(module, axis, parallel, assume_safe=assume_safe)
    return Buffer(buffer.function, part.name)


def _begin_with(function: ir.OpView, buffer: Buffer, load: ir.Operation, init: float, view: LoopView) -> None:
    """Put the constant `init` in the place of what `load` reads, if that is what the elements are then."""
    obstacle = take_constant(function, load, view, init)
    other: Access | None = None
    match obstacle:
        case None:
            return
        case Undecided():
            why, other = f"it cannot be decided: {obstacle.describe()}", obstacle.access
        case Access():
            why, other = f"the statement at {obstacle.source} gives {obstacle.text} its value before", obstacle
        case _:
            why = "no statement of the function gives all of its elements a value before"
    place = None if other is None or not other.source.line else other.source
    notes = [] if place is None else [Note("it is here", Location(place.file, place.line, place.column))]
    raise ScheduleError(
        f"'{buffer.name}' may hold another value than {init} when an iteration of '{view.name}' begins: {why}",
        hint=f"leave init= out, which copies what is there, or let a statement before the loop write {init}",
        notes=[*notes, loop_note(view)],
    )
