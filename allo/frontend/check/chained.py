"""Chained assignment `x = y = value`: the value is computed once, and goes to the targets from left to right."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ...errors import counted
from ...ir.types import AlloType
from ..read.source import Position
from ..typing.nodes import Const, Declare, Expr, Stmt, Symbol, SymbolKind
from ..typing.scope import Scope
from ..typing.view import View
from .expressions import ExpressionChecker

type CheckBody = Callable[[list[ast.stmt]], tuple[Stmt, ...]]
type DeclareArray = Callable[[Position, str, Symbol | View], tuple[Stmt, ...]]

_ALONE = "write one assignment a line"


def assign_chained(
    node: ast.Assign, scope: Scope, expressions: ExpressionChecker, declare: DeclareArray, body: CheckBody
) -> tuple[Stmt, ...]:
    """The value, or each of several, goes to a variable, and from there to the places, as in Python.

    Each place converts it by itself. Literals and names of arrays need no variable; a literal declares a new name as
    `x = 1` does. `declare` is for arrays.
    """
    several = isinstance(node.value, ast.Tuple)
    values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
    places = [target.elts if several and isinstance(target, ast.Tuple) else [target] for target in node.targets]
    for target, parts in zip(node.targets, places, strict=True):
        if isinstance(target, ast.Tuple | ast.List) and not several:
            message = "a chained assignment gives one value to each place, and these are several"
            return _refused(node, scope, target, message, _ALONE)
        if len(parts) != len(values):
            message = f"{counted(len(parts), 'place')} cannot take {counted(len(values), 'value')}"
            return _refused(node, scope, target, message, "write as many places as values")
    statements: list[Stmt] = []
    sources = []
    for number, value in enumerate(values):
        source, held = _held(value, f"{number}.new", scope, expressions, declare)
        sources.append(source)
        statements += held
    pairs = [pair for parts in places for pair in zip(parts, sources, strict=True)]
    made = [ast.copy_location(ast.Assign([place], source), node) for place, source in pairs]
    return (*statements, *body([*made]))


def _refused(node: ast.Assign, scope: Scope, place: ast.expr, message: str, hint: str) -> tuple[Stmt, ...]:
    """An error at `place`, after which the names that the chain was to declare are not reported again."""
    scope.error(place, message, hint)
    for name in (name for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)):
        if isinstance(name.ctx, ast.Store) and scope.local(name.id) is None:
            scope.declare(name.id, SymbolKind.INVALID, None, scope.source.position(name))
    return ()


def _held(
    given: ast.expr, name: str, scope: Scope, expressions: ExpressionChecker, declare: DeclareArray
) -> tuple[ast.expr, tuple[Stmt, ...]]:
    """What stands for a value, and the statements that compute it; `name` is none that Python has."""
    at = scope.source.position(given)
    value: Any = None
    if expressions.layouts.of(given) is not None:
        scope.error(given, "parts of arrays on a grid are assigned one by one", _ALONE)
    else:
        value = expressions.any(given)
    before, after = expressions.builder.take_pending()
    if isinstance(value, Const) or (isinstance(value, Symbol) and isinstance(given, ast.Name)):
        return given, ()
    own: tuple[Stmt, ...] = ()
    if isinstance(value, Expr):
        assert isinstance(value.type, AlloType)
        own = (Declare(at, scope.declare(name, SymbolKind.SCALAR, value.type, at), value),)
    elif value is None:
        scope.declare(name, SymbolKind.INVALID, None, at)
    else:
        own = declare(at, name, value)
    return ast.copy_location(ast.Name(name, ast.Load()), given), (*before, *own, *after)
