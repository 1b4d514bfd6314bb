"""Affine expressions as signed expressions of hardware, with the numbers that they may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd

from mlir import ir

from ....errors import InternalError
from ....ir.widths import INDEX_BITS
from ..netlist.design import Signal
from .arrays import SubscriptNumber

_WHOLE = (-(1 << (INDEX_BITS - 1)), (1 << (INDEX_BITS - 1)) - 1)


def constant(number: int) -> SubscriptNumber:
    """A subscript that is a number."""
    return SubscriptNumber(str(number) if number >= 0 else f"(-{-number})", number, 0, number, number)


def of_value(signal: Signal, low: int | None = None, high: int | None = None, step: int = 1) -> SubscriptNumber:
    """A subscript that is a value, from `low` on in such steps."""
    if signal.literal is not None:
        return constant(_signed(signal.literal, signal.width))
    text = signal.name if signal.signed else f"$signed({signal.name})"
    if low is None or high is None:
        return SubscriptNumber(text, 0, 1, *_WHOLE)
    return SubscriptNumber(text, low, step if high > low else 0, low, high)


def _signed(number: int, width: int) -> int:
    number &= (1 << width) - 1
    return number - (1 << width) if number >> (width - 1) else number


def of_map(made: ir.AffineMap, operands: Sequence[SubscriptNumber]) -> list[SubscriptNumber]:
    """The results of an affine map on these operands."""
    dims, symbols = operands[: made.n_dims], operands[made.n_dims :]
    return [of_expression(expression, dims, symbols) for expression in made.results]


def of_expression(
    made: ir.AffineExpr, dims: Sequence[SubscriptNumber], symbols: Sequence[SubscriptNumber]
) -> SubscriptNumber:
    """An affine expression."""
    if isinstance(made, ir.AffineConstantExpr):
        return constant(int(made.value))
    if isinstance(made, ir.AffineDimExpr):
        return dims[int(made.position)]
    if isinstance(made, ir.AffineSymbolExpr):
        return symbols[int(made.position)]
    left, right = of_expression(made.lhs, dims, symbols), of_expression(made.rhs, dims, symbols)
    for kind, combine in _COMBINED.items():
        if isinstance(made, kind):
            return combine(left, right)
    raise InternalError(f"no hardware for the affine expression {made}")


def _sum(left: SubscriptNumber, right: SubscriptNumber) -> SubscriptNumber:
    low, high = left.low + right.low, left.high + right.high
    step = gcd(left.step, right.step)
    residue = left.residue + right.residue
    if left.low == left.high == 0:
        return right
    if right.low == right.high:
        number = right.low
        text = f"({left.text} + {number})" if number > 0 else f"({left.text} - {-number})" if number else left.text
        return SubscriptNumber(text, residue, step, low, high)
    return SubscriptNumber(f"({left.text} + {right.text})", residue, step, low, high)


def _product(left: SubscriptNumber, right: SubscriptNumber) -> SubscriptNumber:
    if left.low == left.high:
        left, right = right, left
    if right.low != right.high:
        raise InternalError("a product of two variables is not affine")
    factor = right.low
    low, high = sorted((left.low * factor, left.high * factor))
    text = left.text if factor == 1 else f"({left.text} * {right.text})"
    return SubscriptNumber(text, left.residue * factor, abs(left.step * factor), low, high)


def _quotient(rounding: str) -> Callable[[SubscriptNumber, SubscriptNumber], SubscriptNumber]:
    def combine(left: SubscriptNumber, right: SubscriptNumber) -> SubscriptNumber:
        divisor = right.low
        up = divisor - 1 if rounding == "up" else 0
        low, high = (left.low + up) // divisor, (left.high + up) // divisor
        if left.low >= 0:
            text = f"({left.text} / {divisor})" if not up else f"(({left.text} + {up}) / {divisor})"
        else:  # toward minus infinity
            shifted = f"({left.text} + {up})" if up else left.text
            text = f"(({shifted} - ((({shifted} % {divisor}) + {divisor}) % {divisor})) / {divisor})"
        return SubscriptNumber(text, low, 1 if high > low else 0, low, high)

    return combine


def _remainder(left: SubscriptNumber, right: SubscriptNumber) -> SubscriptNumber:
    divisor = right.low
    if left.low >= 0 and left.high < divisor:
        return left
    text = f"({left.text} % {divisor})"
    if left.low < 0:
        text = f"(({text} + {divisor}) % {divisor})"
    step = gcd(left.step, divisor)
    return SubscriptNumber(text, left.residue % step if step > 1 else 0, step if step > 1 else 1, 0, divisor - 1)


_COMBINED = {
    ir.AffineAddExpr: _sum,
    ir.AffineMulExpr: _product,
    ir.AffineFloorDivExpr: _quotient("down"),
    ir.AffineCeilDivExpr: _quotient("up"),
    ir.AffineModExpr: _remainder,
}
