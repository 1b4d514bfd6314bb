"""cholesky: A = L L^T; L replaces the lower triangle of A."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from math import lcm
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design
from .lanes import in_banks, tree_tile
from .positive_definite import cholesky_factor, positive_definite

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,), "EXTRALARGE": (4000,)}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of N x N."""
    (N,) = SIZES[size]

    def cholesky(A: T[N, N]):
        for i in range(N):
            for j in range(i):
                for k in range(j):
                    A[i, j] -= A[i, k] * A[j, k]
                A[i, j] /= A[j, j]
            for k1 in range(i):
                A[i, i] -= A[i, k1] * A[i, k1]
            A[i, i] = allo.sqrt(A[i, i])

    return cholesky


def lanes(size: str) -> tuple[int, int]:
    """The rows and columns of the tiles of A that change in each cycle."""
    (N,) = SIZES[size]
    return tree_tile(N, N, DEVICE)


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same by steps k, each of which takes the products of column k from all elements behind it."""
    (N,) = SIZES[size]
    R, C = lanes(size)

    def cholesky(A: T[N, N]):
        for k in range(N):
            column: T[N]
            again: T[N]  # in the banks of the columns
            root: T = allo.sqrt(A[k, k])
            A[k, k] = root
            for io in range((k + 1) // R, N // R):
                for ii in range(R):
                    if R * io + ii > k:
                        quotient: T = A[R * io + ii, k] / root
                        A[R * io + ii, k] = quotient
                        column[R * io + ii] = quotient
                        again[R * io + ii] = quotient
            for ito in range((k + 1) // R, N // R):
                for jto in range(N // C):
                    for it, jt in allo.grid(R, C):
                        if C * jto + jt > k and R * ito + it >= C * jto + jt:
                            A[R * ito + it, C * jto + jt] -= column[R * ito + it] * again[C * jto + jt]

    return cholesky


def by_tiles(s: allo.Schedule, size: str) -> None:
    """R quotients in each cycle, then a tile of R x C elements."""
    R, C = lanes(size)
    for loop in ("io", "jto"):
        s.pipeline(loop)
    for buffer, *banks in ((s.A, R, C), (s.column, R), (s.again, lcm(R, C))):
        in_banks(s, buffer, *banks)


DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, by_tiles)}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A as PolyBench initialises it."""
    (n,) = SIZES[size]
    return (positive_definite(n, T),)


def reference(size: str, A: Any) -> None:
    """The kernel in NumPy."""
    A[...] = cholesky_factor(A) + np.triu(A, 1)


BENCHMARK = Benchmark("cholesky", ("N",), SIZES, kernel, arguments, reference, DESIGNS)
