"""Bits of constants: of numbers, and of the elements of arrays and states of a module."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

import ml_dtypes
import numpy as np
from mlir import ir

from .access import global_name
from .context import context, unknown_location

_FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}


def float_bits(attribute: ir.FloatAttr) -> int:
    """The bits of a float: those that MLIR prints, in hexadecimal if it has no short text."""
    text = str(attribute).split(" :")[0]
    if text.startswith("0x"):
        return int(text, 16)
    word = np.array(attribute.value, np.float64).astype(_FLOATS[str(attribute.type)])
    return int.from_bytes(word.tobytes(), "little")


def dense_bits(attribute: ir.Attribute, stored: ir.Type, count: int) -> list[int]:
    """The bits of the elements."""
    if isinstance(attribute, ir.UnitAttr):
        return [0] * count
    width = 64 if isinstance(stored, ir.IndexType) else stored.width
    array = ir.DenseElementsAttr(attribute) if not isinstance(attribute, ir.DenseElementsAttr) else attribute
    if isinstance(attribute, ir.DenseFPElementsAttr) and not isinstance(stored, ir.BF16Type):
        return [int(bits) for bits in np.array(attribute).reshape(-1).view(f"uint{width}")]
    if width not in (8, 16, 32, 64) or not isinstance(attribute, ir.DenseIntElementsAttr):
        return _written_values(attribute, width, count)
    if array.is_splat:
        return [int(ir.IntegerAttr(array.get_splat_value()).value)] * count
    return [int(value) for value in attribute]


def reshaped(attribute: ir.Attribute, shape: Sequence[int]) -> ir.Attribute:
    """The same elements in another shape. Long ones are printed as one string of bytes, and equal ones once."""
    element = ir.ShapedType(ir.DenseElementsAttr(attribute).type).element_type
    text = str(attribute)
    body = text[text.index("<") + 1 : text.rindex("> : ")]
    if body.startswith("["):
        numbers = re.findall(r"[^\[\], ]+", body)
        for extent in reversed(shape):
            numbers = [f"[{', '.join(numbers[k : k + extent])}]" for k in range(0, len(numbers), extent)]
        (body,) = numbers
    made = ir.RankedTensorType.get(shape, element, None, unknown_location())
    return ir.Attribute.parse(f"dense<{body}> : {made}", context())


def constant_integers(address: ir.Value) -> list[int] | None:
    """The elements, row by row, of the array of constant integers at an address; None if another array is there."""
    symbol = global_name(address)
    op = None if symbol is None else address.owner.operation
    while op is not None and op.name != "builtin.module":
        op = None if op.parent is None else op.parent.operation
    for made in () if op is None else op.regions[0].blocks[0]:
        if made.operation.name == "memref.global" and made.attributes["sym_name"].value == symbol:
            kind = ir.MemRefType(address.type)
            if "constant" not in made.attributes or not isinstance(kind.element_type, ir.IntegerType | ir.IndexType):
                return None
            values = dense_bits(made.attributes["initial_value"], kind.element_type, prod(kind.shape))
            is_index = isinstance(kind.element_type, ir.IndexType)
            width = 64 if is_index else kind.element_type.width
            is_signed = is_index or (width > 1 and not kind.element_type.is_unsigned)
            return [v - (1 << width) if is_signed and v >> (width - 1) == 1 else v for v in values]
    return None


def _written_values(attribute: ir.Attribute, width: int, count: int) -> list[int]:
    """Of elements that the bindings do not read, odd widths and bfloat16: from the text `dense<...> : tensor<...>`."""
    body = str(attribute).partition("<")[2].partition(">")[0]
    if body.startswith('"0x'):
        if width == 1:  # bits or bytes, which the bindings read
            return [int(bit) for bit in np.array(attribute).reshape(-1)]
        data = bytes.fromhex(body.strip('"')[2:])
        size = len(data) // count
        return [int.from_bytes(data[n : n + size], "little") for n in range(0, len(data), size)]
    words = body.replace("[", " ").replace("]", " ").replace(",", " ").split()
    values = [_written(word, isinstance(attribute, ir.DenseFPElementsAttr)) for word in words]
    return values * count if len(values) == 1 else values


def _written(word: str, is_bfloat16: bool) -> int:
    """The bits of one number."""
    if word in ("true", "false"):
        return int(word == "true")
    if word.startswith("0x"):
        return int(word, 16)
    return int(np.float64(word).astype(ml_dtypes.bfloat16).view(np.uint16)) if is_bfloat16 else int(word)
