"""Pipelined loops of one iteration: a tool drops them with their pragma, which another loop has to carry."""

from __future__ import annotations

from mlir import ir

from ....ir.builder import i32_attr
from ....ir.module import Module
from ....ir.walk import LOOP_OPERATIONS, LoopView, loops_of, operations, statements, trip_count

_MARKS = ("allo.pipeline", "allo.rewind")
_OTHERWISE = ("allo.pipeline", "allo.dataflow", "allo.spatial", "allo.unroll")  # marks of loops that run another way
_PURE = ("arith.constant", "affine.apply", "affine.yield", "scf.yield")


def move_pipelines(module: Module) -> None:
    """Pipeline the loop that really iterates in the place of one that has a single iteration.

    That is the loop around it that has nothing else in it. Where there is none nothing is left to overlap: the loops
    inside are unrolled, which is what pipelining asked for, and the tool would decide anew. In place.
    """
    for function in module.functions():
        for view in loops_of(function) if function.operation.regions[0].blocks else ():
            if "allo.pipeline" in view.op.attributes and trip_count(view.op) == 1:
                _move(view)


def _move(view: LoopView) -> None:
    marks = {name: view.op.attributes[name] for name in _MARKS if name in view.op.attributes}
    for name in marks:
        del view.op.attributes[name]
    around = _iterating(view)
    if around is not None:
        for name, mark in marks.items():
            around.op.attributes[name] = mark
        return
    if any("allo.pipeline" in outer.op.attributes for outer in view.chain[:-1]):
        return  # which unrolls all that is inside
    for op in operations(view.body, "affine.for"):
        if "allo.unroll" not in op.attributes and trip_count(op) is not None:
            op.attributes["allo.unroll"] = i32_attr(0)


def _iterating(view: LoopView) -> LoopView | None:
    """The innermost loop around that has more than one iteration and nothing else in it; None if there is none."""
    around = view.parent
    while around is not None and _holds_only_a_loop(around):
        if any(mark in around.op.attributes for mark in _OTHERWISE):
            return None
        if trip_count(around.op) != 1:
            return around
        around = around.parent
    return None


def _holds_only_a_loop(view: LoopView) -> bool:
    inner: list[ir.Operation] = [op for op in statements(view.body) if op.name not in _PURE]
    return len(inner) == 1 and inner[0].name in LOOP_OPERATIONS
