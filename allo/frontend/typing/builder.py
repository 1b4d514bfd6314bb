"""Typed values made of typed values: arithmetic by the rule set, broadcasting, arrays that hold what is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...errors import counted
from ...ir.types import DYNAMIC, AlloType, Float, Int, TensorType, UInt, float32, shape_text
from ..read.source import Position
from .around import Around, Seen
from .convert import adapt_literals, convert
from .fields import field_hint
from .nodes import Const, Declare, Expr, MathCall, Stmt, Symbol, SymbolKind
from .operations import binary, common_type
from .rules import as_integer, fixed_parts
from .view import View, elementwise, loops_over, read_broadcast, store, whole
from .writes import NO_EFFECTS


class ValueBuilder(Around):
    """Builds the values of a kernel; a method returns None after an error was reported at the place it was given."""

    def combine(self, at: Position, op: str, lhs: Expr, rhs: Expr) -> Expr | None:
        """`lhs op rhs` by the typing rules."""
        exact = fixed_parts(lhs.type) is not None and fixed_parts(rhs.type) is not None
        integers = as_integer(lhs.type) is not None and as_integer(rhs.type) is not None
        if exact and op in ("/", "//", "%") and isinstance(rhs, Const) and not rhs.value:
            what = "integer" if integers else "fixed-point"
            self.context.error_at(at, f"{what} division by zero: the right operand of `{op}` is 0")
            return None
        if exact and op in ("<<", ">>") and isinstance(rhs, Const) and rhs.value < 0:
            opposite = ">>" if op == "<<" else "<<"
            self.context.error_at(at, f"cannot shift by the negative number {rhs.value}", f"use `{opposite}`")
            return None
        result = binary(op, lhs, rhs, at, self.context.rules)
        if result is None:
            self.context.error_at(
                at,
                f"operator `{op}` is not defined for {lhs.type!r} and {rhs.type!r}",
                field_hint(lhs.type, rhs.type) or f"convert the {_what(lhs.type, rhs.type)} with int()",
            )
        return result

    def unify(self, at: Position, first: Expr, second: Expr) -> tuple[Expr, Expr] | None:
        """Both values in the least common type."""
        counts_otherwise = isinstance(first.type, Int | UInt) and any(
            isinstance(value, Const) and value.literal for value in (first, second)
        )
        if first.type == second.type and not counts_otherwise:
            return first, second
        first, second = adapt_literals(first, second)
        common = common_type(first, second, self.context.rules)
        if common is None:
            self.context.error_at(at, f"{first.type!r} and {second.type!r} have no common type")
            return None
        return convert(first, common), convert(second, common)

    def elementary(self, at: Position, function: str, operands: list[Expr], written: str) -> Expr | None:
        """An elementary function of numbers, which convert to a float; errors call it as it is `written`."""
        floats = [o.type for o in operands if isinstance(o.type, Float) and not isinstance(o, Const)]
        target = max(floats, key=lambda f: f.width) if floats else float32
        arity = 2 if function == "math.powf" else 1
        if len(operands) != arity:
            got = counted(len(operands), "number") if operands else "none"
            self.context.error_at(at, f"{written}() takes {counted(arity, 'number')}, got {got}")
            return None
        return MathCall(target, at, function, tuple(convert(o, target) for o in operands))

    def elementwise(
        self,
        at: Position,
        values: Sequence[Expr | Symbol | View],
        combine: Callable[[list[Expr]], Expr | None],
        seen: Sequence[Seen] | None = None,
    ) -> Expr | View | None:
        """`combine` on scalars, or on the elements of arrays of shapes that broadcast.

        `seen` is what the statement did before each of the values.
        """
        scalars = [value for value in values if isinstance(value, Expr)]
        if len(scalars) == len(values):
            return combine(scalars)
        operands: list[Expr | View] = []
        for value, before in zip(values, seen or [self.seen] * len(values), strict=True):
            operand = self.called_once(value, before) if isinstance(value, Expr) else value
            if operand is None:
                return None
            operands.append(whole(operand, at) if isinstance(operand, Symbol) else operand)
        result = elementwise(operands, combine, at)
        if isinstance(result, tuple):
            listed = " and ".join(map(shape_text, result))
            hint = "slice what has a run-time extent: `A[0:8]`" if any(DYNAMIC in shape for shape in result) else None
            self.context.error_at(at, f"arrays of shapes {listed} do not broadcast to each other", hint)
            return None
        self.has_read()
        return result

    def fill(self, symbol: Symbol, value: View, what: str, at: Position) -> Stmt:
        """All elements of a new array."""
        assert isinstance(symbol.type, TensorType)
        if value.compute is not None and value.type.shape == symbol.type.shape:
            return value.compute(symbol)
        element = symbol.type.element
        view = whole(symbol, at)
        place = view.place
        assert place is not None

        def body(indices: tuple[Expr, ...]) -> Stmt:
            return store(place(indices), convert(read_broadcast(value, indices), element), at)

        name = f"{symbol.name}_{what}"
        return loops_over(view.extents, name, self.nest_name(name), at, body)

    def nest_name(self, name: str) -> str | None:
        """`name` for a nest that stands in no other one."""
        return name if self.context.depth == 0 else None

    def materialise(self, view: View, name: str, element: AlloType) -> Symbol | None:
        """A new array, filled before the current statement, that holds the elements of `view`."""
        if not view.type.is_static:
            message = f"the array needs a copy, but its shape {shape_text(view.type.shape)} is known at run time only"
            self.context.error_at(view.at, message, "write the loop over its elements, or slice it: `A[0:8]`")
            return None
        symbol = Symbol(name, SymbolKind.TENSOR, TensorType(element, view.type.shape), view.at)
        self._before += [Declare(view.at, symbol, None), self.fill(symbol, view, "init", view.at)]
        return symbol

    def argument(self, view: View, parameter: Symbol, written: bool) -> Symbol | None:
        """An array for a parameter: a copy of the view, copied back behind a call that writes the parameter."""
        assert isinstance(parameter.type, TensorType)
        if not self.in_front(view.at, "the copy of a part of an array", self.seen, NO_EFFECTS):
            return None
        copy = self.materialise(view, parameter.name, parameter.type.element)
        place = view.place
        if copy is None or not written or place is None or view.sources[0][0].constant is not None:
            return copy
        back, element = whole(copy, view.at), view.type.element
        pinned = self.pinned(place)

        def body(indices: tuple[Expr, ...]) -> Stmt:
            return store(pinned(indices), convert(back.read(indices), element), view.at)

        name = f"{parameter.name}_back"
        self._after.append(loops_over(view.extents, name, self.nest_name(name), view.at, body))
        return copy


def _what(*operands: AlloType) -> str:
    """What among the operands is no integer."""
    return "floats" if any(isinstance(operand, Float) for operand in operands) else "fixed-point numbers"
