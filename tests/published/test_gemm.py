"""The first program of the tutorial: a product of matrices, with a schedule and without."""

import numpy as np

import allo
from allo.ir.types import float32

from .doors import through_doors


def gemm(A: float32[4, 4], B: float32[4, 4]) -> float32[4, 4]:
    C: float32[4, 4] = 0.0
    for i, j, k in allo.grid(4, 4, 4, name="C"):
        C[i, j] += A[i, k] * B[k, j]
    return C


def test_gemm() -> None:
    A, B = np.random.default_rng(0).random((2, 4, 4)).astype(np.float32)
    s = allo.customize(gemm)
    s.split("i", 2)
    s.pipeline("j")
    np.testing.assert_allclose(through_doors(s, A, B).result, A @ B, rtol=1e-6)
    np.testing.assert_allclose(through_doors(gemm, A, B).result, A @ B, rtol=1e-6)
