"""correlation: the correlation matrix of the columns of data."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design
from .lanes import Product, Tile, divisor, in_banks, product_tiles, spread, turns

DSP_STATISTICS = 16  # five sums and two products, a lane of the stages before the products

SIZES = {
    "MINI": (28, 32),
    "SMALL": (80, 100),
    "MEDIUM": (240, 260),
    "LARGE": (1200, 1400),
    "EXTRALARGE": (2600, 3000),
}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for data of N observations of M variables."""
    M, N = SIZES[size]
    EPS = 0.1  # a standard deviation not above it counts as 1

    def means(float_n: T, data: T[N, M], mean: T[M]):
        for j in range(M):
            mean[j] = 0.0
            for i in range(N):
                mean[j] += data[i, j]
            mean[j] /= float_n

    def deviations(float_n: T, data: T[N, M], mean: T[M], stddev: T[M]):
        for j in range(M):
            stddev[j] = 0.0
            for i in range(N):
                stddev[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
            stddev[j] = allo.sqrt(stddev[j] / float_n)
            stddev[j] = 1.0 if stddev[j] <= EPS else stddev[j]

    def standardise(float_n: T, data: T[N, M], mean: T[M], stddev: T[M]):
        for i in range(N):
            for j in range(M):
                data[i, j] -= mean[j]
                data[i, j] /= allo.sqrt(float_n) * stddev[j]

    def correlate(data: T[N, M], corr: T[M, M]):
        for i in range(M - 1):
            corr[i, i] = 1.0
            for j in range(i + 1, M):
                corr[i, j] = 0.0
                for k in range(N):
                    corr[i, j] += data[k, i] * data[k, j]
                corr[j, i] = corr[i, j]
        corr[M - 1, M - 1] = 1.0

    def correlation(float_n: T, data: T[N, M], corr: T[M, M], mean: T[M], stddev: T[M]):
        means(float_n, data, mean)
        deviations(float_n, data, mean, stddev)
        standardise(float_n, data, mean, stddev)
        correlate(data, corr)

    return correlation


def lanes(size: str, dsp: int) -> tuple[Tile, int]:
    """The lanes of the products, and as many as leave enough turns for those of sums over columns."""
    M, _ = SIZES[size]
    (tile,) = product_tiles(M, [Product(M, even=True)], dsp - DSP_STATISTICS * (M // turns(M)))
    return tile, divisor(tile.columns, M // turns(M))


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same with all products, of both triangles, and the ones on the diagonal at the end."""
    M, N = SIZES[size]
    EPS = 0.1

    def means(float_n: T, data: T[N, M], mean: T[M]):
        for j in range(M):
            mean[j] = 0.0
            for i in range(N):
                mean[j] += data[i, j]
            mean[j] /= float_n

    def deviations(float_n: T, data: T[N, M], mean: T[M], stddev: T[M]):
        for j in range(M):
            stddev[j] = 0.0
            for i in range(N):
                stddev[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
            deviation: T = allo.sqrt(stddev[j] / float_n)
            stddev[j] = 1.0 if deviation <= EPS else deviation

    def standardise(float_n: T, data: T[N, M], mean: T[M], stddev: T[M]):
        for i, j in allo.grid(N, M):
            data[i, j] = (data[i, j] - mean[j]) / (allo.sqrt(float_n) * stddev[j])

    def products(data: T[N, M], corr: T[M, M]):
        for i, j in allo.grid(M, M):
            corr[i, j] = 0.0
            for k in range(N):
                corr[i, j] += data[k, i] * data[k, j]

    def correlation(float_n: T, data: T[N, M], corr: T[M, M], mean: T[M], stddev: T[M]):
        means(float_n, data, mean)
        deviations(float_n, data, mean, stddev)
        standardise(float_n, data, mean, stddev)
        products(data, corr)
        for d in range(M):
            corr[d, d] = 1.0

    return correlation


def row_wise(s: allo.Schedule, size: str, dsp: int) -> None:
    """Row-wise sums: of observations, then of products in blocks of rows, which take turns."""
    tile, few = lanes(size, dsp)
    for stage in ("means", "deviations"):
        s.reorder(f"{stage}:i", f"{stage}:j")
    for loop in ("means:S_j_0.j", "deviations:S_j_0.j", "standardise:j"):
        s.pipeline(s.split(loop, few)[0])
    for loop in ("means:S_j_0_1.j", "means:S_j_0_2.j", "deviations:S_j_0_1.j", "deviations:S_j_0_2.j", "d"):
        s.pipeline(loop)
    _, row = s.split("products:i", tile.block)
    s.reorder("products:k", row, "products:j")
    for i, j in (("products:i.inner_1", "products:j_1"), ("products:i.inner", "products:j")):
        spread(s, i, j, tile)
    for buffer, *banks in ((s.data, 1, tile.columns), (s.corr, *tile[1:]), (s.mean, few), (s.stddev, few)):
        in_banks(s, buffer, *banks)


def within(dsp: int) -> Design:
    """The fastest design with this many DSPs."""
    return Design(stages, partial(row_wise, dsp=dsp), dsp, reassociated=True)


DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "table3": within(4168),
}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """float_n, data, corr, mean, stddev as PolyBench initialises them."""
    m, n = SIZES[size]
    row, column = np.ogrid[:n, :m]
    data = T[n, m](row * column / m + row)
    return float(n), data, T[m, m](0), T[m](0), T[m](0)


def reference(size: str, float_n: float, data: Any, corr: Any, mean: Any, stddev: Any) -> None:
    """The kernel in NumPy."""
    exact = data.astype(np.float64)
    mean[...] = exact.mean(axis=0)
    deviation = exact.std(axis=0)
    stddev[...] = np.where(deviation <= 0.1, 1, deviation)
    data[...] = (exact - exact.mean(axis=0)) / (np.sqrt(float_n) * stddev)
    corr[...] = np.corrcoef(exact, rowvar=False)


BENCHMARK = Benchmark("correlation", ("M", "N"), SIZES, kernel, arguments, reference, DESIGNS)
