"""Statistics of the columns of a matrix of observations: sums over pieces in trees, products of all its columns."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable, Sequence
from typing import NamedTuple

import allo
from allo.ir.types import AlloType, index

from .lanes import (
    MOST_BANKS,
    Product,
    Tile,
    divisor,
    divisors,
    halvings,
    in_banks,
    product_tiles,
    spread,
    turns,
)

DIVIDERS = 240  # at most, of some 800 LUTs each


class Lanes(NamedTuple):
    """Lanes for the products of M columns with N observations, and pieces of the observations for the statistics.

    Pieces are `rows` x `columns`; where elements are divided, as few rows as `dividing` says.
    """

    products: Tile
    rows: int
    columns: int

    def dividing(self, rows: int) -> int:
        """The most rows of a piece for which there are dividers, a divisor of `rows`."""
        return divisor(rows, max(1, DIVIDERS // self.columns))


def lanes(M: int, N: int, dsp: int) -> Lanes:
    """All stages share `dsp`: an element of a piece takes two additions, as the statistics do, for one of a product."""
    (tile,) = product_tiles(M, [Product(M, N, even=True, chained=True)], dsp)
    columns = divisor(tile.columns, M // turns(M))
    most = max(1, tile.rows * tile.columns * tile.terms // (2 * columns))
    most = max(tile.terms, min(most, MOST_BANKS // tile.columns))
    choices = [
        Lanes(tile, rows, columns) for rows in divisors(N) if rows <= most and rows % tile.terms == 0
    ]
    # two passes over all pieces, and one in which they are divided
    return min(choices, key=lambda found: (2 * N // found.rows + N // found.dividing(found.rows), found.rows))


def means(M: int, N: int, R: int, T: AlloType) -> Callable[..., None]:
    """The mean of each column; each sum over R rows is a tree, and all columns take turns."""
    LEVELS = halvings(R)

    def means(float_n: T, data: T[N, M], mean: T[M]):
        for io in range(N // R):
            for j in range(M):
                p: T[R]
                for r in range(R):
                    p[r] = data[R * io + r, j]
                with allo.meta_for(LEVELS) as terms:
                    for pair in range(terms // 2):
                        p[pair] += p[pair + (terms + 1) // 2]
                mean[j] = p[0] if io == 0 else mean[j] + p[0]
        for j1 in range(M):
            mean[j1] /= float_n

    return means


def products(M: int, N: int, T: AlloType) -> Callable[..., None]:
    """The products of all columns with all columns."""

    def products(data: T[N, M], sums: T[M, M]):
        for i, j in allo.grid(M, M):
            sums[i, j] = 0.0
            for k in range(N):
                sums[i, j] += data[k, i] * data[k, j]

    return products


def by_pieces(s: allo.Schedule, size: str, lanes: Callable[[str], Lanes], loops: Sequence[str]) -> None:
    """A piece in each cycle, by lanes along `loops` over columns."""
    _, rows, columns = lanes(size)
    for loop in loops:
        s.pipeline(s.split(loop, columns)[0])
    for buffer, *banks in (("data", rows, columns), ("p", rows), ("mean", columns), ("stddev", columns)):
        if buffer in s.buffers:
            in_banks(s, s.buffers[buffer], *banks)


def by_rows(s: allo.Schedule, size: str, lanes: Callable[[str], Lanes]) -> None:
    """Row-wise products: the sums of all elements take turns."""
    tile = lanes(size).products
    k, *term = s.split("k", tile.terms) if tile.terms > 1 else ("k",)
    s.reorder(k, "i", "j", *term)
    for nest in ("S_i_j_0_1", "S_i_j_0"):
        spread(s, f"{nest}.i", f"{nest}.j", tile)
    for buffer, *banks in ((s.data, tile.terms, tile.columns), (s.sums, tile.rows, tile.columns)):
        in_banks(s, buffer, *banks)


def products_by_observations(M: int, N: int, T: AlloType) -> Callable[..., None]:
    """The products of all columns with all columns, from observations in the order of their rows."""

    def accumulate(k: index, row: T[M], again: T[M], sums: T[M, M]):
        for i, j in allo.grid(M, M):
            term: T = row[i] * again[j]
            sums[i, j] = term if k == 0 else sums[i, j] + term

    def products(data: T[N, M], sums: T[M, M]):
        for k in range(N):
            row: T[M]
            again: T[M]  # in the banks of the columns
            for j in range(M):
                row[j] = data[k, j]
                again[j] = data[k, j]
            accumulate(k, row, again, sums)

    return products


def lanes_of_observations(M: int) -> Lanes:
    """Lanes with which the products of an observation take as long as the next one to arrive, an element a cycle."""
    pieces = [(r, c) for r in divisors(M) for c in divisors(M) if r * c <= M]
    rows, columns = max(pieces, key=lambda rc: (rc[0] * rc[1], -max(rc)))
    return Lanes(Tile(M, rows, columns), rows, columns)


def by_observations(s: allo.Schedule, M: int) -> None:
    """While the products of an observation are added, the next one arrives."""
    tile = lanes_of_observations(M).products
    R, C = tile.rows, tile.columns
    spread(s, "accumulate:i", "accumulate:j", tile)
    for buffer, *banks in (("sums", R, C), ("row", R), ("again", C)):
        in_banks(s, f"accumulate:{buffer}", *banks)
    s.pipeline("products:j")
    s.dataflow("products:k")
