"""Kernels of the core language run as plain Python on NumPy arrays, local arrays and conversions included."""

import numpy as np
import pytest

import allo
from allo.ir.types import Fixed, float32, int5, int8, int32, uint8


def smooth(A: float32[8], rounds: int32) -> float32[8]:
    B = float32[8](0)
    C = float32[8](A)
    for _t in range(rounds):
        for i in range(1, 7):
            B[i] = (C[i - 1] + C[i] + C[i + 1]) / 3
        for i in range(1, 7):
            C[i] = B[i]
    return C


def test_local_arrays() -> None:
    a = np.random.default_rng(0).random(8, np.float32)
    np.testing.assert_allclose(smooth(a, 3), allo.customize(smooth).build()(a, 3), rtol=1e-6)


def narrow(x: int32) -> (int32, int32, int32):
    return int8(x), uint8(x), int5(x)


@pytest.mark.parametrize("x", [0, 15, 16, 127, 128, 255, -1, 1000])
def test_conversions(x: int) -> None:
    assert narrow(x) == allo.customize(narrow).build()(x)


def test_types_hold_values() -> None:
    assert Fixed(8, 4)(1.99) == 1.9375 and Fixed(8, 4)(-0.01) == -0.0625 and Fixed(8, 4)(8) == -8.0
    assert int32[2, 2](3).tolist() == [[3, 3], [3, 3]] and int32[2]().dtype == np.int32
