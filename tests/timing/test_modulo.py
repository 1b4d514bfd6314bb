"""Schedules keep what they promise: every edge and every port, in every cycle of the interval."""

from __future__ import annotations

import pytest

import allo
import polybench
from allo.ir.types import float32
from allo.timing.check import violations
from tests.estimate.random_kernels import random_kernel
from tests.seeds import sampled
from tests.work import calls_of

from .regions import schedules


@pytest.mark.parametrize("name", polybench.NAMES)
def test_vanilla_kernels(name: str) -> None:
    found = schedules(allo.customize(polybench.load(name).kernel("MINI")), auto_pipeline=True)
    assert found
    for done in found:
        assert violations(done.schedule) == []


@pytest.mark.parametrize("name", ["gemm", "atax", "jacobi_2d", "symm", "correlation"])
def test_designs(name: str) -> None:
    for done in schedules(polybench.load(name).designs["best"].customized("SMALL"), auto_pipeline=False):
        assert violations(done.schedule) == []


def test_operators_are_shared_within_the_interval() -> None:
    def sums(A: float32[64], B: float32[64]):
        for i in range(64):
            B[i] = A[i] * 2.0 + A[i] * 3.0 + 1.0

    s = allo.customize(sums)
    s.pipeline("i", initiation_interval=2)
    found = allo.estimate(s)
    assert found.dsp == 1 * 3 + 1 * 2  # two products and two sums in two cycles


def test_a_call_that_passes_an_array_on_to_the_next_iteration() -> None:
    def step(A: float32[4]):
        A[0] = A[1] + 1.0
        A[1] = A[0] * 2.0

    def steps(A: float32[4]):
        for _i in range(16):
            step(A)

    s = allo.customize(steps)
    s.pipeline("_i")
    found = allo.estimate(s)
    latency = next(f.latency for f in found.functions if f.name == "step")
    assert found.loop("_i").interval == (latency or 0) + 1


@pytest.mark.parametrize(
    ("copies", "depth", "reason"),
    [
        (5, 47, "no schedule with II 14 found: recurrence through A: 1 read + 2 x 3 mul + 6 add + 1 write over"),
        pytest.param(
            100, 943, "no schedule with II 589 found: recurrence through A: 66 x 3 mul + 65 x 6 add + 1 write until",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_iterations_are_no_further_apart_than_they_are_long(copies: int, depth: int, reason: str) -> None:
    """Walks between copies, of which only ranges are known, demand 14 cycles a copy; few copies are looked at."""

    def turns(A: float32[200], B: float32[100]):
        for i in range(64):
            for u in range(copies):
                A[i + u + 3] = A[i + u] + B[u]
                A[i + u + 1] = A[i + u + 2] * B[u]

    s = allo.customize(turns)
    s.unroll("u")
    s.pipeline("i")
    loop = allo.estimate(s).loop("i")
    assert (loop.interval, loop.depth) == (depth, depth)
    assert str(loop.reason).startswith(reason)


@pytest.mark.parametrize("seed", sampled([16, 17, 42, 55], 4))
def test_copies_that_write_and_read_an_element_in_turn(seed: int) -> None:
    """A write that gives each copy the same value is one operation, unless others read or write in between."""
    s = allo.customize(random_kernel(seed).function)
    s.pipeline("i")
    for done in schedules(s):
        assert violations(done.schedule) == []


@pytest.mark.slow
def test_long_chains_of_copies_are_looked_at_at_once() -> None:
    """Before, each copy of each operation lost its place for each interval: 17 million calls of functions."""
    s = allo.customize(random_kernel(55).function)
    s.pipeline("i")
    assert calls_of(lambda: schedules(s)) < 2_000_000
