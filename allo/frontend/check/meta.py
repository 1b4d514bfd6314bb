"""Checker of meta programming: branches and loops that are decided when the kernel is compiled."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dsl
from ..typing.nodes import Expr, Stmt
from ..typing.scope import Scope, static_value
from .positions import PositionChecker, asks_for

if TYPE_CHECKING:
    from .statements import StatementChecker

_UNKNOWN = object()
_MAX_COPIES = 65536


def single_contexts(nodes: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements of a block, in which `with a, b` is a `with b` in a `with a`."""
    return [_nested(node) if isinstance(node, ast.With) and len(node.items) > 1 else node for node in nodes]


def _nested(node: ast.With) -> ast.stmt:
    inner = node.body
    for item in reversed(node.items):
        inner = [ast.copy_location(ast.With([item], inner), node)]
    return inner[0]


class MetaChecker:
    """Expands `with allo.meta_if/meta_elif/meta_else/meta_for`."""

    def __init__(self, scope: Scope, statements: StatementChecker) -> None:
        self.scope = scope
        self.statements = statements
        self.positions = PositionChecker(scope, statements.of_some_positions, self._tested)
        self._taken: bool | None = None  # whether a branch of the chain before this statement was taken

    def enter_block(self) -> bool | None:
        """Chains do not cross blocks: the state of the block around, to give back to `leave_block`."""
        outer, self._taken = self._taken, None
        return outer

    def leave_block(self, outer: bool | None) -> None:
        self._taken = outer

    def next_statement(self, node: ast.stmt) -> None:
        """A statement that is not `with` ends a chain."""
        if not isinstance(node, ast.With):
            self._taken = None

    def _tested(self, node: ast.expr) -> Expr | None:
        """A condition that is found out at run time."""
        found = self.statements.expressions.condition(node)
        return None if found is None else self.statements.expressions.builder.settled(found)

    def chain_of_positions(self, nodes: Sequence[ast.stmt]) -> list[tuple[ast.expr | None, ast.With]] | None:
        """The branches, with their conditions, of a chain that begins here and asks for the position of the task."""
        if not self.scope.positions or not isinstance(nodes[0], ast.With) or self._callee(nodes[0]) is not dsl.meta_if:
            return None
        chain: list[tuple[ast.expr | None, ast.With]] = []
        for node in nodes:
            callee = self._callee(node)
            if not isinstance(node, ast.With) or callee is (dsl.meta_if if chain else None):
                break
            call = node.items[0].context_expr
            if callee not in (dsl.meta_if, dsl.meta_elif, dsl.meta_else) or not isinstance(call, ast.Call):
                break
            if len(call.args) != (0 if callee is dsl.meta_else else 1) or call.keywords:
                return None  # `with_statement` says what is wrong
            chain.append((call.args[0] if call.args else None, node))
            if callee is dsl.meta_else:
                break
        return chain if any(c is not None and asks_for(self.scope, c) for c, _ in chain) else None

    def _callee(self, node: ast.stmt) -> Any:
        """What a `with` calls, if it is a name that means something here."""
        call = node.items[0].context_expr if isinstance(node, ast.With) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name | ast.Attribute):
            return None
        try:
            return static_value(self.scope, call.func)
        except (NameError, ValueError):
            return None

    def with_statement(self, node: ast.With) -> tuple[Stmt, ...]:
        """The statements that a `with` compiles to."""
        item = node.items[0]
        call = item.context_expr
        callee = self.statements.expressions.calls.callee(call) if isinstance(call, ast.Call) else None
        metas = (dsl.meta_if, dsl.meta_elif, dsl.meta_else, dsl.meta_for)
        if callee not in metas:
            self.scope.error(
                node,
                f"a kernel cannot contain `with {ast.unparse(item)}`",
                "kernels know `with` for allo.meta_if, meta_elif, meta_else and meta_for",
            )
            return ()
        assert isinstance(call, ast.Call)
        if callee is dsl.meta_for:
            self._taken = None
            return self._meta_for(node, call, item.optional_vars)
        return self._branch(node, call, callee)

    def _static(self, node: ast.expr, what: str) -> Any:
        try:
            return static_value(self.scope, node)
        except NameError as error:
            self.scope.report_unknown_in(node, error.args[0])
        except ValueError as error:
            self.scope.error(
                node, f"{what} must be a compile-time constant: {error}", "use the plain `if` or `for` at run time"
            )
        return _UNKNOWN

    def _branch(self, node: ast.With, call: ast.Call, callee: Any) -> tuple[Stmt, ...]:
        name = callee.__name__
        if len(call.args) != (0 if callee is dsl.meta_else else 1) or call.keywords:
            self.scope.error(call, f"{name} takes {'no condition' if callee is dsl.meta_else else 'one condition'}")
            return ()
        if callee is not dsl.meta_if and self._taken is None:
            self.scope.error(node, f"{name} must stand directly behind a meta_if or meta_elif")
            return ()
        condition = True
        if call.args:
            value = self._static(call.args[0], f"the condition of {name}")
            if value is _UNKNOWN:
                self._taken = True
                return ()
            try:
                condition = bool(value)
            except (TypeError, ValueError) as error:
                self.scope.error(call.args[0], f"the condition of {name} has no truth value: {error}")
        before = bool(self._taken) if callee is not dsl.meta_if else False
        chosen = condition and not before
        body = self.statements.body(node.body) if chosen else ()  # in the scope around it
        self._taken = None if callee is dsl.meta_else else before or condition
        return body

    def _run_time_loop(self, node: ast.With, call: ast.Call, variable: ast.expr | None) -> tuple[Stmt, ...]:
        """A `meta_for` whose bounds differ from position to position: one loop for all of them."""
        target = variable if variable is not None else ast.Name("_", ast.Store())
        ranged = ast.Call(ast.Name("range", ast.Load()), call.args, [])
        loop = ast.For(target, ranged, node.body, [], None)
        return self.statements.statement(ast.fix_missing_locations(ast.copy_location(loop, node)))

    def _meta_for(self, node: ast.With, call: ast.Call, variable: ast.expr | None) -> tuple[Stmt, ...]:
        if not 1 <= len(call.args) <= 3:
            self.scope.error(call, f"meta_for takes 1 to 3 bounds, got {len(call.args)}")
            return ()
        if variable is not None and not isinstance(variable, ast.Name):
            self.scope.error(variable, "the variable of meta_for must be a plain name")
            return ()
        if any(asks_for(self.scope, argument) for argument in call.args):
            return self._run_time_loop(node, call, variable)
        bounds = [self._static(argument, "a bound of meta_for") for argument in call.args]
        if _UNKNOWN in bounds:
            return ()
        try:
            listed = len(bounds) == 1 and isinstance(bounds[0], Sequence | np.ndarray)
            values: Sequence[Any] = list(bounds[0]) if listed else range(*bounds)
        except (TypeError, ValueError) as error:
            self.scope.error(call, f"meta_for has wrong bounds: {error}")
            return ()
        if len(values) > _MAX_COPIES:
            self.scope.error(call, f"meta_for would make {len(values)} copies of its body", "use a `for` loop")
            return ()
        result: list[Stmt] = []
        for value in values:
            self.scope.enter()
            if variable is not None:
                self.scope.define(variable.id, value, self.scope.source.position(variable))
            errors = len(self.scope.diagnostics)
            result.extend(self.statements.block(node.body))
            self.scope.leave()
            if len(self.scope.diagnostics) > errors:
                break
        return tuple(result)
