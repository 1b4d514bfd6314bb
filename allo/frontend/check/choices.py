"""Checker of conditional and short-circuit expressions: `and`, `or`, comparisons, the ternary."""

from __future__ import annotations

import ast

from ...ir.types import bool as bool_type
from ..typing.builder import ValueBuilder
from ..typing.fields import field_hint
from ..typing.nodes import Const, Expr, Logic, Select
from ..typing.operations import compare, truth
from ..typing.scope import Scope
from ..typing.writes import shared
from .checker import CheckedExpressions, Value

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


class ChoiceChecker:
    """Turns choices into `Expr`; a method returns None after an error was reported."""

    def __init__(self, scope: Scope, expressions: CheckedExpressions, builder: ValueBuilder) -> None:
        self.scope = scope
        self.expressions = expressions
        self.builder = builder

    def logic(self, node: ast.BoolOp) -> Expr | None:
        """The value of `and` or `or`: as in Python one of the operands, in the type that they have in common."""
        values = [self.expressions.scalar(node.values[0])]
        with self.builder.branch():
            values += [self.expressions.scalar(value) for value in node.values[1:]]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        if all(value.type == bool_type for value in known):
            return self._conjunction(node, known)
        result = known[-1]
        for left in reversed(known[:-1]):
            if isinstance(left, Const):
                decided = bool(left.value) == isinstance(node.op, ast.Or)
                result = left if decided else result
                continue
            both = self.builder.unify(self.scope.source.position(node), shared(left), result)
            if both is None:
                return None
            taken, other = both if isinstance(node.op, ast.Or) else both[::-1]
            result = Select(taken.type, self.scope.source.position(node), truth(both[0]), taken, other)
        return result

    def condition(self, node: ast.BoolOp) -> Expr | None:
        """The truth of `and` or `or`."""
        conditions = [self.expressions.condition(node.values[0])]
        with self.builder.branch():
            conditions += [self.expressions.condition(value) for value in node.values[1:]]
        known = [condition for condition in conditions if condition is not None]
        return self._conjunction(node, known) if len(known) == len(conditions) else None

    def _conjunction(self, node: ast.BoolOp, conditions: list[Expr]) -> Expr:
        op = "and" if isinstance(node.op, ast.And) else "or"
        result = conditions[-1]
        for left in reversed(conditions[:-1]):
            if isinstance(left, Const):
                decided = bool(left.value) == (op == "or")
                result = left if decided else result
            else:
                result = Logic(bool_type, self.scope.source.position(node), op, left, result)
        return result

    def compare(self, node: ast.Compare) -> Expr | None:
        """Comparisons, also `a < b < c`: what is behind the first is evaluated only if all before it are true."""
        first = self.expressions.operands(node.left, node.comparators[0])
        with self.builder.branch():
            rest = self.expressions.operands(*node.comparators[1:])
        if first is None or rest is None:
            return None
        values = [*first, *rest]
        values[1:-1] = map(shared, values[1:-1])
        result: Expr | None = None
        at = self.scope.source.position(node)
        for op, lhs, rhs in zip(node.ops, values[:-1], values[1:], strict=True):
            name = _COMPARISONS.get(type(op))
            if name is None:
                self.scope.error(
                    node, "a kernel cannot use `in`, `not in`, `is`", "compare with == or write the loop"
                )
                return None
            part = compare(name, lhs, rhs, at, self.scope.rules)
            if part is None:
                message = f"`{name}` is not defined for {lhs.type!r} and {rhs.type!r}"
                self.scope.error(node, message, field_hint(lhs.type, rhs.type))
                return None
            if result is None or (isinstance(result, Const) and result.value):
                result = part
            elif not isinstance(result, Const):
                result = Logic(bool_type, at, "and", result, part)
        return result

    def select(self, node: ast.IfExp) -> Value | None:
        """`a if c else b`, of which one is evaluated; it may be an array if a constant decides which."""
        condition = self.expressions.condition(node.test)
        if isinstance(condition, Const):  # as for `if`, the other side need not even be valid
            return self.expressions.any(node.body if condition.value else node.orelse)
        with self.builder.branch():
            values = self.expressions.operands(node.body, node.orelse)
        if condition is None or values is None:
            return None
        both = self.builder.unify(self.scope.source.position(node), values[0], values[1])
        if both is None:
            return None
        return Select(both[0].type, self.scope.source.position(node), condition, both[0], both[1])
