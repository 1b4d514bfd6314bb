"""Checks expressions on whole arrays: parts, transposes, element-by-element arithmetic, and where they are stored."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..errors import counted
from ..ir.types import AlloType, TensorType
from .check_bits import BIT_METHODS
from .convert import constant, convert
from .nodes import Const, Declare, Expr, Kind, Stmt, Symbol, Var
from .scope import Scope, static_value
from .source import Position
from .view import (
    Slice,
    View,
    broadcast_shape,
    elementwise,
    loops_over,
    read_broadcast,
    select,
    store,
    transposed,
    whole,
)
from .writes import arrays_read, calls_kernel

if TYPE_CHECKING:
    from .check_expr import ExpressionChecker

_METHODS = ("copy", "transpose")


class TensorChecker:
    """Turns tensor expressions into views, and stores of views into loops."""

    def __init__(self, scope: Scope, expressions: ExpressionChecker) -> None:
        self.scope = scope
        self.expressions = expressions
        self._before: list[Stmt] = []
        self._after: list[Stmt] = []

    def take_pending(self) -> tuple[list[Stmt], list[Stmt]]:
        """Statements that the current one needs before and behind it."""
        pending = self._before, self._after
        self._before, self._after = [], []
        return pending

    def restore_pending(self, pending: tuple[list[Stmt], list[Stmt]]) -> None:
        """Put back what `take_pending` gave: it belongs to the statement around a block."""
        self._before, self._after = pending

    def settled(self, value: Expr) -> Expr:
        """`value`, computed together with what it needs in front of the current statement."""
        if not self._before and not self._after:
            return value
        variable = Symbol("condition" if value.type.bits == 1 else "value", Kind.SCALAR, value.type, value.at)
        self._before += [Declare(value.at, variable, value), *self._after]
        self._after = []
        return Var(value.type, value.at, variable)

    def copied_back(self, value: Expr) -> Expr:
        """`value`, computed in front of the current statement if calls in it write parts of arrays."""
        return self.settled(value) if self._after else value

    # -- expressions -----------------------------------------------------------------------------

    def elementwise(
        self, node: ast.AST, operands: Sequence[ast.expr], combine: Callable[[list[Expr]], Expr | None]
    ) -> Expr | View | None:
        """`combine` on scalars, or on the elements of arrays of shapes that broadcast."""
        values = [self.expressions.any(operand) for operand in operands]
        if any(value is None for value in values):
            return None
        return self.combine(node, [value for value in values if value is not None], combine)

    def combine(
        self,
        node: ast.AST,
        values: Sequence[Expr | Symbol | View],
        combine: Callable[[list[Expr]], Expr | None],
    ) -> Expr | View | None:
        """As `elementwise`, on checked operands."""
        at = self.scope.source.position(node)
        operands = [whole(value, at) if isinstance(value, Symbol) else value for value in values]
        scalars = [operand for operand in operands if isinstance(operand, Expr)]
        if len(scalars) == len(operands):
            return combine(scalars)
        result = elementwise(operands, combine, at)
        if isinstance(result, tuple):
            listed = " and ".join(map(str, result))
            self.scope.error(node, f"arrays of shapes {listed} do not broadcast to each other")
            return None
        return result

    def subscript(self, node: ast.Subscript) -> Expr | View | None:
        """`A[i, j]` as an element, `A[i]` and `A[1:3, j]` as a view."""
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return self._extent(node, node.value)
        base = self.expressions.any(node.value)
        if base is None:
            return None
        if isinstance(base, Expr):
            return self.expressions.bits.read(node, base)
        at = self.scope.source.position(node)
        name = base.name if isinstance(base, Symbol) else ast.unparse(node.value)
        view = whole(base, at) if isinstance(base, Symbol) else base
        nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        shape = view.type.shape
        if len(nodes) > len(shape):
            given = counted(len(nodes), "subscript")
            self.scope.error(node, f"'{name}' has {counted(len(shape), 'dimension')}, but {given} given")
            return None
        selectors: list[Expr | Slice] = []
        for dimension, place in enumerate(nodes):
            selector = self._selector(place, name, dimension, shape[dimension])
            if selector is None:
                return None
            selectors.append(selector)
        selectors.extend(Slice(constant(0, at), 1, extent) for extent in shape[len(nodes) :])
        indices = tuple(selector for selector in selectors if isinstance(selector, Expr))
        if len(indices) == len(shape):
            return view.read(indices)
        return select(view, selectors, at)

    def _extent(self, node: ast.Subscript, attribute: ast.Attribute) -> Expr | None:
        """`A.shape[0]` as a constant."""
        base = self._view(attribute.value)
        if base is None:
            return None
        shape = base.type.shape
        try:
            return constant(shape[static_value(self.scope, node.slice)], self.scope.source.position(node))
        except (ValueError, NameError, IndexError, TypeError):
            text = ast.unparse(attribute.value)
            self.scope.error(node, f"`{text}` has the extents {shape}; there is no `{ast.unparse(node)}`")
            return None

    def filled(self, node: ast.Call, declared: TensorType) -> View | None:
        """`float32[M, N](e)`: an array with `e` in every element, 0 without `e`; also runs as plain Python."""
        at = self.scope.source.position(node)
        if len(node.args) > 1 or node.keywords:
            self.scope.error(node, f"`{ast.unparse(node.func)}` takes one value for all elements")
            return None
        value: Expr | Symbol | View | None = constant(0, at)
        if node.args:
            value = self.expressions.any(node.args[0])
        fitting = None if value is None else self.fitting(node, value, declared.shape, ast.unparse(node.func))
        if fitting is None:
            return None
        sources = fitting.sources if isinstance(fitting, View) else ()
        return View(
            declared,
            at,
            lambda indices: convert(read_broadcast(fitting, indices), declared.element),
            None,
            tuple((symbol, False) for symbol, _ in sources),
        )

    def _selector(self, node: ast.expr, name: str, dimension: int, extent: int) -> Expr | Slice | None:
        if isinstance(node, ast.Slice):
            return self._slice(node, extent)
        value = self.expressions.scalar(node)
        return None if value is None else self.expressions.checked_index(node, value, name, dimension, extent)

    def _slice(self, node: ast.Slice, extent: int) -> Slice | None:
        """`lower:upper:step` with constant bounds, or `i:i + 4` with a constant length."""
        at = self.scope.source.position(node)
        step = 1
        if node.step is not None:
            try:
                step = static_value(self.scope, node.step)
            except (ValueError, NameError) as error:
                self.scope.error(node.step, f"the step of a slice must be a compile-time constant: {error}")
                return None
        length = self.constant_length(node)
        if length is not None and node.lower is not None:
            start = self.expressions.scalar(node.lower)
            part = self._chosen(node, slice(0, length, step), length)
            return None if start is None or part is None else Slice(start, step, len(part))
        bounds: list[int | None] = []
        for bound in (node.lower, node.upper):
            value = None if bound is None else self.expressions.scalar(bound)
            if bound is not None and value is None:
                return None
            if value is not None and not (isinstance(value, Const) and isinstance(value.value, int)):
                self.scope.error(
                    node, "the length of a slice must be a compile-time constant", "write A[i:i + 4] with a constant 4"
                )
                return None
            bounds.append(None if value is None else int(value.value))
        chosen = self._chosen(node, slice(bounds[0], bounds[1], step), extent)
        return None if chosen is None else Slice(constant(chosen.start, at), chosen.step, len(chosen))

    def _chosen(self, node: ast.Slice, part: slice, extent: int) -> range | None:
        """The positions that `part` selects of `extent` elements."""
        try:
            chosen = range(*part.indices(extent))
        except (ValueError, TypeError) as error:
            self.scope.error(node, f"the slice is not valid: {error}")
            return None
        if not chosen:
            self.scope.error(node, f"the slice `{ast.unparse(node)}` is empty")
            return None
        return chosen

    def constant_length(self, node: ast.Slice) -> int | None:
        """The length of `e:e + constant` where `e` is not a constant."""
        upper = node.upper
        if node.lower is None or not isinstance(upper, ast.BinOp) or not isinstance(upper.op, ast.Add):
            return None
        try:
            static_value(self.scope, node.lower)
        except (ValueError, NameError):
            if ast.dump(upper.left) == ast.dump(node.lower):
                try:
                    return int(static_value(self.scope, upper.right))
                except (ValueError, NameError):
                    return None
        return None

    def attribute(self, node: ast.Attribute) -> View | None:
        """`A.T`."""
        if node.attr == "T":
            base = self._view(node.value)
            if base is None:
                return None
            order = list(reversed(range(len(base.type.shape))))
            return transposed(base, order, self.scope.source.position(node))
        self.scope.error(node, f"arrays have no attribute `{node.attr}`", "kernels know .T, .copy() and .shape[d]")
        return None

    def is_method(self, node: ast.Attribute) -> bool:
        """Whether `x.name` in `x.name(...)` is a method of an array."""
        if node.attr in BIT_METHODS:
            return not isinstance(node.value, ast.Name) or self.scope.local(node.value.id) is not None
        if not isinstance(node.value, ast.Name):
            return node.attr in _METHODS and not isinstance(node.value, ast.Attribute)
        symbol = self.scope.local(node.value.id)
        return symbol is not None and symbol.kind is Kind.TENSOR

    def method(self, node: ast.Call, function: ast.Attribute) -> Expr | View | None:
        """`A.copy()`, `x.reverse()`, `x.bitcast()`."""
        if function.attr in BIT_METHODS:
            return self.expressions.bits.method(node, function)
        base = self._view(function.value)
        if base is None:
            return None
        if function.attr != "copy" or node.args:
            self.scope.error(node, f"arrays have no method `{ast.unparse(node)}`", "kernels know .T and .copy()")
            return None
        return View(base.type, base.at, base.read, None, base.sources)

    def _view(self, node: ast.expr) -> View | None:
        value = self.expressions.any(node)
        if isinstance(value, Expr):
            self.scope.error(node, f"`{ast.unparse(node)}` is a scalar, not an array")
            return None
        return whole(value, self.scope.source.position(node)) if isinstance(value, Symbol) else value

    # -- stores ----------------------------------------------------------------------------------

    def fitting(
        self, node: ast.AST, value: Expr | Symbol | View, shape: tuple[int, ...], name: str
    ) -> Expr | View | None:
        """`value` if it can be assigned to all of an array of `shape`."""
        if isinstance(value, Expr):
            return value
        view = whole(value, self.scope.source.position(node)) if isinstance(value, Symbol) else value
        if broadcast_shape([view.type.shape, shape]) != shape or len(view.type.shape) > len(shape):
            what = f"'{value.name}'" if isinstance(value, Symbol) else "the value"
            self.scope.error(node, f"{what} has shape {view.type.shape}, but '{name}' has {shape}")
            return None
        return view

    def assign(
        self, node: ast.AST, target: View, value: Expr | Symbol | View, same: View | None = None
    ) -> tuple[Stmt, ...]:
        """Store `value` in all elements of `target`; through a copy if it reads other elements of the target.

        `same` is the view of the target that `value` reads at the same indices, in `A[1:3] += v`.
        """
        place = target.place
        assert place is not None
        symbol = target.sources[0][0]
        fitting = self.fitting(node, value, target.type.shape, symbol.name)
        if fitting is None:
            return ()
        at = self.scope.source.position(node)
        if any(source is symbol for source, _ in target.sources[1:]):
            message = f"'{symbol.name}' is changed while its elements are the subscripts of the assignment"
            self.scope.error(node, message, "give them to a variable first")
            return ()
        if isinstance(fitting, Expr):
            fitting = self.once(fitting, symbol)
        elif self._overlaps(symbol, target, fitting, same):
            copy = self.materialise(fitting, f"{symbol.name}_new", target.type.element)
            fitting = whole(copy, at)
        element = target.type.element

        def body(indices: tuple[Expr, ...]) -> Stmt:
            return store(place(indices), convert(read_broadcast(fitting, indices), element), at)

        return (loops_over(target.type.shape, f"{symbol.name}_set", self._nest(f"{symbol.name}_set"), at, body),)

    def once(self, value: Expr, target: Symbol) -> Expr:
        """`value`, computed before all elements of `target` are set to it, if another time it could differ."""
        value = self.copied_back(value)
        if target not in arrays_read(value) and not calls_kernel(value):
            return value
        variable = Symbol(f"{target.name}_value", Kind.SCALAR, value.type, value.at)
        self._before.append(Declare(value.at, variable, value))
        return Var(value.type, value.at, variable)

    def _overlaps(self, symbol: Symbol, target: View, value: View, same: View | None) -> bool:
        """Whether a store to one element may change what another one is computed from."""
        reads = [aligned for source, aligned in value.sources if source is symbol]
        if same is not None and not target.sources[0][1]:
            reads = reads[1:]
        return bool(reads) and not (target.sources[0][1] and all(reads))

    def fill(self, symbol: Symbol, value: View, what: str, at: Position) -> Stmt:
        """All elements of a new array."""
        assert isinstance(symbol.type, TensorType)
        element = symbol.type.element
        view = whole(symbol, at)
        place = view.place
        assert place is not None

        def body(indices: tuple[Expr, ...]) -> Stmt:
            return store(place(indices), convert(read_broadcast(value, indices), element), at)

        name = f"{symbol.name}_{what}"
        return loops_over(symbol.type.shape, name, self._nest(name), at, body)

    def _nest(self, name: str) -> str | None:
        return name if self.scope.depth == 0 else None

    def materialise(self, view: View, name: str, element: AlloType) -> Symbol:
        """A new array, filled before the current statement, that holds the elements of `view`."""
        symbol = Symbol(name, Kind.TENSOR, TensorType(element, view.type.shape), view.at)
        self._before += [Declare(view.at, symbol, None), self.fill(symbol, view, "init", view.at)]
        return symbol

    def argument(self, view: View, parameter: Symbol, written: bool) -> Symbol:
        """An array for a parameter: a copy of the view, copied back behind a call that writes the parameter."""
        assert isinstance(parameter.type, TensorType)
        copy = self.materialise(view, parameter.name, parameter.type.element)
        place = view.place
        if written and place is not None and view.sources[0][0].constant is None:
            back = whole(copy, view.at)
            name = f"{parameter.name}_back"
            element = view.type.element

            def body(indices: tuple[Expr, ...]) -> Stmt:
                return store(place(indices), convert(back.read(indices), element), view.at)

            self._after.append(loops_over(view.type.shape, name, self._nest(name), view.at, body))
        return copy
