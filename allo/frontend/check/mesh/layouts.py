"""Layouts of the arrays that a task computes with, by the typing rules of Dato (Fig. 6), as far as they are known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ....errors import Note
from ....ir.types import AlloType, TensorType
from ....layout import Layout, PartialResult, PartOfDimension, Shard, ShardedArray, replicated, unlike_sums
from ... import dsl, regions
from ...library import operators
from ...library.operations import is_operator
from ...typing.nodes import Symbol, SymbolKind
from ...typing.scope import Scope, static_value

_SUMS = {operators.add: "+", operators.sub: "-", operators.mul: "*", operators.div: "/"}
_SAME = (operators.copy,)
_OF_ELEMENTS = (operators.relu, operators.gelu, operators.abs, *dsl.ELEMENTARY)
_OF_LAST = (operators.softmax, operators.layernorm)
_COLLECTIVES = (regions.allreduce, regions.reduce_scatter, regions.all_gather)
_DEFAULTS: tuple[tuple[str, Any], ...] = (("op", "+"), ("axis", None), ("dim", 0))
_HINTS: dict[type[ValueError], str] = {
    PartialResult: 'combine it first: `allo.allreduce(x, op="+")`',
    PartOfDimension: "gather it first, with `allo.all_gather(x, dim=...)`",
    ValueError: "give both sides the same layout",
}
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


class KnownLayouts:
    """What is known about the arrays of a task; nothing of those that loops and branches change, or single elements."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.declared: dict[Symbol, ShardedArray] = {}
        self._known: dict[Symbol, ShardedArray] = {}
        self._blocked: set[Symbol] = set()
        self._refused: set[ast.AST] = set()
        self._reasons: dict[Hashable, ValueError] = {}  # why positions have values of their own

    # -- what is known ----------------------------------------------------------------------------------------------

    def argument(self, symbol: Symbol, whole: Symbol | None = None, layout: Layout | None = None) -> None:
        """An argument of a task: part of a `whole` array, or one of which each position has all."""
        kind = symbol.type if whole is None else whole.type
        if not self.scope.grid or not isinstance(kind, TensorType) or not kind.is_static:
            return
        array = replicated(kind.shape, self.scope.grid)
        if layout is not None:
            array = ShardedArray(kind.shape, layout, self.scope.grid)
        self.declared[symbol] = self._known[symbol] = array

    @contextmanager
    def block(self, nodes: Sequence[ast.stmt]) -> Iterator[None]:
        """Around statements that run several times, or only at some positions, or perhaps not at all."""
        if not self._known:  # nor will anything be: values have layouts that are known of others
            yield
            return
        changed = {symbol for name in self._changed(nodes) if (symbol := self.scope.local(name)) is not None}
        for symbol in changed:
            self._known.pop(symbol, None)
        around, self._blocked = self._blocked, self._blocked | changed
        yield
        self._blocked = around

    @contextmanager
    def assignment(self, node: ast.stmt) -> Iterator[None]:
        """Around the check of a statement: what it assigns has the layout of the value."""
        if not self._known:
            yield
            return
        value = self._assigned_value(node)
        yield
        for name in self._passed_on(node):
            self._forget(name)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if target is not None:
                self._assigned(target, value)

    def _assigned_value(self, node: ast.stmt) -> ShardedArray | None:
        if isinstance(node, ast.AugAssign):
            as_sum = ast.BinOp(node.target, node.op, node.value)
            return self.of(ast.copy_location(as_sum, node))
        value = getattr(node, "value", None)
        return None if value is None else self.of(value)

    def _assigned(self, target: ast.expr, value: ShardedArray | None) -> None:
        names = [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]
        root = target.value if isinstance(target, ast.Subscript) else target
        symbol = self.scope.local(root.id) if isinstance(root, ast.Name) else None
        for name in names:
            self._forget(name)
        fits = symbol is not None and isinstance(symbol.type, TensorType) and symbol not in self._blocked
        if symbol is None or value is None or not fits or not (isinstance(target, ast.Name) or is_all(target)):
            return
        declared = self.declared.get(symbol)
        if declared is not None and declared.shape == value.shape:
            self._known[symbol] = declared
        elif isinstance(symbol.type, TensorType) and symbol.type.shape == value.local_shape:
            self._known[symbol] = value

    def _changed(self, nodes: Sequence[ast.stmt]) -> Iterator[str]:
        """The names of what statements may assign, or pass to a kernel that does."""
        for node in nodes:
            for child in ast.walk(node):
                if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                    yield child.id
                elif isinstance(child, ast.Subscript) and isinstance(child.ctx, ast.Store):
                    yield from (n.id for n in ast.walk(child.value) if isinstance(n, ast.Name))
            yield from self._passed_on(node)

    def _passed_on(self, node: ast.stmt) -> Iterator[str]:
        """The names of what a statement passes to kernels, which may change it."""
        for child in ast.walk(node):
            if isinstance(child, ast.Call) and not self._changes_nothing(child):
                given = [*child.args, *(keyword.value for keyword in child.keywords)]
                yield from (n.id for value in given for n in ast.walk(value) if isinstance(n, ast.Name))

    def _changes_nothing(self, node: ast.Call) -> bool:
        """Whether a call is one of an operator, a collective, a conversion, or of a stream."""
        callee, function = self._callee(node), node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Subscript | ast.Name):
            root = function.value.value if isinstance(function.value, ast.Subscript) else function.value
            symbol = self.scope.local(root.id) if isinstance(root, ast.Name) else None
            if symbol is not None:
                return symbol.kind in (SymbolKind.STREAM, SymbolKind.TENSOR)
        known = (*_COLLECTIVES, *dsl.ELEMENTARY, dsl.grid, dsl.reduction, range, min, max, abs, len, int, float)
        return isinstance(callee, AlloType) or is_operator(callee) or any(callee is one for one in known)

    def _forget(self, name: str) -> None:
        symbol = self.scope.local(name)
        if symbol is not None:
            self._known.pop(symbol, None)

    # -- what is computed -------------------------------------------------------------------------------------------

    def of(self, node: ast.expr) -> ShardedArray | None:
        """The layout of a value; None if it is not known, or after operands that do not fit were reported."""
        if not self._known or node in self._refused:
            return None
        try:
            return self._of(node)
        except ValueError as error:
            self._refuse(node, error)
            return None

    def is_refused(self, node: ast.expr) -> bool:
        """Whether operands do not fit, which is reported."""
        return self.of(node) is None and bool(self._refused) and any(child in self._refused for child in ast.walk(node))

    def _refuse(self, node: ast.expr, reason: ValueError) -> None:
        if node in self._refused:
            return
        self._refused.add(node)
        hint = _HINTS[type(reason)]
        if isinstance(reason, PartOfDimension) and reason.dimension is not None and isinstance(node, ast.Call):
            operand = ast.unparse([*node.args, *(k.value for k in node.keywords)][0])
            hint = f"gather it first: `allo.all_gather({operand}, dim={reason.dimension})`; or write it with loops "
            hint += "over the part, and combine what they find by `allo.allreduce`"
        self.report(node, f"`{ast.unparse(node)}`: {reason}", hint)

    def refuse_own(self, array: ShardedArray, cut: Sequence[int] = ()) -> bool:
        """Whether positions along other axes than `cut` have values of their own, which is reported then."""
        own = min((own for own in array.own if own.axis not in cut), key=lambda own: own.axis, default=None)
        if own is not None:
            assert isinstance(own.source, ast.expr)
            self._refuse(own.source, self._reasons[own.source])
        return own is not None

    def report(self, node: ast.expr, message: str, hint: str | None, *others: ast.expr) -> None:
        """An error with the places that say how the arrays lie which are in it."""
        self.scope.error(node, message, hint)
        symbols: dict[Symbol, None] = {}
        for child in (c for tree in (node, *others) for c in ast.walk(tree)):
            symbol = self.scope.local(child.id) if isinstance(child, ast.Name) else None
            if symbol is not None and (symbol in self._known or symbol in self.declared):
                symbols[symbol] = None
        notes = [
            Note(f"'{s.name}' {described(self._known.get(s) or self.declared[s])}", self.scope.source.location(s.at))
            for s in symbols
        ]
        self.scope.diagnostics[-1] = replace(self.scope.diagnostics[-1], notes=tuple(notes))

    def _of(self, node: ast.expr) -> ShardedArray | None:
        match node:
            case ast.Name():
                symbol = self.scope.local(node.id)
                return None if symbol is None else self._known.get(symbol)
            case ast.Subscript():
                return self.of(node.value) if is_all(node) else None
            case ast.Attribute(attr="T"):
                base = self.of(node.value)
                return None if base is None else base.transposed()
            case ast.BinOp(op=ast.MatMult()):
                return self._product(node, node.left, node.right)
            case ast.BinOp():
                return self._both(node, _SIGNS.get(type(node.op), ast.unparse(node)), node.left, node.right)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                return self.of(node.operand)
            case ast.UnaryOp():
                return self._mapped(node, ast.unparse(node), node.operand)
            case ast.Call():
                return self._called(node)
        return None

    def _called(self, node: ast.Call) -> ShardedArray | None:
        """What an operator, or a collective, gives."""
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "copy" and not node.args:
            base = self.of(function.value)
            if base is not None:
                return base
        callee = self._callee(node)
        given = [*node.args, *(k.value for k in node.keywords if k.arg in ("A", "B", "X", "x"))]
        if callee is None or not given:
            return None
        if callee is operators.matmul and len(given) == 2:
            return self._product(node, *given)
        if callee in _SUMS and len(given) == 2:
            return self._both(node, _SUMS[callee], *given)
        if callee in _SAME:
            return self.of(given[0])
        if callee in _OF_ELEMENTS and len(given) == 1:
            return self._mapped(node, callee.__name__, given[0])
        if callee in _OF_LAST:
            return self._mapped(node, callee.__name__, given[0], last=True)
        if callee is operators.transpose and len(node.args) == 1 and not node.keywords:
            base = self.of(given[0])
            return None if base is None else base.transposed()
        if callee in _COLLECTIVES:
            return self._collective(node, callee)
        return None

    def _callee(self, node: ast.Call) -> Any:
        if not isinstance(node.func, ast.Name | ast.Attribute):
            return None
        try:
            found = static_value(self.scope, node.func)
            hash(found)
        except (NameError, ValueError, TypeError):
            return None
        return found

    def _product(self, node: ast.expr, left: ast.expr, right: ast.expr) -> ShardedArray | None:
        one, other = self.of(left), self.of(right)
        if one is None or other is None or not len(one.shape) == len(other.shape) == 2:
            return None
        if one.shape[1] != other.shape[0]:
            return None
        (rows, inner), (same, columns) = one.layout.placements, other.layout.placements
        if isinstance(rows, Shard) and rows == columns:
            why = f"its rows and columns are cut along axis {rows.axis}, so that each position has a block of its own"
            self._reasons.setdefault(node, PartOfDimension(why))
            one, other = one.alone(rows.axis, node), other.alone(rows.axis, node)
        fits = one.local_shape[1] == other.local_shape[0]
        if isinstance(inner, Shard) and isinstance(same, Shard) and inner != same and fits:
            self._reasons.setdefault(node, ValueError(unlike_sums(inner, same)))
            one, other = one.alone(inner.axis, node), other.alone(same.axis, node)
        return self._applied(node, lambda a, b: a.mapped("the product").matmul(b.mapped("the product")), one, other)

    def _applied(
        self, node: ast.expr, function: Callable[..., ShardedArray], *operands: ShardedArray
    ) -> ShardedArray:
        """The result of a function, of partial results as values that each position has of its own."""
        try:
            return function(*operands)
        except PartialResult as reason:
            self._reasons.setdefault(node, reason)
            return function(*(operand.made_own(node) for operand in operands))

    def _both(self, node: ast.expr, operator: str, left: ast.expr, right: ast.expr) -> ShardedArray | None:
        one, other = self.of(left), self.of(right)
        if one is None or other is None:
            array, number = (one, right) if one is not None else (other, left)
            if array is None or not self._is_number_of_all(number):
                return None
            return array if operator == "*" else self._applied(node, lambda a: a.mapped(f"'{operator}'"), array)
        if len(one.shape) < len(other.shape):
            one = one.in_more_dimensions(other.shape)
        elif len(other.shape) < len(one.shape):
            other = other.in_more_dimensions(one.shape)
        if one.shape != other.shape:
            return None
        return self._applied(node, lambda a, b: a.combined(b, operator), one, other)

    def _is_number_of_all(self, node: ast.expr) -> bool:
        """Whether an expression is one number at all positions."""
        if isinstance(node, ast.Name) and (symbol := self.scope.local(node.id)) is not None:
            is_argument = symbol.kind is SymbolKind.ARGUMENT and not symbol.assigned
            if symbol.kind is not SymbolKind.STATIC:
                return is_argument and symbol not in self.scope.positions
        try:
            return isinstance(static_value(self.scope, node), int | float)
        except (NameError, ValueError):
            return False

    def _mapped(
        self, node: ast.expr, function: str, operand: ast.expr, last: bool = False
    ) -> ShardedArray | None:
        array = self.of(operand)
        if array is None:
            return None
        whole = [len(array.shape) - 1] if last else []
        return self._applied(node, lambda a: a.mapped(function, *whole), array)

    def _collective(self, node: ast.Call, callee: Callable[..., Any]) -> ShardedArray | None:
        given = dict(zip(("x", "op", "axis", "dim"), node.args, strict=False))
        if callee is regions.all_gather:
            given = dict(zip(("x", "axis", "dim"), node.args, strict=False))
        given |= {str(keyword.arg): keyword.value for keyword in node.keywords}
        array = self.of(given["x"]) if "x" in given else None
        if array is None:
            return None
        try:
            op, axis, dim = (
                static_value(self.scope, given[k]) if k in given else default for k, default in _DEFAULTS
            )
            axes = (axis if isinstance(axis, list | tuple) else [axis]) if axis is not None else list(array.axes_of(op))
            axes = [a % len(self.scope.grid) for a in axes]
            if callee is regions.all_gather:
                return array.all_gather(dim)
            if callee is regions.reduce_scatter:
                return array.reduce_scatter(op, axes[0], dim)
            left = frozenset(p for p in array.pending if p.operator != op or p.axis not in axes)
            own = frozenset(o for o in array.own if o.axis not in axes)
            return replace(array, pending=left, own=own) if (left, own) != (array.pending, array.own) else None
        except (NameError, ValueError, TypeError, IndexError):
            return None  # which the check of the collective tells of


def described(array: ShardedArray) -> str:
    """What an error says of an array: `is [4, 6] @ [S(1), R]`."""
    placements = ", ".join(f"S({p.axis})" if isinstance(p, Shard) else "R" for p in array.layout.placements)
    waits = "".join(f", in parts for '{p.operator}' along axis {p.axis}" for p in sorted(array.pending))
    return f"is {list(array.shape)} @ [{placements}]{waits}"


def is_all(node: ast.expr) -> bool:
    """Whether `A[:, :]` is all of an array."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return False
    selectors = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return all(isinstance(s, ast.Slice) and s.lower is s.upper is s.step is None for s in selectors)
