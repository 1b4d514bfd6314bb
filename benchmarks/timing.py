"""Measures the scheduler: how far its schedules are from the best ones, and what they cost as designs grow.

    python benchmarks/timing.py [--seconds N]

The best schedules, of loops of up to 60 operations with all copies, come from constraint programming (`allo[exact]`):
the least interval at which there is a schedule, and the least depth at it with no more units. Loops are those of the 30
PolyBench kernels (`vanilla` and `best`, SMALL) and of the random kernels of the tests.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import allo
from allo.ir.types import float32
from tests.timing.optima import compared, loops


def quality(seconds: float) -> None:
    """The table of distances from the optimum."""
    head = "loops of up to 60 operations"
    print(f"\n| {head} | looked at | proved | II optimal | depth optimal | depth above |")
    print("|---|---|---|---|---|---|")
    for title, group in loops():
        rows = compared(group, seconds)
        same = [row for row in rows if row.loop.found.interval == row.best.schedule.interval]
        deep = [row for row in same if row.loop.found.depth <= row.best.schedule.depth]
        above = [row.loop.found.depth / row.best.schedule.depth - 1 for row in same]
        proved = sum(row.best.proved for row in rows)
        print(
            f"| {title} | {len(rows)} | {proved} | {len(same) / len(rows):.1%} | {len(deep) / max(1, len(same)):.1%} "
            f"| {mean(above):.1%}, at most {max(above):.1%} |"
        )
        for row in rows:
            if row not in same or row not in deep:
                ours, best = row.loop.found, row.best.schedule
                text = f"II {ours.interval} ({best.interval}), depth {ours.depth} ({best.depth})"
                print(f"  {row.loop.design}: {text}", file=sys.stderr)


def lanes(width: int, height: int) -> allo.Schedule:
    """A matrix product with `width x height` multiply-accumulate lanes."""

    def product(A: float32[128, 64], B: float32[64, 128], C: float32[128, 128]):
        for k, i, j in allo.grid(64, 128, 128):
            C[i, j] += A[i, k] * B[k, j]

    s = allo.customize(product)
    outer, inner = s.split("i", height)
    j_outer, j_inner = s.split("j", width)
    s.reorder(outer, j_outer, inner, j_inner)
    s.pipeline(j_outer)
    s.partition("A", dim=1, factor=height)
    s.partition("B", dim=2, factor=width)
    s.partition("C", dim=1, factor=height)
    s.partition("C", dim=2, factor=width)
    return s


def cost() -> None:
    """CPU time of estimates against DSPs."""
    print("\n| DSPs | estimate, ms of CPU time |\n|---|---|")
    for width, height in ((2, 8), (8, 8), (16, 16), (32, 32), (64, 32)):
        s = lanes(width, height)
        times = []
        for _ in range(3):
            start = time.process_time()
            found = allo.estimate(s)
            times.append(time.process_time() - start)
        print(f"| {found.dsp:,} | {1000 * min(times):.1f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="time for each interval of a loop")
    options = parser.parse_args()
    cost()
    quality(options.seconds)
