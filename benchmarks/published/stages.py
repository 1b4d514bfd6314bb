"""Stages of matrix products: what Stream-HLS makes of PolyBench, with tiles that follow from published DSPs and cycles.

A stage computes a tile of P rows and C columns in each cycle, R terms of each sum in a tree; sums of all columns take
turns. A tile that is complete goes through FIFOs, one for each element.
"""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

from collections.abc import Callable

import allo
from allo.ir.types import float32 as T

type Kernel = Callable[..., None]


def product(M: int, N: int, K: int, tile: tuple[int, int, int]) -> Kernel:
    """Tiles of X Y, blocks of rows one after the other."""
    P, C, R = tile

    def product(X: T[M, K], Y: T[K, N], made: T[M // P, N // C, P, C]):
        sums: T[N // C, P, C]
        for po, ro, co in allo.grid(M // P, K // R, N // C):
            for p in range(P):
                for c in range(C):
                    total: T = 0.0 if ro == 0 else sums[co, p, c]
                    for r in range(R):
                        total += X[P * po + p, R * ro + r] * Y[R * ro + r, C * co + c]
                    sums[co, p, c] = total
                    if ro == K // R - 1:
                        made[po, co, p, c] = total

    return product


def transposed(M: int, N: int, K: int, tile: tuple[int, int, int]) -> Kernel:
    """Tiles of the transpose of X Y: blocks of its columns one after the other."""
    P, C, R = tile

    def transposed(X: T[N, K], Y: T[K, M], made: T[M // P, N // C, P, C]):
        sums: T[N // C, P, C]
        for po, ro, co in allo.grid(M // P, K // R, N // C):
            for p in range(P):
                for c in range(C):
                    total: T = 0.0 if ro == 0 else sums[co, p, c]
                    for r in range(R):
                        total += X[C * co + c, R * ro + r] * Y[R * ro + r, P * po + p]
                    sums[co, p, c] = total
                    if ro == K // R - 1:
                        made[po, co, p, c] = total

    return transposed


def second(M: int, N: int, K: int, tile: tuple[int, int, int]) -> Kernel:
    """Tiles of X Y, where X comes in tiles of P rows and R columns, blocks of rows one after the other."""
    P, C, R = tile

    def second(taken: T[M // P, K // R, P, R], Y: T[K, N], made: T[M // P, N // C, P, C]):
        sums: T[N // C, P, C]
        X: T[P, R]
        for po, ro, co in allo.grid(M // P, K // R, N // C):
            for p0 in range(P):
                for r0 in range(R):
                    if co == 0:
                        X[p0, r0] = taken[po, ro, p0, r0]
            for p in range(P):
                for c in range(C):
                    total: T = 0.0 if ro == 0 else sums[co, p, c]
                    for r in range(R):
                        total += X[p, r] * Y[R * ro + r, C * co + c]
                    sums[co, p, c] = total
                    if ro == K // R - 1:
                        made[po, co, p, c] = total

    return second


def outer(M: int, N: int, K: int, tile: tuple[int, int, int]) -> Kernel:
    """D = X Y, where X comes by columns and Y by rows: blocks of terms one after the other."""
    P, C, R = tile

    def outer(X: T[K // R, M // P, R, P], Y: T[K // R, N // C, R, C], D: T[M, N]):
        column: T[P, R]
        rows: T[N // C, R, C]
        for ro, po, co in allo.grid(K // R, M // P, N // C):
            for r0 in range(R):
                for p0 in range(P):
                    if co == 0:
                        column[p0, r0] = X[ro, po, r0, p0]
                for c0 in range(C):
                    if po == 0:
                        rows[co, r0, c0] = Y[ro, co, r0, c0]
            for p in range(P):
                for c in range(C):
                    total: T = 0.0 if ro == 0 else D[P * po + p, C * co + c]
                    for r in range(R):
                        total += column[p, r] * rows[co, r, c]
                    D[P * po + p, C * co + c] = total

    return outer


def regrouped(M: int, N: int, P: int, C: int, Q: int) -> Kernel:
    """Tiles of Q columns of those of C columns: a block of rows is kept."""

    def regrouped(taken: T[M // P, N // C, P, C], passed: T[M // P, N // Q, P, Q]):
        for po in range(M // P):
            rows: T[P, N]
            for co in range(N // C):
                for p in range(P):
                    for c in range(C):
                        rows[p, C * co + c] = taken[po, co, p, c]
            for qo in range(N // Q):
                for p1 in range(P):
                    for q in range(Q):
                        passed[po, qo, p1, q] = rows[p1, Q * qo + q]

    return regrouped


def update(M: int, N: int, P: int, C: int) -> Kernel:
    """D = alpha X + beta D, where X comes in tiles."""

    def update(taken: T[M // P, N // C, P, C], D: T[M, N]):
        for po, co in allo.grid(M // P, N // C):
            for p in range(P):
                for c in range(C):
                    D[P * po + p, C * co + c] = 0.1 * taken[po, co, p, c] + 0.1 * D[P * po + p, C * co + c]

    return update


def sum_of_two(N: int, C: int) -> Kernel:
    """y = alpha a + beta b, where both come C elements at once."""

    def sum_of_two(a: T[1, N // C, 1, C], b: T[1, N // C, 1, C], y: T[N]):
        for co in range(N // C):
            for c in range(C):
                y[C * co + c] = 0.1 * a[0, co, 0, c] + 0.1 * b[0, co, 0, c]

    return sum_of_two


def banks(s: allo.Schedule, buffer: str, *factors: int) -> None:
    """So many banks along each dimension; 0: one for each element."""
    for dim, factor in enumerate(factors, 1):
        if factor == 0:
            s.partition(buffer, dim=dim)
        elif factor > 1:
            s.partition(buffer, dim=dim, factor=factor)


def connected(s: allo.Schedule, links: dict[str, str]) -> None:
    """Tiles become FIFOs to their consumers, and all stages run at once."""
    for words, consumer in links.items():
        buffer = f"{s.top_func_name}:{words}"
        banks(s, buffer, 1, 1, 0, 0)
        s.relay(buffer, consumer)
    s.dataflow(s.top_func_name)
