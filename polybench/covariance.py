"""covariance: the covariance matrix of the columns of data."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from . import observations
from .benchmark import DEVICE, Benchmark, Design, Part
from .observations import Lanes, by_observations, by_pieces, by_rows

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


def lanes(size: str, dsp: int) -> Lanes:
    """The lanes of all stages."""
    return observations.lanes(*SIZES[size], dsp)


def means(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """The mean of each column."""
    return observations.means(*SIZES[size], lanes(size, dsp).rows, T)


def centre(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """The observations with mean 0."""
    M, N = SIZES[size]
    R = lanes(size, dsp).rows

    def centre(data: T[N, M], mean: T[M]):
        for io in range(N // R):
            for j in range(M):
                for r in range(R):
                    data[R * io + r, j] -= mean[j]

    return centre


def products(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The products of all columns with all columns."""
    return observations.products(*SIZES[size], T)


def average(size: str, T: AlloType = float32, *, lanes: Callable[[str], Lanes]) -> Callable[..., None]:
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


def stages(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """The same by pieces of data, with all products, of both triangles."""
    M, N = SIZES[size]
    find_means, subtract_means = means(size, T, dsp), centre(size, T, dsp)
    multiply, divide = products(size, T), average(size, T, lanes=partial(lanes, dsp=dsp))

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


def within(dsp: int) -> Design:
    """The fastest design with this many DSPs."""
    choice = partial(lanes, dsp=dsp)
    parts = (
        Part(partial(means, dsp=dsp), partial(by_pieces, lanes=choice, loops=("j", "j1"))),
        Part(partial(centre, dsp=dsp), partial(by_pieces, lanes=choice, loops=("j",))),
        Part(products, partial(by_rows, lanes=choice)),
        Part(partial(average, lanes=choice), partial(by_pieces, lanes=choice, loops=("j",))),
    )
    return Design(partial(stages, dsp=dsp), in_turn, dsp, reassociated=True, parts=parts)


def centre_in_order(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The observations with mean 0 by rows, in `data` and once more."""
    M, N = SIZES[size]

    def centre(data: T[N, M], mean: T[M], centred: T[N, M]):
        for i in range(N):
            for j in range(M):
                element: T = data[i, j] - mean[j]
                data[i, j] = element
                centred[i, j] = element

    return centre


def lanes_of_products(size: str) -> Lanes:
    """The lanes of the products and of their division."""
    return observations.lanes_of_observations(SIZES[size][0])


def second_half(size: str, T: AlloType = float32) -> Callable[..., None]:
    """Centred data and their products."""
    M, N = SIZES[size]
    subtract_means, multiply = centre_in_order(size, T), observations.products_by_observations(M, N, T)

    def covary(data: T[N, M], mean: T[M], cov: T[M, M]):
        centred: T[N, M]
        subtract_means(data, mean, centred)
        multiply(centred, cov)

    return covary


def streamed_stages(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """The same with observations that go to the products one by one."""
    M, N = SIZES[size]
    find_means, covary_data = means(size, T, dsp), second_half(size, T)
    divide = average(size, T, lanes=lanes_of_products)

    def covariance(float_n: T, data: T[N, M], cov: T[M, M], mean: T[M]):
        find_means(float_n, data, mean)
        covary_data(data, mean, cov)
        divide(float_n, cov)

    return covariance


def at_once(s: allo.Schedule, size: str) -> None:
    """Both stages at the same time."""
    by_observations(s, SIZES[size][0])
    s.pipeline("centre:j")
    s.relay(s.centred, "products", depth=SIZES[size][0])
    s.dataflow("covary")


def streamed(dsp: int, statistics: int) -> Design:
    """A design with two stages at the same time; the means before them take `statistics` of the DSPs."""
    choice = partial(lanes, dsp=statistics)
    parts = (
        Part(partial(means, dsp=statistics), partial(by_pieces, lanes=choice, loops=("j", "j1"))),
        Part(second_half, at_once),
        Part(
            partial(average, lanes=lanes_of_products),
            partial(by_pieces, lanes=lanes_of_products, loops=("j",)),
        ),
    )
    return Design(partial(streamed_stages, dsp=statistics), dsp=dsp, reassociated=True, parts=parts)


DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "streams": streamed(1400, statistics=300),
}


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
