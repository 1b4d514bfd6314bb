"""Constant arrays and states in C++."""

from __future__ import annotations

import numpy as np
from mlir import ir

from ....ir.dense import dense_bits
from ....ir.mlir_types import scalar_from_mlir
from ....ir.types import AlloType, Fixed, Float, Index, Int, Struct, UFixed, wrap
from ....ir.words import offsets
from .bits import BitWriter
from .operations import float_of_bits, float_text

_COLUMNS = 100


def global_text(op: ir.Operation, seen: ir.Type, name: str, operations: BitWriter) -> str:
    """The definition of a `memref.global` whose elements kernels see as those of `seen`."""
    memref = ir.MemRefType(seen)
    element = scalar_from_mlir(memref.element_type)
    shape = [int(extent) for extent in memref.shape]
    count = int(np.prod(shape)) if shape else 1
    stored = ir.MemRefType(ir.TypeAttr(op.attributes["type"]).value).element_type
    values = dense_bits(op.attributes["initial_value"], stored, count)
    texts = [element_text(element, bits, operations) for bits in values]
    constant = "const " if "constant" in op.attributes else ""
    declared = f"static {constant}{operations.types.scalar(element)} {name}{''.join(f'[{n}]' for n in shape)}"
    return f"{declared} = {_nested(texts, shape) if shape else texts[0]};"


def element_text(kind: AlloType, bits: int, operations: BitWriter) -> str:
    """A value from its bits, as an initial value."""
    bits &= (1 << (64 if isinstance(kind, Index) else kind.bits)) - 1
    match kind:
        case Float():
            number = float_of_bits(bits, kind.width, brain=kind.brain)
            return float_text(number, operations.types.scalar(kind))
        case Fixed() | UFixed():
            return operations.fixed_constant(bits, kind).text
        case Struct():
            parts = (
                element_text(field, bits >> low & ((1 << field.bits) - 1), operations)
                for _, field, low in offsets(kind)
            )
            return f"{{{', '.join(parts)}}}"
        case Index():
            return _integer(wrap(bits, Int(64)), 64, "int64_t")
    value = wrap(bits, kind) if isinstance(kind, Int) else bits
    if repr(kind) == "bool":
        return "true" if value else "false"
    return _integer(value, kind.bits, operations.types.scalar(kind))


def _integer(value: int, width: int, type_text: str) -> str:
    if -(2**31) < value < 2**31:
        return str(value)
    if width <= 32:
        return f"{type_text}({value}LL)"
    if width <= 64:
        return f"{type_text}({value}ULL)" if value >= 0 else f"{type_text}({value + 1}LL - 1)"
    return f'{type_text}("{value}", 10)'


def _nested(texts: list[str], shape: list[int]) -> str:
    """Braces for each dimension, in lines."""
    if len(shape) == 1:
        return _row(texts)
    size = len(texts) // shape[0]
    rows = (_nested(texts[n : n + size], shape[1:]) for n in range(0, len(texts), size))
    return "{\n" + ",\n".join(rows) + "}"


def _row(texts: list[str]) -> str:
    lines, line = [], ""
    for text in texts:
        if line and len(line) + len(text) > _COLUMNS:
            lines.append(line)
            line = ""
        line += f"{text}, "
    lines.append(line)
    return "{" + "\n  ".join(line.rstrip() for line in lines).removesuffix(",") + "}"
