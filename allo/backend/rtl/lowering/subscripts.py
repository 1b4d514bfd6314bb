"""Affine expressions as signed expressions of hardware, with the numbers that they may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir

from ....errors import InternalError
from ....ir.widths import INDEX_BITS
from ..netlist.design import Signal
from . import linear
from .linear import SubscriptNumber

_WHOLE = (-(1 << (INDEX_BITS - 1)), (1 << (INDEX_BITS - 1)) - 1)


def of_value(signal: Signal, low: int | None = None, high: int | None = None, step: int = 1) -> SubscriptNumber:
    """A subscript that is a value, from `low` on in such steps."""
    if signal.literal is not None:
        return linear.constant(_signed(signal.literal, signal.width))
    text = signal.name if signal.signed else f"$signed({signal.name})"
    if low is None or high is None:
        return linear.value(text, 0, 1, *_WHOLE)
    return linear.value(text, low, step if high > low else 0, low, high)


def of_index(value: ir.Value, leaf: Callable[[ir.Value], SubscriptNumber]) -> SubscriptNumber:
    """A subscript that operations on indices make of others, as `poly` reads it; `leaf` is that of other values."""
    is_made = isinstance(value.type, ir.IndexType) and not isinstance(value.owner, ir.Block)
    op = value.owner.operation if is_made else None
    if op is None or op.name not in ("arith.addi", "arith.subi", "arith.muli"):
        return leaf(value)
    left, right = (of_index(operand, leaf) for operand in op.operands)
    if op.name != "arith.muli":
        return linear.total((left, right if op.name == "arith.addi" else linear.multiple(right, -1)))
    if left.terms and right.terms:
        return leaf(value)
    return linear.multiple(right, left.offset) if right.terms else linear.multiple(left, right.offset)


def _signed(number: int, width: int) -> int:
    number &= (1 << width) - 1
    return number - (1 << width) if number >> (width - 1) else number


def numbers_of(made: ir.AffineMap) -> list[int] | None:
    """The results of an affine map, if they are numbers that are written in it."""
    found = [expression.value for expression in made.results if isinstance(expression, ir.AffineConstantExpr)]
    return found if len(found) == len(made.results) else None


def of_map(made: ir.AffineMap, operands: Sequence[SubscriptNumber]) -> list[SubscriptNumber]:
    """The results of an affine map on these operands."""
    dims, symbols = operands[: made.n_dims], operands[made.n_dims :]
    return [of_expression(expression, dims, symbols) for expression in made.results]


def of_expression(
    made: ir.AffineExpr, dims: Sequence[SubscriptNumber], symbols: Sequence[SubscriptNumber]
) -> SubscriptNumber:
    """An affine expression."""
    if isinstance(made, ir.AffineConstantExpr):
        return linear.constant(int(made.value))
    if isinstance(made, ir.AffineDimExpr):
        return dims[int(made.position)]
    if isinstance(made, ir.AffineSymbolExpr):
        return symbols[int(made.position)]
    left, right = of_expression(made.lhs, dims, symbols), of_expression(made.rhs, dims, symbols)
    for kind, combine in _COMBINED.items():
        if isinstance(made, kind):
            return combine(left, right)
    raise InternalError(f"no hardware for the affine expression {made}")


_COMBINED: dict[type[ir.AffineExpr], Callable[[SubscriptNumber, SubscriptNumber], SubscriptNumber]] = {
    ir.AffineAddExpr: lambda left, right: linear.total((left, right)),
    ir.AffineMulExpr: linear.product,
    ir.AffineFloorDivExpr: lambda left, right: linear.quotient(left, right.offset),
    ir.AffineCeilDivExpr: lambda left, right: linear.quotient(left, right.offset, up=True),
    ir.AffineModExpr: lambda left, right: linear.remainder(left, right.offset),
}
