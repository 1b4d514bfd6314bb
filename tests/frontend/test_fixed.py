"""Fixed point against exact fractions: conversions truncate toward minus infinity and wrap, the rest is exact."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

import allo
from allo.ir.quantize import quantize
from allo.ir.types import OVERFLOWS, ROUNDINGS, Fixed, UFixed, bool, float64, int32
from tests.seeds import drawn, sweep

from .random_expressions import load

Q, U, WIDE = Fixed(12, 5), UFixed(9, 3), Fixed(40, 16)


def operate(a: float64, b: float64, n: int32) -> (float64, float64, float64, float64, float64, bool, int32):
    x: Q = a
    y: U = b
    total: WIDE = x + y - n
    product: WIDE = x * y
    quotient: WIDE = x / y
    return total, product, quotient, min(x, y), x, x < y, x


BUILT = allo.customize(operate).build()


def convert(value: float, width: int, fracs: int, signed: object) -> Fraction:
    mantissa = math.floor(Fraction(value) * 2**fracs) % 2**width
    if signed and mantissa >= 2 ** (width - 1):
        mantissa -= 2**width
    return Fraction(mantissa, 2**fracs)


@sweep(3)
@drawn(
    67,
    st.floats(-100, 100, allow_nan=False), st.floats(0.25, 60, allow_nan=False), st.integers(-1000, 1000)
)
def test_against_fractions(a: float, b: float, n: int) -> None:
    x, y = convert(a, 12, 5, True), convert(b, 9, 3, False)
    quotient = Fraction(math.floor(x / y * 2**5), 2**5)
    expected = (x + y - n, x * y, quotient, min(x, y), x, x < y, math.floor(x))
    assert BUILT(a, b, n) == expected


def divide(a: float64, b: float64) -> float64:
    x: Q = a
    y: Q = b
    return x / y


def test_division_by_zero_does_not_end_the_process() -> None:
    assert math.isfinite(allo.customize(divide).build()(1.0, 0.0))


def table(i: int32) -> float64:
    values: Q[4] = 0
    for k in range(4):
        values[k] = k * 0.75
    return values[i]


def test_local_arrays() -> None:
    built = allo.customize(table).build()
    assert [built(i) for i in range(4)] == [0.0, 0.75, 1.5, 2.25]


MODES = [Fixed(9, 3, rounding, overflow) for rounding in ROUNDINGS for overflow in OVERFLOWS]
NAMED = {f"T{k}": kind for k, kind in enumerate(MODES)}
SOURCE = "\n".join(
    [
        "from allo.ir.types import *",
        *(f"{name} = {kind!r}" for name, kind in NAMED.items()),
        "def kernel(F: float64[40], I: int64[40], A: float64[28, 3, 40]):",
        "    for i in range(40):",
        "        w: Fixed(30, 9) = F[i]",
        *(f"        A[{k}, 0, i] = T{k}(F[i])" for k in range(28)),
        *(f"        A[{k}, 1, i] = T{k}(I[i])" for k in range(28)),
        *(f"        A[{k}, 2, i] = T{k}(w)" for k in range(28)),
        "",
    ]
)


def test_modes_of_conversions(tmp_path: Path) -> None:
    kernel = load(SOURCE, tmp_path)
    edges = [math.inf, -math.inf, math.nan, 31.875, 31.9375, 31.96875, -32.0, -32.0625, 0.0625, -0.0625]
    edges += [0.1875, -0.1875]
    floats = np.array([*edges, *np.random.default_rng(5).normal(0, 20, 40 - len(edges))])
    integers = np.arange(-40, 40, 2)
    found = np.zeros((28, 3, 40))
    allo.customize(kernel).build()(floats, integers, found)
    for k, kind in enumerate(MODES):
        wide = [quantize(x, Fixed(30, 9)) for x in floats.tolist()]
        for numbers, got in zip((floats.tolist(), integers.tolist(), wide), found[k], strict=True):
            assert [quantize(x, kind) for x in numbers] == got.tolist(), kind


Rounded = Fixed(6, 2, rounding="rnd_conv", overflow="sat")


def saturating(a: float64) -> (float64, float64, float64):
    x: Rounded = a
    x += 0.125  # a float: converted by the assignment
    y: Rounded = x * x
    return x, x * x, y


def test_only_conversions_round_and_saturate() -> None:
    assert allo.customize(saturating).build()(5.125) == (5.0, 25.0, 7.75)


def test_modes_are_in_the_printed_module() -> None:
    module = allo.customize(saturating).ir
    assert "memref<!allo.fixed<6, 2, rnd_conv, sat>>" in str(module)
    assert str(type(module).parse(str(module))) == str(module)


def constants(c: bool) -> (float64, int32, float64):
    x: Rounded = 100.3
    n: int32 = Q(-1.5)
    return x, n, Q(3.99) if c else Q(-0.01)


def test_constants_convert_as_values_do() -> None:
    assert allo.customize(constants).build()(False) == (7.75, -2, -0.03125)


def operators(a: float64, b: float64, n: int32) -> (int32, float64, float64, float64, float64, float64, float64):
    x: Q = a
    y: Q = b
    return x // y, x % y, x << 3, x >> 9, x << n, x >> n, x**3


def test_division_shifts_and_powers() -> None:
    built = allo.customize(operators).build()
    x, y = Fraction(-1001, 32), Fraction(77, 32)
    shifted = Fraction((-1001 << 4) % 4096 - 4096 if (-1001 << 4) % 4096 > 2047 else (-1001 << 4) % 4096, 32)
    found = built(float(x), float(y), 4)
    assert found == (x // y, x % y, x * 8, x / 512, shifted, Fraction(-1001 >> 4, 32), x**3)


def signs(a: float64) -> (float64, float64, float64):
    x: Q = a
    u: U = 60
    return -x, abs(x), -u


def test_negation_and_abs_are_exact() -> None:
    assert allo.customize(signs).build()(-64.0) == (64.0, 64.0, -60.0)
