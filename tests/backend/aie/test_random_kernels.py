"""Random shapes and types through kernels for the vector unit, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import allo
import allo.dataflow as df
from allo.ir.types import bfloat16, float32, int8, int16, int32
from allo.memory import Layout
from tests.seeds import sweep

S, R = Layout.Shard, Layout.Replicate
KINDS = (
    (int8, np.dtype(np.int8)), (int16, np.dtype(np.int16)), (int32, np.dtype(np.int32)),
    (float32, np.dtype(np.float32)), (bfloat16, np.dtype(ml_dtypes.bfloat16)),
)  # fmt: skip


@sweep(6, 0)
def test_lanes_and_products(seed: int) -> None:
    """Lanes: sums, products, the larger one; then a product of matrices, all of one type, on one or two cores."""
    random = np.random.default_rng(seed)
    Ty, dtype = KINDS[random.integers(len(KINDS))]
    P = int(random.integers(1, 3))
    M, N, K = (int(n) for n in (P * random.integers(1, 9), 4 * random.integers(1, 13), 4 * random.integers(1, 9)))

    @df.region()
    def top(A: Ty[M, N], B: Ty[M, N], C: Ty[M, N], X: Ty[N, K], D: Ty[M, K]):
        @df.kernel(mapping=[P], args=[A, B, C])
        def lanes(a: Ty[M, N] @ [S(0), R], b: Ty[M, N] @ [S(0), R], c: Ty[M, N] @ [S(0), R]):
            for i, j in allo.grid(M // P, N):
                c[i, j] = max(a[i, j] * b[i, j] + a[i, j], b[i, j])

        @df.kernel(mapping=[P], args=[A, X, D])
        def product(a: Ty[M, N] @ [S(0), R], x: Ty[N, K], d: Ty[M, K] @ [S(0), R]):
            d[:, :] = allo.matmul(a, x)

    A, B, X = (random.integers(-5, 6, shape).astype(dtype) for shape in ((M, N), (M, N), (N, K)))
    C, D = np.zeros((M, N), dtype), np.zeros((M, K), dtype)
    df.build(top, target="aie", kernels="vector")(A, B, C, X, D)
    wide: Any = np.float64 if dtype.kind not in "iu" else np.int64
    a, b, x = (own.astype(wide) for own in (A, B, X))
    np.testing.assert_array_equal(C, np.maximum(a * b + a, b).astype(dtype))
    if dtype.kind in "iu":
        np.testing.assert_array_equal(D, (a @ x).astype(dtype))
    else:
        np.testing.assert_allclose(D.astype(wide), a @ x, rtol=1e-2, atol=1)
