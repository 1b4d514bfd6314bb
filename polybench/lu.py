"""lu: A = L U; L below the diagonal (its own diagonal is ones) and U on and above it replace A."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design, Part
from .elimination import by_tiles, elimination
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


def eliminate(size: str, T: AlloType = float32) -> Callable[..., None]:
    """By steps k, each of which takes a multiple of row k from all rows below it."""
    (N,) = SIZES[size]
    return elimination(N, *lanes(size), T)


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same by steps."""
    (N,) = SIZES[size]
    factorise = eliminate(size, T)

    def lu(A: T[N, N]):
        factorise(A)

    return lu


PARTS = (Part(eliminate, partial(by_tiles, tile=lanes)),)
DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, parts=PARTS)}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A as PolyBench initialises it."""
    (n,) = SIZES[size]
    return (positive_definite(n, T),)


def reference(size: str, A: Any) -> None:
    """The kernel in NumPy."""
    lower, upper = lu_factors(A)
    A[...] = np.tril(lower, -1) + upper


BENCHMARK = Benchmark("lu", ("N",), SIZES, kernel, arguments, reference, DESIGNS)
