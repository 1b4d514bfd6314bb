"""nussinov: the most pairs of matching bases in each piece of an RNA sequence, in int32."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, int8, int32

from .benchmark import Benchmark, Design
from .lanes import unroll

SIZES = {"MINI": (60,), "SMALL": (180,), "MEDIUM": (500,), "LARGE": (2500,), "EXTRALARGE": (5500,)}


def kernel(size: str, T: AlloType = int32) -> Callable[..., None]:
    """The kernel for a sequence of N bases."""
    (N,) = SIZES[size]

    def nussinov(seq: int8[N], table: T[N, N]):
        for i in range(N - 1, -1, -1):
            for j in range(i + 1, N):
                table[i, j] = max(table[i, j], table[i, j - 1])
                table[i, j] = max(table[i, j], table[i + 1, j])
                if i < j - 1:
                    paired: T = table[i + 1, j - 1] + (1 if seq[i] + seq[j] == 3 else 0)
                    table[i, j] = max(table[i, j], paired)
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
                for k in range(i + 1, j):
                    parts: T = table[i, k] + table[k + 1, j]
                    table[i, j] = max(table[i, j], parts)

    return nussinov


def stages(size: str, T: AlloType = int32) -> Callable[..., None]:
    """The same by rows: as soon as table[i, k] is known, it is added to the pieces that begin behind it."""
    (N,) = SIZES[size]

    def nussinov(seq: int8[N], table: T[N, N]):
        bases: int8[N]
        for n in range(N):
            bases[n] = seq[n]
        below: T[N]
        for back in range(N):
            row: T[N]
            base: int8 = seq[N - 1 - back]
            alone: T = table[N - 1 - back, N - 1 - back]
            for j in range(N):
                row[j] = table[N - 1 - back, j]
            for j1 in range(1, N):
                if j1 == N - back:
                    row[j1] = max(max(max(row[j1], alone), below[j1]), below[j1 - 1])
                if j1 > N - back:
                    paired: T = below[j1 - 1] + (1 if base + bases[j1] == 3 else 0)
                    row[j1] = max(max(row[j1], below[j1]), paired)
            for k in range(N - back, N - 1):
                known: T = row[k]
                for j2 in range(N):
                    if j2 > k:
                        found: T = row[j2]
                        if j2 == k + 1:
                            found = max(found, known)
                        parts: T = known + table[k + 1, j2]
                        row[j2] = max(found, parts)
            for j3 in range(N):
                table[N - 1 - back, j3] = row[j3]
                below[j3] = row[j3]

    return nussinov


def row_wise(s: allo.Schedule, size: str) -> None:
    """All elements of a row at once."""
    for loop in ("n", "k"):
        s.pipeline(loop)
    unroll(s, "j", "j1", "j3")
    for row in ("bases", "below", "row"):
        s.partition(f"nussinov:{row}")
    s.partition(s.table, dim=2)


DESIGNS = {
    "vanilla": Design(kernel),
    "best": Design(stages, row_wise),
}


def arguments(size: str, T: AlloType = int32) -> tuple[Any, ...]:
    """seq, table as PolyBench initialises them."""
    (n,) = SIZES[size]
    return int8[n]((np.arange(n) + 1) % 4), T[n, n](0)


def reference(size: str, seq: Any, table: Any) -> None:
    """The kernel in NumPy, by rising length of the pieces."""
    n = len(seq)
    for length in range(1, n):
        start = np.arange(n - length)
        end = start + length
        pairs = (seq[start] + seq[end] == 3) if length > 1 else 0
        best = np.maximum(table[start, end - 1], table[start + 1, end])
        best = np.maximum(best, table[start + 1, end - 1] + pairs)
        for cut in range(1, length):
            best = np.maximum(best, table[start, start + cut] + table[start + cut + 1, end])
        table[start, end] = best


BENCHMARK = Benchmark("nussinov", ("N",), SIZES, kernel, arguments, reference, DESIGNS)
