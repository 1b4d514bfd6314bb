"""Gaussian elimination by steps: in each cycle a tile of R x C elements loses its part of the pivot row."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable

import allo
from allo.ir.types import AlloType

from .lanes import in_banks


def elimination(N: int, R: int, C: int, T: AlloType) -> Callable[..., None]:
    """A = L U in place for A of N x N; each element has the same terms in the same order as by rows."""

    def eliminate(A: T[N, N]):
        for k in range(N):
            pivots: T[N]
            factors: T[N]
            pivot: T = A[k, k]
            for j0 in range(N):
                pivots[j0] = A[k, j0]
            for io in range((k + 1) // R, N // R):
                for ii in range(R):
                    if R * io + ii > k:
                        factor: T = A[R * io + ii, k] / pivot
                        factors[R * io + ii] = factor
                        A[R * io + ii, k] = factor
            for ito in range((k + 1) // R, N // R):
                for jto in range(N // C):
                    for it, jt in allo.grid(R, C):
                        if R * ito + it > k and C * jto + jt > k:
                            A[R * ito + it, C * jto + jt] -= factors[R * ito + it] * pivots[C * jto + jt]

    return eliminate


def by_tiles(s: allo.Schedule, size: str, tile: Callable[[str], tuple[int, int]]) -> None:
    """R factors in each cycle, then R x C elements, as `tile(size)` says."""
    R, C = tile(size)
    s.pipeline(s.split("j0", C)[0])
    for loop in ("io", "jto"):
        s.pipeline(loop)
    for buffer, *banks in ((s.A, R, C), (s.factors, R), (s.pivots, C)):
        in_banks(s, buffer, *banks)


def elimination_in_order(N: int, R: int, C: int, T: AlloType) -> Callable[..., None]:
    """The same; each column of L goes to another stage as soon as it is known, R elements in each cycle."""

    def eliminate(A: T[N, N], lower: T[N, N // R, R]):
        for k in range(N):
            pivots: T[N]
            factors: T[N]
            pivot: T = A[k, k]
            for j0 in range(N):
                pivots[j0] = A[k, j0]
            for io in range((k + 1) // R, N // R):
                for ii in range(R):
                    if R * io + ii > k:
                        factor: T = A[R * io + ii, k] / pivot
                        lower[k, io, ii] = factor
                        factors[R * io + ii] = factor
                        A[R * io + ii, k] = factor
            for ito in range((k + 1) // R, N // R):
                for jto in range(N // C):
                    for it, jt in allo.grid(R, C):
                        if R * ito + it > k and C * jto + jt > k:
                            A[R * ito + it, C * jto + jt] -= factors[R * ito + it] * pivots[C * jto + jt]

    return eliminate


def by_tiles_in_order(s: allo.Schedule, size: str, tile: Callable[[str], tuple[int, int]]) -> None:
    """As `by_tiles`, with a FIFO for each of the R elements of L that are known in a cycle."""
    by_tiles(s, size, tile)
    s.partition(s.lower, dim=3)
