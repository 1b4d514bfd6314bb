"""3mm: G = (A B) (C D), by way of E = A B and F = C D."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32, index

from . import paired_products, product_trees
from .benchmark import DEVICE, Benchmark, Design, Part
from .lanes import (
    DSP_LANE,
    DSP_PRODUCT,
    FABRIC,
    Product,
    Tile,
    cycles,
    divisor,
    in_banks,
    product_tiles,
    row_wise,
    rows_in_order,
    turns,
    widths,
)
from .product_trees import Shape, in_trees

SIZES = {
    "MINI": (16, 18, 20, 22, 24),
    "SMALL": (40, 50, 60, 70, 80),
    "MEDIUM": (180, 190, 200, 210, 220),
    "LARGE": (800, 900, 1000, 1100, 1200),
    "EXTRALARGE": (1600, 1800, 2000, 2200, 2400),
}


def product(M: int, N: int, K: int, T: AlloType) -> Callable[..., None]:
    """C = A B for A of M x K."""

    def product(C: T[M, N], A: T[M, K], B: T[K, N]):
        for i in range(M):
            for j in range(N):
                C[i, j] = 0.0
                for k in range(K):
                    C[i, j] += A[i, k] * B[k, j]

    return product


def shapes(size: str) -> tuple[Shape, Shape, Shape]:
    """Of the three products."""
    NI, NJ, NK, NL, NM = SIZES[size]
    return (NI, NJ, NK), (NJ, NL, NM), (NI, NL, NJ)


def nest(size: str, T: AlloType = float32, number: int = 0) -> Callable[..., None]:
    """The first product, E = A B, the second, F = C D, or the third, G = E F."""
    return product(*shapes(size)[number], T)


def kernel(
    size: str, T: AlloType = float32, stage: Callable[..., Callable[..., None]] = nest
) -> Callable[..., None]:
    """The kernel for A of NI x NK, B of NK x NJ, C of NJ x NM, D of NM x NL."""
    NI, NJ, NK, NL, NM = SIZES[size]
    first, second, third = (stage(size, T, number=number) for number in range(3))

    def three_mm(
        E: T[NI, NJ],
        A: T[NI, NK],
        B: T[NK, NJ],
        F: T[NJ, NL],
        C: T[NJ, NM],
        D: T[NM, NL],
        G: T[NI, NL],
    ):
        first(E, A, B)
        second(F, C, D)
        third(G, E, F)

    return three_mm


def tiles(size: str, dsp: int, lane: int) -> tuple[Tile, Tile, Tile]:
    """The lanes of the three products; E is written and read by as many rows, and F by as many columns."""
    NI, NJ, NK, NL, NM = SIZES[size]
    choices = []
    for lanes in widths(Product(NL)):
        first = Product(NJ, NK, chained=True)
        second, third = (Product(NL, terms, lanes=lanes, chained=True) for terms in (NM, NJ))

        def fits_E(made: Tile, read: Tile) -> bool:
            return made.columns % read.terms == 0

        outer = product_tiles(NI, [first, third], dsp, lane, fits_E)

        def fits_F(made: Tile, terms: int = outer[1].terms if outer else 1) -> bool:
            return made.rows % terms == 0

        inner = product_tiles(NJ, [second], dsp, lane, fits_F)
        if outer and inner:
            turns = cycles(NI, first, outer[0]) + cycles(NJ, second, inner[0]) + cycles(NI, third, outer[1])
            choices.append((turns, (outer[0], inner[0], outer[1])))
    return min(choices)[1]


def by_rows(s: allo.Schedule, size: str, number: int, dsp: int, lane: int = DSP_LANE) -> None:
    """A tile of sums in each cycle."""
    tile = tiles(size, dsp, lane)[number]
    row_wise(s, "C", tile)
    in_banks(s, s.A, tile.rows, tile.terms)
    in_banks(s, s.B, tile.terms, tile.columns)


def of_trees(size: str, T: AlloType = float32, number: int = 0, lanes: int = 0) -> Callable[..., None]:
    """The same product, with several terms of each sum at once."""
    tile = product_trees.tiles(*shapes(size), lanes)[number]
    return product_trees.product(shapes(size)[number], tile.terms, T)


def by_trees(s: allo.Schedule, size: str, number: int, lanes: int) -> None:
    """A tree for each sum of a tile in each cycle."""
    in_trees(s, product_trees.tiles(*shapes(size), lanes)[number])


def pair_first(size: str, T: AlloType = float32, lanes: int = 0) -> Callable[..., None]:
    """The kernel with the first two products in one nest."""
    NI, NJ, NK, NL, NM = SIZES[size]
    first_two, third = paired(size, T, lanes), paired_with(size, T, lanes)

    def three_mm(
        E: T[NI, NJ],
        A: T[NI, NK],
        B: T[NK, NJ],
        F: T[NJ, NL],
        C: T[NJ, NM],
        D: T[NM, NL],
        G: T[NI, NL],
    ):
        first_two(E, A, B, F, C, D)
        third(G, E, F)

    return three_mm


def paired(size: str, T: AlloType = float32, lanes: int = 0) -> Callable[..., None]:
    """The first two products."""
    first, second, third = shapes(size)
    return paired_products.products(first, second, paired_products.choice(first, second, third, lanes)[0], T)


def in_pairs(s: allo.Schedule, size: str, lanes: int) -> None:
    """A tile of both in each iteration, whose products take turns in the lanes."""
    first, second, third = shapes(size)
    pair, _ = paired_products.choice(first, second, third, lanes)
    paired_products.in_one_pipeline(s, first, second, pair)


def paired_with(size: str, T: AlloType = float32, lanes: int = 0) -> Callable[..., None]:
    """The third product, with several terms of each sum at once."""
    _, tile = paired_products.choice(*shapes(size), lanes)
    return product_trees.product(shapes(size)[2], tile.terms, T)


def by_trees_behind(s: allo.Schedule, size: str, lanes: int) -> None:
    """A tree for each sum of a tile in each cycle."""
    in_trees(s, paired_products.choice(*shapes(size), lanes)[1])


def pair_and_third_in_turn(s: allo.Schedule, size: str) -> None:
    """All in one function, so that multipliers and adders are shared."""
    for function in ("products", "product"):
        s.inline(function)


def in_turn(s: allo.Schedule, size: str) -> None:
    """The three products in one function, so that they share multipliers and adders."""
    for function in ("product", "product_1", "product_2"):
        s.inline(function)


def product_of_rows(size: str, T: AlloType = float32, number: int = 0) -> Callable[..., None]:
    """The first product, E = A B, or the second, F = C D, a row after the other."""
    NI, NJ, NK, NL, NM = SIZES[size]
    M, N, K = ((NI, NJ, NK), (NJ, NL, NM))[number]

    def row(i: index, A: T[M, K], B: T[K, N], sums: T[N]):
        for j in range(N):
            sums[j] = 0.0
            for k in range(K):
                sums[j] += A[i, k] * B[k, j]

    def product(A: T[M, K], B: T[K, N], C: T[M, N]):
        for i in range(M):
            sums: T[N]
            row(i, A, B, sums)
            for j in range(N):
                C[i, j] = sums[j]

    return product


def product_in_order(s: allo.Schedule, size: str, columns: int) -> None:
    """A row is computed while the one before leaves; the number of columns is that number of the sizes."""
    rows_in_order(s, "B", SIZES[size][columns])


def third_of_rows(size: str, T: AlloType = float32) -> Callable[..., None]:
    """G = E F, which gets both in the order of their rows and keeps them."""
    NI, NJ, _, NL, _ = SIZES[size]

    def row_of_G(i: index, left: T[NJ], F: T[NJ, NL], G: T[NI, NL]):
        for j2 in range(NL):
            G[i, j2] = 0.0
        for k in range(NJ):
            for j in range(NL):
                G[i, j] += left[k] * F[k, j]

    def third(from_E: T[NI, NJ], from_F: T[NJ, NL], E: T[NI, NJ], F: T[NJ, NL], G: T[NI, NL]):
        for i0, j0 in allo.grid(NJ, NL):
            F[i0, j0] = from_F[i0, j0]
        for i in range(NI):
            left: T[NJ]
            for j1 in range(NJ):
                E[i, j1] = from_E[i, j1]
                left[j1] = from_E[i, j1]
            row_of_G(i, left, F, G)

    return third


def row_by_row(s: allo.Schedule, size: str) -> None:
    """The sums of a row of G take turns, while the next row of E arrives."""
    NL = SIZES[size][3]
    lanes = divisor(NL, NL // turns(NL))
    for loop in ("j", "j2"):
        s.pipeline(s.split(f"row_of_G:{loop}", lanes)[0])
    for matrix in ("F", "G"):
        in_banks(s, f"row_of_G:{matrix}", 1, lanes)
    for loop in ("j0", "j1"):
        s.pipeline(loop)
    s.dataflow("i")


def streamed_stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same in three stages; the last one gets the elements of E and F one by one."""
    NI, NJ, NK, NL, NM = SIZES[size]
    first, second, third = product_of_rows(size, T, 0), product_of_rows(size, T, 1), third_of_rows(size, T)

    def three_mm(
        E: T[NI, NJ],
        A: T[NI, NK],
        B: T[NK, NJ],
        F: T[NJ, NL],
        C: T[NJ, NM],
        D: T[NM, NL],
        G: T[NI, NL],
    ):
        from_E: T[NI, NJ]
        from_F: T[NJ, NL]
        first(A, B, from_E)
        second(C, D, from_F)
        third(from_E, from_F, E, F, G)

    return three_mm


def streamed(s: allo.Schedule, size: str) -> None:
    """The first two products at once; then each row of the third, while the next one of the first is computed."""
    columns = SIZES[size][1]
    for passed in (s.from_E, s.from_F):
        s.relay(passed, "third", depth=columns)
    s.dataflow("three_mm")


def within(dsp: int, lane: int = DSP_LANE, **options: Any) -> Design:
    """The fastest design with this many DSPs, of which a lane takes `lane`, that adds in the order of the kernel."""
    choice = {"dsp": dsp, "lane": lane}
    parts = (Part(partial(nest, number=n), partial(by_rows, number=n, **choice)) for n in range(3))
    return Design(kernel, in_turn, dsp, parts=tuple(parts), **options)


def added_in_trees(dsp: int, lane: int = DSP_LANE, **options: Any) -> Design:
    """The fastest design with this many DSPs, of which a lane takes `lane`."""
    lanes = dsp // lane
    parts = (
        Part(partial(of_trees, number=n, lanes=lanes), partial(by_trees, number=n, lanes=lanes)) for n in range(3)
    )
    stages = partial(kernel, stage=partial(of_trees, lanes=lanes))
    return Design(stages, in_turn, dsp, reassociated=True, parts=tuple(parts), **options)


def added_in_pairs(dsp: int, lane: int = DSP_LANE, **options: Any) -> Design:
    """The fastest design with this many DSPs whose first two products are one nest."""
    lanes = dsp // lane
    stages = ((paired, in_pairs), (paired_with, by_trees_behind))
    parts = tuple(Part(partial(nest, lanes=lanes), partial(steps, lanes=lanes)) for nest, steps in stages)
    kernel = partial(pair_first, lanes=lanes)
    return Design(kernel, pair_and_third_in_turn, dsp, reassociated=True, parts=parts, **options)


STREAMS = (
    *(
        Part(partial(product_of_rows, number=n), partial(product_in_order, columns=c))
        for n, c in ((0, 1), (1, 3))
    ),
    Part(third_of_rows, row_by_row),
)
DESIGNS = {
    "vanilla": Design(kernel),
    "best": added_in_trees(DEVICE),
    "dsp227": within(227),
    "dsp467": within(467, DSP_PRODUCT, operators=FABRIC),
    "dsp2507": added_in_trees(2507),
    "dsp8026": added_in_pairs(8026),
    "streams": Design(streamed_stages, streamed, dsp=320, parts=STREAMS),
}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """E, A, B, F, C, D, G as PolyBench initialises them."""
    ni, nj, nk, nl, nm = SIZES[size]
    row, column = np.ogrid[:ni, :nk]
    A = T[ni, nk]((row * column + 1) % ni / (5 * ni))
    row, column = np.ogrid[:nk, :nj]
    B = T[nk, nj]((row * (column + 1) + 2) % nj / (5 * nj))
    row, column = np.ogrid[:nj, :nm]
    C = T[nj, nm](row * (column + 3) % nl / (5 * nl))
    row, column = np.ogrid[:nm, :nl]
    D = T[nm, nl]((row * (column + 2) + 2) % nk / (5 * nk))
    return T[ni, nj](0), A, B, T[nj, nl](0), C, D, T[ni, nl](0)


def reference(size: str, E: Any, A: Any, B: Any, F: Any, C: Any, D: Any, G: Any) -> None:
    """The kernel in NumPy."""
    E[...] = A @ B
    F[...] = C @ D
    G[...] = E @ F


BENCHMARK = Benchmark(
    "three_mm", ("NI", "NJ", "NK", "NL", "NM"), SIZES, kernel, arguments, reference, DESIGNS
)
