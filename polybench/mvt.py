"""mvt: x1 += A y1 and x2 += A^T y2."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from functools import partial
from math import lcm
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from . import matrix_streams
from .benchmark import DEVICE, Benchmark, Design, Part
from .lanes import DSP_LANE, DSP_PRODUCT, FABRIC, divisors, turns
from .matrix_vector import column_sums, in_lanes, in_turn, row_sums

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,), "EXTRALARGE": (4000,)}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of N x N."""
    (N,) = SIZES[size]

    def rows(x1: T[N], y1: T[N], A: T[N, N]):
        for i in range(N):
            for j in range(N):
                x1[i] += A[i, j] * y1[j]

    def columns(x2: T[N], y2: T[N], A: T[N, N]):
        for i in range(N):
            for j in range(N):
                x2[i] += A[j, i] * y2[j]

    def mvt(x1: T[N], x2: T[N], y1: T[N], y2: T[N], A: T[N, N]):
        rows(x1, y1, A)
        columns(x2, y2, A)

    return mvt


MOST_SIDE = 32  # banks of A in either dimension: MOST_BANKS in all


def tile(size: str, dsp: int, lane: int = DSP_LANE) -> tuple[int, int]:
    """The rows and columns of a piece of A, half of the lanes for each product: the fewest cycles.

    The last rows may be fewer. A has as many banks in either dimension as both numbers divide.
    """
    (N,) = SIZES[size]
    most = dsp // (2 * lane)
    choices = [(r, c) for c in divisors(N) if c <= most for r in range(1, min(most // c, N // turns(N)) + 1)]
    choices = [(r, c) for r, c in choices if lcm(r, c) <= MOST_SIDE]
    return min(choices, key=lambda rc: (-(-N // rc[0]) * (N // rc[1]), lcm(*rc), rc))


def turned(size: str, dsp: int, lane: int = DSP_LANE) -> tuple[int, int]:
    """The rows and columns of a piece of A in the second product: those of the first one, turned."""
    R, C = tile(size, dsp, lane)
    return C, R


def rows(size: str, T: AlloType = float32, dsp: int = DEVICE, lane: int = DSP_LANE) -> Callable[..., None]:
    """x1 += A y1."""
    return row_sums(*SIZES[size], *SIZES[size], tile(size, dsp, lane)[1], T)


def columns(size: str, T: AlloType = float32, dsp: int = DEVICE, lane: int = DSP_LANE) -> Callable[..., None]:
    """x2 += A^T y2."""
    return column_sums(*SIZES[size], *SIZES[size], turned(size, dsp, lane)[0], T)


def stages(size: str, T: AlloType = float32, dsp: int = DEVICE, lane: int = DSP_LANE) -> Callable[..., None]:
    """The same, with both products by pieces of A."""
    (N,) = SIZES[size]
    product, transposed_product = rows(size, T, dsp, lane), columns(size, T, dsp, lane)

    def mvt(x1: T[N], x2: T[N], y1: T[N], y2: T[N], A: T[N, N]):
        product(A, y1, x1)
        transposed_product(A, y2, x2)

    return mvt


def at_once(s: allo.Schedule, size: str) -> None:
    """Both products in one loop: two pieces of A in each cycle, one of each port of its banks."""
    in_turn(s, size)
    s.compute_at("i.outer", "j.outer")
    s.pipeline("j.outer")


def within(dsp: int, lane: int = DSP_LANE, **options: Any) -> Design:
    """The fastest design with this many DSPs, of which a lane takes `lane`."""
    choice = {"dsp": dsp, "lane": lane}
    parts = (
        Part(partial(rows, **choice), partial(in_lanes, sums="i", tile=partial(tile, **choice))),
        Part(partial(columns, **choice), partial(in_lanes, sums="j", tile=partial(turned, **choice))),
    )
    return Design(partial(stages, **choice), at_once, dsp, reassociated=True, parts=parts, **options)


def shape(size: str) -> tuple[int, int]:
    """The rows and columns of A."""
    (N,) = SIZES[size]
    return N, N


def addition(size: str, T: AlloType = float32) -> Callable[..., None]:
    """x1 += the sums of the first product."""
    (N,) = SIZES[size]

    def addition(sums: T[N], x1: T[N]):
        for i in range(N):
            x1[i] += sums[i]

    return addition


def one_by_one(s: allo.Schedule, size: str) -> None:
    """An element in each cycle."""
    s.pipeline("i")


STAGES = matrix_streams.parts(shape, fresh=False)


def streamed_stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same in stages, of which the first one sends the rows of A to both products."""
    (N,) = SIZES[size]
    C = matrix_streams.lanes(N)
    send, spread, multiply, add, add_columns = (stage.kernel(size, T) for stage in STAGES)
    add_sums = addition(size, T)

    def mvt(x1: T[N], x2: T[N], y1: T[N], y2: T[N], A: T[N, N]):
        sent: T[N, N // C, C]
        y1_sent: T[N // C, C]
        terms: T[N, N // C]
        sums: T[N]
        send(A, sent)
        spread(y1, y1_sent)
        multiply(sent, y1_sent, terms)
        add(terms, sums)
        add_sums(sums, x1)
        add_columns(sent, y2, x2)

    return mvt


def streamed(s: allo.Schedule, size: str) -> None:
    """Both products at once, from one pass over A."""
    for array, stage in (
        ("y1_sent", "products"),
        ("sent", "products"),
        ("sent", "columns"),
        ("terms", "rows"),
    ):
        s.relay(s.buffers[array], stage, depth=2)
    s.relay(s.sums, "addition", depth=2)
    s.dataflow("mvt")


DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "dsp202": within(202),
    "dsp2306": within(2306),
    "dsp2306_fabric": within(2306, DSP_PRODUCT, operators=FABRIC),
    "dsp3582": within(3582),
    "dsp3582_fabric": within(2400, DSP_PRODUCT, operators=FABRIC),
    "dsp4000": within(4000),
    "streams": Design(
        streamed_stages, streamed, dsp=410, reassociated=True, parts=(*STAGES, Part(addition, one_by_one))
    ),
}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """x1, x2, y1, y2, A as PolyBench initialises them."""
    (n,) = SIZES[size]
    position = np.arange(n)
    vectors = [T[n]((position + shift) % n / n) for shift in (0, 1, 3, 4)]
    row, column = np.ogrid[:n, :n]
    return *vectors, T[n, n](row * column % n / n)


def reference(size: str, x1: Any, x2: Any, y1: Any, y2: Any, A: Any) -> None:
    """The kernel in NumPy."""
    x1 += A @ y1
    x2 += y2 @ A


BENCHMARK = Benchmark("mvt", ("N",), SIZES, kernel, arguments, reference, DESIGNS)
