"""Two matrix products in one nest whose iterations take several cycles, so that lanes need not divide the matrices."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from functools import cache
from math import gcd, lcm
from typing import NamedTuple

import allo
from allo.ir.types import AlloType

from .lanes import ADDITION, MOST_BANKS, TURNS, Tile, divisors, halvings, in_banks
from .product_trees import Shape, cycles_of, tiles_of


class Pair(NamedTuple):
    """Iterations of the nest along rows of E and columns of F, along what both share, and along terms of their sums;
    an iteration starts each `interval` cycles."""

    others: int
    shared: int
    terms: int
    interval: int

    def tiles(self, first: Shape, second: Shape) -> tuple[Shape, Shape]:
        """What an iteration does for E and for F: rows, columns, terms of each sum."""
        (M, shared, K), (_, N, L) = first, second
        along = shared // self.shared
        return (M // self.others, along, K // self.terms), (along, N // self.others, L // self.terms)


def products(first: Shape, second: Shape, pair: Pair, T: AlloType) -> Callable[..., None]:
    """E = A B and F = C D, where E has as many columns as F has rows, with several terms of each sum at once."""
    (M, J, K), (_, N, L) = first, second
    (ROWS, ALONG, K_TERMS), (_, COLUMNS, L_TERMS) = pair.tiles(first, second)
    K_LEVELS, L_LEVELS = halvings(K_TERMS), halvings(L_TERMS)

    def products(E: T[M, J], A: T[M, K], B: T[K, J], F: T[J, N], C: T[J, L], D: T[L, N]):
        for k, o, s in allo.grid(pair.terms, pair.others, pair.shared):
            for i, j in allo.grid(ROWS, ALONG):
                p: T[K_TERMS]
                for term in range(K_TERMS):
                    p[term] = A[ROWS * o + i, K_TERMS * k + term] * B[K_TERMS * k + term, ALONG * s + j]
                with allo.meta_for(K_LEVELS) as terms:
                    for pair_1 in range(terms // 2):
                        p[pair_1] += p[pair_1 + (terms + 1) // 2]
                E[ROWS * o + i, ALONG * s + j] = p[0] if k == 0 else E[ROWS * o + i, ALONG * s + j] + p[0]
            for j2, n in allo.grid(ALONG, COLUMNS):
                q: T[L_TERMS]
                for term_2 in range(L_TERMS):
                    q[term_2] = C[ALONG * s + j2, L_TERMS * k + term_2] * D[L_TERMS * k + term_2, COLUMNS * o + n]
                with allo.meta_for(L_LEVELS) as terms_2:
                    for pair_2 in range(terms_2 // 2):
                        q[pair_2] += q[pair_2 + (terms_2 + 1) // 2]
                F[ALONG * s + j2, COLUMNS * o + n] = q[0] if k == 0 else F[ALONG * s + j2, COLUMNS * o + n] + q[0]

    return products


def in_one_pipeline(s: allo.Schedule, first: Shape, second: Shape, pair: Pair) -> None:
    """A tile of both products in each iteration."""
    s.pipeline("s", initiation_interval=pair.interval)
    E, F = pair.tiles(first, second)
    for matrices, (rows, columns, terms) in ((("E", "A", "B"), E), (("F", "C", "D"), F)):
        for matrix, banks in zip(matrices, ((rows, columns), (rows, terms), (terms, columns)), strict=True):
            in_banks(s, s.buffers[matrix], *banks)
    for sums in ("p", "q"):
        s.partition(s.buffers[sums])


@cache
def choice(first: Shape, second: Shape, third: Shape, lanes: int) -> tuple[Pair, Tile]:
    """The fewest cycles for E = A B and F = C D in one nest and then G = E F, with `lanes` in each cycle."""
    pairs = _pairs(first, second, lanes)
    choices = []
    for G in tiles_of(third, lanes):
        for pair in pairs:
            E, F = pair.tiles(first, second)
            read = (((E[0], G.rows), (E[1], G.terms)), ((F[0], G.terms), (F[1], G.columns)))
            if all(lcm(*rows) * lcm(*columns) <= MOST_BANKS for rows, columns in read):
                choices.append((_cycles(first, second, pair) + cycles_of(third, G), (pair, G)))
                break
    return min(choices)[1]


def _pairs(first: Shape, second: Shape, lanes: int) -> list[Pair]:
    """All that take turns, the one of the fewest cycles first."""
    (M, J, K), (_, N, L) = first, second
    found = []
    for others in divisors(gcd(M, N)):
        for shared in divisors(J)[1:]:  # the pipelined loop iterates
            for terms in divisors(gcd(K, L)):
                one = Pair(others, shared, terms, 1).tiles(first, second)
                interval = -(-sum(rows * columns * each for rows, columns, each in one) // lanes)
                most = max(max(r * c, r * t, t * c) for r, c, t in one)
                if most <= MOST_BANKS and (terms == 1 or others * shared * interval >= TURNS):
                    found.append(Pair(others, shared, terms, interval))
    return sorted(found, key=lambda pair: (_cycles(first, second, pair), pair))


def _cycles(first: Shape, second: Shape, pair: Pair) -> int:
    """Those of the iterations, and those that the first sums take through the longer tree."""
    most = max(terms for _, _, terms in pair.tiles(first, second))
    return pair.others * pair.shared * pair.terms * pair.interval + ADDITION * len(halvings(most))
