"""Bands of nested loops, perfectly nested where a rewrite needs it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...errors import Note, ScheduleError
from ...ir.module import Module
from ...ir.walk import LoopView, location_of
from ..step.handles import Loop, Nest
from ..step.resolve import find_loops, loop_note
from ..step.resolve_part import find_nest
from .guards import sink_guards
from .rewrite import only_child


def nested_band(module: Module, loops: Sequence[Loop]) -> list[LoopView]:
    """All loops from the outermost to the innermost of `loops`, outermost first; statements may be in between.

    Raises ScheduleError if a loop is given twice, if they are not nested in each other, or if one has run-time bounds.
    """
    views = find_loops(module, loops)
    for position, loop in enumerate(loops):
        if loop in loops[:position]:
            raise ScheduleError(f"loop '{loop.name}' is given twice", notes=[loop_note(views[position])])
    innermost = max(views, key=lambda view: len(view.chain))
    chain = innermost.chain
    for view in views:
        if view.op not in [member.op for member in chain]:
            raise ScheduleError(
                f"loops '{view.name}' and '{innermost.name}' are not nested in each other",
                notes=[loop_note(view), loop_note(innermost)],
            )
    depth = min(len(view.chain) for view in views) - 1
    band = list(chain[depth:])
    for view in band:
        if view.op.name != "affine.for":
            raise ScheduleError(f"loop '{view.name}' has run-time bounds", notes=[loop_note(view)])
    return band


def perfect_band(module: Module, loops: Sequence[Loop]) -> list[LoopView]:
    """A band with nothing in between; affine conditions around an inner loop are moved into it.

    Raises ScheduleError as `nested_band` does, and if a statement stands between two of the loops.
    """
    band = nested_band(module, loops)
    sink_guards(band)
    for outer, inner in pairwise(band):
        if not only_child(outer, inner):
            raise ScheduleError(
                f"loop '{inner.name}' is not perfectly nested in '{outer.name}'",
                hint="move the statements between them into a loop nest of their own",
                notes=[_between(outer, inner), loop_note(inner)],
            )
    return band


def _between(outer: LoopView, inner: LoopView) -> Note:
    """The first statement that stands beside `inner` in the body of `outer`."""
    for op in outer.body.operations:
        if op.operation != inner.op and op.operation.name not in ("affine.yield", "arith.constant"):
            return Note("this statement stands between them", location_of(op.operation))
    return loop_note(outer)


def loop_band(module: Module, nest: Nest) -> list[LoopView]:
    """The loops of a nest from its outermost one on, as long as each holds nothing but the next."""
    band = [find_nest(module, nest)]
    loops = module.loops(nest.function)
    while len(band[-1].body.operations) == 2:
        inner = band[-1].body.operations[0].operation
        found = [view for view in loops if view.op == inner]
        if not found:
            break
        band.append(found[0])
    return band
