"""Writes the pictures of docs/dataflow.md: a fork and a join with a FIFO that is too shallow, drawn by a timed run.

    python docs/generate_pictures.py
"""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array; tasks are compiled where they stand

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

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


def run() -> Any:
    """The timed run that is drawn."""
    s = df.customize(fork_and_join)
    for loop in ("fork:i", "multiply:_i", "join:i"):
        s.pipeline(loop)
    built = df.build(s, target="simulator", timed=True)
    built(np.zeros(N, np.float32), np.zeros(N, np.float32))
    return built.timing


def write(folder: Path) -> None:
    """Write the pictures to a folder."""
    found = run()
    for picture in ("graph", "bars"):
        found.save(folder / f"fork_and_join_{picture}.svg", picture)


if __name__ == "__main__":
    write(IMAGES)
