"""A matrix times a vector from either side: a piece of R x C elements in each cycle, products added in trees."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable

import allo
from allo.customize import Loop
from allo.ir.types import AlloType

from .lanes import halvings, in_banks


def row_sums(M: int, N: int, C: int, T: AlloType, fresh: bool = False) -> Callable[..., None]:
    """y += A x, or y = A x if `fresh`, for A of M x N: each sum over C columns is a tree, and all rows take turns."""
    LEVELS = halvings(C)

    def rows(A: T[M, N], x: T[N], y: T[M]):
        for jo in range(N // C):
            for i in range(M):
                p: T[C]
                for c in range(C):
                    p[c] = A[i, C * jo + c] * x[C * jo + c]
                with allo.meta_for(LEVELS) as terms:
                    for pair in range(terms // 2):
                        p[pair] += p[pair + (terms + 1) // 2]
                with allo.meta_if(fresh):
                    y[i] = p[0] if jo == 0 else y[i] + p[0]
                with allo.meta_else():
                    y[i] += p[0]

    return rows


def column_sums(M: int, N: int, R: int, T: AlloType, fresh: bool = False) -> Callable[..., None]:
    """y += A^T x, or y = A^T x if `fresh`, for A of M x N: each sum over R rows is a tree; all columns take turns."""
    LEVELS = halvings(R)

    def columns(A: T[M, N], x: T[M], y: T[N]):
        for io in range(M // R):
            for j in range(N):
                p: T[R]
                for r in range(R):
                    p[r] = A[R * io + r, j] * x[R * io + r]
                with allo.meta_for(LEVELS) as terms:
                    for pair in range(terms // 2):
                        p[pair] += p[pair + (terms + 1) // 2]
                with allo.meta_if(fresh):
                    y[j] = p[0] if io == 0 else y[j] + p[0]
                with allo.meta_else():
                    y[j] += p[0]

    return columns


def in_lanes(s: allo.Schedule, size: str, sums: str, tile: Callable[[str], tuple[int, int]]) -> Loop:
    """A piece of A in each iteration of the loop that is returned, of as many rows and columns as `tile(size)` says.

    `sums` is the loop over the sums, "i" in `row_sums` and "j" in `column_sums`.
    """
    R, C = tile(size)
    lanes, terms = (R, C) if sums == "i" else (C, R)
    pieces, _ = s.split(sums, lanes)
    for buffer, *banks in ((s.A, R, C), (s.x, terms), (s.y, lanes), (s.p, terms)):
        in_banks(s, buffer, *banks)
    return pieces


def by_pieces(s: allo.Schedule, size: str, sums: str, tile: Callable[[str], tuple[int, int]]) -> None:
    """A piece of A in each cycle."""
    s.pipeline(in_lanes(s, size, sums, tile))


def in_turn(s: allo.Schedule, size: str) -> None:
    """Both products in one function, so that they share multipliers and adders."""
    for stage in ("rows", "columns"):
        s.inline(stage)
