"""floyd-warshall: the lengths of the shortest paths between all pairs of nodes, in int32."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, int32

from .benchmark import Benchmark, Design
from .lanes import DSP_LANE, Tile, in_banks, spread, tree_tile

SIZES = {"MINI": (60,), "SMALL": (180,), "MEDIUM": (500,), "LARGE": (2800,), "EXTRALARGE": (5600,)}
MOST_LANES = 2500  # some 80 LUTs each, of 1.3 million


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


def lanes(size: str) -> tuple[int, int]:
    """The rows and columns of the tiles in each cycle."""
    (N,) = SIZES[size]
    return tree_tile(N, N, DSP_LANE * MOST_LANES)


def stages(size: str, T: AlloType = int32) -> Callable[..., None]:
    """The same with copies of row k and column k, which do not change in step k as no path is negative."""
    (N,) = SIZES[size]

    def floyd_warshall(path: T[N, N]):
        for k in range(N):
            first: T[N]
            second: T[N]
            for i0 in range(N):
                first[i0] = path[i0, k]
            for j0 in range(N):
                second[j0] = path[k, j0]
            for i, j in allo.grid(N, N):
                detour: T = first[i] + second[j]
                path[i, j] = min(path[i, j], detour)

    return floyd_warshall


def by_tiles(s: allo.Schedule, size: str) -> None:
    """A tile of R x C paths in each cycle."""
    R, C = lanes(size)
    spread(s, "i", "j", Tile(R, R, C))
    for loop, count in (("i0", R), ("j0", C)):
        s.pipeline(s.split(loop, count)[0])
    for buffer, *banks in ((s.path, R, C), (s.first, R), (s.second, C)):
        in_banks(s, buffer, *banks)


DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, by_tiles, assumes="no path is negative")}


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


BENCHMARK = Benchmark("floyd_warshall", ("N",), SIZES, kernel, arguments, reference, DESIGNS)
