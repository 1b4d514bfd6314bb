"""nussinov: the most pairs of matching bases in each piece of an RNA sequence, in int32."""

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import AlloType, int8, int32

from .benchmark import Benchmark

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


BENCHMARK = Benchmark("nussinov", ("N",), SIZES, kernel, arguments, reference)
