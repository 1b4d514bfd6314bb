"""Subscripts of views (subview, cast) as subscripts of the memory behind them."""

from __future__ import annotations

from mlir import ir

from .linear import Linear, Quotient
from .values import Values

_DYNAMIC = -(1 << 63)

type Subscripts = list[Linear | None]


def through_view(
    op: ir.Operation, subscripts: Subscripts, values: Values
) -> tuple[Subscripts, tuple[Quotient, ...]] | None:
    """The subscripts of the operand of a view operation; None if the view is not understood."""
    if op.name in ("memref.cast", "allo.element_cast"):
        return subscripts, ()
    if op.name != "memref.subview":
        return None
    offsets, quotients = _mixed(op, "static_offsets", 1, values)
    strides, more = _mixed(op, "static_strides", 3, values)
    sizes = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"]))
    kept = _kept(sizes, ir.MemRefType(op.results[0].type).shape)
    if kept is None or len(kept) != len(subscripts):
        return None
    result: Subscripts = list(offsets)
    for position, subscript in zip(kept, subscripts, strict=True):
        offset, stride = offsets[position], strides[position]
        if offset is None or stride is None or not stride.is_constant or subscript is None:
            result[position] = None
        else:
            result[position] = offset + subscript.scaled(stride.constant)
    return result, quotients + more


def _mixed(
    op: ir.Operation, attribute: str, segment: int, values: Values
) -> tuple[Subscripts, tuple[Quotient, ...]]:
    """Static numbers with the dynamic operands filled in."""
    segments = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])
    position = sum(segments[k] for k in range(segment))
    result: Subscripts = []
    quotients: tuple[Quotient, ...] = ()
    for number in ir.DenseI64ArrayAttr(op.attributes[attribute]):
        if number != _DYNAMIC:
            result.append(Linear(number))
            continue
        terms = values.index(op.operands[position])
        position += 1
        result.append(terms.forms[0])
        quotients += terms.quotients
    return result, quotients


def _kept(sizes: list[int], shape: list[int]) -> list[int] | None:
    """The dimensions that a rank-reducing subview keeps; which of several unit ones does not matter."""
    kept: list[int] = []
    for position, size in enumerate(sizes):
        if len(kept) < len(shape) and size == shape[len(kept)]:
            kept.append(position)
        elif size != 1:
            return None
    return kept if len(kept) == len(shape) else None
