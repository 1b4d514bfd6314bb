"""Constant arrays of a module: one `memref.global` for each."""

from __future__ import annotations

from typing import Any

import numpy as np
from mlir import ir

from ...ir.builder import Builder, memory_attr, string_attr, unit_attr
from ...ir.context import context, unknown_location
from ...ir.forms import array_words
from ...ir.mlir_types import memref_type
from ...ir.module import Module
from ...ir.names import unique_name
from ...ir.types import AlloType, Fixed, Int, Struct, TensorType, UFixed, UInt
from ...ir.words import bytes_of, is_plain, shifted
from ..typing.nodes import Symbol


class ConstantPool:
    """The constant arrays of one module, by identity of the NumPy array."""

    def __init__(self, module: Module, function_names: set[str]) -> None:
        self._globals: dict[int, str] = {}
        self._names = set(function_names)
        self._builder = Builder(ir.InsertionPoint.at_block_begin(module.mlir.body))

    def address(
        self, symbol: Symbol, global_name: str, name: str, entry: ir.Block, at: ir.Location
    ) -> ir.Value:
        """The buffer of `symbol`, declared `at` a place, in the function that starts with `entry`."""
        assert symbol.type is not None
        shaped = symbol.type if isinstance(symbol.type, TensorType) else TensorType(symbol.type, ())
        memref = memref_type(shaped)
        raw = memref_type(TensorType(_stored_as(shaped.element), shaped.shape))
        is_state = symbol.state is not None
        array = symbol.state if is_state else symbol.constant
        key = id(array)
        if key not in self._globals:
            self._globals[key] = self._define(array, shaped.element, global_name, raw, is_state)
        symbol_ref = ir.FlatSymbolRefAttr.get(self._globals[key], context())
        builder = Builder(ir.InsertionPoint.at_block_begin(entry), at)
        name_attr = string_attr(name)
        attributes = {"name": symbol_ref, "allo.name": name_attr}
        if symbol.memory is not None:
            attributes["allo.memory"] = memory_attr(symbol.memory)
        address = builder.value("memref.get_global", raw, (), attributes)
        if raw == memref:
            return address
        return builder.value("allo.element_cast", memref, [address], {"allo.name": name_attr})

    def _define(
        self, array: np.ndarray[Any, Any], element: AlloType, wanted: str, memref: ir.MemRefType, is_state: bool
    ) -> str:
        name = unique_name(wanted, self._names)
        tensor = ir.RankedTensorType.get(memref.shape, memref.element_type, None, unknown_location())
        attributes: dict[str, ir.Attribute] = {
            "sym_name": string_attr(name),
            "sym_visibility": string_attr("private"),
            "type": ir.TypeAttr.get(memref, context()),
            "initial_value": _dense(np.asarray(array, array.dtype.newbyteorder("="), order="C"), tensor)
            if _is_buffer(element)
            else _dense_bits(_low_bits(element, array, f"'{wanted}'"), element.bits, tensor),
        }
        if not is_state:
            attributes["constant"] = unit_attr()
        self._builder.op("memref.global", (), (), attributes)
        return name


def _stored_as(element: AlloType) -> AlloType:
    """The integers that attributes of MLIR hold for fixed-point numbers and structs."""
    if isinstance(element, Fixed):
        return Int(element.width)
    return UInt(element.bits) if isinstance(element, UFixed | Struct) else element


def _is_buffer(element: AlloType) -> bool:
    """Whether attributes of MLIR have the bytes that NumPy has for the elements."""
    if isinstance(element, Int | UInt):
        return element.width in (8, 16, 32, 64)
    return is_plain(element)


def _low_bits(element: AlloType, array: np.ndarray[Any, Any], what: str) -> np.ndarray[Any, Any]:
    """The words of elements; an integer of an odd width comes in a wider dtype, with its low bits."""
    if isinstance(element, Int | UInt) and array.dtype.kind in "iu":
        return shifted(array, 0, element.width)
    return array_words(element, array, what)


def _dense_bits(words: np.ndarray[Any, Any], bits: int, tensor: ir.RankedTensorType) -> ir.Attribute:
    """Integers of any width, from their bits."""
    if bits == 1:
        data = np.packbits(words[..., 0].astype(np.bool_).reshape(-1), bitorder="little").tobytes()
    else:
        data = bytes_of(words, -(-bits // 8)).tobytes()
    return ir.Attribute.parse(f'dense<"0x{data.hex()}"> : {tensor}', context())


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
