"""floyd-warshall: the lengths of the shortest paths between all pairs of nodes, in int32."""

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import AlloType, int32

from .benchmark import Benchmark

SIZES = {"MINI": (60,), "SMALL": (180,), "MEDIUM": (500,), "LARGE": (2800,), "EXTRALARGE": (5600,)}


def kernel(size: str, T: AlloType = int32) -> Callable[..., None]:
    """The kernel for N nodes."""
    (N,) = SIZES[size]

    def floyd_warshall(path: T[N, N]):
        for k in range(N):
            for i in range(N):
                for j in range(N):
                    detour: T = path[i, k] + path[k, j]
                    path[i, j] = min(path[i, j], detour)

    return floyd_warshall


def arguments(size: str, T: AlloType = int32) -> tuple[Any, ...]:
    """path as PolyBench initialises it; 999 stands for no edge."""
    (n,) = SIZES[size]
    row, column = np.ogrid[:n, :n]
    total = row + column
    missing = (total % 13 == 0) | (total % 7 == 0) | (total % 11 == 0)
    return (T[n, n](np.where(missing, 999, row * column % 7 + 1)),)


def reference(size: str, path: Any) -> None:
    """The kernel in NumPy."""
    for k in range(len(path)):
        np.minimum(path, path[:, k, None] + path[k], out=path)


BENCHMARK = Benchmark("floyd_warshall", ("N",), SIZES, kernel, arguments, reference)
