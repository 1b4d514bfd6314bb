"""Writes the pictures of docs/dataflow.md, docs/pictures.md and docs/mapping.md: a fork and a join with a FIFO that is
too shallow, drawn by a timed run, the loops of a matrix product, and a plan of a tile program.

    python docs/generate_pictures.py
"""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array; tasks are compiled where they stand

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import allo
import allo.dataflow as df
from allo import tile
from allo.ir.types import Stream, bfloat16, float32

N = 64
IMAGES = Path(__file__).parent / "images"


@df.region()
def fork_and_join(A: float32[N], B: float32[N]):
    left: Stream[float32, 4]
    right: Stream[float32, 2]
    product: Stream[float32, 4]

    @df.kernel(args=[A])
    def fork(A: float32[N]):
        for i in range(N):
            left.put(A[i])
            right.put(A[i])

    @df.kernel()
    def multiply():
        for _i in range(N):
            x: float32 = left.get()
            product.put(x * x * x)

    @df.kernel(args=[B])
    def join(B: float32[N]):
        for i in range(N):
            B[i] = product.get() + right.get()


def product(A: float32[32, 32], B: float32[32, 32], C: float32[32, 32]):
    for i, j, k in allo.grid(32, 32, 32):
        C[i, j] += A[i, k] * B[k, j]


@tile.kernel
def gemm(A: bfloat16[512, 512], B: bfloat16[512, 512], C: bfloat16[512, 512]):
    for m, n in tile.programs(8, 16):
        acc: float32[64, 32] = 0
        for k in range(8):
            a: bfloat16[64, 64] = A[m * 64 : (m + 1) * 64, k * 64 : (k + 1) * 64]
            b: bfloat16[64, 32] = B[k * 64 : (k + 1) * 64, n * 32 : (n + 1) * 32]
            part: float32[64, 32] = allo.matmul(a, b)
            acc += part
        C[m * 64 : (m + 1) * 64, n * 32 : (n + 1) * 32] = acc


def mapped() -> tile.TilePlan:
    """The plan that docs/mapping.md makes by hand."""
    plan = tile.plan(gemm, "wormhole_n300d").spread(m="x", n="y").store("C", buffers=2)
    plan = plan.load("A", "broadcast", "noc0_v", inside="k", buffers=2)
    return plan.load("B", "broadcast", "noc0_h", inside="n", buffers=2)


def scheduled() -> Any:
    """The schedule of the product, as docs/pictures.md has it."""
    s = allo.customize(product)
    outer, inner = s.split("j", 8)
    s.reorder(outer, "k", inner)
    s.pipeline("k")
    s.partition(s.B, dim=2, factor=8, partition_type=allo.Partition.Cyclic)
    return s


def run() -> Any:
    """The timed run that is drawn, and its schedule."""
    s = df.customize(fork_and_join)
    for loop in ("fork:i", "multiply:_i", "join:i"):
        s.pipeline(loop)
    built = df.build(s, target="simulator", timed=True)
    built(np.zeros(N, np.float32), np.zeros(N, np.float32))
    return built.timing, s


def write(folder: Path) -> None:
    """Write the pictures to a folder."""
    found, s = run()
    for picture in ("graph", "bars"):
        found.save(folder / f"fork_and_join_{picture}.svg", picture)
    s.draw(found).save(folder / "fork_and_join_run.svg")
    scheduled().draw_loops().save(folder / "product_loops.svg")
    plan = mapped()
    plan.draw().save(folder / "tile_plan.svg")
    plan.timeline([(k, k) for k in range(8)]).save(folder / "tile_timeline.svg")


if __name__ == "__main__":
    write(IMAGES)
