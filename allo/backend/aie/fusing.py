"""Nests of tasks that pass an array to the next one run together, where they may, and the array becomes a number."""

from __future__ import annotations

from itertools import pairwise
from math import prod

from mlir import ir

from ...customize.nest.merge import chain_of, matching, merge_into
from ...customize.nest.rewrite import only_child
from ...ir.access import access_map, accessed, is_affine_access, is_load, is_store, stored, subscripts
from ...ir.builder import Builder, affine_constant
from ...ir.context import unknown_location
from ...ir.walk import (
    entry_block,
    induction_variable,
    loops_of,
    operations,
    statement_of,
    statements,
)
from ...poly import extract, merge_violation
from ...poly.fusion import moved_past
from .constants import VALUES


def fuse_nests(function: ir.OpView) -> None:
    """Let nests run within the later ones that read arrays of the function which they write, in place.

    Each iteration of as many common loops as can be is followed by that of the later nest. Nothing is computed twice.
    """
    while _fuse_one(function):
        pass


def drop_unread_arrays(function: ir.OpView) -> None:
    """Let arrays of the function that nobody reads go, with what is stored there, in place."""
    entry = entry_block(function)
    assert entry is not None
    for array in operations(entry, "memref.alloc"):
        uses = [use.owner.operation for use in array.results[0].uses]
        if all(is_store(op) and accessed(op) == array.results[0] for op in uses):
            for op in [*uses, array]:
                op.erase()


def contract_arrays(function: ir.OpView) -> None:
    """Let arrays of which each iteration of a nest uses one element, its own, have one element, in place."""
    entry = entry_block(function)
    assert entry is not None
    for array in operations(entry, "memref.alloc"):
        uses = [use.owner.operation for use in array.results[0].uses]
        kind = ir.MemRefType(array.results[0].type)
        if VALUES in array.attributes or prod(kind.shape) == 1 or not uses:
            continue
        if not all(_is_plain(op, array) for op in uses) or not _is_own(uses):
            continue
        array.results[0].set_type(ir.MemRefType.get([1] * kind.rank, kind.element_type, loc=unknown_location()))
        first = ir.AffineMap.get(0, 0, [affine_constant(0)] * kind.rank, function.context)
        for op in uses:
            builder, place = Builder.before(op), {"map": ir.AffineMapAttr.get(first)}
            if is_store(op):
                builder.op("affine.store", (), [stored(op), array.results[0]], place)
            else:
                value = builder.value("affine.load", kind.element_type, [array.results[0]], place)
                op.results[0].replace_all_uses_with(value)
            op.erase()


def _fuse_one(function: ir.OpView) -> bool:
    entry = entry_block(function)
    assert entry is not None
    nests = [op for op in statements(entry) if op.name == "affine.for"]
    model, views = None, loops_of(function)
    for number, nest in enumerate(nests):
        written = _arrays(nest, writes=True)
        user = next((other for other in nests[number + 1 :] if written & _arrays(other, writes=False)), None)
        if user is None:
            continue
        first, second = chain_of(views, nest), chain_of(views, user)
        model = model or extract(function)
        for depth in range(min(len(first), len(second)), 0, -1):
            one, other = first[:depth], second[:depth]
            if not all(only_child(a, b) for a, b in pairwise(one)) or not matching(one, other):
                continue
            late = merge_violation(model, [view.op for view in one], [view.op for view in other])
            if late is None and moved_past(model, nest, user) is None:
                merge_into(function, one, other)
                return True
    return False


def _arrays(nest: ir.Operation, *, writes: bool) -> set[ir.Value]:
    """The arrays of the function that a nest stores to, or loads from."""
    ops = [op for op in operations(nest.regions[0].blocks[0]) if (is_store(op) if writes else is_load(op))]
    return {accessed(op) for op in ops if not isinstance(accessed(op).owner, ir.Block)}


def _is_plain(op: ir.Operation, array: ir.Operation) -> bool:
    return (is_load(op) or is_store(op)) and is_affine_access(op) and accessed(op) == array.results[0]


def _is_own(uses: list[ir.Operation]) -> bool:
    """Whether all uses are in one nest, and subscripts are the variables of its outermost loops."""
    nest = statement_of(uses[0])
    variables = [_plain_subscripts(op) for op in uses]
    if any(statement_of(op) != nest for op in uses) or any(own is None or own != variables[0] for own in variables):
        return False
    left = set(variables[0] or ())
    loop: ir.Operation | None = nest
    while loop is not None and loop.name == "affine.for" and induction_variable(loop) in left:
        left.discard(induction_variable(loop))
        inner = [op for op in statements(loop.regions[0].blocks[0]) if op.name == "affine.for"]
        loop = inner[0] if len(inner) == 1 else None
    return not left


def _plain_subscripts(op: ir.Operation) -> list[ir.Value] | None:
    """The variable of each dimension; of one that has one element, none."""
    own, operands = access_map(op), subscripts(op)
    assert own is not None
    shape = ir.MemRefType(accessed(op).type).shape
    found = []
    for extent, expr in zip(shape, own.results, strict=True):
        if extent == 1:
            continue
        if not isinstance(expr, ir.AffineDimExpr):
            return None
        found.append(operands[ir.AffineDimExpr(expr).position])
    return found
