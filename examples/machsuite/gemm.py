"""Matrix product: three plain loops, and blocks that stay close."""

from __future__ import annotations

import numpy as np

import allo
from allo.ir.types import float64, index, int32

SIZE, BLOCK = 64, 8


def ncubed[N: index](A: float64[N, N], B: float64[N, N], C: float64[N, N]):
    for i, j in allo.grid(N, N):
        total: float64 = 0.0
        for k in allo.reduction(N):
            total += A[i, k] * B[k, j]
        C[i, j] = total


def blocked[T: (int32, float64), N: index, S: index](A: T[N, N], B: T[N, N], C: T[N, N]):
    """The blocks of B are of S x S."""
    C[:] = 0
    for jj in range(0, N, S, name="blocks"):
        for kk in range(0, N, S):
            for i in range(N):
                for k in range(kk, kk + S):
                    a: T = A[i, k]
                    for j in range(jj, jj + S):
                        C[i, j] += a * B[k, j]


def check_ncubed(size: int = SIZE) -> None:
    A, B = np.random.default_rng(15).standard_normal((2, size, size))
    C = np.zeros((size, size))
    allo.customize(ncubed, instantiate=[size]).build()(A, B, C)
    np.testing.assert_allclose(C, A @ B, atol=1e-12 * size)


def check_blocked(size: int = SIZE, block: int = BLOCK) -> None:
    A, B = np.random.default_rng(16).integers(-(2**14), 2**14, (2, size, size), dtype=np.int32)
    for T, dtype in (int32, np.int32), (float64, np.float64):
        C = np.ones((size, size), dtype)
        module = allo.customize(blocked, instantiate=[T, size, block]).build()
        module(A.astype(dtype), B.astype(dtype), C)
        np.testing.assert_array_equal(C, (A @ B).astype(np.int32) if T is int32 else A.astype(float) @ B)


def main() -> None:
    check_ncubed()
    check_blocked()
    print(f"gemm: products of {SIZE} x {SIZE} elements agree with NumPy")


if __name__ == "__main__":
    main()
