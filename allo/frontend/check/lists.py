"""Checker of lists as values of arrays: `x: int32[2] = [a, 2]`, elements computed when the kernel runs among them."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from ...ir.types import AlloType, Float, TensorType, float32, int32
from ...ir.types import index as index_type
from ..typing.convert import convert
from ..typing.nodes import Const, Expr, Stmt, Store, Symbol
from ..typing.scope import Scope, static_value
from .expressions import ExpressionChecker

type Place = tuple[int, ...]
type Listed = dict[Place, Expr]


def is_computed(scope: Scope, node: ast.expr | None) -> bool:
    """Whether `node` is a list some elements of which are known at run time only."""
    if not isinstance(node, ast.List):
        return False
    try:
        static_value(scope, node)
    except NameError:
        return False  # which is told where constants are read
    except ValueError:
        return True
    return False


class ListChecker:
    """Turns lists into the stores of their elements; a method returns None after an error was reported."""

    def __init__(self, scope: Scope, expressions: ExpressionChecker) -> None:
        self.scope = scope
        self.expressions = expressions

    def elements(self, node: ast.List, shape: Place | None, name: str) -> Listed | None:
        """The value at each place of a list, whose shape has to be `shape` unless that is None."""
        nodes = dict(_flat(node))
        own = _extents(node)
        if any(len(place) != len(own) for place in nodes) or len(nodes) != math.prod(own):
            self.scope.error(node, "the rows of the list have different lengths")
            return None
        if not nodes:
            self.scope.error(node, "the list has no elements")
            return None
        if shape is not None and own != shape:
            self.scope.error(node, f"the list has shape {own}, but '{name}' has {shape}")
            return None
        values = self.expressions.operands(*nodes.values())
        return None if values is None else dict(zip(nodes, values, strict=True))

    def type_of(self, node: ast.List, listed: Listed) -> TensorType | None:
        """The type of an array that is declared by a list: literals are int32 or float32, as in `x = 1`."""
        at = self.scope.source.position(node)
        builder = self.expressions.builder

        values = list(listed.values())
        found = values[0]
        for value in values[1:]:
            both = builder.unify(at, found, value)
            if both is None:
                return None
            found = both[0]
        element: AlloType = found.type
        if all(isinstance(value, Const) for value in values):
            element = float32 if isinstance(element, Float) else int32
        places = list(listed)[-1]
        return TensorType(element, tuple(position + 1 for position in places))

    def stores(self, node: ast.AST, symbol: Symbol, listed: Listed) -> tuple[Stmt, ...]:
        """The elements of `symbol` become those of the list, all of which are computed before the first is set."""
        assert isinstance(symbol.type, TensorType)
        at, element, builder = self.scope.source.position(node), symbol.type.element, self.expressions.builder
        values = {place: convert(builder.once(value, symbol), element) for place, value in listed.items()}
        return tuple(
            Store(at, symbol, tuple(Const(index_type, at, position) for position in place), value)
            for place, value in values.items()
        )


def _flat(node: ast.expr, place: Place = ()) -> Iterator[tuple[Place, ast.expr]]:
    """The elements of nested lists with their places."""
    if not isinstance(node, ast.List):
        yield place, node
        return
    for position, inner in enumerate(node.elts):
        yield from _flat(inner, (*place, position))


def _extents(node: ast.expr) -> Place:
    """The shape of a list by its first rows."""
    if not isinstance(node, ast.List):
        return ()
    return (len(node.elts), *(_extents(node.elts[0]) if node.elts else ()))
