"""Checker of expressions on whole arrays: parts, transposes, element-wise arithmetic, and assignments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from ...errors import counted
from ...ir.types import DYNAMIC, Struct, TensorType, shape_text
from ..read.source import Position
from ..typing.around import Seen
from ..typing.builder import ValueBuilder
from ..typing.convert import constant, convert
from ..typing.nodes import Const, Expr, Load, Stmt, Symbol, SymbolKind
from ..typing.scope import Scope, static_value
from ..typing.view import (
    Slice,
    View,
    broadcast_shape,
    covered,
    is_whole,
    loops_over,
    read_broadcast,
    select,
    store,
    transposed,
    whole,
)
from .bits import BIT_METHODS, BitChecker
from .checker import CheckedExpressions
from .mesh.demands import LayoutChecker
from .slices import UNBOUNDED, SliceChecker, full
from .structs import StructChecker

_METHODS = ("copy", "transpose")


class TensorChecker:
    """Turns tensor expressions into views, and stores of views into loops."""

    def __init__(
        self,
        scope: Scope,
        expressions: CheckedExpressions,
        builder: ValueBuilder,
        slices: SliceChecker,
        bits: BitChecker,
        structs: StructChecker,
        layouts: LayoutChecker,
    ) -> None:
        self.scope = scope
        self.expressions = expressions
        self.builder = builder
        self.slices = slices
        self.bits = bits
        self.structs = structs
        self.layouts = layouts

    # -- expressions -----------------------------------------------------------------------------

    def on_elements(
        self, node: ast.expr, operands: Sequence[ast.expr], combine: Callable[[list[Expr]], Expr | None]
    ) -> Expr | View | None:
        """`combine` on scalars, or on the elements of arrays of shapes that broadcast."""
        values, seen = [], []
        for operand in operands:
            seen.append(self.builder.seen)
            values.append(self.expressions.any(operand))
        known = [value for value in values if value is not None]
        at = self.scope.source.position(node)
        if len(known) < len(values):
            return None
        if not all(isinstance(value, Expr) for value in known):
            if self.layouts.is_refused(node):
                return None
            known = self.layouts.joined(node, operands, known)
        return self.builder.elementwise(at, known, combine, seen)

    def subscript(self, node: ast.Subscript) -> Expr | View | None:
        """`A[i, j]` as an element, `A[i]` and `A[1:3, j]` as a view."""
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return self._extent(node, node.value)
        base = self.expressions.any(node.value)
        if base is None:
            return None
        if isinstance(base, Expr):
            return self.bits.read(node, base)
        at = self.scope.source.position(node)
        nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if isinstance(base, Symbol) and _names_element(base, nodes):
            return self._element(base, nodes, at)
        name = base.name if isinstance(base, Symbol) else ast.unparse(node.value)
        view = whole(base, at) if isinstance(base, Symbol) else base
        shape = view.type.shape
        if len(nodes) > len(shape):
            given = counted(len(nodes), "subscript")
            self.scope.error(node, f"'{name}' has {counted(len(shape), 'dimension')}, but {given} given")
            return None
        selectors: list[Expr | Slice] = []
        extents = view.extents
        seen = self.builder.seen
        for dimension, place in enumerate(nodes):
            selector = self._selector(place, name, dimension, extents[dimension])
            if selector is None:
                return None
            selectors.append(selector)
        selectors.extend(full(extent) for extent in extents[len(nodes) :])
        indices = tuple(selector for selector in selectors if isinstance(selector, Expr))
        if len(indices) == len(shape):
            if any(symbol.constant is None for symbol, _ in view.sources):
                self.builder.has_read()
            return view.read(indices)
        once = [self._called_once(selector, seen) for selector in selectors]
        return None if None in once else select(view, [s for s in once if s is not None], at)

    def _element(self, array: Symbol, nodes: Sequence[ast.expr], at: Position) -> Load | None:
        """`A[i, j]` of an array of known extents."""
        assert isinstance(array.type, TensorType)
        indices: list[Expr] = []
        for dimension, (place, extent) in enumerate(zip(nodes, array.type.shape, strict=True)):
            index = self._index(place, array.name, dimension, extent)
            if index is None:
                return None
            indices.append(index)
        if array.constant is None:
            self.builder.has_read()
        return Load(array.type.element, at, array, tuple(indices))

    def _index(self, node: ast.expr, name: str, dimension: int, extent: int) -> Expr | None:
        value = self.expressions.scalar(node)
        return None if value is None else self.expressions.checked_index(node, value, name, dimension, extent)

    def _called_once(self, selector: Expr | Slice, seen: Seen) -> Expr | Slice | None:
        """A subscript of a part of an array: kernels that it calls are called once, not for every element."""
        if isinstance(selector, Expr):
            return self.builder.called_once(selector, seen)
        start = self.builder.called_once(selector.start, seen)
        return None if start is None else replace(selector, start=start)

    def _extent(self, node: ast.Subscript, attribute: ast.Attribute) -> Expr | None:
        """`A.shape[0]`: a constant, or a value of run time."""
        base = self._view(attribute.value)
        if base is None:
            return None
        at = self.scope.source.position(node)
        try:
            extent = base.extents[static_value(self.scope, node.slice)]
            return constant(int(extent.value), at) if isinstance(extent, Const) else replace(extent, at=at)
        except (ValueError, NameError, IndexError, TypeError):
            text, shape = ast.unparse(attribute.value), shape_text(base.type.shape)
            self.scope.error(node, f"`{text}` has the extents {shape}; there is no `{ast.unparse(node)}`")
            return None

    def filled(self, node: ast.Call, declared: TensorType) -> View | None:
        """`float32[M, N](e)`: an array with `e` in every element, 0 without `e`; also runs as plain Python."""
        at = self.scope.source.position(node)
        if len(node.args) > 1 or node.keywords:
            self.scope.error(node, f"`{ast.unparse(node.func)}` takes one value for all elements")
            return None
        value: Expr | Symbol | View | None = constant(0, at)
        seen = self.builder.seen
        if node.args:
            value = self.expressions.any(node.args[0])
        if isinstance(value, Expr):
            value = self.builder.called_once(value, seen)
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

    def _selector(self, node: ast.expr, name: str, dimension: int, extent: Expr) -> Expr | Slice | None:
        if isinstance(node, ast.Slice):
            return self.slices.selected(node, name, dimension, extent)
        if isinstance(extent, Const):
            return self._index(node, name, dimension, int(extent.value))
        value = self.expressions.scalar(node)
        if isinstance(value, Const) and value.value < 0:
            return self.expressions.combine(node, "+", extent, value)
        return None if value is None else self.expressions.checked_index(node, value, name, dimension, UNBOUNDED)

    def attribute(self, node: ast.Attribute, base: Symbol | View) -> View | None:
        """`A.T`, of the array that stands before the dot."""
        view = whole(base, self.scope.source.position(node.value)) if isinstance(base, Symbol) else base
        if node.attr == "T":
            return transposed(view, list(reversed(range(len(view.type.shape)))), self.scope.source.position(node))
        if isinstance(view.type.element, Struct):
            hint = f"write `{ast.unparse(node.value)}[i].{node.attr}` for the field of one element"
            self.scope.error(node, f"an array of structs has no attribute `{node.attr}`", hint)
            return None
        self.scope.error(node, f"arrays have no attribute `{node.attr}`", "kernels know .T, .copy() and .shape[d]")
        return None

    def is_method(self, node: ast.Attribute) -> bool:
        """Whether `x.name` in `x.name(...)` is a method of an array."""
        if node.attr in BIT_METHODS:
            return not isinstance(node.value, ast.Name) or self.scope.local(node.value.id) is not None
        if not isinstance(node.value, ast.Name):
            return node.attr in _METHODS and not isinstance(node.value, ast.Attribute)
        symbol = self.scope.local(node.value.id)
        return symbol is not None and symbol.kind is SymbolKind.TENSOR

    def method(self, node: ast.Call, function: ast.Attribute) -> Expr | View | None:
        """`A.copy()`, `x.reverse()`, `x.bitcast()`."""
        if function.attr in BIT_METHODS:
            return self.bits.method(node, function)
        base = self._view(function.value)
        if base is None:
            return None
        if function.attr != "copy" or node.args:
            self.scope.error(node, f"arrays have no method `{ast.unparse(node)}`", "kernels know .T and .copy()")
            return None
        return View(base.type, base.at, base.read, None, base.sources, base.run_time)

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
            named = isinstance(value, Symbol) and self.scope.local(value.name) is value
            what = f"'{value.name}'" if isinstance(value, Symbol) and named else "the value"
            own, wanted = shape_text(view.type.shape), shape_text(shape)
            hint = None
            if (DYNAMIC in shape) != (DYNAMIC in view.type.shape):
                hint = "slice what has a run-time extent: `A[0:8]`"
            self.scope.error(node, f"{what} has shape {own}, but '{name}' has {wanted}", hint)
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
        if isinstance(value, Symbol):
            self.structs.check_copy(node, value, target.type)
        at = self.scope.source.position(node)
        if any(source is symbol for source, _ in target.sources[1:]):
            place = self.builder.pinned(place)
        if isinstance(fitting, Expr):
            fitting = self.builder.once(fitting, symbol)
        elif self._overlaps(symbol, target, fitting, same):
            copy = self.builder.materialise(fitting, f"{symbol.name}_new", target.type.element)
            if copy is None:
                return ()
            fitting = whole(copy, at)
        elif fitting.compute is not None and fitting.type.shape == target.type.shape and is_whole(target):
            return (fitting.compute(symbol),)
        element = target.type.element

        def body(indices: tuple[Expr, ...]) -> Stmt:
            return store(place(indices), convert(read_broadcast(fitting, indices), element), at)

        name = f"{symbol.name}_set"
        return (loops_over(covered(target, fitting), name, self.builder.nest_name(name), at, body),)

    def _overlaps(self, symbol: Symbol, target: View, value: View, same: View | None) -> bool:
        """Whether a store to one element may change what another one is computed from."""
        reads = [aligned for source, aligned in value.sources if source is symbol]
        if same is not None and not target.sources[0][1]:
            reads = reads[1:]
        return bool(reads) and not (target.sources[0][1] and all(reads))


def _names_element(array: Symbol, nodes: Sequence[ast.expr]) -> bool:
    """Whether subscripts are those of one element of an array whose extents are all known."""
    assert isinstance(array.type, TensorType)
    known = not array.extents and len(nodes) == len(array.type.shape)
    return known and not any(isinstance(node, ast.Slice) for node in nodes)
