"""Writes the pictures of docs/dataflow.md and docs/pictures.md: a fork and a join with a FIFO that is too shallow,
drawn by a timed run, and the loops of a matrix product.

    python docs/generate_pictures.py
"""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array; tasks are compiled where they stand

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import allo
import allo.dataflow as df
from allo.ir.types import Stream, float32

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


if __name__ == "__main__":
    write(IMAGES)
