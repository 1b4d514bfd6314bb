"""covariance: the covariance matrix of the columns of data."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from . import observations
from .benchmark import DEVICE, Benchmark, Design, Part
from .observations import Lanes, by_pieces, by_rows

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


def lanes(size: str) -> Lanes:
    """The lanes of all stages."""
    return observations.lanes(*SIZES[size], DEVICE)


def means(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The mean of each column."""
    return observations.means(*SIZES[size], lanes(size).rows, T)


def centre(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The observations with mean 0."""
    M, N = SIZES[size]
    R = lanes(size).rows

    def centre(data: T[N, M], mean: T[M]):
        for io in range(N // R):
            for j in range(M):
                for r in range(R):
                    data[R * io + r, j] -= mean[j]

    return centre


def products(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The products of all columns with all columns."""
    return observations.products(*SIZES[size], T)


def average(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The sums of products by the degrees of freedom."""
    M, _ = SIZES[size]
    found = lanes(size)
    R = found.dividing(found.products.rows)

    def average(float_n: T, cov: T[M, M]):
        for io in range(M // R):
            for j in range(M):
                for r in range(R):
                    cov[R * io + r, j] /= float_n - 1.0

    return average


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same by pieces of data, with all products, of both triangles."""
    M, N = SIZES[size]
    find_means, subtract_means = means(size, T), centre(size, T)
    multiply, divide = products(size, T), average(size, T)

    def covariance(float_n: T, data: T[N, M], cov: T[M, M], mean: T[M]):
        find_means(float_n, data, mean)
        subtract_means(data, mean)
        multiply(data, cov)
        divide(float_n, cov)

    return covariance


def in_turn(s: allo.Schedule, size: str) -> None:
    """All stages in one function, so that they share multipliers and adders."""
    for stage in ("means", "centre", "products", "average"):
        s.inline(stage)


PARTS = (
    Part(means, partial(by_pieces, lanes=lanes, loops=("j", "j1"))),
    Part(centre, partial(by_pieces, lanes=lanes, loops=("j",))),
    Part(products, partial(by_rows, lanes=lanes)),
    Part(average, partial(by_pieces, lanes=lanes, loops=("j",))),
)
DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, in_turn, reassociated=True, parts=PARTS)}


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
