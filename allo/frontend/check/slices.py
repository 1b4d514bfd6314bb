"""Slices in subscripts: what `lower:upper:step`, whose length is known when compiled, selects."""

from __future__ import annotations

import ast

from ...ir.types import DYNAMIC
from ..typing.convert import constant
from ..typing.nodes import Const, Expr
from ..typing.scope import Scope, static_value
from ..typing.view import Slice
from .checker import CheckedExpressions

UNBOUNDED = 1 << 62  # a run-time extent, for which any subscript that is not negative may do
_LENGTH = "the length of a slice must be a compile-time constant"


class SliceChecker:
    """Turns `ast.Slice` into `Slice`; a method returns None after an error was reported."""

    def __init__(self, scope: Scope, expressions: CheckedExpressions) -> None:
        self.scope = scope
        self.expressions = expressions

    def selected(self, node: ast.Slice, name: str, dimension: int, extent: Expr) -> Slice | None:
        """A slice of dimension `dimension` of the array `name`, which has `extent` elements there."""
        at = self.scope.source.position(node)
        if node.lower is node.upper is node.step is None:
            return full(extent)
        step = 1
        if node.step is not None:
            try:
                step = static_value(self.scope, node.step)
            except (ValueError, NameError) as error:
                self.scope.error(node.step, f"the step of a slice must be a compile-time constant: {error}")
                return None
        size = int(extent.value) if isinstance(extent, Const) else DYNAMIC
        length = self.constant_length(node)
        if length is not None and node.lower is not None:
            checked = self.expressions.checked_index
            lower = self.expressions.scalar(node.lower)
            limit = UNBOUNDED if size == DYNAMIC else size
            start = None if lower is None else checked(node.lower, lower, name, dimension, limit)
            part = self._chosen(node, slice(0, length, step), length)
            return None if start is None or part is None else Slice(start, step, len(part))
        bounds: list[int | None] = []
        for bound in (node.lower, node.upper):
            value = None if bound is None else self.expressions.scalar(bound)
            if bound is not None and value is None:
                return None
            if value is not None and not (isinstance(value, Const) and isinstance(value.value, int)):
                self.scope.error(node, _LENGTH, "write A[i:i + 4] with a constant 4")
                return None
            bounds.append(None if value is None else int(value.value))
        if size == DYNAMIC and (step < 1 or bounds[1] is None or any(b is not None and b < 0 for b in bounds)):
            hint = f"the extent of '{name}' is known at run time only: give both bounds, counted from the start"
            self.scope.error(node, _LENGTH, hint)
            return None
        chosen = self._chosen(node, slice(bounds[0], bounds[1], step), bounds[1] or 0 if size == DYNAMIC else size)
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
        """The length of `e + 1:e + 4` where `e` is not a constant: its multiples of run-time values cancel."""
        if node.lower is None or node.upper is None:
            return None
        lower, upper = self._linear(node.lower), self._linear(node.upper)
        if lower is None or upper is None or set(lower) <= {""}:
            return None
        if any(lower.get(term, 0) != upper.get(term, 0) for term in {*lower, *upper} - {""}):
            return None
        return upper.get("", 0) - lower.get("", 0)

    def _linear(self, node: ast.expr) -> dict[str, int] | None:
        """`node` as a sum of multiples of terms, the constant under ""; None if it must not be evaluated twice."""
        try:
            value = static_value(self.scope, node)
        except (ValueError, NameError):
            pass
        else:
            return {"": int(value)} if isinstance(value, int) else None
        match node:
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                left, right = self._linear(node.left), self._linear(node.right)
                sign = 1 if isinstance(node.op, ast.Add) else -1
                if left is None or right is None:
                    return None
                return {term: left.get(term, 0) + sign * right.get(term, 0) for term in {**left, **right}}
            case ast.BinOp(op=ast.Mult()):
                left, right = self._linear(node.left), self._linear(node.right)
                for factor, other in ((left, right), (right, left)):
                    if factor is not None and other is not None and set(factor) == {""}:
                        return {term: factor[""] * multiple for term, multiple in other.items()}
        if any(isinstance(child, ast.Call) for child in ast.walk(node)):
            return None
        return {ast.dump(node): 1}


def full(extent: Expr) -> Slice:
    """`:`, all of a dimension."""
    if isinstance(extent, Const):
        return Slice(constant(0, extent.at), 1, int(extent.value))
    return Slice(constant(0, extent.at), 1, DYNAMIC, extent)
