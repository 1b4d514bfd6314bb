"""correlation: the correlation matrix of the columns of data."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import Benchmark, Design, divisor

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


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same with the products and the ones on the diagonal in two stages, which pass on rows."""
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

    def products(data: T[N, M], sums: T[M, M]):
        for i, j in allo.grid(M, M):
            sums[i, j] = 0.0
            for k in range(N):
                sums[i, j] += data[k, i] * data[k, j]

    def diagonal(sums: T[M, M], corr: T[M, M]):
        for i, j in allo.grid(M, M):
            value: T = sums[i, j]
            if i == j:
                value = 1.0
            corr[i, j] = value

    def correlation(float_n: T, data: T[N, M], corr: T[M, M], mean: T[M], stddev: T[M]):
        sums: T[M, M]
        means(float_n, data, mean)
        deviations(float_n, data, mean, stddev)
        standardise(float_n, data, mean, stddev)
        products(data, sums)
        diagonal(sums, corr)

    return correlation


def best(s: allo.Schedule, size: str) -> None:
    """Row-wise sums with up to 40 lanes, and one divider a stage; rows of the result leave while the next ones come."""
    M = SIZES[size][0]
    lanes = divisor(M, 40)
    for stage in ("means", "deviations"):
        s.reorder(f"{stage}:i", f"{stage}:j")
        s.pipeline(s.split(f"{stage}:S_j_0.j", lanes)[0])
        for nest in ("S_j_0_1", "S_j_0_2"):
            s.pipeline(f"{stage}:{nest}.j")
    s.pipeline("standardise:j")
    s.reorder("products:k", "products:j")
    s.partition(s.buffer_at("products:sums", "products:i"), dim=1, factor=lanes)
    for loop in ("j", "j_1"):
        s.pipeline(s.split(f"products:{loop}", lanes)[0])
    for loop in ("products:j_1_back", "diagonal:j"):
        s.pipeline(loop)
    s.relay(s.sums, "diagonal", depth=M)
    for buffer, dim in ((s.data, 2), (s.mean, 1), (s.stddev, 1)):
        s.partition(buffer, dim=dim, factor=lanes)


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


BENCHMARK = Benchmark("correlation", ("M", "N"), SIZES, kernel, arguments, reference, {"best": Design(stages, best)})
