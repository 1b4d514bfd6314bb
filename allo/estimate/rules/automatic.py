"""Pipelines that a tool makes unasked: of innermost loops, or of the loop around a short one."""

from __future__ import annotations

from mlir import ir

from ...ir.access import is_copy
from ...ir.builder import i32_attr
from ...ir.walk import LoopView, loops_of, operations, trip_count
from ...timing.vendor_rules import AUTOMATIC

_MARKS = ("allo.pipeline", "allo.dataflow", "allo.spatial")


def mark_pipelines(function: ir.OpView, threshold: int) -> None:
    """Mark innermost loops of more iterations than the threshold, of the others the loop around them.

    A loop around that has anything else than short innermost loops in it is not marked; then the innermost one is.
    Marks within pipelines of the user mean nothing.
    """
    views = [view for view in loops_of(function) if not _is_unrolled(view)]
    inside = {view.op: [other for other in views if other.parent and other.parent.op == view.op] for view in views}
    innermost = [view for view in views if not inside[view.op] and _may_be(view)]
    chosen: dict[ir.Operation, None] = {}
    for view in innermost:
        parent = view.parent
        short = parent is not None and all(_is_short(other, threshold) for other in inside[parent.op])
        around = parent is not None and short and _may_be(parent) and "allo.unroll" not in parent.op.attributes
        chosen[parent.op if around and parent is not None else view.op] = None
    for op in chosen:
        op.attributes["allo.pipeline"] = i32_attr(1)
        op.attributes[AUTOMATIC] = ir.UnitAttr.get(op.context)


def _may_be(view: LoopView) -> bool:
    """Whether the body is a datapath: nothing in it is called, and nobody has said what else the loop is."""
    if view.op.name == "scf.while" or any(mark in view.op.attributes for mark in _MARKS):
        return False
    return not any(op.name == "func.call" or is_copy(op) for op in operations(view.body))


def _is_short(view: LoopView, threshold: int) -> bool:
    trips = trip_count(view.op)
    plain = not any(mark in view.op.attributes for mark in (*_MARKS, "allo.unroll"))
    return plain and trips is not None and trips <= threshold and not _loops_in(view)


def _loops_in(view: LoopView) -> bool:
    return bool(operations(view.body, "affine.for", "scf.for", "scf.while"))


def _is_unrolled(view: LoopView) -> bool:
    """Whether nothing is left of a loop: it, or one around it, is unrolled as a whole."""
    return any(
        "allo.unroll" in outer.op.attributes
        and ir.IntegerAttr(outer.op.attributes["allo.unroll"]).value == 0
        and trip_count(outer.op) is not None
        for outer in view.chain
    )
