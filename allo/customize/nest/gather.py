"""Statements beside a loop, gathered in its iterations, so that it is nested directly in the loop around it."""

from __future__ import annotations

from mlir import ir

from ...ir.access import accessed, is_load, is_store
from ...ir.builder import string_attr
from ...ir.walk import LoopView, annotations_of, loops_of, operations, statements
from ...poly import Model, extract, footprint, merge_violation
from .merge import matching, merge_into
from .recompute import free_names

_PURE = ("affine.for", "affine.if", "affine.yield", "affine.apply", "arith.", "allo.sign_", "allo.fixed_")


def gather(function: ir.OpView, outer: LoopView) -> LoopView | None:
    """Bring all that the body of a loop holds into the deepest of the loops in it, if no value changes by that.

    Copies of what only that loop reads are made by each of its iterations; loops over the same iterations are merged
    with it; arrays that no iteration gets values in from another one are made in each. Returns the loop, which then is
    all of the body, or None; the function may have been changed then too.
    """
    inner = _deepest(function, outer)
    if inner is None:
        return None
    name = inner.name
    while True:
        body = statements(outer.body)[:-1]
        if len(body) == 1:
            return next(view for view in loops_of(function) if view.op == body[0])
        inner = next(view for view in _inside(function, outer) if view.name == name)
        model = extract(function, outer.chain[0].op)
        if not any(_brought_in(function, model, op, inner, body) for op in body if op != inner.op):
            return None


def _deepest(function: ir.OpView, outer: LoopView) -> LoopView | None:
    """The loop of the body with most loops in it."""
    views = loops_of(function)
    found = [view for view in _inside(function, outer) if view.op.name == "affine.for" and not annotations_of(view.op)]
    depths = {view.name: max(len(v.chain) for v in views if view.op in [m.op for m in v.chain]) for view in found}
    return max(found, key=lambda view: depths[view.name], default=None)


def _inside(function: ir.OpView, outer: LoopView) -> list[LoopView]:
    """The loops that stand in the body of a loop itself."""
    return [view for view in loops_of(function) if view.op.block == outer.body]


def _brought_in(
    function: ir.OpView, model: Model, op: ir.Operation, inner: LoopView, body: list[ir.Operation]
) -> bool:
    """Bring one statement of the body into the loop, if that is legal now."""
    first = statements(inner.op.regions[0].blocks[0])[0]
    if op.name == "memref.alloc":
        array = op.results[0]
        if not all(_is_in(use.owner.operation, inner.op) for use in array.uses):
            return False
        touched = footprint(model, array, inner.op)
        if touched is None or touched.exposed:
            return False
        op.move_before(first)
        return True
    if op.name != "affine.for" or annotations_of(op):
        return False
    view = next(v for v in loops_of(function) if v.op == op)
    leads = body.index(op) < body.index(inner.op)
    if leads and _is_copy(op, inner.op, body):
        free_names(function, op, inner)
        op.move_before(first)
        return True
    pair = [view, inner] if leads else [inner, view]
    between = body[body.index(pair[0].op) + 1 : body.index(pair[1].op)]
    if any(other.name != "memref.alloc" for other in between) or not matching(pair[:1], pair[1:]):
        return False
    if merge_violation(model, [pair[0].op], [pair[1].op]) is not None:
        return False
    merge_into(function, pair[:1], pair[1:])
    pair[1].op.attributes["allo.name"] = string_attr(inner.name)
    return True


def _is_copy(op: ir.Operation, inner: ir.Operation, body: list[ir.Operation]) -> bool:
    """Whether a nest only fills arrays of the body that the loop reads, from arrays that the loop does not write."""
    inside = [op, *operations(op.regions[0].blocks[0])]
    if not all(is_load(o) or is_store(o) or o.name.startswith(_PURE) for o in inside):
        return False
    local = [made.results[0] for made in body if made.name == "memref.alloc"]
    filled = [accessed(o) for o in inside if is_store(o)]
    read = [accessed(o) for o in inside if is_load(o)]
    users = [o for o in operations(inner.regions[0].blocks[0]) if any(v in (*filled, *read) for v in o.operands)]
    only_read = all(is_load(o) for o in users)
    elsewhere = [o for v in filled for use in v.uses if not _is_in(o := use.owner.operation, op) and o not in users]
    return only_read and not elsewhere and all(v in local for v in filled) and not any(v in filled for v in read)


def _is_in(op: ir.Operation, outer: ir.Operation) -> bool:
    while op != outer:
        if op.parent is None:
            return False
        op = op.parent.operation
    return True
