"""External kernels as kernels see them: name, parameters, and where the source is."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...ir.types import AlloType, TensorType, shape_text
from ..read.source import KernelSource
from .nodes import CallEffects, CheckedFunction, Symbol, SymbolKind


@dataclass(frozen=True, slots=True)
class ExternalParameter:
    """A parameter: a scalar by value if `shape` is (), an array of any shape if it is None.

    Extents that are DYNAMIC may be any; `written` tells whether the external kernel may change the array. A stream of
    C++ is an array of its elements in their order, and `stream` says which way they go: "in" or "out".
    """

    name: str
    element: AlloType
    shape: tuple[int, ...] | None
    written: bool
    stream: str = ""

    def __str__(self) -> str:
        if self.stream:
            extents = "" if self.type is None else shape_text(self.shape or ())
            return f"{self.name}: Stream[{self.element!r}]{extents} {self.stream}"
        return f"{self.name}: {self.type or f'{self.element!r} array'}"

    @property
    def type(self) -> AlloType | TensorType | None:
        """Its type; None if its shape is that of the argument."""
        if self.shape is None:
            return None
        return TensorType(self.element, self.shape) if self.shape else self.element


@dataclass(frozen=True, slots=True)
class ExternalKernel:
    """A function that is not written in Python; `facts` are the entries of its declaration in MLIR.

    `call`, where it is known, runs it with NumPy arrays and numbers.
    """

    name: str
    parameters: tuple[ExternalParameter, ...]
    result: AlloType | None
    file: str
    line: int
    facts: tuple[tuple[str, str | bool | tuple[str, ...]], ...]
    call: Callable[..., Any] | None = field(default=None, compare=False)


class ExternalValue:
    """A Python value that kernels may call as an external kernel."""

    @property
    def kernel(self) -> ExternalKernel:
        """What kernels see of it."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class ExternalInstance:
    """An external kernel with arrays of certain types."""

    kernel: ExternalKernel
    types: tuple[AlloType | TensorType, ...]


def fitting(
    parameter: ExternalParameter, given: AlloType | TensorType | None
) -> AlloType | TensorType | None:
    """The type of `parameter` in a call with an argument of type `given`; None if it needs an array and gets none."""
    if parameter.type is not None and (
        not isinstance(parameter.type, TensorType) or parameter.type.is_static
    ):
        return parameter.type
    if not isinstance(given, TensorType) or not given.is_static:
        return None
    if parameter.shape is None:
        return TensorType(parameter.element, given.shape)
    if len(given.shape) != len(parameter.shape):
        return None
    extents = zip(given.shape, parameter.shape, strict=True)
    return TensorType(parameter.element, tuple(have if want < 0 else want for have, want in extents))


def external_function(instance: ExternalInstance, name: str) -> CheckedFunction:
    """The function without a body that calls of `instance` mean."""
    kernel = instance.kernel
    tree = ast.parse("def external(): pass").body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.name = name  # which may be a keyword of Python
    source = KernelSource(None, tree, kernel.file, kernel.line - 1, {}, 0)
    at = source.position(tree)
    params = tuple(
        Symbol(p.name, SymbolKind.TENSOR if isinstance(t, TensorType) else SymbolKind.ARGUMENT, t, at)
        for p, t in zip(kernel.parameters, instance.types, strict=True)
    )
    written = frozenset(s for s, p in zip(params, kernel.parameters, strict=True) if p.written)
    results = () if kernel.result is None else (kernel.result,)
    return CheckedFunction(name, source, params, results, (), CallEffects(written, True), kernel)
