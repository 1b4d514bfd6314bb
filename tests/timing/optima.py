"""Loops of designs with their best schedules, by constraint programming."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

import allo
import polybench
from allo.timing import pipeline
from allo.timing.check import violations
from allo.timing.exact import Optimum, optimum
from allo.timing.problem.problem import Problem
from allo.timing.schedule import StaticSchedule
from tests.estimate.random_kernels import random_kernel

RANDOM_KERNELS = 60


@dataclass(frozen=True, slots=True)
class Loop:
    """A pipelined loop: the interval from which schedules were looked for, and the one that was found."""

    design: str
    least: int
    found: StaticSchedule


def recorded(design: str, run: Callable[[], object], into: list[Loop]) -> None:
    """The pipelined loops that are scheduled while something runs."""
    solve = pipeline.solve

    def solved(problem: Problem, interval: int | None) -> StaticSchedule:
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
    found = [loop for seed in range(RANDOM_KERNELS) for loop in of_random_kernel(seed)]
    yield "random kernels", found


def of_random_kernel(seed: int) -> list[Loop]:
    """The pipelined loop of a random kernel, and those of steps that are advised for it."""
    s = allo.customize(random_kernel(seed).function)
    s.pipeline("i")
    found: list[Loop] = []
    recorded(f"random {seed}", lambda: allo.estimate(s), found)
    return found


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
