"""covariance: the covariance matrix of the columns of data."""

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design
from .lanes import Product, Tile, divisor, in_banks, product_tiles, spread, turns

SIZES = {
    "MINI": (28, 32),
    "SMALL": (80, 100),
    "MEDIUM": (240, 260),
    "LARGE": (1200, 1400),
    "EXTRALARGE": (2600, 3000),
}
DSP_STATISTICS = 4  # two sums, a lane of the stages before the products


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for data of N observations of M variables."""
    M, N = SIZES[size]

    def means(float_n: T, data: T[N, M], mean: T[M]):
        for j in range(M):
            mean[j] = 0.0
            for i in range(N):
                mean[j] += data[i, j]
            mean[j] /= float_n

    def centre(data: T[N, M], mean: T[M]):
        for i in range(N):
            for j in range(M):
                data[i, j] -= mean[j]

    def covary(float_n: T, data: T[N, M], cov: T[M, M]):
        for i in range(M):
            for j in range(i, M):
                cov[i, j] = 0.0
                for k in range(N):
                    cov[i, j] += data[k, i] * data[k, j]
                cov[i, j] /= float_n - 1.0
                cov[j, i] = cov[i, j]

    def covariance(float_n: T, data: T[N, M], cov: T[M, M], mean: T[M]):
        means(float_n, data, mean)
        centre(data, mean)
        covary(float_n, data, cov)

    return covariance


def lanes(size: str) -> tuple[Tile, int]:
    """The lanes of the products, and as many as leave enough turns for those of sums over columns."""
    M, _ = SIZES[size]
    (tile,) = product_tiles(M, [Product(M, even=True)], DEVICE - DSP_STATISTICS * (M // turns(M)))
    return tile, divisor(tile.columns, M // turns(M))


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same with all products, of both triangles."""
    M, N = SIZES[size]

    def means(float_n: T, data: T[N, M], mean: T[M]):
        for j in range(M):
            mean[j] = 0.0
            for i in range(N):
                mean[j] += data[i, j]
            mean[j] /= float_n

    def centre(data: T[N, M], mean: T[M]):
        for i, j in allo.grid(N, M):
            data[i, j] -= mean[j]

    def products(float_n: T, data: T[N, M], cov: T[M, M]):
        for i, j in allo.grid(M, M):
            cov[i, j] = 0.0
            for k in range(N):
                cov[i, j] += data[k, i] * data[k, j]
            cov[i, j] /= float_n - 1.0

    def covariance(float_n: T, data: T[N, M], cov: T[M, M], mean: T[M]):
        means(float_n, data, mean)
        centre(data, mean)
        products(float_n, data, cov)

    return covariance


def row_wise(s: allo.Schedule, size: str) -> None:
    """Row-wise sums: of observations, then of products in blocks of rows, which take turns."""
    tile, few = lanes(size)
    s.reorder("means:i", "means:j")
    for loop in ("means:S_j_0_1.j", "means:S_j_0.j", "means:S_j_0_2.j", "centre:j"):
        s.pipeline(s.split(loop, few)[0])
    _, row = s.split("products:i", tile.block)
    s.reorder("products:k", row, "products:j")
    for i, j in (("i.inner_1", "j_1"), ("i.inner", "j"), ("i.inner_2", "j_2")):
        spread(s, f"products:{i}", f"products:{j}", tile)
    for buffer, *banks in ((s.data, 1, tile.columns), (s.cov, *tile[1:]), (s.mean, few)):
        in_banks(s, buffer, *banks)


DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, row_wise, reassociated=True)}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """float_n, data, cov, mean as PolyBench initialises them."""
    m, n = SIZES[size]
    row, column = np.ogrid[:n, :m]
    return float(n), T[n, m](row * column / m), T[m, m](0), T[m](0)


def reference(size: str, float_n: float, data: Any, cov: Any, mean: Any) -> None:
    """The kernel in NumPy."""
    exact = data.astype(np.float64)
    mean[...] = exact.mean(axis=0)
    data[...] = exact - exact.mean(axis=0)
    cov[...] = np.cov(exact, rowvar=False)


BENCHMARK = Benchmark("covariance", ("M", "N"), SIZES, kernel, arguments, reference, DESIGNS)
