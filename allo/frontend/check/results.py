"""Checker of statements that give the results of a call to names and to other places: `C[i], d = f(x)`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING

from ...errors import counted
from ...ir.types import TensorType
from ..read.templates import NestedKernel, TemplateInstance
from ..typing.external import ExternalValue
from ..typing.nodes import Call, CallSite, Stmt, Symbol, SymbolKind
from ..typing.scope import Scope
from .calls import is_function_of_values
from .tried import TryChecker

if TYPE_CHECKING:
    from .expressions import ExpressionChecker

type Assign = Callable[[ast.Assign], tuple[Stmt, ...]]


class ResultChecker:
    """Turns calls of kernels that stand alone on the right side of a statement into typed statements."""

    def __init__(self, scope: Scope, expressions: ExpressionChecker, assign: Assign) -> None:
        self.scope = scope
        self.expressions = expressions
        self.assign = assign
        self._tried = TryChecker(scope, expressions, assign)

    def call(self, node: ast.Call) -> Call | None:
        """A call of a kernel, or None if it is another kind of call."""
        if not self.calls_kernel(node):
            return None
        call = self.expressions.calls.kernel_call(node, self.expressions.calls.callee(node))
        return None if call is None else Call(self.scope.source.position(node), call, (), ())

    def calls_kernel(self, node: ast.Call) -> bool:
        """Whether a call is one of a kernel."""
        if self.expressions.streams.is_method(node.func):
            return False
        if isinstance(node.func, ast.Attribute) and self.expressions.tensors.is_method(node.func):
            return False
        callee = self.expressions.calls.callee(node)
        kinds = FunctionType | NestedKernel | TemplateInstance | ExternalValue
        return isinstance(callee, kinds) and not is_function_of_values(callee)

    def to_tuple(self, node: ast.Assign, target: ast.Tuple) -> tuple[Stmt, ...]:
        """`x, C[i] = f(...)`."""
        if isinstance(node.value, ast.Call) and (call := self.call(node.value)) is not None:
            return self.given(node, call, target.elts)
        if isinstance(node.value, ast.Call) and self.expressions.streams.is_method(node.value.func):
            return self._tried.statements(node, node.value, target.elts)
        count = len(target.elts)
        results = counted(count, "result")
        self.scope.error(node, f"{count} names need the call of a kernel that gives {results}")
        return ()

    def given(self, node: ast.Assign, call: Call, targets: Sequence[ast.expr]) -> tuple[Stmt, ...]:
        """The results of a call, to as many targets."""
        results = call.call.callee.results
        if len(results) != len(targets):
            self.scope.error(
                node,
                f"'{call.call.callee.name}' gives {counted(len(results), 'result')}, "
                f"but {counted(len(targets), 'name')} stand on the left",
            )
            return ()
        known = [self.scope.local(target.id) if isinstance(target, ast.Name) else None for target in targets]
        pairs = list(zip(targets, results, known, strict=True))
        direct = [isinstance(t, ast.Name) and (s is None or _takes(s, result)) for t, result, s in pairs]
        if not all(direct):
            return self._one_by_one(node, call.call, targets)
        symbols = []
        for target, result, symbol in pairs:
            assert isinstance(target, ast.Name)
            symbol = self._declare(target, target.id, result) if symbol is None else symbol
            symbol.assigned = True
            symbols.append(symbol)
        declares = tuple(symbol is None for symbol in known)
        return (Call(self.scope.source.position(node), call.call, tuple(symbols), declares),)

    def _one_by_one(self, node: ast.Assign, call: CallSite, targets: Sequence[ast.expr]) -> tuple[Stmt, ...]:
        """The results go to variables, and from there one after the other to their places, as in Python."""
        builder = self.expressions.builder
        before, after = builder.take_pending()
        symbols, parts = [], []
        for number, (target, result) in enumerate(zip(targets, call.callee.results, strict=True)):
            name = f"{call.callee.name}.{number}"  # no name of Python's
            symbols.append(self._declare(target, name, result))
            value = ast.copy_location(ast.Name(name, ast.Load()), target)
            parts.append(ast.copy_location(ast.Assign([target], value), node))
        declares = (True,) * len(symbols)
        made: list[Stmt] = [*before, Call(self.scope.source.position(node), call, tuple(symbols), declares), *after]
        for part in parts:
            statements = self.assign(part)
            first, last = builder.take_pending()
            made += [*first, *statements, *last]
        return tuple(made)

    def _declare(self, target: ast.expr, name: str, result: object) -> Symbol:
        kind = SymbolKind.TENSOR if isinstance(result, TensorType) else SymbolKind.SCALAR
        return self.scope.declare(name, kind, result, self.scope.source.position(target))  # type: ignore[arg-type]


def _takes(symbol: Symbol, result: object) -> bool:
    """Whether a call may write its result to a variable as it is."""
    return symbol.type == result and symbol.kind in (SymbolKind.SCALAR, SymbolKind.ARGUMENT, SymbolKind.TENSOR)
