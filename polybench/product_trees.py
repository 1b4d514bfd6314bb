"""Matrix products that add several terms of each sum in a tree, and lanes for E = A B, F = C D, G = E F."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from functools import cache
from math import lcm

import allo
from allo.ir.types import AlloType

from .lanes import (
    ADDITION,
    MOST_BANKS,
    Product,
    Tile,
    cycles,
    divisors,
    halvings,
    in_banks,
    spread,
    take_turns,
    widths,
)

Shape = tuple[int, int, int]  # rows and columns of the product, terms of each sum


def product(shape: Shape, TERMS: int, T: AlloType) -> Callable[..., None]:
    """C = A B, with as many terms of each sum at once as TERMS says."""
    M, N, K = shape
    LEVELS = halvings(TERMS)

    def product(C: T[M, N], A: T[M, K], B: T[K, N]):
        for k in range(K // TERMS):
            for i in range(M):
                for j in range(N):
                    p: T[TERMS]
                    for term in range(TERMS):
                        p[term] = A[i, TERMS * k + term] * B[TERMS * k + term, j]
                    with allo.meta_for(LEVELS) as terms:
                        for pair in range(terms // 2):
                            p[pair] += p[pair + (terms + 1) // 2]
                    C[i, j] = p[0] if k == 0 else C[i, j] + p[0]

    return product


def in_trees(s: allo.Schedule, tile: Tile) -> None:
    """A tree for each sum of a tile in each cycle; the sums of all elements take turns."""
    spread(s, "i", "j", tile)
    s.partition("product:p")
    in_banks(s, s.C, tile.rows, tile.columns)
    in_banks(s, s.A, tile.rows, tile.terms)
    in_banks(s, s.B, tile.terms, tile.columns)


@cache
def tiles(first: Shape, second: Shape, third: Shape, lanes: int) -> tuple[Tile, Tile, Tile]:
    """The fewest cycles for E = A B, F = C D and G = E F, which run one after the other and share `lanes`."""
    choices = []
    for G in tiles_of(third, lanes):
        E = next((t for t in tiles_of(first, lanes) if _banks(t, G.rows, G.terms) <= MOST_BANKS), None)
        F = next((t for t in tiles_of(second, lanes) if _banks(t, G.terms, G.columns) <= MOST_BANKS), None)
        if E and F:
            total = cycles_of(first, E) + cycles_of(second, F) + cycles_of(third, G)
            choices.append((total, (E, F, G)))
    return min(choices)[1]


def _banks(made: Tile, rows: int, columns: int) -> int:
    """The banks of a product that is read in pieces of some rows and columns."""
    return lcm(made.rows, rows) * lcm(made.columns, columns)


@cache
def tiles_of(shape: Shape, lanes: int) -> list[Tile]:
    """For each number of rows and of terms the tile with the most columns; that of the fewest cycles first."""
    M, N, K = shape
    found = []
    for t in divisors(K):
        for r in (r for r in divisors(M) if r * t <= min(lanes, MOST_BANKS)):
            most = min(lanes // (r * t), MOST_BANKS // max(r, t))
            columns = [c for c in widths(Product(N)) if c <= most and take_turns(M, Product(N), r, c)]
            if columns:
                found.append(Tile(M, r, columns[-1], t, N))
    return sorted(found, key=lambda tile: (cycles_of(shape, tile), tile))


def cycles_of(shape: Shape, tile: Tile) -> int:
    """Those of the sums, and those that the first ones take through the tree."""
    M, N, K = shape
    return cycles(M, Product(N, K), tile) + ADDITION * len(halvings(tile.terms))
