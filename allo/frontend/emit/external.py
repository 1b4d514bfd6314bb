"""Emitter of declarations of external kernels: what one may write, and where its source is."""

from __future__ import annotations

from mlir import ir

from ...ir.builder import Builder, string_attr, unit_attr
from ...ir.context import context
from ...ir.mlir_types import memref_type, storage_type
from ...ir.module import Module
from ...ir.streams import SIDE
from ...ir.types import AlloType, TensorType
from ..typing.external import ExternalKernel
from ..typing.nodes import CheckedFunction
from .given_code import EXTERNAL, source_attribute


def emit_external(module: Module, function: CheckedFunction, kernel: ExternalKernel) -> None:
    """Add `func.func private`; arrays that are only read are marked `llvm.readonly`."""
    inputs = [_type(symbol.type) for symbol in function.params if symbol.type is not None]
    results = [] if kernel.result is None else [storage_type(kernel.result)]
    marks = []
    for symbol, parameter in zip(function.params, kernel.parameters, strict=True):
        entries: dict[str, ir.Attribute] = {"allo.name": string_attr(symbol.name)}
        if isinstance(symbol.type, TensorType) and not parameter.written:
            entries["llvm.readonly"] = unit_attr()
        if parameter.stream:
            entries[SIDE] = string_attr(parameter.stream)
        marks.append(ir.DictAttr.get(entries, context()))
    attributes: dict[str, ir.Attribute] = {
        "sym_name": string_attr(function.name),
        "sym_visibility": string_attr("private"),
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, results, context()), context()),
        EXTERNAL: source_attribute(kernel),
    }
    if marks:
        attributes["arg_attrs"] = ir.ArrayAttr.get(marks, context())
    location = ir.Location.file(kernel.file, kernel.line, 1, context())
    Builder(ir.InsertionPoint(module.mlir.body), location).op("func.func", (), (), attributes, 1)


def _type(kind: AlloType | TensorType) -> ir.Type:
    return memref_type(kind) if isinstance(kind, TensorType) else storage_type(kind)
