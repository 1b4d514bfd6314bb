"""Tiles at the edges of arrays: conditions mask what lies outside, of any shape that blocks do not divide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
from allo import tile
from allo.ir.types import float32, index
from tests.mapping.tiles.test_space import small_mesh
from tests.seeds import sampled

M, N, K = 20, 14, 18


@tile.kernel
def uneven_gemm[BM: index, BN: index, BK: index](A: float32[M, K], B: float32[K, N], C: float32[M, N]):
    for m, n in tile.programs((M + BM - 1) // BM, (N + BN - 1) // BN):
        acc: float32[BM, BN] = 0
        for k in range((K + BK - 1) // BK):
            a: float32[BM, BK] = 0
            b: float32[BK, BN] = 0
            for i, j in allo.grid(BM, BK):
                if m * BM + i < M and k * BK + j < K:
                    a[i, j] = A[m * BM + i, k * BK + j]
            for i, j in allo.grid(BK, BN):
                if k * BK + i < K and n * BN + j < N:
                    b[i, j] = B[k * BK + i, n * BN + j]
            acc += allo.matmul(a, b)
        for i, j in allo.grid(BM, BN):
            if m * BM + i < M and n * BN + j < N:
                C[m * BM + i, n * BN + j] = acc[i, j]


@tile.kernel
def padded_convolution(X: float32[16, 16], F: float32[3, 3], Y: float32[16, 16]):
    for m, n in tile.programs(4, 4):
        x: float32[6, 6] = 0
        for i, j in allo.grid(6, 6):
            if 0 <= m * 4 + i - 1 < 16 and 0 <= n * 4 + j - 1 < 16:
                x[i, j] = X[m * 4 + i - 1, n * 4 + j - 1]
        f: float32[3, 3] = F[:, :]
        y: float32[4, 4] = 0
        for r, c, p, q in allo.grid(4, 4, 3, 3):
            y[r, c] += x[r + p, c + q] * f[p, q]
        Y[m * 4 : (m + 1) * 4, n * 4 : (n + 1) * 4] = y


@tile.kernel
def strides(A: float32[40], B: float32[20]):
    for m in tile.programs(5):
        x: float32[4] = 0
        for i in range(4):
            x[i] = A[m * 8 + 2 * i + 1]
        B[m * 4 : (m + 1) * 4] = x


@tile.kernel
def two_branches(A: float32[20], B: float32[20]):
    for m in tile.programs(5):
        for i in range(4):
            if i < m:
                B[m * 4 + i] = A[m * 4 + i]
            else:
                B[m * 4 + i] = -1.0


@tile.kernel
def beyond(A: float32[20], B: float32[20]):
    """The last programs have nothing to load, or to store."""
    for m in tile.programs(7):
        x: float32[4] = 0
        for i in range(4):
            if m * 4 + i + 4 < 20:
                x[i] = A[m * 4 + i + 4]
        for i in range(4):
            if m * 4 + i < 20:
                B[m * 4 + i] = x[i]


MASKED = [(uneven_gemm, {"BM": 8, "BN": 4, "BK": 8}), (uneven_gemm, {"BM": 32, "BN": 3, "BK": 5}),
          (padded_convolution, None), (strides, None), (two_branches, None), (beyond, None)]  # fmt: skip


@pytest.mark.parametrize(("kernel", "values"), sampled(MASKED))
def test_masked_tiles(kernel: Any, values: dict[str, int] | None) -> None:
    """The bits of the CPU. The Wormhole has twelve channels, over which pages lie in turn."""
    best = allo.map(kernel, "wormhole_n300d", k=2, instantiate=values, profile=False)
    for plan in (best, *best.others):
        plan.check()


def test_results_of_uneven_shapes() -> None:
    random = np.random.default_rng(0)
    a, b = random.standard_normal((M, K), np.float32), random.standard_normal((K, N), np.float32)
    c = np.zeros((M, N), np.float32)
    tried = {"BM": [8], "BN": [8], "BK": [4]}
    plan = allo.map(uneven_gemm, small_mesh(2, 2), 1, blocks=tried, profile=False)
    run = plan.run(a, b, c)
    assert np.allclose(c, a @ b, atol=1e-4)
    assert run.written_bytes == c.nbytes  # nothing outside of the array moves


def test_masks_of_loads_read_the_array_only() -> None:
    single = tile.plan(padded_convolution, small_mesh(1, 1)).load("X", "per core", inside="n")
    rows = 2 * 5 + 2 * 6  # rows, and columns, of the tiles of four programs
    assert single.simulate().read_bytes == (rows**2 + 16 * 9) * 4
