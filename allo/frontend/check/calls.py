"""Checker of calls: of built-in functions, elementary functions, conversions, and other kernels."""

from __future__ import annotations

import ast
import builtins
from typing import Any

import numpy as np

from ...errors import counted, nearest
from ...ir.types import DYNAMIC, AlloType, Struct, TensorType, float32, int32
from .. import dsl, regions
from ..library.operations import is_operator
from ..read.source import KernelSource
from ..read.templates import TemplateInstance, template_instance
from ..typing.around import Seen
from ..typing.convert import constant, convert
from ..typing.external import ExternalValue
from ..typing.nodes import CallSite, CheckedFunction, Expr, KernelCall, Symbol, SymbolKind, Var
from ..typing.operations import absolute
from ..typing.overlap import may_share
from ..typing.scope import Scope, static_value
from ..typing.view import View, whole
from ..typing.writes import writes
from .annotations import read_annotation
from .checker import CheckedExpressions
from .deduce import NotDeduced, completed, template_source
from .external import external_callee
from .mesh.collectives import CollectiveChecker, is_collective
from .mesh.gathers import GatherChecker
from .operators import OperatorChecker
from .streams import StreamChecker, report_method
from .tensors import TensorChecker

type Value = Expr | Symbol | View | None
type Given = tuple[ast.expr, Value]


def is_function_of_values(callee: Any) -> bool:
    """Whether calls of `callee` are operations rather than calls of a kernel."""
    if isinstance(callee, AlloType):
        return True
    known = (builtins.min, builtins.max, builtins.abs, builtins.int, builtins.float, builtins.len, *dsl.ELEMENTARY)
    return any(callee is function for function in known) or is_operator(callee) or is_collective(callee)


def is_of_numbers(callee: Any) -> bool:
    """Whether `callee` computes with numbers and does nothing else, so that it may be called by the compiler."""
    pure = (builtins.round, builtins.sum, builtins.pow, np.prod)
    in_math = getattr(callee, "__module__", None) == "math"
    in_numpy = isinstance(callee, np.ufunc) or (isinstance(callee, type) and issubclass(callee, np.generic))
    return in_math or in_numpy or any(callee is function for function in pure)


def is_passed_as(given: AlloType | TensorType | None, wanted: TensorType, converted: bool = False) -> bool:
    """Whether an array of type `given` can be passed for `wanted`: a run-time extent takes any."""
    if not isinstance(given, TensorType) or len(given.shape) != len(wanted.shape):
        return False
    fits = all(want in (extent, DYNAMIC) for extent, want in zip(given.shape, wanted.shape, strict=True))
    return fits and (converted or given.element == wanted.element)


class CallChecker:
    """Turns `ast.Call` into `Expr` or `CallSite`; a method returns None after an error was reported."""

    def __init__(
        self,
        scope: Scope,
        expressions: CheckedExpressions,
        tensors: TensorChecker,
        operators: OperatorChecker,
        streams: StreamChecker,
        collectives: CollectiveChecker,
        gathers: GatherChecker,
    ) -> None:
        self.scope = scope
        self.expressions = expressions
        self.tensors = tensors
        self.operators = operators
        self.streams = streams
        self.collectives = collectives
        self.gathers = gathers
        self.builder = tensors.builder
        self.structs = tensors.structs

    def value(self, node: ast.Call) -> Expr | Symbol | View | None:
        if self.streams.is_method(node.func):
            return self.streams.value(node)
        if isinstance(node.func, ast.Attribute) and self.tensors.is_method(node.func):
            return self.tensors.method(node, node.func)
        callee = self.callee(node)
        if callee is None:
            return None
        if callee is regions.gather:
            return self.gathers.gather(node)
        if is_collective(callee):
            return self.collectives.call(node, callee)
        if is_function_of_values(callee):
            return self._function_of_values(node, callee)
        if isinstance(callee, TensorType):
            return self.tensors.filled(node, callee)
        if is_of_numbers(callee) and (known := self._known(node)) is not None:
            return known
        seen = self.builder.seen
        call = self.kernel_call(node, callee)
        return None if call is None else self.result(node, call, seen)

    def is_scatter(self, node: ast.Call) -> bool:
        """Whether a call is `scatter(...)`, which gives no value."""
        try:
            return isinstance(node.func, ast.Name | ast.Attribute) and (
                static_value(self.scope, node.func) is regions.scatter
            )
        except (NameError, ValueError):
            return False

    def result(self, node: ast.AST, call: CallSite, seen: Seen) -> Expr | Symbol | None:
        """The one value that a call gives; `seen` is what the statement did before its arguments."""
        results = call.callee.results
        builder, at = self.builder, self.scope.source.position(node)
        if len(results) != 1:
            self.scope.error(
                node,
                f"the call of '{call.callee.name}' gives {counted(len(results), 'result') if results else 'no result'}"
                " where one value is needed",
                "give its results names in a statement of their own: `x, y = f(A)`" if results else None,
            )
            return None
        result = results[0]
        if isinstance(result, TensorType):
            return builder.received(at, call, seen)
        if builder.needs_after():
            received = builder.received(at, call, seen)
            return None if received is None else Var(result, at, received)
        builder.has_called(call)
        return KernelCall(result, at, call)

    def _function_of_values(self, node: ast.Call, callee: Any) -> Expr | View | None:
        """`min`, `max`, `abs`, a conversion, an elementary function, or an operator of the library."""
        if is_operator(callee):
            return self.operators.call(node, callee)
        if isinstance(callee, Struct):
            return self.structs.call(node, callee)
        named = [keyword for keyword in node.keywords if keyword.arg == "name"]
        if node.keywords and (len(named) < len(node.keywords) or callee not in dsl.ELEMENTARY):
            name = ast.unparse(node.func)
            self.scope.error(node.keywords[0], f"{name}() takes no keywords in a kernel", "drop the keyword")
            return None
        if callee is builtins.min or callee is builtins.max:
            return self._min_max(node, "min" if callee is builtins.min else "max")
        if callee is builtins.abs:
            return self._abs(node)
        if callee is builtins.len:
            return self._length(node)
        if isinstance(callee, AlloType):
            return self._python_cast(node, callee)
        if callee is builtins.int or callee is builtins.float:
            return self._python_cast(node, int32 if callee is builtins.int else float32)
        return self.operators.elementary(node, dsl.ELEMENTARY[callee])

    def callee(self, node: ast.Call) -> Any:
        """The Python value that is called, or None after an error."""
        return self._callee(node.func)

    def _callee(self, func: ast.expr) -> Any:
        if isinstance(func, ast.Subscript):
            return self._instance(func)
        if isinstance(func, ast.Name):
            symbol = self.scope.local(func.id)
            if symbol is not None and symbol.kind is SymbolKind.STATIC:
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
            report_method(self.scope, func, error)
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
        template = template_source(callee)
        deduced = template is not None or isinstance(callee, ExternalValue)
        function = None if deduced else self.scope.compile_callee(callee, node, self.scope)
        kinds = {p.name: p.type for p in function.params} if function is not None else {}
        wanted = [*kinds.values(), *(None for _ in node.args)]
        given = [(argument, self._given(argument, kind)) for argument, kind in zip(node.args, wanted, strict=False)]
        named = {k.arg: (k.value, self._given(k.value, kinds.get(k.arg or ""))) for k in node.keywords}
        if template is not None:
            function = self._deduced(node, callee, template, given, named)
        elif isinstance(callee, ExternalValue):
            function = external_callee(self.scope, node, callee.kernel, given, named)
        if function is None or (bound := self._bound(node, function, given, named)) is None:
            return None
        self._refuse_shared(bound, function)
        arguments: list[Symbol | Expr] = []
        for (place, value), parameter in zip(bound, function.params, strict=True):
            checked = self._argument(place, value, parameter, function)
            if checked is None:
                return None
            arguments.append(checked)
        return CallSite(function, tuple(arguments))

    def _given(self, node: ast.expr, kind: AlloType | TensorType | None) -> Value:
        """The value of an argument for a parameter of this type, which may be a stream."""
        stream = self.scope.local(node.id) if isinstance(node, ast.Name) else None
        is_stream = stream is not None and stream.kind is SymbolKind.STREAM
        return stream if is_stream else self.expressions.any(node, kind)

    def _refuse_shared(self, bound: list[Given], function: CheckedFunction) -> None:
        """A part of an array is passed as a copy, which must not miss what the call writes through another argument."""
        pairs = zip(bound, function.params, strict=True)
        views = [
            (node, whole(value, value.at) if isinstance(value, Symbol) else value, parameter)
            for (node, value), parameter in pairs
            if (isinstance(value, Symbol) and value.kind is SymbolKind.TENSOR)
            or (isinstance(value, View) and value.place is not None)
        ]
        for position, (node, view, parameter) in enumerate(views):
            for earlier, other, known in views[:position]:
                both_whole = isinstance(node, ast.Name) and isinstance(earlier, ast.Name)
                if both_whole or view.sources[0][0] is not other.sources[0][0]:
                    continue
                if (writes(function, parameter) or writes(function, known)) and may_share(view, other):
                    name, texts = view.sources[0][0].name, f"`{ast.unparse(earlier)}` and `{ast.unparse(node)}`"
                    message = f"{texts} may have elements of '{name}' in common, and '{function.name}' writes to them"
                    self.scope.error(node, message, f"pass a copy: `{ast.unparse(node)}.copy()`")

    def _deduced(
        self, node: ast.Call, callee: Any, source: KernelSource, given: list[Given], named: dict[str | None, Given]
    ) -> CheckedFunction | None:
        """The instance of a template that the types of the arguments mean."""
        names = [argument.arg for argument in (*source.tree.args.posonlyargs, *source.tree.args.args)]
        values = [(name, value) for name, (_, value) in zip(names, given, strict=False)]
        values += [(name, value) for name, (_, value) in named.items() if name is not None]
        known = [(name, value) for name, value in values if value is not None]
        try:
            instance = completed(callee, source, known)
        except NotDeduced as error:
            if len(known) == len(values):
                self.scope.error(node, str(error), error.hint)
            return None
        return self.scope.compile_callee(instance, node, self.scope)

    def _bound(
        self, node: ast.Call, function: CheckedFunction, given: list[Given], named: dict[str | None, Given]
    ) -> list[Given] | None:
        """The arguments in the order of the parameters."""
        names = [parameter.name for parameter in function.params]
        for keyword in node.keywords:
            if keyword.arg not in names:
                what = f"argument '{keyword.arg}'" if keyword.arg else "collected arguments `**`"
                hint = nearest(keyword.arg or "", names) or f"its arguments are {', '.join(names) or 'none'}"
                self.scope.error(keyword, f"'{function.name}' has no {what}", hint)
                return None
            if keyword.arg in names[: len(given)]:
                self.scope.error(keyword, f"argument '{keyword.arg}' of '{function.name}' is given twice")
                return None
        bound = [*given, *(named[name] for name in names[len(given) :] if name in named)]
        if len(bound) == len(names):
            return bound
        takes = counted(len(names), "argument")
        got = counted(len(bound), "argument") if bound else "none"
        self.scope.error(node, f"'{function.name}' takes {takes}, got {got}")
        return None

    def _argument(
        self, node: ast.expr, value: Value, parameter: Symbol, function: CheckedFunction
    ) -> Symbol | Expr | None:
        callee = function.name
        if parameter.stream is not None or (isinstance(value, Symbol) and value.stream is not None):
            return self._stream(node, value, parameter, callee)
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
            if isinstance(value, Symbol) and is_passed_as(value.type, parameter.type):
                return value
            if isinstance(value, View) and is_passed_as(value.type, parameter.type, value.place is None):
                return self.builder.argument(value, parameter, writes(function, parameter))
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

    def _stream(self, node: ast.expr, value: Value, parameter: Symbol, callee: str) -> Symbol | None:
        """A stream for a parameter that is one."""
        given = value.stream if isinstance(value, Symbol) else None
        if given is not None and isinstance(value, Symbol) and given == parameter.stream:
            return value
        if value is not None:
            wanted, got = parameter.stream or parameter.type, given or value.type
            message = f"argument '{parameter.name}' of '{callee}' must be {wanted!r}, got {got!r}"
            self.scope.error(node, message)
        return None

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
        at = self.scope.source.position(node)
        result = absolute(values[0], at, self.scope.rules)
        return self.expressions.combine(node, "-", constant(0, at), values[0]) if result is None else result

    def _known(self, node: ast.Call) -> Expr | None:
        """`math.sqrt(N)` of compile-time constants, as a constant; None if it is not one number."""
        try:
            value = static_value(self.scope, node)
        except (NameError, ValueError):
            return None
        value = value.item() if isinstance(value, np.generic) else value
        return constant(value, self.scope.source.position(node)) if isinstance(value, int | float) else None

    def _length(self, node: ast.Call) -> Expr | View | None:
        """`len(A)` is `A.shape[0]`; of a list of the surrounding program, a constant."""
        if len(node.args) != 1:
            self.scope.error(node, f"len() takes one array, got {counted(len(node.args), 'argument')}")
            return None
        try:
            return constant(int(static_value(self.scope, node)), self.scope.source.position(node))
        except (NameError, ValueError):
            shape = ast.copy_location(ast.Attribute(node.args[0], "shape", ast.Load()), node)
            return self.tensors.subscript(
                ast.copy_location(ast.Subscript(shape, ast.Constant(0), ast.Load()), node)
            )

    def _python_cast(self, node: ast.Call, target: AlloType) -> Expr | None:
        values = self.expressions.operands(*node.args)
        if values is None:
            return None
        if len(values) != 1:
            self.scope.error(node, f"`{ast.unparse(node.func)}()` takes one number")
            return None
        return convert(values[0], target)
