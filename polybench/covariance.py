"""covariance: the covariance matrix of the columns of data."""

from collections.abc import Callable
from typing import Any

import numpy as np

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


BENCHMARK = Benchmark("covariance", ("M", "N"), SIZES, kernel, arguments, reference)
