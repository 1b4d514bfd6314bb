"""What compiled code calls for 128-bit integers and floats of 16 bits agrees with Python and NumPy."""

import ctypes
import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from mlir import ir

from .compiled import Compiled, elementwise

SIZE = 300


def wide_samples(seed: int, signed: bool) -> list[int]:
    generator = np.random.default_rng(seed)
    made = [0, 1, 2**63, 2**64 - 1, 2**64, 2**127 - 1, 2**53 + 1, 2**70 + 2**17 + 1, 2**106 + 2**53]
    made += [int.from_bytes(generator.bytes(16), "little") >> (1 + i * 7 % 120) for i in range(SIZE)]
    return [-v if signed and i % 2 else v for i, v in enumerate([*made, 0, *made])]


def pack(values: list[int]) -> np.ndarray:
    """Containers of 128 bits, for which NumPy has no type."""
    return np.frombuffer(b"".join((v % 2**128).to_bytes(16, "little") for v in values), np.complex128).copy()


def unpack(array: np.ndarray, signed: bool) -> list[int]:
    return [int.from_bytes(element.tobytes(), "little", signed=signed) for element in array]


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("op", ["div", "rem"])
def test_division(context: ir.Context, op: str, signed: bool) -> None:
    x = wide_samples(1, signed)
    y = [v or 3 for v in wide_samples(2, signed)[::-1]]
    result = np.zeros(len(x), np.complex128)
    body = f"%r = arith.{op}{'s' if signed else 'u'}i %x, %y : i128"
    Compiled(elementwise("i128", "i128", body, len(x), "i128"))(pack(x), pack(y), result)

    def truncated(a: int, b: int) -> int:
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if op == "div" else a - b * quotient

    assert unpack(result, signed) == [truncated(a, b) for a, b in zip(x, y, strict=True)]


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("name", ["f32", "f64"])
def test_integers_and_floats(context: ir.Context, name: str, signed: bool) -> None:
    x, kind, letter = wide_samples(3, signed), np.float32 if name == "f32" else np.float64, "su"[not signed]
    result = np.zeros(len(x), kind)
    Compiled(elementwise("i128", name, f"%r = arith.{letter}itofp %x : i128 to {name}", len(x)))(pack(x), result)
    digits = 24 if name == "f32" else 53
    wanted = []
    for value in x:
        unit = Fraction(2) ** max(abs(value).bit_length() - digits, 0)
        wanted.append(float(round(value / unit) * unit))
    assert result.tolist() == wanted

    back = np.zeros(len(x), np.complex128)
    inside = np.array([v for v in result.tolist() if abs(v) < 2.0**126] + [0.75, 3.9])
    inside = np.resize(inside, len(x)).astype(kind)
    Compiled(elementwise(name, "i128", f"%r = arith.fpto{letter}i %x : {name} to i128", len(x)))(inside, back)
    assert unpack(back, signed) == [math.trunc(v) for v in inside.tolist()]


def half_samples() -> np.ndarray:
    generator = np.random.default_rng(5)
    special = [0.0, -0.0, 1.0, 65504.0, 65520.0, 65519.9, 2**-14, 2**-24, 2**-25, 2**-26, 1e-40, 1e300, -1e300]
    special += [np.inf, -np.inf, np.nan, 1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-11 + 2**-40, 2**-14 - 2**-26]
    special += [1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-50, 3.4e38, 2.0**-133, 2.0**-134]
    random = generator.normal(size=1000) * 2.0 ** generator.integers(-30, 18, 1000)
    return np.concatenate([np.array(special), random])


def test_f64_to_f16(context: ir.Context) -> None:
    x = half_samples()
    result = np.zeros(len(x), np.float16)
    Compiled(elementwise("f64", "f16", "%r = arith.truncf %x : f64 to f16", len(x)))(x, result)
    with np.errstate(over="ignore", under="ignore"):
        wanted = x.astype(np.float16)
    assert np.array_equal(result, wanted, equal_nan=True)
    assert np.array_equal(np.signbit(result), np.signbit(wanted))


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_to_bf16(context: ir.Context, name: str) -> None:
    with np.errstate(over="ignore", under="ignore"):
        x = half_samples().astype(np.float32 if name == "f32" else np.float64)
    result = np.zeros(len(x), np.uint16)
    body = f"%b = arith.truncf %x : {name} to bf16\n %r = allo.bitcast %b : bf16 to i16"
    Compiled(elementwise(name, "i16", body, len(x)))(x, result)
    assert [nan_is_one(v) for v in result.tolist()] == [nan_is_one(nearest_bfloat(v)) for v in x.tolist()]


def nan_is_one(bits: int) -> int:
    return 0x7FC0 if bits & 0x7FFF > 0x7F80 else bits


def nearest_bfloat(value: float) -> int:
    """The bits of the bfloat16 nearest to `value`, of two the even one, by exact arithmetic."""
    sign = 0x8000 if math.copysign(1, value) < 0 else 0
    if math.isnan(value):
        return 0x7FC0
    if math.isinf(value):
        return sign | 0x7F80
    exponent = max(math.frexp(value)[1] - 8, -133) if value else -133
    rounded = float(abs(round(Fraction(value) / Fraction(2) ** exponent)) * Fraction(2) ** exponent)
    if rounded >= 2.0**128:
        return sign | 0x7F80
    return sign | struct.unpack("<I", ctypes.string_at(ctypes.byref(ctypes.c_float(rounded)), 4))[0] >> 16
