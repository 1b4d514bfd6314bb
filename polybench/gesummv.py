"""gesummv: y = alpha A x + beta B x."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from . import matrix_streams
from .benchmark import DEVICE, Benchmark, Design, Part
from .lanes import DSP_LANE, DSP_PRODUCT, FABRIC, divisors, enough, in_banks, turns
from .matrix_vector import row_sums

SIZES = {"MINI": (30,), "SMALL": (90,), "MEDIUM": (250,), "LARGE": (1300,), "EXTRALARGE": (2800,)}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A and B of N x N; tmp holds A x."""
    (N,) = SIZES[size]

    def gesummv(alpha: T, beta: T, A: T[N, N], B: T[N, N], tmp: T[N], x: T[N], y: T[N]):
        for i in range(N):
            tmp[i] = 0.0
            y[i] = 0.0
            for j in range(N):
                tmp[i] = A[i, j] * x[j] + tmp[i]
                y[i] = B[i, j] * x[j] + y[i]
            y[i] = alpha * tmp[i] + beta * y[i]

    return gesummv


def tile(size: str, dsp: int, lane: int) -> tuple[int, int]:
    """The rows and columns of a piece of A and one of B: the fewest cycles. The last rows may be fewer."""
    (N,) = SIZES[size]
    most = dsp // (2 * lane)
    choices = [(min(most // c, N // turns(N)), c) for c in divisors(N) if c <= most]
    return min(choices, key=lambda rc: (-(-N // rc[0]) * (N // rc[1]) + N // enough(rc[0]), rc))


def rows(size: str, T: AlloType = float32, dsp: int = DEVICE, lane: int = DSP_LANE) -> Callable[..., None]:
    """A matrix times a vector."""
    (N,) = SIZES[size]
    return row_sums(N, N, tile(size, dsp, lane)[1], T, fresh=True)


def stages(size: str, T: AlloType = float32, dsp: int = DEVICE, lane: int = DSP_LANE) -> Callable[..., None]:
    """The same with both products by pieces, and their sum afterwards."""
    (N,) = SIZES[size]
    product = rows(size, T, dsp, lane)

    def gesummv(alpha: T, beta: T, A: T[N, N], B: T[N, N], tmp: T[N], x: T[N], y: T[N]):
        product(A, x, tmp)
        product(B, x, y)
        for i1 in range(N):
            y[i1] = alpha * tmp[i1] + beta * y[i1]

    return gesummv


def in_lanes(s: allo.Schedule, size: str, dsp: int, lane: int = DSP_LANE) -> None:
    """A piece of the matrix in each turn, and enough banks for the sum afterwards."""
    R, C = tile(size, dsp, lane)
    s.split("i", R)
    for buffer, *banks in ((s.A, R, C), (s.x, C), (s.y, enough(R)), (s.p, C)):
        in_banks(s, buffer, *banks)


def at_once(s: allo.Schedule, size: str, dsp: int, lane: int = DSP_LANE) -> None:
    """Both products in one loop: a piece of A and one of B in each cycle."""
    R, _ = tile(size, dsp, lane)
    s.inline("rows")
    s.compute_at("S_jo_0.i.outer", "S_jo_0_1.i.outer")
    s.pipeline("i.outer")
    s.pipeline(s.split("i1", enough(R))[0])


def within(dsp: int, lane: int = DSP_LANE, **options: Any) -> Design:
    """The fastest design with this many DSPs, of which a lane takes `lane`."""
    choice = {"dsp": dsp, "lane": lane}
    parts = (Part(partial(rows, **choice), partial(in_lanes, **choice)),)
    kernel, schedule = partial(stages, **choice), partial(at_once, **choice)
    return Design(kernel, schedule, dsp, reassociated=True, parts=parts, **options)


def shape(size: str) -> tuple[int, int]:
    """The rows and columns of A and B."""
    (N,) = SIZES[size]
    return N, N


def combine(size: str, T: AlloType = float32) -> Callable[..., None]:
    """y = alpha A x + beta B x from both products."""
    (N,) = SIZES[size]

    def combine(alpha: T, beta: T, of_A: T[N], of_B: T[N], tmp: T[N], y: T[N]):
        for i in range(N):
            product: T = of_A[i]
            tmp[i] = product
            y[i] = alpha * product + beta * of_B[i]

    return combine


def one_by_one(s: allo.Schedule, size: str) -> None:
    """An element in each cycle."""
    s.pipeline("i")


STAGES = matrix_streams.parts(shape)[:4]


def streamed_stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same in stages: two products, and their sum."""
    (N,) = SIZES[size]
    C = matrix_streams.lanes(N)
    send, spread, multiply, add = (stage.kernel(size, T) for stage in STAGES)
    add_products = combine(size, T)

    def gesummv(alpha: T, beta: T, A: T[N, N], B: T[N, N], tmp: T[N], x: T[N], y: T[N]):
        x_sent: T[N // C, C]
        spread(x, x_sent)
        A_sent: T[N, N // C, C]
        terms_of_A: T[N, N // C]
        of_A: T[N]
        send(A, A_sent)
        multiply(A_sent, x_sent, terms_of_A)
        add(terms_of_A, of_A)
        B_sent: T[N, N // C, C]
        terms_of_B: T[N, N // C]
        of_B: T[N]
        send(B, B_sent)
        multiply(B_sent, x_sent, terms_of_B)
        add(terms_of_B, of_B)
        add_products(alpha, beta, of_A, of_B, tmp, y)

    return gesummv


def streamed(s: allo.Schedule, size: str) -> None:
    """Both products at once, and their sum while the next elements of both are computed."""
    for matrix, copy in (("A", "products_1"), ("B", "products")):
        s.relay(s.buffers[f"{matrix}_sent"], "products", depth=2)
        s.relay(s.x_sent, copy, depth=2)
        s.relay(s.buffers[f"terms_of_{matrix}"], "rows", depth=2)
        s.relay(s.buffers[f"of_{matrix}"], "combine", depth=2)
    s.dataflow("gesummv")


DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "dsp218": within(218),
    "dsp393": within(393, DSP_PRODUCT, operators=FABRIC),
    "dsp922": within(922),
    "dsp922_fabric": within(650, DSP_PRODUCT, operators=FABRIC),  # with more LUTs
    "streams": Design(
        streamed_stages, streamed, dsp=270, reassociated=True, parts=(*STAGES, Part(combine, one_by_one))
    ),
}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """alpha, beta, A, B, tmp, x, y as PolyBench initialises them."""
    (n,) = SIZES[size]
    row, column = np.ogrid[:n, :n]
    A = T[n, n]((row * column + 1) % n / n)
    B = T[n, n]((row * column + 2) % n / n)
    return 1.5, 1.2, A, B, T[n](0), T[n](np.arange(n) / n), T[n](0)


def reference(size: str, alpha: float, beta: float, A: Any, B: Any, tmp: Any, x: Any, y: Any) -> None:
    """The kernel in NumPy."""
    tmp[...] = A @ x
    y[...] = (alpha * A + beta * B) @ x


BENCHMARK = Benchmark("gesummv", ("N",), SIZES, kernel, arguments, reference, DESIGNS)
