"""Elements of a constant array, read from its attribute and written to it as plain bits."""

from __future__ import annotations

import re
import struct
from typing import Any

import numpy as np
from mlir import ir

from ...ir.context import context, unknown_location

_FLOATS: dict[type[ir.Type], tuple[str, str]] = {
    ir.F16Type: ("e", "H"),
    ir.F32Type: ("f", "I"),
    ir.F64Type: ("d", "Q"),
}


def element_bits(attribute: ir.Attribute, width: int) -> np.ndarray[Any, Any]:
    """The elements, of `width` bits each, as Python integers that are not negative, in the shape of the array."""
    dense = ir.DenseElementsAttr(attribute)
    shaped = ir.ShapedType(dense.type)
    shape = [shaped.get_dim_size(dimension) for dimension in range(shaped.rank)]
    element = shaped.element_type
    text = str(attribute)
    body = text[text.index("<") + 1 : text.rindex("> : ")]
    if body.startswith('"'):  # long arrays are printed as their bytes; those of truth values as bits or bytes
        if width == 1:
            return np.array(dense).astype(np.uint8).astype(object)
        raw = bytes.fromhex(body[3:-1])
        size = len(raw) // int(np.prod(shape))
        numbers = [int.from_bytes(raw[k : k + size], "little") for k in range(0, len(raw), size)]
    else:
        numbers = [_number(token, element) for token in re.findall(r"[^\[\], ]+", body)]
    mask = (1 << width) - 1
    values = np.array([number & mask for number in numbers], object)
    return np.broadcast_to(values, int(np.prod(shape))).reshape(shape)


def _number(token: str, element: ir.Type) -> int:
    """The bits of one printed element; negative integers are sign-extended without end."""
    if token in ("true", "false"):
        return int(token == "true")
    if token.startswith("0x"):
        return int(token, 16)
    if isinstance(element, ir.IntegerType):
        return int(token)
    if isinstance(element, ir.BF16Type):
        (bits,) = struct.unpack("I", struct.pack("f", float(token)))
        return int(bits + 0x7FFF + (bits >> 16 & 1)) >> 16  # the nearest: what is printed is that of one bf16
    form, word = next(forms for kind, forms in _FLOATS.items() if isinstance(element, kind))
    (bits,) = struct.unpack(word, struct.pack(form, float(token)))
    return int(bits)


def words_attribute(words: np.ndarray[Any, Any], word: ir.Type) -> ir.Attribute:
    """The attribute of an array of words, given as Python integers that are not negative."""
    made = ir.RankedTensorType.get(words.shape, word, None, unknown_location())
    return ir.Attribute.parse(f"dense<{words.tolist()}> : {made}", context())
