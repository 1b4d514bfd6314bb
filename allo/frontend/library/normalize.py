"""softmax and layernorm: several operations along the last dimension of a float array."""

from __future__ import annotations

import math
from collections.abc import Callable

import ml_dtypes

from ...errors import counted
from ...ir.arrays import form_dtype
from ...ir.types import Float, TensorType, shape_text
from ..typing.convert import convert
from ..typing.nodes import Binary, Block, Const, Expr, MathCall, Stmt, Symbol, SymbolKind, Var
from ..typing.view import View, whole
from .call import OperatorCall, placeholder
from .structured import OperatorNest, along, temporary

type Read = tuple[View, tuple[int, ...]]  # an array, and the dimensions along which it is read


class RowWise:
    """The operations of one call, written to `statements`; they compute in the float type `kind`."""

    def __init__(self, call: OperatorCall, shape: tuple[int, ...], kind: Float) -> None:
        self.call = call
        self.name = call.number(call.name)
        self.shape = shape
        self.kind = kind
        self.statements: list[Stmt] = []
        self.rank = len(shape)

    def every(self, view: View) -> Read:
        """Every element of the input."""
        return view, tuple(range(self.rank))

    def row(self, view: View) -> Read:
        """One value for each row."""
        return view, tuple(range(self.rank - 1))

    def column(self, view: View) -> Read:
        """One value for each place in the last dimension."""
        return view, (self.rank - 1,)

    def nest(self, part: str, rank: int, reductions: int = 0) -> OperatorNest:
        name = f"{self.name}_{part}" if part else self.name
        named = [(f"i{d}", extent) for d, extent in enumerate(self.shape[:rank])]
        return OperatorNest(self.call.at, name, named, reductions)

    def row_values(self, part: str) -> View:
        """A new array with a value for every row."""
        symbol, declare = temporary(f"{self.call.name}_{part}", TensorType(self.kind, self.shape[:-1]), self.call.at)
        self.statements.append(declare)
        return whole(symbol, self.call.at)

    def reduce(
        self, part: str, op: str, start: float, into: View, value: Callable[..., Expr], reads: list[Read]
    ) -> None:
        """`into[row] = start op value(reads in column 0) op value(reads in column 1) ...`."""
        rank, at = self.rank, self.call.at
        target = into.sources[0][0]
        begin = self.nest(f"{part}_init", rank - 1)
        self.statements.append(begin.statement(target, Const(self.kind, at, start), "fill"))
        nest = self.nest(part, rank, 1)
        old = Symbol("old", SymbolKind.SCALAR, self.kind, at)
        result = Binary(self.kind, at, op, Var(self.kind, at, old), value(*self._elements(nest, reads)))
        self.statements.append(nest.statement(target, result, old=old))

    def map(self, part: str, target: Symbol, value: Callable[..., Expr], reads: list[Read], rank: int) -> None:
        """`target[...] = value(reads)` over the first `rank` dimensions."""
        nest = self.nest(part, rank)
        result = value(*self._elements(nest, reads))
        assert isinstance(target.type, TensorType)
        self.statements.append(nest.statement(target, convert(result, target.type.element)))

    def _elements(self, nest: OperatorNest, reads: list[Read]) -> list[Expr]:
        return [convert(self.call.element(nest, view, along(*dims)), self.kind) for view, dims in reads]

    def op(self, op: str, lhs: Expr, rhs: Expr) -> Expr:
        return Binary(self.kind, self.call.at, op, lhs, rhs)

    def number(self, value: float) -> Expr:
        return Const(self.kind, self.call.at, value)

    def function(self, name: str, value: Expr) -> Expr:
        return MathCall(self.kind, self.call.at, name, (value,))


def softmax(call: OperatorCall, *, hides_rows: bool = False, inside: Float | None = None) -> View | None:
    """exp(x - maximum) / sum(exp(x - maximum)); rows of -inf give zeros if a mask `hides_rows`, else no numbers.

    It is computed in the float type `inside`, by default that of the array.
    """
    view = call.array("A")
    kind = None if view is None else inside or call.floats("A", view)
    if view is None or kind is None:
        return None
    shape, rank = view.type.shape, len(view.type.shape)

    def compute(target: Symbol) -> Stmt:
        rows = RowWise(call, shape, kind)
        source = call.stored(view)
        largest = rows.row_values("max")
        dtype = form_dtype(kind)
        least = float(ml_dtypes.finfo(dtype).min) if hides_rows else -math.inf  # type: ignore[no-untyped-call]
        rows.reduce("max", "max", least, largest, lambda x: x, [rows.every(source)])
        powers = whole(target, call.at)
        if powers.type.element != kind:
            symbol, declare = temporary("softmax_exp", TensorType(kind, shape), call.at)
            rows.statements.append(declare)
            powers = whole(symbol, call.at)
        held = powers.sources[0][0]

        def power(x: Expr, m: Expr) -> Expr:
            return rows.function("math.exp", rows.op("-", x, m))

        rows.map("exp", held, power, [rows.every(source), rows.row(largest)], rank)
        total = rows.row_values("sum")
        rows.reduce("sum", "+", 0.0, total, lambda x: x, [rows.every(powers)])

        def share(x: Expr, s: Expr) -> Expr:  # the largest element adds 1 to the sum
            return rows.op("/", x, rows.op("max", s, rows.number(1.0)) if hides_rows else s)

        rows.map("", target, share, [rows.every(powers), rows.row(total)], rank)
        return Block(call.at, tuple(rows.statements))

    return call.computed(view.type, [view], compute)


def layernorm(call: OperatorCall) -> View | None:
    """(x - mean) / sqrt(variance + eps) * gamma + beta."""
    view = call.array("A")
    kind = None if view is None else call.floats("A", view)
    if view is None or kind is None:
        return None
    shape, rank = view.type.shape, len(view.type.shape)
    weights: list[View] = []
    common: Float = kind
    for parameter in ("gamma", "beta"):
        weight = call.array(parameter, 1, f"({shape[-1]},)")
        own = None if weight is None else call.floats(parameter, weight)
        if weight is None or own is None:
            return None
        common = _wider(call, common, own)
        if weight.type.shape != shape[-1:]:
            wanted = f"{counted(shape[-1], 'element')}, one for each column"
            call.error(
                f"layernorm() needs '{parameter}' with {wanted}, got the shape {shape_text(weight.type.shape)}",
                None,
                parameter,
            )
            return None
        weights.append(weight)
    eps = call.constants["eps"].value
    if not isinstance(eps, int | float):
        call.error(f"layernorm() needs a number as 'eps', got {eps!r}", None, "eps")
        return None
    size = float(shape[-1])

    def compute(target: Symbol) -> Stmt:
        rows = RowWise(call, shape, common)
        source, (gamma, beta) = call.stored(view), [call.stored(weight, "weights") for weight in weights]
        mean, scale = rows.row_values("mean"), rows.row_values("scale")
        means, scales = mean.sources[0][0], scale.sources[0][0]
        rows.reduce("sum", "+", 0.0, mean, lambda x: x, [rows.every(source)])
        rows.map("mean", means, lambda s: rows.op("/", s, rows.number(size)), [rows.row(mean)], rank - 1)

        def squared(x: Expr, m: Expr) -> Expr:
            return rows.op("*", rows.op("-", x, m), rows.op("-", x, m))

        rows.reduce("squares", "+", 0.0, scale, squared, [rows.every(source), rows.row(mean)])

        def inverse(s: Expr) -> Expr:
            variance = rows.op("+", rows.op("/", s, rows.number(size)), rows.number(float(eps)))
            return rows.op("/", rows.number(1.0), rows.function("math.sqrt", variance))

        rows.map("scale", scales, inverse, [rows.row(scale)], rank - 1)

        def normal(x: Expr, m: Expr, s: Expr, g: Expr, b: Expr) -> Expr:
            return rows.op("+", rows.op("*", rows.op("*", rows.op("-", x, m), s), g), b)

        reads = [rows.every(source), rows.row(mean), rows.row(scale), rows.column(gamma), rows.column(beta)]
        rows.map("", target, normal, reads, rank)
        return Block(call.at, tuple(rows.statements))

    return call.computed(TensorType(common, shape), [view, *weights], compute)


def _wider(call: OperatorCall, first: Float, second: Float) -> Float:
    """The type of the sum of two floats."""
    total = call.combine("+", placeholder(first, call.at), placeholder(second, call.at))
    assert total is not None and isinstance(total.type, Float)
    return total.type
