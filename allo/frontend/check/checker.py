"""Interface of the checker of expressions, for the checkers of their parts."""

from __future__ import annotations

import ast
from typing import Protocol

from ...ir.types import AlloType, TensorType
from ..typing.nodes import Expr, Symbol
from ..typing.view import View

type Value = Expr | Symbol | View


class CheckedExpressions(Protocol):
    """Turns `ast.expr` into typed values; a method returns None after an error was reported."""

    def any(self, node: ast.expr, declared: AlloType | TensorType | None = None) -> Value | None:
        """`node` as a scalar value or as a whole tensor; for a place of a struct type, a dict is one."""
        ...

    def scalar(self, node: ast.expr) -> Expr | None:
        """`node` as a scalar value."""
        ...

    def operands(self, *nodes: ast.expr) -> list[Expr] | None:
        """All `nodes` as scalars, each checked even if another one is wrong."""
        ...

    def condition(self, node: ast.expr) -> Expr | None:
        """`node` as a truth value."""
        ...

    def combine(self, node: ast.AST, op: str, lhs: Expr, rhs: Expr) -> Expr | None:
        """`lhs op rhs`, or an error at `node`."""
        ...

    def checked_index(self, node: ast.expr, value: Expr, name: str, dimension: int, extent: int) -> Expr | None:
        """A subscript of dimension `dimension` of the array `name`, which has `extent` elements there."""
        ...
