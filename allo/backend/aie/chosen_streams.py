"""Loops that choose among the streams of an array, unrolled: each copy has a stream of its own."""

from __future__ import annotations

from math import prod

from mlir import ir

from ...ir.access import accessed
from ...ir.builder import i32_attr
from ...ir.elementary.values import hidden
from ...ir.module import Module
from ...ir.passes import run_passes
from ...ir.streams import is_stream
from ...ir.walk import entry_block, induction_variable, operations, trip_count

_UNROLL = "allo.unroll"
_PASSES = "func.func(allo-unroll-annotated{max-operations=4000000000},canonicalize)"


def name_streams(module: Module) -> None:
    """Unroll loops whose variables are subscripts of streams, in place, if copies are no more than streams."""
    for function in list(module.functions()):
        entry = entry_block(function)
        loops = operations(entry, "affine.for") if entry is not None else []
        chosen = [loop for loop in loops if _chooses(loop)]
        if not chosen:
            continue
        for loop in loops:  # of others, which cores run as loops, nothing is asked
            if _UNROLL in loop.attributes:
                del loop.attributes[_UNROLL]
        for loop in chosen:
            loop.attributes[_UNROLL] = i32_attr(0)
        assert entry is not None
        with hidden(entry):
            run_passes(_PASSES, function.operation)


def _chooses(loop: ir.Operation) -> bool:
    """Whether a loop variable is the subscript of a stream; grids of tasks, whose calls have it, are none."""
    uses = [use.owner.operation for use in induction_variable(loop).uses]
    loads = [op for op in uses if op.name == "affine.load" and is_stream(op.results[0].type) and _is_used_inside(op)]
    trips = trip_count(loop)
    return trips is not None and any(trips <= prod(ir.MemRefType(accessed(op).type).shape) for op in loads)


def _is_used_inside(load: ir.Operation) -> bool:
    """Whether a stream is put into or taken from where it is chosen, and not passed to a task."""
    return any(use.owner.operation.name != "func.call" for use in load.results[0].uses)
