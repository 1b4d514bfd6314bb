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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import allo
import polybench
from allo.ir.types import float32
from allo.timing import pipeline
from allo.timing.check import violations
from allo.timing.exact import MOST_OPERATIONS, Optimum, optimum
from allo.timing.problem.problem import Problem
from allo.timing.schedule import Schedule
from tests.estimate.random_kernels import random_kernel

RANDOM_KERNELS = 60


@dataclass(frozen=True, slots=True)
class Loop:
    """A pipelined loop: the interval from which schedules were looked for, and the one that was found."""

    design: str
    least: int
    found: Schedule


def recorded(design: str, run: Callable[[], object], into: list[Loop]) -> None:
    """The pipelined loops that are scheduled while something runs."""
    solve = pipeline.solve

    def solved(problem: Problem, interval: int | None) -> Schedule:
        found = solve(problem, interval)
        if interval is not None and problem.operations:
            into.append(Loop(design, interval, found))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "solve", solved)
        run()


def loops() -> Iterator[tuple[str, list[Loop]]]:
    """All loops, in groups."""
    for version in ("vanilla", "best"):
        found: list[Loop] = []
        for name in polybench.NAMES:
            kernel = polybench.load(name)
            if version == "vanilla":
                s = allo.customize(kernel.kernel("SMALL"))
                recorded(name, lambda s=s: allo.estimate(s, auto_pipeline=True), found)
            else:
                s = kernel.designs["best"].customized("SMALL")
                recorded(name, lambda s=s: allo.estimate(s), found)
        yield f"PolyBench {version}", found
    found = []
    for seed in range(RANDOM_KERNELS):
        made = random_kernel(seed)
        s = allo.customize(made.function)
        s.pipeline("i")
        recorded(f"random {seed}", lambda s=s: allo.estimate(s), found)
    yield "random kernels", found


@dataclass(frozen=True, slots=True)
class Compared:
    """A loop with the best schedule of it."""

    loop: Loop
    best: Optimum


def compared(group: list[Loop], seconds: float) -> list[Compared]:
    """Those of a group that are small enough, each problem once."""
    found: list[Compared] = []
    seen: set[object] = set()
    for loop in group:
        problem = loop.found.problem
        key = (problem.operations, problem.dependences, problem.trips, loop.least)
        if key in seen:
            continue
        seen.add(key)
        best = optimum(problem, loop.least, loop.found, seconds)
        if best is not None:
            assert violations(best.schedule) == [], loop.design
            found.append(Compared(loop, best))
    return found


def quality(seconds: float) -> None:
    """The table of distances from the optimum."""
    print(f"| loops of up to {MOST_OPERATIONS} operations | looked at | proved | II optimal | depth optimal | depth above |")
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
                print(f"  {row.loop.design}: II {ours.interval} ({best.interval}), depth {ours.depth} ({best.depth})", file=sys.stderr)


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
