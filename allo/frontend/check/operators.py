"""Checker of calls of library operators: arguments bound to parameters and given on as typed values."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ...errors import counted, nearest
from ..library import operators
from ..library.call import STATIC, OperatorArgument, OperatorConstant
from ..library.operations import Operations
from ..typing.around import Seen
from ..typing.builder import ValueBuilder
from ..typing.nodes import Expr, Symbol
from ..typing.scope import Scope, static_value
from ..typing.view import View, whole
from .checker import CheckedExpressions
from .mesh.demands import LayoutChecker

ARITHMETIC = (operators.add, operators.sub, operators.mul, operators.div)
INVALID_NAME = ""  # what no nest is called


class OperatorChecker:
    """Turns calls of operators into views and scalars; a method returns None after an error was reported."""

    def __init__(
        self, scope: Scope, expressions: CheckedExpressions, builder: ValueBuilder, layouts: LayoutChecker
    ) -> None:
        self.scope = scope
        self.expressions = expressions
        self.builder = builder
        self.layouts = layouts
        self.operations = Operations(builder)

    def call(self, node: ast.Call, callee: Callable[..., Any]) -> Expr | View | None:
        """A call of an operator."""
        given, nest = self._bound(node, callee), self._nest(node)
        if given is None or nest is INVALID_NAME:
            return None
        constants = self._constants(callee.__name__, given)
        seen = self.builder.seen
        arguments = self._arguments({name: place for name, place in given.items() if name not in STATIC})
        if arguments is None or constants is None or self.layouts.is_refused(node):
            return None
        if callee in ARITHMETIC:
            arguments = self._joined(node, given, arguments)
        return self.operations.call(callee, self.scope.source.position(node), arguments, constants, seen, nest)

    def _nest(self, node: ast.Call) -> str | None:
        """The name that `name=` gives to the loops; INVALID_NAME after an error."""
        for keyword in node.keywords:
            if keyword.arg == "name":
                try:
                    value = static_value(self.scope, keyword.value)
                except (NameError, ValueError):
                    value = INVALID_NAME
                if isinstance(value, str) and value:
                    return value
                self.scope.error(keyword, f"{ast.unparse(node.func)}() needs a string as 'name'")
                return INVALID_NAME
        return None

    def matmul(self, node: ast.BinOp) -> Expr | View | None:
        """The operator `@`."""
        seen = self.builder.seen
        arguments = self._arguments({"A": node.left, "B": node.right})
        if arguments is None or self.layouts.is_refused(node):
            return None
        return self.operations.call(operators.matmul, self.scope.source.position(node), arguments, {}, seen)

    def elementary(self, node: ast.Call, function: str) -> Expr | View | None:
        """exp, log, ..., power."""
        nest = self._nest(node)
        arguments = self._arguments({f"x{position}": argument for position, argument in enumerate(node.args)})
        if arguments is None or nest is INVALID_NAME:
            return None
        at, written = self.scope.source.position(node), ast.unparse(node.func)
        return self.operations.elementary(written, function, at, arguments, nest)

    def _bound(self, node: ast.Call, callee: Callable[..., Any]) -> dict[str, ast.expr] | None:
        """The arguments by parameter."""
        name = callee.__name__
        parameters = inspect.signature(callee).parameters
        listed = ", ".join(parameters)
        if len(node.args) > len(parameters):
            most, given = counted(len(parameters), "argument"), counted(len(node.args), "argument")
            self.scope.error(node, f"{name}() takes at most {most} ({listed}), got {given}")
            return None
        found = dict(zip(parameters, node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg == "name":
                continue
            if keyword.arg not in parameters:
                hint = nearest(str(keyword.arg), parameters) or f"its arguments are {listed}"
                self.scope.error(keyword, f"{name}() has no argument '{keyword.arg}'", hint)
                return None
            if keyword.arg in found:
                self.scope.error(keyword, f"{name}() gets its argument '{keyword.arg}' twice")
                return None
            found[str(keyword.arg)] = keyword.value
        for parameter in parameters.values():
            if parameter.default is parameter.empty and parameter.name not in found:
                self.scope.error(node, f"{name}() needs its argument '{parameter.name}'", f"write {name}({listed})")
                return None
        return found

    def _arguments(self, given: dict[str, ast.expr]) -> dict[str, OperatorArgument] | None:
        """The arguments that are numbers and arrays; kernels called in them are called once."""
        result: dict[str, OperatorArgument] = {}
        for parameter, place in given.items():
            seen: Seen = self.builder.seen
            value = self.expressions.any(place)
            checked = self.builder.called_once(value, seen) if isinstance(value, Expr) else value
            if checked is not None:
                at = self.scope.source.position(place)
                operand = whole(checked, at) if isinstance(checked, Symbol) else checked
                result[parameter] = OperatorArgument(operand, at, partial(ast.unparse, place))
        return result if len(result) == len(given) else None

    def _joined(
        self, node: ast.Call, given: dict[str, ast.expr], arguments: dict[str, OperatorArgument]
    ) -> dict[str, OperatorArgument]:
        """The operands of an operation on elements, of those that are whole where another one is cut its part."""
        names = list(arguments)
        values = [arguments[name].value for name in names]
        parts = self.layouts.joined(node, [given[name] for name in names], values)
        pairs = zip(names, parts, strict=True)
        return {n: replace(arguments[n], value=v) if isinstance(v, View) else arguments[n] for n, v in pairs}

    def _constants(self, name: str, given: dict[str, ast.expr]) -> dict[str, OperatorConstant] | None:
        """The arguments that are compile-time constants."""
        result: dict[str, OperatorConstant] = {}
        for parameter, place in given.items():
            if parameter not in STATIC:
                continue
            try:
                result[parameter] = OperatorConstant(static_value(self.scope, place), self.scope.source.position(place))
            except NameError as error:
                self.scope.report_unknown_in(place, error.args[0])
                return None
            except ValueError as error:
                self.scope.error(place, f"{name}() needs a compile-time constant as '{parameter}': {error}")
                return None
        return result
