"""Intervals against running kernels: no estimate is below what the values of the iterations demand."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import allo
from allo.ir.types import float32, int32
from allo.target import load_target
from allo.timing.interval.recurrence import recurrence_of
from allo.timing.pipeline import exchangeable
from allo.timing.problem.dependences import graph_of
from tests.seeds import sweep
from tests.timing.regions import region_of

from .random_kernels import random_kernel
from .traced import least_interval


def found_and_needed(
    kernel: Callable[..., Any], data: Sequence[Mapping[str, np.ndarray]], depth: int
) -> tuple[int, int]:
    """The interval of the recurrences that the estimator finds, and the least with which the kernel works."""
    s = allo.customize(kernel)
    s.pipeline("i")
    region, budget = region_of(s)
    found = recurrence_of(graph_of(region, budget, exchangeable(region)), 1)
    needed = least_interval(kernel, data, depth, load_target("u280"))
    return found.interval if found is not None else 1, needed


def check(seed: int) -> None:
    kernel = random_kernel(seed)
    found, needed = found_and_needed(kernel.function, kernel.data, kernel.depth)
    assert found >= needed, kernel.text


@pytest.mark.parametrize("seed", [52, 149, 389, 494, 619])
def test_intervals_that_once_were_too_low(seed: int) -> None:
    """When copies were looked at one by one, or as chains of one update."""
    check(seed)


def test_walks_that_take_no_longer_than_is_asked() -> None:
    """One of them had no end: several copies together take longer than the distance of each says."""
    check(53)


@sweep(112, quick=4)
def test_no_interval_is_too_low(seed: int) -> None:
    check(seed)


@sweep(20)
def test_one_update_without_copies_is_exact(seed: int) -> None:
    choose = random.Random(seed)
    step, to, at, extent = (choose.randrange(1, 4), choose.randrange(12), choose.randrange(12), choose.randrange(3, 9))

    def update(A: float32[64], B: float32[64]):
        for o in range(3):
            for i in range(extent):
                A[step * i + o + to] = A[step * i + o + at] + B[i]

    arguments = {name: np.ones(64, np.float32) for name in "AB"}
    found, needed = found_and_needed(update, [arguments], 2)
    assert found == needed


def test_sums_that_something_else_reads_between_copies_are_no_tree() -> None:
    """The sum of a copy is the input of the next one, by way of the product."""

    def mixed(A: int32[16], B: int32[16]):
        for i in range(8):
            for u in range(4):
                A[0] += B[u]
                A[0] = A[0] * B[i]

    arguments = {name: np.ones(16, np.int32) for name in "AB"}
    found, needed = found_and_needed(mixed, [arguments], 1)
    assert found >= needed > 2


def test_calls_of_unrolled_copies_follow_one_another() -> None:
    def step(A: float32[4]):
        A[0] = A[1] + 1.0
        A[1] = A[0] * 2.0

    def steps(A: float32[4]):
        for _i in range(16):
            for _u in range(4):
                step(A)

    s = allo.customize(steps)
    s.pipeline("_i")
    found = allo.estimate(s)
    latency = next(f.latency for f in found.functions if f.name == "step")
    assert found.loop("_i").interval == 4 * ((latency or 0) + 1)
