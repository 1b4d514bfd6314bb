"""Decides where constant arrays live: one `memref.global` for each array of a module."""

from __future__ import annotations

from typing import Any

import numpy as np
from mlir import ir

from ..ir.builder import Builder, string_attr, unit_attr
from ..ir.context import context, unknown_location
from ..ir.mlir_types import memref_type
from ..ir.module import Module
from ..ir.names import unique_name
from ..ir.types import TensorType
from .nodes import Symbol


class ConstantPool:
    """The constant arrays of one module, by identity of the NumPy array."""

    def __init__(self, module: Module, function_names: set[str]) -> None:
        self._globals: dict[int, str] = {}
        self._names = set(function_names)
        self._builder = Builder(ir.InsertionPoint.at_block_begin(module.mlir.body))

    def address(self, symbol: Symbol, global_name: str, name: str, entry: ir.Block) -> ir.Value:
        """The buffer of `symbol` in the function that starts with `entry`."""
        assert symbol.type is not None
        shaped = symbol.type if isinstance(symbol.type, TensorType) else TensorType(symbol.type, ())
        memref = memref_type(shaped)
        is_state = symbol.state is not None
        array = symbol.state if is_state else symbol.constant
        key = id(array)
        if key not in self._globals:
            self._globals[key] = self._define(array, global_name, memref, is_state)
        symbol_ref = ir.FlatSymbolRefAttr.get(self._globals[key], context())
        builder = Builder(ir.InsertionPoint.at_block_begin(entry))
        return builder.value(
            "memref.get_global", memref, (), {"name": symbol_ref, "allo.name": string_attr(name)}
        )

    def _define(self, array: np.ndarray[Any, Any], wanted: str, memref: ir.MemRefType, is_state: bool) -> str:
        name = unique_name(wanted, self._names)
        tensor = ir.RankedTensorType.get(memref.shape, memref.element_type, None, unknown_location())
        attributes: dict[str, ir.Attribute] = {
            "sym_name": string_attr(name),
            "sym_visibility": string_attr("private"),
            "type": ir.TypeAttr.get(memref, context()),
            "initial_value": _dense(np.asarray(array, array.dtype.newbyteorder("="), order="C"), tensor),
        }
        if not is_state:
            attributes["constant"] = unit_attr()
        self._builder.op("memref.global", (), (), attributes)
        return name


def _dense(array: np.ndarray[Any, Any], tensor: ir.RankedTensorType) -> ir.Attribute:
    if array.dtype.kind in "biu" and array.dtype != np.bool_:
        return ir.DenseElementsAttr.get(
            array, type=tensor.element_type, shape=list(array.shape), context=context()
        )
    if array.dtype.name == "bfloat16":
        return ir.DenseElementsAttr.get(
            array.view(np.uint16), type=tensor.element_type, shape=list(array.shape), context=context()
        )
    return ir.DenseElementsAttr.get(array, context=context())
