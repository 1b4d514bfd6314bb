"""Checker of calls of external kernels: arrays of any shape take that of the argument."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from ...ir.types import AlloType, TensorType
from ..typing.external import ExternalInstance, ExternalKernel, fitting
from ..typing.nodes import CheckedFunction, Expr, Symbol
from ..typing.scope import Scope
from ..typing.view import View

type Given = tuple[ast.expr, Expr | Symbol | View | None]


def external_callee(
    scope: Scope,
    node: ast.Call,
    kernel: ExternalKernel,
    given: Sequence[Given],
    named: Mapping[str | None, Given],
) -> CheckedFunction | None:
    """The declaration of `kernel` that fits the arguments; None after an error."""
    names = [parameter.name for parameter in kernel.parameters]
    arguments = dict(zip(names, given, strict=False)) | {
        name: value for name, value in named.items() if name in names
    }
    types: list[AlloType | TensorType] = []
    for parameter in kernel.parameters:
        place, value = arguments.get(parameter.name, (node, None))
        wanted = fitting(parameter, None if value is None else value.type)
        if wanted is None and value is not None:
            scope.error(
                place,
                f"argument '{parameter.name}' of '{kernel.name}' must be an array of {parameter.element!r} whose "
                f"extents are known when the kernel is compiled, got {value.type!r}",
            )
            return None
        if wanted is None and parameter.name in arguments:
            return None  # the argument has a mistake of its own
        # an argument that is missing is reported when arguments are bound to parameters
        types.append(TensorType(parameter.element, (1,)) if wanted is None else wanted)
    function: CheckedFunction | None = scope.compile_callee(ExternalInstance(kernel, tuple(types)), node, scope)
    return function
