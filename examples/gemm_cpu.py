"""A GEMM of 1024 x 1024 float32 matrices, scheduled with primitives only, against numpy.dot on one core.

The schedule is the one of the fast libraries: tiles of A and B that fit the caches are copied to small arrays, and the
innermost loops update a tile of C that stays in vector registers.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # numpy.dot on one core; read when numpy is imported

import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

import allo
from allo.ir.types import float32


def has_avx512() -> bool:
    """Whether the processor has 32 vector registers, as Linux tells; others are taken to have 16."""
    try:
        return "avx512vl" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


N = 1024
TILE_I, TILE_K = 256, 256  # a tile of A, 256 KiB: half of a second-level cache
ROWS, COLUMNS = 8 if has_avx512() else 4, 16  # the tile of C in registers: 16 or 8 vectors of 8 floats
WANTED = 0.5


def gemm(A: float32[N, N], B: float32[N, N], C: float32[N, N]):
    for i, j, k in allo.grid(N, N, N):
        C[i, j] += A[i, k] * B[k, j]


def schedule() -> allo.Schedule:
    """gemm, tiled, reordered, buffered and unrolled."""
    s = allo.customize(gemm)
    tile, row = s.split("i", TILE_I)
    block, row = s.split(row, ROWS)
    strip, column = s.split("j", COLUMNS)
    slab, step = s.split("k", TILE_K)
    s.reorder(tile, slab, strip, block, step, row, column)
    s.buffer_at(s.A, axis=slab)  # TILE_I x TILE_K of A, used for all strips
    s.buffer_at(s.B, axis=strip)  # TILE_K x COLUMNS of B, used for all blocks
    s.buffer_at(s.C, axis=block)  # ROWS x COLUMNS of C, filled before and written back after the loop over k
    nest = s.get_loops().S_i_j_k_0
    for loop in nest:
        if loop.name.startswith((f"{column.name}", f"{row.name}_init_1", f"{row.name}_back")):
            s.unroll(loop)
    s.unroll(row)
    return s


def compare(module: Any, rounds: int = 11) -> tuple[float, float, float, float]:
    """Medians of the seconds of numpy.dot and of `module`, of the ratio of each pair, and the largest error."""
    generator = np.random.default_rng(0)
    A, B = (generator.standard_normal((N, N), dtype=np.float32) for _ in range(2))
    C, product = np.zeros((N, N), np.float32), np.empty((N, N), np.float32)
    module(A, B, C)
    np.dot(A, B, out=product)
    error = float(np.abs(C - product).max())
    theirs, ours = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        np.dot(A, B, out=product)
        middle = time.perf_counter()
        module(A, B, C)
        ours.append(time.perf_counter() - middle)
        theirs.append(middle - start)
    ratio = statistics.median(a / b for a, b in zip(theirs, ours, strict=True))
    return statistics.median(theirs), statistics.median(ours), ratio, error


def main() -> None:
    s = schedule()
    for step in s.steps:
        print(f"  {step}")
    print(s.get_loops())
    numpy_time, our_time, ratio, error = compare(s.build(contract=True))  # as BLAS rounds
    flops = 2 * N**3 / 1e9
    print(f"numpy.dot  {numpy_time * 1e3:7.2f} ms  {flops / numpy_time:6.1f} GFLOP/s")
    _, plain_time, _, _ = compare(allo.customize(gemm).build(contract=True), rounds=3)
    print(f"as written {plain_time * 1e3:7.2f} ms  {flops / plain_time:6.1f} GFLOP/s")
    print(f"scheduled  {our_time * 1e3:7.2f} ms  {flops / our_time:6.1f} GFLOP/s  max difference {error:.1e}")
    print(f"ratio      {ratio:.2f} of numpy.dot on one core, median of pairs (wanted: at least {WANTED})")


if __name__ == "__main__":
    main()
