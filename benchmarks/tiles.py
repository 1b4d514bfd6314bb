"""Tile programs on the Wormhole: GEMM with and without reuse in space, estimated and simulated (nothing is measured).

    python -m benchmarks.tiles [sizes ...]

The sizes are those of table 1 of the TL paper, which measured 2.12 (1024), 2.03 (2048), 1.76 (4096), 1.42 (5120) and
1.51 (6144) times the throughput of loads by every core; DRAM accesses went down by 70 %.
"""

from __future__ import annotations

import sys
from time import process_time

import allo
from allo import tile
from allo.ir.types import bfloat16, float32, index

TARGET = "wormhole_n300d"


@tile.kernel
def gemm[M: index, BM: index, BK: index](A: bfloat16[M, M], B: bfloat16[M, M], C: bfloat16[M, M]):
    for m, n in tile.programs(M // BM, M // BM):
        acc: float32[BM, BM] = 0
        for k in range(M // BK):
            a: bfloat16[BM, BK] = A[m * BM : (m + 1) * BM, k * BK : (k + 1) * BK]
            b: bfloat16[BK, BM] = B[k * BK : (k + 1) * BK, n * BM : (n + 1) * BM]
            part: float32[BM, BM] = allo.matmul(a, b)
            acc += part
        C[m * BM : (m + 1) * BM, n * BM : (n + 1) * BM] = acc


def alone(values: dict[str, int]) -> tile.TilePlan:
    """Every core loads its tiles, two buffers each."""
    plan = tile.plan(gemm, TARGET, values)
    for name in ("A", "B"):
        plan = plan.load(name, "per core", inside="k", buffers=2)
    return plan.store("C", buffers=2) if len(plan.steps) == 5 else plan


def row(size: int) -> str:
    """One line of the table: the search in seconds of this process, estimates, simulations."""
    started = process_time()
    best = allo.map(gemm, TARGET, 5, {"M": size}, {"BM": [64, 128], "BK": [64, 128]})
    seconds = (process_time() - started) / 4
    single = min((alone(dict(best.values) | {"BM": block}) for block in (64, 128)), key=lambda p: p.estimate.cycles)
    tera = [2 * size**3 / plan.simulate().cycles * 1e-3 for plan in (single, best)]
    moved = 1 - best.estimate.memory_bytes / single.estimate.memory_bytes
    estimated = 2 * size**3 / best.estimate.cycles * 1e-3
    rates = f"{estimated:12.1f} {tera[1]:12.1f} {tera[0]:12.1f} {tera[1] / tera[0]:9.2f}"
    return f"{size:6} {seconds:10.2f} {rates} {moved:9.0%}"


def main(sizes: list[int]) -> None:
    """Print the table."""
    print("  size   s/search  estimated    simulated   every core   speedup  accesses saved   (TFLOP/s, HiFi4, 1 GHz)")
    for size in sizes:
        print(row(size), flush=True)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [1024, 2048])
