"""Emitter of modules: the typed trees of a program become a module of MLIR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir import ir

from ...ir.module import Module
from ...ir.parts import Part
from ..typing.nodes import CheckedFunction
from .constants import ConstantPool
from .external import emit_external
from .statements import FunctionEmitter


def emit_module(
    functions: Sequence[CheckedFunction], top: CheckedFunction, parts: Mapping[str, Part | None] | None = None
) -> Module:
    """The module of `functions`, callees first, with entry `top`; `parts` are those that were emitted before."""
    module = Module.empty(top.name)
    constants = ConstantPool(module, {function.name for function in functions})
    for function in functions:
        if function.external is not None:
            emit_external(module, function, function.external)
        elif parts and (part := parts.get(function.name)) is not None:
            part.copy(ir.InsertionPoint(module.mlir.body), function.name)
        else:
            FunctionEmitter(module, function, constants).emit()
    module.verify()
    return module
