"""Bits of the constants of a module."""

from __future__ import annotations

import re
import struct
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
from mlir import ir

from .engine import ExpressionGraph, Ids
from .operators import BF16, F16, F32, ScalarType

_DTYPES = {F16: np.float16, BF16: ml_dtypes.bfloat16}


def constant_bits(attribute: ir.Attribute, scalar: ScalarType) -> int:
    """The bits of the value of an `arith.constant`."""
    if isinstance(attribute, ir.BoolAttr):
        return int(attribute.value)
    if isinstance(attribute, ir.IntegerAttr):
        text = str(attribute).split(" :")[0]
        value = {"true": 1, "false": 0}.get(text)
        return (int(text) if value is None else value) & ((1 << scalar.width) - 1)
    return float_bits(ir.FloatAttr(attribute).value, scalar)


def float_bits(value: float, scalar: ScalarType) -> int:
    """The bits of a number that the type holds exactly."""
    if scalar in _DTYPES:
        return int(np.array(value, dtype=_DTYPES[scalar]).view(np.uint16))
    form, bits = ("<f", "<I") if scalar == F32 else ("<d", "<Q")
    return int(struct.unpack(bits, struct.pack(form, value))[0])


def global_values(graph: ExpressionGraph, op: ir.Operation, scalar: ScalarType, count: int) -> Ids | None:
    """The elements of a constant array; None if the module does not have them."""
    if "initial_value" not in op.attributes:
        return None
    initial = op.attributes["initial_value"]
    if not isinstance(initial, ir.DenseElementsAttr):
        return None
    if initial.is_splat:
        bits = constant_bits(initial.get_splat_value(), scalar)
        return np.full(count, graph.constant(scalar, bits), dtype=np.uint32)
    if scalar.code == 0 and scalar.width in (8, 16, 32, 64):
        values = np.array(ir.DenseIntElementsAttr(initial)).reshape(-1).view(f"u{scalar.width // 8}")
    elif scalar.code and scalar.code != BF16.code:
        values = np.array(ir.DenseFPElementsAttr(initial)).reshape(-1).view(f"u{scalar.width // 8}")
    else:
        words = _words_of_text(str(initial), scalar, count)
        return np.array([graph.constant(scalar, word) for word in words], dtype=np.uint32)
    return _interned(graph, scalar, values)


def _words_of_text(text: str, scalar: ScalarType, count: int) -> list[int]:
    """The elements by the text of the attribute: bytes from the lowest on, or numbers."""
    size = (scalar.width + 7) // 8
    if text.startswith('dense<"0x'):
        data = bytes.fromhex(text[9 : text.index('"', 9)])
        return [int.from_bytes(data[size * k : size * (k + 1)], "little") for k in range(count)]
    numbers = re.findall(r"[-+.\w]+", text[len("dense<") :].split("> : ")[0])
    return [float_bits(float(n), scalar) if scalar.code else int(n) for n in numbers]


def _interned(graph: ExpressionGraph, scalar: ScalarType, values: npt.NDArray[Any]) -> Ids:
    distinct, places = np.unique(values, return_inverse=True)
    ids = np.array([graph.constant(scalar, int(value)) for value in distinct], dtype=np.uint32)
    return ids[places.reshape(-1)]


def float_value(bits: int, scalar: ScalarType) -> float:
    """The number that bits are."""
    if scalar in _DTYPES:
        return float(np.array(bits, dtype=np.uint16).view(_DTYPES[scalar]))
    form, whole = ("<f", "<I") if scalar == F32 else ("<d", "<Q")
    return float(struct.unpack(form, struct.pack(whole, bits))[0])
