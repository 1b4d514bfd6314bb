"""Decides which functions a module holds: the kernel and all that it calls, each checked once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from ..errors import Diagnostic, KernelError, counted
from ..ir.module import Module
from ..ir.names import unique_name
from ..ir.types import AlloType, Fixed, Struct, TensorType, UFixed
from . import dsl
from .annotations import read_annotation
from .check import StatementChecker
from .emit import emit_module
from .nodes import Function, Kind, Return, Symbol
from .ranges import surely_inside
from .scope import Scope
from .source import KernelSource, read_kernel
from .templates import NestedKernel, TemplateInstance, instantiate, parameters_of


@dataclass(frozen=True, slots=True)
class Compiled:
    """A module, and the names of the functions in which all subscripts are known to be inside of their arrays."""

    module: Module
    inside: frozenset[str]


def compile_kernel(kernel: Callable[..., Any], arguments: Sequence[Any] | Mapping[str, Any] | None = None) -> Compiled:
    """Compile `kernel` and the kernels it calls to a module whose entry is `kernel`.

    `arguments` are the values of the parameters of a template. Raises KernelError with all mistakes, each with
    file, line and column.
    """
    program = Program()
    source = read_kernel(kernel)
    if arguments is not None or parameters_of(source):
        source = instantiate(source, arguments)
    top = program.function(source, id(kernel))
    if program.diagnostics or top is None:
        raise KernelError.collected(program.diagnostics)
    functions = tuple(program.functions.values())
    inside = frozenset(function.name for function in functions if surely_inside(function))
    return Compiled(emit_module(functions, top), inside)


class Program:
    """The kernels reached so far, callees before callers; a key is a kernel with its template arguments."""

    def __init__(self) -> None:
        self.functions: dict[Hashable, Function] = {}
        self.diagnostics: list[Diagnostic] = []
        self._open: dict[Hashable, str] = {}
        self._failed: set[Hashable] = set()

    def function(self, source: KernelSource, key: Hashable, name: str | None = None) -> Function | None:
        """The checked form of the kernel `source`; None if it has mistakes."""
        before = len(self.diagnostics)
        unique = self._unique(name or source.name)
        self._open[key] = unique
        scope = Scope(source, self.diagnostics, self._callee)
        function = Function(unique, source, (), ())
        function.params = self._params(scope, source)
        function.results = self._results(scope, source)
        checker = StatementChecker(scope, function)
        function.body = checker.body(source.tree.body)
        returns = any(isinstance(statement, Return) for statement in function.body)
        if function.results and not returns and len(self.diagnostics) == before:
            wanted = counted(len(function.results), "result")
            message = f"'{source.name}' is declared to give {wanted}, but returns none"
            scope.error(source.tree.returns or source.tree, message, "end it with `return x`")
        del self._open[key]
        if len(self.diagnostics) > before:
            self._failed.add(key)
            return None
        self.functions[key] = function
        return function

    def _unique(self, name: str) -> str:
        taken = {f.name for f in self.functions.values()} | set(self._open.values())
        return unique_name(name, taken)

    def _callee(self, callee: Any, node: ast.AST, scope: Scope) -> Function | None:
        """The function that a call means; None after an error at `node`."""
        text = ast.unparse(getattr(node, "func", node))
        instance = callee if isinstance(callee, TemplateInstance) else TemplateInstance(callee, (), None)
        kernel = instance.kernel
        library = (getattr(kernel, "__module__", None) or "").startswith(("allo.", "numpy"))
        if not isinstance(kernel, NestedKernel) and (not isinstance(kernel, FunctionType) or library):
            same = next((f.__name__ for f in dsl.ELEMENTARY if f.__name__ == text.split(".")[-1]), None)
            hint = f"use allo.{same}" if same else "a kernel can call other kernels, and functions such as allo.exp"
            scope.error(node, f"`{text}` cannot be called in a kernel", hint)
            return None
        identity = id(kernel.source.tree) if isinstance(kernel, NestedKernel) else id(kernel)
        key: Hashable = (identity, instance.values, instance.id) if isinstance(callee, TemplateInstance) else identity
        if key in self._open:
            scope.error(node, f"'{text}' calls itself, and hardware has no call stack", "write a loop instead")
            return None
        if key in self._failed:
            return None
        if key in self.functions:
            return self.functions[key]
        try:
            source = kernel.source if isinstance(kernel, NestedKernel) else read_kernel(kernel)
            if isinstance(callee, TemplateInstance) or parameters_of(source):
                source = instantiate(source, instance.values)
            name = f"{source.name}_{instance.id}" if instance.id else None
            return self.function(source, key, name)
        except KernelError as error:
            first = error.diagnostics[0]
            scope.error(node, f"`{text}` cannot be called in a kernel: {first.message}", first.hint)
            return None

    def _params(self, scope: Scope, source: KernelSource) -> tuple[Symbol, ...]:
        arguments = source.tree.args
        for extra in (arguments.vararg, arguments.kwarg, *arguments.kwonlyargs):
            if extra is not None:
                what = "keyword-only" if extra in arguments.kwonlyargs else "collecting"
                hint = "write out every argument, without * and **"
                scope.error(extra, f"a kernel cannot have the {what} argument '{extra.arg}'", hint)
                scope.declare(extra.arg, Kind.INVALID, None, source.position(extra))
        for default in arguments.defaults:
            scope.error(default, "kernel arguments have no default values", "pass the value in the call")
        params = []
        for argument in (*arguments.posonlyargs, *arguments.args):
            declared: AlloType | TensorType | None = None
            if argument.annotation is None:
                scope.error(
                    argument, f"argument '{argument.arg}' has no type", "annotate it: `A: float32[M, N]`"
                )
            else:
                declared = _evaluated(source, argument.arg) or read_annotation(scope, argument.annotation)
            kind = Kind.TENSOR if isinstance(declared, TensorType) else Kind.ARGUMENT
            at = source.position(argument)
            params.append(
                scope.declare(argument.arg, Kind.INVALID if declared is None else kind, declared, at)
            )
        return tuple(params)

    def _results(self, scope: Scope, source: KernelSource) -> tuple[AlloType | TensorType, ...]:
        node = source.tree.returns
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return ()
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        if (evaluated := _evaluated(source, "return")) is not None:
            return (evaluated,)
        types = [read_annotation(scope, part) for part in parts]
        return tuple(t for t in types if t is not None)


def _evaluated(source: KernelSource, name: str) -> TensorType | None:
    """What Python made of an annotation of a nested function: variables used only there are not in its closure."""
    if source.function is None or "<locals>" not in source.function.__qualname__:
        return None
    value = source.function.__annotations__.get(name)
    if not isinstance(value, TensorType) or isinstance(value.element, Struct | Fixed | UFixed):
        return None
    return value if all(type(extent) is int and extent > 0 for extent in value.shape) else None
