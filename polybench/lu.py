"""lu: A = L U; L below the diagonal (its own diagonal is ones) and U on and above it replace A."""

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design
from .elimination import elimination, schedule_elimination
from .lanes import tree_tile
from .positive_definite import lu_factors, positive_definite

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,), "EXTRALARGE": (4000,)}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of N x N."""
    (N,) = SIZES[size]

    def lu(A: T[N, N]):
        for i in range(N):
            for j in range(i):
                for k in range(j):
                    A[i, j] -= A[i, k] * A[k, j]
                A[i, j] /= A[j, j]
            for j1 in range(i, N):
                for k1 in range(i):
                    A[i, j1] -= A[i, k1] * A[k1, j1]

    return lu


def lanes(size: str) -> tuple[int, int]:
    """The rows and columns of the tiles of A that change in each cycle."""
    (N,) = SIZES[size]
    return tree_tile(N, N, DEVICE)


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same by steps k, each of which takes a multiple of row k from all rows below it."""
    (N,) = SIZES[size]
    R, C = lanes(size)
    eliminate = elimination(N, R, C, T)

    def lu(A: T[N, N]):
        eliminate(A)

    return lu


def by_tiles(s: allo.Schedule, size: str) -> None:
    """A tile of R x C elements in each cycle."""
    schedule_elimination(s, *lanes(size))


DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, by_tiles)}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A as PolyBench initialises it."""
    (n,) = SIZES[size]
    return (positive_definite(n, T),)


def reference(size: str, A: Any) -> None:
    """The kernel in NumPy."""
    lower, upper = lu_factors(A)
    A[...] = np.tril(lower, -1) + upper


BENCHMARK = Benchmark("lu", ("N",), SIZES, kernel, arguments, reference, DESIGNS)
