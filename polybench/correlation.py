"""correlation: the correlation matrix of the columns of data."""

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import Benchmark

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


BENCHMARK = Benchmark("correlation", ("M", "N"), SIZES, kernel, arguments, reference)
