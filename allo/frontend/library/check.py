"""Checks calls of library operators: which function of which family checks each of them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..nodes import Effects, Expr
from ..view import View
from . import arrange, elementwise, normalize, operators, products, windows
from .call import Binder, OperatorCall

if TYPE_CHECKING:
    from ..check_expr import ExpressionChecker

_FAMILIES: dict[Callable[..., Any], Callable[[OperatorCall], Expr | View | None]] = {
    operators.matmul: products.matmul,
    operators.bmm: products.bmm,
    operators.linear: products.linear,
    operators.conv2d: windows.conv2d,
    operators.maxpool: windows.maxpool,
    operators.sumpool: windows.sumpool,
    operators.add: elementwise.arithmetic,
    operators.sub: elementwise.arithmetic,
    operators.mul: elementwise.arithmetic,
    operators.div: elementwise.arithmetic,
    operators.abs: elementwise.absolute,
    operators.relu: elementwise.relu,
    operators.gelu: elementwise.gelu,
    operators.softmax: normalize.softmax,
    operators.layernorm: normalize.layernorm,
    operators.copy: arrange.copy,
    operators.transpose: arrange.transpose,
    operators.view: arrange.view,
    operators.concat: arrange.concat,
    operators.tril: elementwise.lower_triangle,
    operators.zeros: arrange.filled,
    operators.ones: arrange.filled,
}
# operators that need all of their operands before the first element of the result is known
_IN_FRONT = frozenset({"matmul", "bmm", "linear", "conv2d", "maxpool", "sumpool", "softmax", "layernorm", "concat"})

_NO_EFFECTS = Effects(frozenset(), False)


def is_operator(callee: Any) -> bool:
    """Whether `callee` is an operator of the library."""
    return any(callee is operator for operator in _FAMILIES)


class LibraryChecker:
    """Turns calls of operators into views and scalars; a method returns None after an error was reported."""

    def __init__(self, expressions: ExpressionChecker) -> None:
        self.expressions = expressions
        self.binder = Binder(expressions)
        self._counts: dict[str, int] = {}

    def _number(self, operator: str) -> str:
        """The name of the next nest of an operator: `matmul_0`, `matmul_1`, ..."""
        count = self._counts.get(operator, 0)
        self._counts[operator] = count + 1
        return f"{operator}_{count}"

    def call(self, node: ast.Call, callee: Callable[..., Any]) -> Expr | View | None:
        """A call of an operator."""
        nodes = self.binder.bound(node, callee)
        if nodes is None:
            return None
        name = callee.__name__
        static = self.binder.static(name, callee, nodes)
        return self._checked(node, name, nodes, static, _FAMILIES[callee])

    def matmul(self, node: ast.BinOp) -> Expr | View | None:
        """The operator `@`."""
        return self._checked(node, "matmul", {"A": node.left, "B": node.right}, {}, products.matmul)

    def elementary(self, node: ast.Call, function: str) -> Expr | View | None:
        """exp, log, ..., power."""
        nodes = {f"x{position}": argument for position, argument in enumerate(node.args)}
        name = ast.unparse(node.func).split(".")[-1]

        def family(call: OperatorCall) -> Expr | View | None:
            return elementwise.elementary(call, function, list(call.operands.values()))

        return self._checked(node, name, nodes, {}, family)

    def _checked(
        self,
        node: ast.expr,
        name: str,
        nodes: dict[str, ast.expr],
        static: dict[str, Any] | None,
        family: Callable[[OperatorCall], Expr | View | None],
    ) -> Expr | View | None:
        tensors = self.expressions.tensors
        seen = tensors.seen
        operands = self.binder.operands(nodes)
        if operands is None or static is None:
            return None
        at = self.expressions.scope.source.position(node)
        if name in _IN_FRONT:
            if not tensors.in_front(at, f"`{name}`", seen, _NO_EFFECTS):
                return None
            tensors.has_read()
        return family(OperatorCall(self.expressions, node, name, operands, static, nodes, self._number))
