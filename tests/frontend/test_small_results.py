"""Small kernels whose results Python gives: operands in their order, constants, shifts as far as their type reaches."""

from __future__ import annotations

import numpy as np
import pytest

import allo
from allo.ir.types import Int, UInt, float64, int32, int64, uint8

TABLE = np.array([3, -1, 4, -1], np.int32)
uint3, uint5, int4 = UInt(3), UInt(5), Int(4)


def mixed(x: int32, y: float64, number: int32[6], real: float64[4]):
    number[0] = x - 3
    number[1] = 3 - x
    number[2] = x // 4
    number[3] = 100 // x
    number[4] = x - (5 - 2 * 3)
    number[5] = 100 % x
    real[0] = y / 3.0
    real[1] = 3.0 / y
    real[2] = y * (0.1 + 0.2)
    real[3] = y - (1.0 - 0.9)


@pytest.mark.parametrize("x", [7, -7])
def test_operands_keep_their_places_and_constants_all_their_digits(x: int) -> None:
    number, real, y = np.zeros(6, np.int32), np.zeros(4), 7.3
    allo.customize(mixed).build()(x, y, number, real)
    assert number.tolist() == [x - 3, 3 - x, x // 4, 100 // x, x + 1, 100 % x]
    assert real.tolist() == [y / 3.0, 3.0 / y, y * (0.1 + 0.2), y - (1.0 - 0.9)]


def shifted(x: int32, word: uint8, out: int32[32, 6]):
    for i in range(32):
        a: uint3 = i
        b: uint5 = i
        c: int4 = i
        out[i, 0] = x >> a
        out[i, 1] = x << a
        out[i, 2] = x >> b
        out[i, 3] = x << b
        out[i, 4] = (x >> c) if c >= 0 else 0
        out[i, 5] = word >> a


def test_amounts_up_to_the_greatest_of_their_type() -> None:
    x, out = -123456789, np.zeros((32, 6), np.int32)
    allo.customize(shifted).build()(x, 255, out)
    for i in range(32):
        a, b, c = i % 8, i, i % 8 if i % 16 < 8 else None
        left = [np.int64(x << by).astype(np.int32) for by in (a, b)]
        wanted = [x >> a, left[0], x >> b, left[1], 0 if c is None else x >> c, 255 >> a]
        assert out[i].tolist() == wanted, i


def far(start: int64, stop: int64, step: int64, visited: int64[8]) -> int32:
    count: int32 = 0
    for i in range(start, stop, step):
        visited[count] = i
        count += 1
    return count


FAR = 1 << 62


@pytest.mark.parametrize(
    "bounds",
    [(FAR, -5, -(FAR >> 1)), (-FAR, 5, FAR >> 2), (5, FAR, -FAR), (9, -9, -4), (-9, 9, 5), (3, 3, -2), (4, 3, -7)],
)
def test_steps_of_any_size_and_sign(bounds: tuple[int, int, int]) -> None:
    visited = np.zeros(8, np.int64)
    count = allo.customize(far).build()(*bounds, visited)
    assert visited[:count].tolist() == list(range(*bounds))


def looked_up(x: int32, out: int32[4]):
    table: int32[4] = TABLE
    if x > 0:
        for i in range(4):
            out[i] = table[i] * x
    elif x < -5:
        kept: int32[4] = TABLE
        out[1] = kept[2]
    else:
        out[0] = table[3] - x


@pytest.mark.parametrize(("x", "wanted"), [(2, [6, -2, 8, -2]), (-6, [9, 4, 9, 9]), (0, [-1, 9, 9, 9])])
def test_constant_arrays_that_branches_read(x: int, wanted: list[int]) -> None:
    out = np.full(4, 9, np.int32)
    allo.customize(looked_up).build()(x, out)
    assert out.tolist() == wanted


def a_row(n: uint8, A: int32[4096]):
    for i in range(200):
        A[n * 200 + i] = A[n * 200 + i] + i


def test_products_of_unsigned_numbers_are_as_wide_as_they_can_get() -> None:
    """255 * 200 fits into the 16 bits of the product: the elements that iterations change are known to differ."""
    s = allo.customize(a_row)
    s.parallel("i")
    A = np.zeros(4096, np.int32)
    s.build()(19, A)
    assert A[3800:4000].tolist() == list(range(200)) and not A[:3800].any() and not A[4000:].any()
