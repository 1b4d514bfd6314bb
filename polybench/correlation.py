"""correlation: the correlation matrix of the columns of data."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from . import observations
from .benchmark import DEVICE, Benchmark, Design, Part
from .lanes import halvings
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


def lanes(size: str, dsp: int) -> Lanes:
    """The lanes of all stages."""
    return observations.lanes(*SIZES[size], dsp)


def means(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """The mean of each column."""
    return observations.means(*SIZES[size], lanes(size, dsp).rows, T)


def deviations(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """The standard deviation of each column."""
    M, N = SIZES[size]
    R, EPS = lanes(size, dsp).rows, 0.1
    LEVELS = halvings(R)

    def deviations(float_n: T, data: T[N, M], mean: T[M], stddev: T[M]):
        for io in range(N // R):
            for j in range(M):
                p: T[R]
                for r in range(R):
                    centred: T = data[R * io + r, j] - mean[j]
                    p[r] = centred * centred
                with allo.meta_for(LEVELS) as terms:
                    for pair in range(terms // 2):
                        p[pair] += p[pair + (terms + 1) // 2]
                stddev[j] = p[0] if io == 0 else stddev[j] + p[0]
        for j1 in range(M):
            deviation: T = allo.sqrt(stddev[j1] / float_n)
            stddev[j1] = 1.0 if deviation <= EPS else deviation

    return deviations


def standardise(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """The observations with mean 0 and standard deviation 1."""
    M, N = SIZES[size]
    found = lanes(size, dsp)
    R = found.dividing(found.rows)

    def standardise(float_n: T, data: T[N, M], mean: T[M], stddev: T[M]):
        root: T = allo.sqrt(float_n)
        for io in range(N // R):
            for j in range(M):
                scale: T = root * stddev[j]
                for r in range(R):
                    data[R * io + r, j] = (data[R * io + r, j] - mean[j]) / scale

    return standardise


def products(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The products of all columns with all columns."""
    return observations.products(*SIZES[size], T)


def diagonal(size: str, T: AlloType = float32) -> Callable[..., None]:
    """Each column with itself."""
    M, _ = SIZES[size]

    def diagonal(corr: T[M, M]):
        for j in range(M):
            corr[j, j] = 1.0

    return diagonal


def stages(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """The same by pieces of data, with all products, of both triangles, and the ones on the diagonal at the end."""
    M, N = SIZES[size]
    average, deviate, centre_and_scale = (nest(size, T, dsp) for nest in (means, deviations, standardise))
    multiply, set_diagonal = products(size, T), diagonal(size, T)

    def correlation(float_n: T, data: T[N, M], corr: T[M, M], mean: T[M], stddev: T[M]):
        average(float_n, data, mean)
        deviate(float_n, data, mean, stddev)
        centre_and_scale(float_n, data, mean, stddev)
        multiply(data, corr)
        set_diagonal(corr)

    return correlation


def in_turn(s: allo.Schedule, size: str) -> None:
    """All stages in one function, so that they share multipliers and adders."""
    for stage in ("means", "deviations", "standardise", "products", "diagonal"):
        s.inline(stage)


def within(dsp: int) -> Design:
    """The fastest design with this many DSPs."""
    choice = partial(lanes, dsp=dsp)
    parts = (
        Part(partial(means, dsp=dsp), partial(by_pieces, lanes=choice, loops=("j", "j1"))),
        Part(partial(deviations, dsp=dsp), partial(by_pieces, lanes=choice, loops=("j", "j1"))),
        Part(partial(standardise, dsp=dsp), partial(by_pieces, lanes=choice, loops=("j",))),
        Part(products, partial(by_rows, lanes=choice)),
        Part(diagonal, partial(by_pieces, lanes=choice, loops=("j",))),
    )
    return Design(partial(stages, dsp=dsp), in_turn, dsp, reassociated=True, parts=parts)


def standardise_in_order(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The standardised observations by rows, in `data` and once more."""
    M, N = SIZES[size]

    def standardise(float_n: T, data: T[N, M], mean: T[M], stddev: T[M], standard: T[N, M]):
        root: T = allo.sqrt(float_n)
        for i in range(N):
            for j in range(M):
                element: T = (data[i, j] - mean[j]) / (root * stddev[j])
                data[i, j] = element
                standard[i, j] = element

    return standardise


def second_half(size: str, T: AlloType = float32) -> Callable[..., None]:
    """Standardised data and their products."""
    M, N = SIZES[size]
    centre_and_scale = standardise_in_order(size, T)
    multiply = observations.products_by_observations(*SIZES[size], T)

    def correlate(float_n: T, data: T[N, M], mean: T[M], stddev: T[M], corr: T[M, M]):
        standard: T[N, M]
        centre_and_scale(float_n, data, mean, stddev, standard)
        multiply(standard, corr)

    return correlate


def streamed_stages(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """The same with observations that go to the products one by one."""
    M, N = SIZES[size]
    average, deviate = means(size, T, dsp), deviations(size, T, dsp)
    correlate_data, set_diagonal = second_half(size, T), diagonal(size, T)

    def correlation(float_n: T, data: T[N, M], corr: T[M, M], mean: T[M], stddev: T[M]):
        average(float_n, data, mean)
        deviate(float_n, data, mean, stddev)
        correlate_data(float_n, data, mean, stddev, corr)
        set_diagonal(corr)

    return correlation


def at_once(s: allo.Schedule, size: str) -> None:
    """Both stages at the same time."""
    by_observations(s, SIZES[size][0])
    s.pipeline("standardise:j")
    s.relay(s.standard, "products", depth=SIZES[size][0])
    s.dataflow("correlate")


def streamed(dsp: int, statistics: int) -> Design:
    """A design whose second half is two stages at the same time; its first half takes `statistics` of the DSPs."""
    choice = partial(lanes, dsp=statistics)
    parts = (
        Part(partial(means, dsp=statistics), partial(by_pieces, lanes=choice, loops=("j", "j1"))),
        Part(partial(deviations, dsp=statistics), partial(by_pieces, lanes=choice, loops=("j", "j1"))),
        Part(second_half, at_once),
        Part(diagonal, partial(by_pieces, lanes=choice, loops=("j",))),
    )
    return Design(partial(streamed_stages, dsp=statistics), dsp=dsp, reassociated=True, parts=parts)


DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "table3": within(4168),
    "streams": streamed(1400, statistics=300),
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
