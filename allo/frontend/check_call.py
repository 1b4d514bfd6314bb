"""Checks calls: of built-in functions, elementary functions, conversions, and other kernels."""

from __future__ import annotations

import ast
import builtins
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..errors import counted
from ..ir.types import AlloType, Float, TensorType, float32, int32
from . import dsl
from .annotations import read_annotation
from .convert import constant, convert
from .nodes import CallSite, Const, Expr, Function, KernelCall, Kind, MathCall, Symbol
from .scope import Scope, static_value
from .templates import TemplateInstance, template_instance
from .view import View
from .writes import writes

if TYPE_CHECKING:
    from .check_expr import ExpressionChecker


def is_function_of_values(callee: Any) -> bool:
    """Whether calls of `callee` are operations rather than calls of a kernel."""
    if isinstance(callee, AlloType):
        return True
    known = (builtins.min, builtins.max, builtins.abs, builtins.int, builtins.float, *dsl.ELEMENTARY)
    return any(callee is function for function in known)


class CallChecker:
    """Turns `ast.Call` into `Expr` or `CallSite`; a method returns None after an error was reported."""

    def __init__(self, scope: Scope, expressions: ExpressionChecker) -> None:
        self.scope = scope
        self.expressions = expressions

    def value(self, node: ast.Call) -> Expr | View | None:
        if isinstance(node.func, ast.Attribute) and self.expressions.tensors.is_method(node.func):
            return self.expressions.tensors.method(node, node.func)
        callee = self.callee(node)
        if callee is None:
            return None
        if is_function_of_values(callee):
            return self._function_of_values(node, callee)
        if isinstance(callee, TensorType):
            return self.expressions.tensors.filled(node, callee)
        call = self.kernel_call(node, callee)
        if call is None:
            return None
        results = call.callee.results
        if len(results) != 1 or isinstance(results[0], TensorType):
            self.scope.error(
                node,
                f"the call of '{call.callee.name}' does not give one scalar",
                "give its results names in a statement of their own: `x = f(A)`",
            )
            return None
        return KernelCall(results[0], self.scope.source.position(node), call)

    def _function_of_values(self, node: ast.Call, callee: Any) -> Expr | View | None:
        """`min`, `max`, `abs`, a conversion, or an elementary function."""
        if node.keywords:
            name = ast.unparse(node.func)
            self.scope.error(node.keywords[0], f"{name}() takes no keywords in a kernel", "drop the keyword")
            return None
        if callee is builtins.min or callee is builtins.max:
            return self._min_max(node, "min" if callee is builtins.min else "max")
        if callee is builtins.abs:
            return self._abs(node)
        if isinstance(callee, AlloType):
            return self._python_cast(node, callee)
        if callee is builtins.int or callee is builtins.float:
            return self._python_cast(node, int32 if callee is builtins.int else float32)
        return self.expressions.tensors.elementwise(
            node, node.args, lambda values: self.elementary(node, dsl.ELEMENTARY[callee], values)
        )

    def callee(self, node: ast.Call) -> Any:
        """The Python value that is called, or None after an error."""
        return self._callee(node.func)

    def _callee(self, func: ast.expr) -> Any:
        if isinstance(func, ast.Subscript):
            return self._instance(func)
        if isinstance(func, ast.Name):
            symbol = self.scope.local(func.id)
            if symbol is not None and symbol.kind is Kind.STATIC:
                return symbol.constant
            if symbol is not None:
                self.scope.error(func, f"'{func.id}' is a variable of the kernel and cannot be called")
                return None
            try:
                return self.scope.free(func.id)
            except KeyError:
                self.scope.report_unknown(func)
                return None
        try:
            return static_value(self.scope, func)
        except NameError as error:
            self.scope.report_unknown_in(func, error.args[0])
        except ValueError as error:
            self.scope.error(func, f"`{ast.unparse(func)}` cannot be called in a kernel: {error}")
        return None

    def _instance(self, func: ast.Subscript) -> TemplateInstance | TensorType | None:
        """`f[T, 8]` or `f[T, 8, "name"]`: a template with its parameters; `T[8]`: a type of tensors."""
        template = self._callee(func.value)
        if template is None:
            return None
        if isinstance(template, AlloType):
            declared = read_annotation(self.scope, func)
            return declared if isinstance(declared, TensorType) else None
        nodes = func.slice.elts if isinstance(func.slice, ast.Tuple) else [func.slice]
        values = []
        for node in nodes:
            try:
                values.append(static_value(self.scope, node))
            except (NameError, ValueError) as error:
                text = ast.unparse(node)
                self.scope.error(node, f"the template argument `{text}` is not a compile-time constant: {error}")
                return None
        return template_instance(template, values)

    def kernel_call(self, node: ast.Call, callee: Any) -> CallSite | None:
        """A call of another kernel, its arguments checked against the parameters."""
        function = self.scope.compile_callee(callee, node, self.scope)
        values = [self.expressions.any(argument) for argument in node.args]
        if function is None:
            return None
        if node.keywords:
            self.scope.error(
                node.keywords[0], "kernels are called with positional arguments", "drop the name of the argument"
            )
            return None
        if len(values) != len(function.params):
            self.scope.error(
                node,
                f"'{function.name}' takes {counted(len(function.params), 'argument')}, "
                f"got {counted(len(values), 'argument') if values else 'none'}",
            )
            return None
        arguments: list[Symbol | Expr] = []
        for value, parameter, place in zip(values, function.params, node.args, strict=True):
            checked = self._argument(place, value, parameter, function)
            if checked is None:
                return None
            arguments.append(checked)
        return CallSite(function, tuple(arguments))

    def _argument(
        self, node: ast.expr, value: Expr | Symbol | View | None, parameter: Symbol, function: Function
    ) -> Symbol | Expr | None:
        callee = function.name
        if value is None or parameter.type is None:
            return None
        if isinstance(value, Symbol) and value.constant is not None and writes(function, parameter):
            self.scope.error(
                node,
                f"'{callee}' writes its argument '{parameter.name}', but '{value.name}' is a constant array",
                f"pass a copy: `copy: {value.type!r} = {value.name}`",
            )
            return None
        if isinstance(parameter.type, TensorType):
            if isinstance(value, Symbol) and value.type == parameter.type:
                return value
            convertible = isinstance(value, View) and (value.place is None or value.type == parameter.type)
            if isinstance(value, View) and convertible and value.type.shape == parameter.type.shape:
                return self.expressions.tensors.argument(value, parameter, writes(function, parameter))
            self.scope.error(
                node,
                f"argument '{parameter.name}' of '{callee}' must be {parameter.type!r}, got {value.type!r}",
            )
            return None
        if isinstance(value, Symbol | View):
            self.scope.error(
                node,
                f"argument '{parameter.name}' of '{callee}' must be {parameter.type!r}, got {value.type!r}",
            )
            return None
        return convert(value, parameter.type)

    def _min_max(self, node: ast.Call, op: str) -> Expr | None:
        values = self.expressions.operands(*node.args)
        if values is None:
            return None
        if len(values) < 2:
            self.scope.error(node, f"{op}() takes at least two numbers")
            return None
        result: Expr | None = values[0]
        for value in values[1:]:
            assert result is not None
            result = self.expressions.combine(node, op, result, value)
            if result is None:
                return None
        return result

    def _abs(self, node: ast.Call) -> Expr | None:
        values = self.expressions.operands(*node.args)
        if values is None:
            return None
        if len(values) != 1:
            self.scope.error(node, "abs() takes one number")
            return None
        if isinstance(values[0], Const) and not isinstance(values[0].value, Fraction):
            return constant(abs(values[0].value), values[0].at)
        if isinstance(values[0].type, Float):
            return MathCall(values[0].type, values[0].at, "math.absf", (values[0],))
        negated = self.expressions.combine(node, "-", constant(0, values[0].at), values[0])
        return None if negated is None else self.expressions.combine(node, "max", values[0], negated)

    def _python_cast(self, node: ast.Call, target: AlloType) -> Expr | None:
        values = self.expressions.operands(*node.args)
        if values is None:
            return None
        if len(values) != 1:
            self.scope.error(node, f"`{ast.unparse(node.func)}()` takes one number")
            return None
        return convert(values[0], target)

    def elementary(self, node: ast.AST, function: str, operands: list[Expr]) -> Expr | None:
        floats = [o.type for o in operands if isinstance(o.type, Float) and not isinstance(o, Const)]
        target = max(floats, key=lambda f: f.width) if floats else float32
        arity = 2 if function == "math.powf" else 1
        if len(operands) != arity:
            self.scope.error(
                node,
                f"{ast.unparse(node.func) if isinstance(node, ast.Call) else '**'}() takes "
                f"{counted(arity, 'number')}, got {counted(len(operands), 'number') if operands else 'none'}",
            )
            return None
        return MathCall(
            target, self.scope.source.position(node), function, tuple(convert(o, target) for o in operands)
        )
