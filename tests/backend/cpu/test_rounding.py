"""How often the CPU rounds: after each operation, as NumPy and hardware do, unless `contract=True`."""

import numpy as np
import pytest

import allo
from allo.ir.types import float32, float64

N = 64


def residue(A: float32[N], B: float32[N], C: float32[N], D: float32[N]):
    for i in range(N):
        D[i] = A[i] * B[i] - C[i]


def residue_of_doubles(A: float64[N], B: float64[N], C: float64[N], D: float64[N]):
    for i in range(N):
        D[i] = A[i] * B[i] - C[i]


@pytest.mark.parametrize(("kernel", "dtype"), [(residue, np.float32), (residue_of_doubles, np.float64)])
def test_a_product_is_rounded_before_it_is_added(kernel: object, dtype: type) -> None:
    a, b = (np.random.default_rng(seed).random(N).astype(dtype) for seed in (1, 2))
    s = allo.customize(kernel)
    exact, contracted = np.ones(N, dtype), np.zeros(N, dtype)
    s.build()(a, b, a * b, exact)
    s.build(contract=True)(a, b, a * b, contracted)
    assert np.array_equal(exact, np.zeros(N, dtype))  # what is left is 0: C is the rounded product
    errors = np.abs(contracted)
    assert np.all(errors <= np.spacing(a * b) / 2)  # or, at most, what one rounding took away


def dot(A: float32[N], B: float32[N]) -> float32:
    total: float32 = 0.0
    for i in range(N):
        total += A[i] * B[i]
    return total


def test_a_sum_has_the_bits_of_numpy() -> None:
    a, b = (np.random.default_rng(seed).standard_normal(N).astype(np.float32) for seed in (3, 4))
    wanted = np.float32(0)
    for x, y in zip(a, b, strict=True):
        wanted += x * y
    assert allo.customize(dot).build()(a, b) == wanted
