"""Bits of constants, however MLIR prints them: numbers, one number for all, bytes in hexadecimal, bits."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from mlir import ir

from allo.ir.context import context
from allo.ir.dense import constant_integers, dense_bits, float_bits
from allo.ir.module import Module
from allo.ir.walk import entry_block, operations

FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
COUNTS = (1, 2, 7, 8, 9, 40, 300)  # long arrays are printed as bytes, those of truth values as bits


def attribute(kind: str, numbers: list[str]) -> tuple[ir.Attribute, ir.Type]:
    text = numbers[0] if len(set(numbers)) == 1 else f"[{', '.join(numbers)}]"
    with context(), ir.Location.unknown():
        return ir.Attribute.parse(f"dense<{text}> : tensor<{len(numbers)}x{kind}>"), ir.Type.parse(kind)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("width", [1, 3, 8, 16, 32, 64, 100])
def test_integers(width: int, count: int) -> None:
    random = np.random.default_rng(width * count)
    least, most = (0, 2) if width == 1 else (-(1 << min(width - 1, 62)), 1 << min(width - 1, 62))
    values = [int(value) for value in random.integers(least, most, count)]
    found = dense_bits(*attribute(f"i{width}", [str(v) if width > 1 else str(bool(v)).lower() for v in values]), count)
    mask = (1 << width) - 1
    assert [bits & mask for bits in found] == [value & mask for value in values]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("kind", FLOATS)
def test_floats(kind: str, count: int) -> None:
    values = np.random.default_rng(count).integers(-40, 40, count) / 4
    wanted = [int.from_bytes(word.tobytes(), "little") for word in values.astype(FLOATS[kind])]
    assert dense_bits(*attribute(kind, [repr(float(value)) for value in values]), count) == wanted


@pytest.mark.parametrize(("text", "bits"), [("1.5", 0x3FC00000), ("0x7FC00000", 0x7FC00000), ("-0.0", 1 << 31)])
def test_one_float(text: str, bits: int) -> None:
    with context(), ir.Location.unknown():
        assert float_bits(ir.FloatAttr(ir.Attribute.parse(f"{text} : f32"))) == bits


TEXT = """
module {{
  memref.global {visible} @table : memref<3x{kind}> = dense<[{values}]>
  func.func @f() {{
    %a = memref.get_global @table : memref<3x{kind}>
    return
  }}
}}
"""


@pytest.mark.parametrize(
    ("kind", "values", "found"),
    [
        ("ui8", "200, 3, 255", [200, 3, 255]),
        ("i8", "-56, 3, -1", [-56, 3, -1]),
        ("i1", "true, false, true", [1, 0, 1]),
        ("index", "7, 0, 9", [7, 0, 9]),
        ("f32", "1.0, 2.0, 3.0", None),
    ],
)
def test_integers_of_tables(kind: str, values: str, found: list[int] | None) -> None:
    for visible in ('"private" constant', '"private"'):
        module = Module.parse(TEXT.format(visible=visible, kind=kind, values=values))
        entry = entry_block(module.function("f"))
        assert entry is not None
        (address,) = operations(entry, "memref.get_global")
        assert constant_integers(address.results[0]) == (found if "constant" in visible else None)
