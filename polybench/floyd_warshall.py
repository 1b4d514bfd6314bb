"""floyd-warshall: the lengths of the shortest paths between all pairs of nodes, in int32."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, int32

from .benchmark import Benchmark, Design
from .lanes import MOST_BANKS, Tile, divisors, in_banks, spread

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


def lanes(size: str) -> tuple[int, int]:
    """The rows and columns of the tiles in each cycle: the most lanes, in tiles as square as may be."""
    (N,) = SIZES[size]
    pieces = [(r, c) for r in divisors(N) for c in divisors(N) if r * c <= MOST_BANKS]
    return max(pieces, key=lambda rc: (rc[0] * rc[1], -max(rc)))


def stages(size: str, T: AlloType = int32) -> Callable[..., None]:
    """The same with copies of row k and column k, as they are before step k and after it.

    They change in step k where path[k, k] is negative: by path[k, k] as it is before, up to element k, and as it is
    after, behind it.
    """
    (N,) = SIZES[size]

    def floyd_warshall(path: T[N, N]):
        for k in range(N):
            column: T[N]
            row: T[N]
            new_column: T[N]
            new_row: T[N]
            cycle: T = path[k, k]
            twice: T = cycle + cycle
            new_cycle: T = min(cycle, twice)
            for i0 in range(N):
                column[i0] = path[i0, k]
                around: T = path[i0, k] + (cycle if i0 <= k else new_cycle)
                new_column[i0] = min(path[i0, k], around)
            for j0 in range(N):
                row[j0] = path[k, j0]
                before: T = (cycle if j0 <= k else new_cycle) + path[k, j0]
                new_row[j0] = min(path[k, j0], before)
            for i, j in allo.grid(N, N):
                detour: T = (column[i] if j <= k else new_column[i]) + (row[j] if i <= k else new_row[j])
                path[i, j] = min(path[i, j], detour)

    return floyd_warshall


def by_tiles(s: allo.Schedule, size: str) -> None:
    """A tile of R x C paths in each cycle."""
    R, C = lanes(size)
    spread(s, "i", "j", Tile(R, R, C))
    for loop, count in (("i0", R), ("j0", C)):
        s.pipeline(s.split(loop, count)[0])
    columns, rows = ((s.column, R), (s.new_column, R)), ((s.row, C), (s.new_row, C))
    for buffer, *banks in ((s.path, R, C), *columns, *rows):
        in_banks(s, buffer, *banks)


DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, by_tiles)}


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
