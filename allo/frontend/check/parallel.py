"""Parallel assignment `a, b = x, y`: all values are computed before the first is assigned."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeGuard

from ...ir.types import AlloType
from ..typing.nodes import Const, Declare, Stmt, SymbolKind
from ..typing.scope import Scope
from .expressions import ExpressionChecker

CheckBody = Callable[[list[ast.stmt]], tuple[Stmt, ...]]


def assigns_at_once(node: ast.Assign) -> TypeGuard[ast.Assign]:
    """Whether `node` gives several values to as many places."""
    target, value = node.targets[0], node.value
    return (
        len(node.targets) == 1
        and isinstance(target, ast.Tuple)
        and isinstance(value, ast.Tuple)
        and len(target.elts) == len(value.elts)
    )


def assign_at_once(
    node: ast.Assign, scope: Scope, expressions: ExpressionChecker, body: CheckBody
) -> tuple[Stmt, ...]:
    """The values go to variables, and from there one after the other to their places, as in Python.

    A literal needs no variable; it declares a new name as `x = 1` does.
    """
    target, value = node.targets[0], node.value
    assert isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
    statements: list[Stmt] = []
    parts: list[ast.stmt] = []
    for number, (place, given) in enumerate(zip(target.elts, value.elts, strict=True)):
        declared = expressions.structs.type_of(place) if isinstance(given, ast.Dict) else None
        found = expressions.scalar(given) if declared is None else expressions.structs.value(given, declared)
        before, after = expressions.builder.take_pending()
        source = given
        if not isinstance(found, Const):
            at = scope.source.position(given)
            kind = SymbolKind.INVALID if found is None else SymbolKind.SCALAR
            name = f"{_root(place)}.new" if number == 0 else f"{_root(place)}.new_{number}"  # no name of Python's
            symbol = scope.declare(name, kind, None if found is None else found.type, at)
            source = ast.copy_location(ast.Name(name, ast.Load()), given)
            if found is not None:
                assert isinstance(found.type, AlloType)
                statements += [*before, Declare(at, symbol, found), *after]
        parts.append(ast.copy_location(ast.Assign([place], source), node))
    return (*statements, *body(parts))


def _root(place: ast.expr) -> str:
    """The name of the variable that `place` is, or is a part of."""
    while isinstance(place, ast.Subscript | ast.Attribute | ast.Starred):
        place = place.value
    return place.id if isinstance(place, ast.Name) else "value"
