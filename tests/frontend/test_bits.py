"""Bits of integers against Python's integers."""

import numpy as np
import pytest

import allo
from allo.ir.types import float32, int8, int32, uint1, uint4, uint8, uint16, uint32


def read(x: uint8, i: int32) -> (uint1, uint4, uint8, int32):
    ones: int32 = 0
    for k in range(8):
        ones += x[k]
    return x[i], x[2:6], x.reverse(), ones


@pytest.mark.parametrize("x", [0, 1, 0b10110110, 255])
@pytest.mark.parametrize("i", [0, 3, 7])
def test_read(x: int, i: int) -> None:
    reverse = int(f"{x:08b}"[::-1], 2)
    assert allo.customize(read).build()(x, i) == (x >> i & 1, x >> 2 & 15, reverse, x.bit_count())


def write(A: uint16[4], x: int8) -> int8:
    y: int8 = x
    y[7] = 1
    y[0:4] = x[4:8]
    for i in range(4):
        A[i][i] = 1
        A[i][8:12] = i
        A[i][12] ^= 1
    return y


def test_write() -> None:
    a = np.zeros(4, np.uint16)
    assert allo.customize(write).build()(a, 0x35) == np.array(0xB3, np.uint8).view(np.int8)
    assert a.tolist() == [1 << i | i << 8 | 1 << 12 for i in range(4)]


def cast(x: float32, n: uint32) -> (uint32, float32):
    return x.bitcast(), n.bitcast()


def test_bitcast() -> None:
    assert allo.customize(cast).build()(1.5, 0x40490FDB) == (0x3FC00000, np.float32(np.pi))
