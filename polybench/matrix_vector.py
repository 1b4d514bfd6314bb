"""A matrix times a vector from either side: a piece of R x C elements in each cycle, products added in trees."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable

import allo
from allo.ir.types import AlloType

from .lanes import halvings


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
                q: T[R]
                for r in range(R):
                    q[r] = A[R * io + r, j] * x[R * io + r]
                with allo.meta_for(LEVELS) as terms:
                    for pair in range(terms // 2):
                        q[pair] += q[pair + (terms + 1) // 2]
                with allo.meta_if(fresh):
                    y[j] = q[0] if io == 0 else y[j] + q[0]
                with allo.meta_else():
                    y[j] += q[0]

    return columns
