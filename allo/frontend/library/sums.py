"""Sums of products: the type that they are accumulated in, and the statements that do it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...ir.types import MAX_BITS, AlloType, Fixed, Float, Int, TensorType, UFixed, UInt
from ..typing.convert import NotExpressible, convert
from ..typing.nodes import Binary, Block, Const, Expr, Stmt, Symbol, SymbolKind, Var
from ..typing.view import View, whole
from .call import OperatorCall
from .structured import OperatorNest, Subscripts, along, temporary


def sum_type(call: OperatorCall, term: AlloType, count: int) -> AlloType:
    """The least type that holds every sum of `count` values of type `term`; floats keep their type."""
    extra = 0 if call.builder.context.rules.wraps else (count - 1).bit_length()
    match term:
        case Int() | UInt() | Fixed() | UFixed() if term.width + extra > MAX_BITS:
            message = f"the sum of {count} values of type {term!r} needs more than {MAX_BITS} bits"
            raise NotExpressible(message, call.at, "convert an operand to a narrower type first")
        case Int() | UInt():
            return type(term)(term.width + extra)
        case Fixed() | UFixed():
            return type(term)(term.width + extra, term.fracs)
    return term


def accumulator(exact: AlloType, target: AlloType) -> AlloType:
    """The type to add up in, such that the result converts to `target` as the exact sum would.

    Integers may be added in the target itself: modulo 2**n it makes no difference when they are wrapped. Floats are
    added in the wider of the two types.
    """
    if isinstance(exact, Int | UInt) and isinstance(target, Int | UInt):
        return target
    if isinstance(exact, Float) and isinstance(target, Float) and exact.width < target.width:
        return target
    return exact


def product(call: OperatorCall, acc: AlloType, factors: Sequence[Expr]) -> Expr:
    """The product of `factors` as a value of the type that sums are taken in."""
    first, *rest = factors
    if isinstance(acc, Int | UInt | Float):
        result = convert(first, acc)
        for factor in rest:
            result = Binary(acc, call.at, "*", result, convert(factor, acc))
        return result
    exact: Expr | None = first
    for factor in rest:
        assert exact is not None
        exact = call.combine("*", exact, factor)
    assert exact is not None
    return convert(exact, acc)


type Accumulate = Callable[[AlloType, Expr, list[Expr]], Expr]


@dataclass(frozen=True, slots=True)
class Reduction:
    """`result[...] = op over the last loops of value`, where `factors` are the arrays that the value reads.

    `exact` is a type that holds the result; `start` what it begins with, the same everywhere or an array for the
    dimension `starts_along`, by default the last one; `accumulate` makes the new value of an element from the old one
    and the elements read. `adds` says that this is an addition, which may be done in the type of the target.
    """

    loops: tuple[tuple[str, int], ...]
    reductions: int
    factors: tuple[tuple[View, Subscripts], ...]
    exact: AlloType
    operation: str
    accumulate: Accumulate
    start: Callable[[AlloType], Expr] | View
    options: tuple[tuple[str, tuple[int, ...]], ...] = ()
    adds: bool = True
    starts_along: int = -1

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the result."""
        return tuple(extent for _, extent in self.loops[: len(self.loops) - self.reductions])

    def result(self, call: OperatorCall) -> View:
        """The reduction as a whole-array value."""
        views = [view for view, _ in self.factors] + ([self.start] if isinstance(self.start, View) else [])
        return call.computed(TensorType(self.exact, self.shape), views, lambda target: self.into(call, target))

    def into(self, call: OperatorCall, target: Symbol, name: str | None = None) -> Stmt:
        """The statements that write the result to `target`."""
        assert isinstance(target.type, TensorType)
        wanted = target.type.element
        at, name = call.at, name or call.number(call.name)
        acc = accumulator(self.exact, wanted) if self.adds else self.exact
        outer = self.loops[: len(self.loops) - self.reductions]
        out, statements = target, list[Stmt]()
        if acc != wanted:
            out, declare = temporary(f"{call.name}_exact", TensorType(acc, self.shape), at)
            statements.append(declare)
        statements.append(
            self._begin(
                call, out, acc, OperatorNest(at, f"{name}_init", [(f"{n}_init", e) for n, e in outer])
            )
        )
        nest = OperatorNest(at, name, self.loops, self.reductions)
        elements = [call.element(nest, call.stored(view), subscripts) for view, subscripts in self.factors]
        old = Symbol("old", SymbolKind.SCALAR, acc, at)
        value = self.accumulate(acc, Var(acc, at, old), elements)
        statements.append(nest.statement(out, value, self.operation, old=old, options=self.options))
        if out is not target:
            ending = OperatorNest(at, f"{name}_convert", [(f"{n}_convert", e) for n, e in outer])
            element = call.element(ending, whole(out, at), along(*range(len(outer))))
            statements.append(ending.statement(target, convert(element, wanted)))
        return Block(at, tuple(statements))

    def _begin(self, call: OperatorCall, out: Symbol, acc: AlloType, nest: OperatorNest) -> Stmt:
        if isinstance(self.start, View):
            bias = call.element(nest, call.stored(self.start), along(self.starts_along % len(nest.loops)))
            return nest.statement(out, convert(bias, acc))
        return nest.statement(out, self.start(acc), "fill")


def sums(call: OperatorCall) -> Accumulate:
    """`old + product of the elements`."""

    def accumulate(acc: AlloType, old: Expr, elements: list[Expr]) -> Expr:
        return Binary(acc, call.at, "+", old, product(call, acc, elements))

    return accumulate


def zero(call: OperatorCall) -> Callable[[AlloType], Expr]:
    """Sums start with 0."""
    return lambda acc: convert(Const(acc, call.at, 0), acc)
