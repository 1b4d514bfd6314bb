"""Bounds checks, for subscripts that are not proven to be inside of their arrays."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from ...ir.access import ACCESSES, access_map, accessed, subscripts
from ...ir.builder import Builder, index_type
from ...ir.walk import bound_operands, entry_block, operations
from .failures import require
from .names import ArrayNames

_BELOW = 6  # of unsigned numbers: a negative one is above all extents
type Interval = tuple[int, int]


def guard_subscripts(function: ir.OpView) -> None:
    """Put a check in front of each access for each subscript that may leave the array."""
    entry = entry_block(function)
    if entry is None:
        return
    names = ArrayNames(function)
    for op in operations(entry, *ACCESSES):
        array = accessed(op)
        for dimension, extent in enumerate(ir.MemRefType(array.type).shape):
            if not _is_inside(op, dimension, extent):
                _guard(op, array, dimension, extent, names.of(array))


def _guard(op: ir.Operation, array: ir.Value, dimension: int, extent: int, name: str) -> None:
    builder = Builder.before(op)
    subscript = computed_subscripts(builder, op)[dimension]
    if extent >= 0:
        limit, shown, text = builder.constant(index_type(), extent), [subscript], str(extent)
    else:
        number = builder.constant(index_type(), dimension)
        limit = builder.value("memref.dim", index_type(), [array, number])
        shown, text = [subscript, limit], "{1}"
    holds = builder.compare(_BELOW, subscript, limit)
    require(
        builder, holds, f"subscript {{0}} is outside of dimension {dimension} of {name}, which has {text} elements",
        shown,
    )  # fmt: skip


def computed_subscripts(builder: Builder, op: ir.Operation) -> list[ir.Value]:
    """The subscripts of an access as values, in front of it."""
    access, operands = access_map(op), subscripts(op)
    if access is None:
        return operands
    return [_applied(builder, access, position, operands) for position in range(len(access.results))]


def _applied(builder: Builder, access: ir.AffineMap, position: int, operands: Sequence[ir.Value]) -> ir.Value:
    result = access.results[position]
    if isinstance(result, ir.AffineDimExpr):
        return operands[ir.AffineDimExpr(result).position]
    if isinstance(result, ir.AffineConstantExpr):
        return builder.constant(index_type(), ir.AffineConstantExpr(result).value)
    one = ir.AffineMap.get(access.n_dims, access.n_symbols, [result], access.context)
    return builder.value("affine.apply", index_type(), operands, {"map": ir.AffineMapAttr.get(one)})


def _is_inside(op: ir.Operation, dimension: int, extent: int) -> bool:
    access = access_map(op)
    if extent < 0 or access is None:
        return False
    found = _interval(access.results[dimension], access, subscripts(op))
    return found is not None and found[0] >= 0 and found[1] < extent


def _interval(expr: ir.AffineExpr, access: ir.AffineMap, operands: Sequence[ir.Value]) -> Interval | None:
    """What an affine expression may be, if its variables are those of loops that say so."""
    if isinstance(expr, ir.AffineConstantExpr):
        return ir.AffineConstantExpr(expr).value, ir.AffineConstantExpr(expr).value
    if isinstance(expr, ir.AffineDimExpr):
        return _of_variable(operands[ir.AffineDimExpr(expr).position])
    if isinstance(expr, ir.AffineSymbolExpr):
        return _of_variable(operands[access.n_dims + ir.AffineSymbolExpr(expr).position])
    both = ir.AffineBinaryExpr(expr)
    lhs, rhs = (_interval(part, access, operands) for part in (both.lhs, both.rhs))
    if lhs is None or rhs is None:
        return None
    if isinstance(expr, ir.AffineAddExpr):
        return lhs[0] + rhs[0], lhs[1] + rhs[1]
    if isinstance(expr, ir.AffineMulExpr):
        corners = [a * b for a in lhs for b in rhs]
        return min(corners), max(corners)
    if isinstance(expr, ir.AffineModExpr):
        return 0, rhs[1] - 1
    if isinstance(expr, ir.AffineFloorDivExpr):
        return lhs[0] // rhs[0], lhs[1] // rhs[0]
    return None


def _of_variable(value: ir.Value) -> Interval | None:
    """The values of the variable of an `affine.for`: from its least lower bound to its greatest upper one."""
    if not isinstance(value.owner, ir.Block):
        return None
    loop = value.owner.owner.operation
    if loop.name != "affine.for":
        return None
    ends = []
    for attribute, operands in zip(("lowerBoundMap", "upperBoundMap"), bound_operands(loop), strict=True):
        bound = ir.AffineMapAttr(loop.attributes[attribute]).value
        parts = [_interval(result, bound, operands) for result in bound.results]
        known = [part for part in parts if part is not None]
        if not known or (attribute == "lowerBoundMap" and len(known) < len(parts)):
            return None
        ends.append(
            max(part[0] for part in known) if attribute == "lowerBoundMap" else min(p[1] for p in known) - 1
        )
    return (ends[0], ends[1]) if ends[0] <= ends[1] else (ends[0], ends[0])
