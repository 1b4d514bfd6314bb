"""Decides which functions a module holds: the kernel and all that it calls, each checked once."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..errors import Diagnostic, KernelError, counted
from ..ir.module import Module
from ..ir.types import AlloType, Fixed, Struct, TensorType, UFixed
from . import dsl
from .annotations import read_annotation
from .check import StatementChecker
from .emit import emit_module
from .nodes import Function, Kind, Return, Symbol
from .scope import Scope
from .source import KernelSource, read_kernel


def kernel_to_module(kernel: Callable[..., Any]) -> Module:
    """Compile `kernel` and the kernels it calls to a module whose entry is `kernel`.

    Raises KernelError with all mistakes, each with file, line and column.
    """
    program = Program()
    top = program.function(kernel)
    if program.diagnostics or top is None:
        raise KernelError.collected(program.diagnostics)
    return emit_module(tuple(program.functions.values()), top)


class Program:
    """The kernels reached so far, callees before callers."""

    def __init__(self) -> None:
        self.functions: dict[int, Function] = {}
        self.diagnostics: list[Diagnostic] = []
        self._open: list[FunctionType] = []
        self._failed: set[int] = set()

    def function(self, kernel: Callable[..., Any]) -> Function | None:
        """The checked form of `kernel`; None if it has mistakes."""
        source = read_kernel(kernel)
        before = len(self.diagnostics)
        self._open.append(source.function)
        scope = Scope(source, self.diagnostics, self._callee)
        function = Function(self._unique(source.name), source, (), ())
        function.params = self._params(scope, source)
        function.results = self._results(scope, source)
        checker = StatementChecker(scope, function)
        function.body = checker.body(source.tree.body)
        returns = any(isinstance(statement, Return) for statement in function.body)
        if function.results and not returns and len(self.diagnostics) == before:
            wanted = counted(len(function.results), "result")
            message = f"'{source.name}' is declared to give {wanted}, but returns none"
            scope.error(source.tree.returns or source.tree, message, "end it with `return x`")
        self._open.pop()
        if len(self.diagnostics) > before:
            self._failed.add(id(kernel))
            return None
        self.functions[id(kernel)] = function
        return function

    def _unique(self, name: str) -> str:
        taken = {f.name for f in self.functions.values()} | {f.__name__ for f in self._open[:-1]}
        unique, count = name, 0
        while unique in taken:
            count += 1
            unique = f"{name}_{count}"
        return unique

    def _callee(self, callee: Any, node: ast.AST, scope: Scope) -> Function | None:
        name = ast.unparse(getattr(node, "func", node))
        if not isinstance(callee, FunctionType) or (callee.__module__ or "").startswith(("allo.", "numpy")):
            same = next((f.__name__ for f in dsl.ELEMENTARY if f.__name__ == name.split(".")[-1]), None)
            hint = f"use allo.{same}" if same else "a kernel can call other kernels, and functions such as allo.exp"
            scope.error(node, f"`{name}` cannot be called in a kernel", hint)
            return None
        if callee in self._open:
            scope.error(
                node, f"'{name}' calls itself, and hardware has no call stack", "write a loop instead"
            )
            return None
        if id(callee) in self._failed:
            return None
        if id(callee) not in self.functions:
            try:
                return self.function(callee)
            except KernelError as error:
                scope.error(node, f"`{name}` cannot be called in a kernel: {error.args[0]}", error.diagnostics[0].hint)
                return None
        return self.functions[id(callee)]

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
        if getattr(source.tree, "type_params", None):
            scope.error(source.tree, "templates (`def f[T]`) are not supported yet", "write the types out")
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
    if "<locals>" not in source.function.__qualname__:
        return None
    value = source.function.__annotations__.get(name)
    if not isinstance(value, TensorType) or isinstance(value.element, Struct | Fixed | UFixed):
        return None
    return value if all(type(extent) is int and extent > 0 for extent in value.shape) else None
