"""gramschmidt: A = Q R by the modified Gram-Schmidt process; each column of A loses its parts along earlier ones."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design
from .lanes import DSP_LANE, MOST_BANKS, Tile, divisors, halvings, in_banks, spread, turns, unroll

SIZES = {
    "MINI": (20, 30),
    "SMALL": (60, 80),
    "MEDIUM": (200, 240),
    "LARGE": (1000, 1200),
    "EXTRALARGE": (2000, 2600),
}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A and Q of M x N, R of N x N."""
    M, N = SIZES[size]

    def gramschmidt(A: T[M, N], R: T[N, N], Q: T[M, N]):
        for k in range(N):
            nrm: T = 0.0
            for i in range(M):
                nrm += A[i, k] * A[i, k]
            R[k, k] = allo.sqrt(nrm)
            for i1 in range(M):
                Q[i1, k] = A[i1, k] / R[k, k]
            for j in range(k + 1, N):
                R[k, j] = 0.0
                for i2 in range(M):
                    R[k, j] += Q[i2, k] * A[i2, j]
                for i3 in range(M):
                    A[i3, j] -= Q[i3, k] * R[k, j]

    return gramschmidt


def lanes(size: str) -> tuple[int, int]:
    """The rows of A in each tree, and the columns that take turns at them."""
    M, N = SIZES[size]
    choices = [
        (r * c, -max(r, c), r, c)
        for r in divisors(M)
        for c in divisors(N)
        if DSP_LANE * r * (c + 1) <= DEVICE and r * c <= MOST_BANKS and N // c >= turns(N)
    ]
    return max(choices)[2:]


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same by rows, with sums over some rows in trees, and column k of A and of Q in registers."""
    M, N = SIZES[size]
    ROWS, _ = lanes(size)
    LEVELS, OF_COLUMN = halvings(ROWS), halvings(M)

    def gramschmidt(A: T[M, N], R: T[N, N], Q: T[M, N]):
        for k in range(N):
            column: T[M]
            for io in range(M // ROWS):
                for i in range(ROWS):
                    column[ROWS * io + i] = A[ROWS * io + i, k]
            p: T[M]
            for i0 in range(M):
                p[i0] = column[i0] * column[i0]
            with allo.meta_for(OF_COLUMN) as terms:
                for half in range(terms // 2):
                    p[half] += p[half + (terms + 1) // 2]
            length: T = allo.sqrt(p[0])
            for io1 in range(M // ROWS):
                for i1 in range(ROWS):
                    column[ROWS * io1 + i1] = column[ROWS * io1 + i1] / length
                    Q[ROWS * io1 + i1, k] = column[ROWS * io1 + i1]
            sums: T[N]
            for io2 in range(M // ROWS):
                for j in range(N):
                    q: T[ROWS]
                    for i2 in range(ROWS):
                        q[i2] = column[ROWS * io2 + i2] * A[ROWS * io2 + i2, j]
                    with allo.meta_for(LEVELS) as terms:
                        for pair in range(terms // 2):
                            q[pair] += q[pair + (terms + 1) // 2]
                    sums[j] = q[0] if io2 == 0 else sums[j] + q[0]
            for j1 in range(N):
                if j1 > k:
                    R[k, j1] = sums[j1]
                if j1 == k:
                    R[k, j1] = length
            for i3, j3 in allo.grid(M, N):
                if j3 > k:
                    A[i3, j3] -= column[i3] * sums[j3]

    return gramschmidt


def by_tiles(s: allo.Schedule, size: str) -> None:
    """A tile of R x C elements of A in each cycle, first in the sums, then when it loses its part along Q."""
    R, C = lanes(size)
    M, _ = SIZES[size]
    if R < M:
        for loop in ("io", "io1"):
            s.pipeline(loop)
    else:
        unroll(s, "i", "i1")
    unroll(s, "i0")
    unroll(s, "half", levels=len(halvings(M)))
    for loop in ("j", "j1"):
        s.pipeline(s.split(loop, C)[0])
    spread(s, "i3", "j3", Tile(R, R, C))
    for buffer, *banks in (
        (s.A, R, C),
        (s.Q, R),
        (s.R, 1, C),
        (s.column, M),
        (s.sums, C),
        (s.p, M),
        (s.q, R),
    ):
        in_banks(s, buffer, *banks)


DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, by_tiles, reassociated=True)}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A, R, Q as PolyBench initialises them: A has more columns than rows, and depends on rounding behind its rank."""
    m, n = SIZES[size]
    row, column = np.ogrid[:m, :n]
    return T[m, n](row * column % m / m * 100 + 10), T[n, n](0), T[m, n](0)


def reference(size: str, A: Any, R: Any, Q: Any) -> None:
    """The kernel in NumPy, one column at a time."""
    for k in range(A.shape[1]):
        R[k, k] = np.linalg.norm(A[:, k])
        Q[:, k] = A[:, k] / R[k, k]
        R[k, k + 1 :] = Q[:, k] @ A[:, k + 1 :]
        A[:, k + 1 :] -= np.outer(Q[:, k], R[k, k + 1 :])


BENCHMARK = Benchmark("gramschmidt", ("M", "N"), SIZES, kernel, arguments, reference, DESIGNS)
