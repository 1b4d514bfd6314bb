"""Schedules keep what they promise: every edge and every port, in every cycle of the interval."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import allo
import polybench
from allo.ir.types import float32
from allo.timing.pipeline import ScheduledRegion

from .regions import schedules

EXPANDED = import_module("allo.timing.interval.expanded")  # `allo.estimate` is a function, too


def check(done: ScheduledRegion) -> None:
    """Values are there before they are used, ports are never used twice."""
    graph, timing = done.graph, done.timing
    nodes = graph.region.nodes
    for edge in graph.edges:
        if nodes[edge.source].kind == "write" and edge.distance:
            written = timing.ends[edge.source] + nodes[edge.source].latency
            if edge.source in graph.chains or edge.sink in graph.chains:
                continue  # copies wait for one another inside of one node
            assert timing.starts[edge.sink] + timing.interval * edge.distance >= written
        elif edge.order:
            assert timing.starts[edge.sink] >= timing.starts[edge.source]
        elif not edge.distance and nodes[edge.source].kind != "write":
            assert timing.starts[edge.sink] >= timing.ends[edge.source] + nodes[edge.source].latency
    for array in done.accesses:
        total = array.memory.ports.total
        if total is None:
            continue
        used: dict[int, np.ndarray] = {}
        for index, counts in array.counts.items():
            if timing.starts[index] == timing.ends[index]:
                slot = timing.starts[index] % timing.interval
                used[slot] = used.get(slot, np.zeros_like(counts)) + counts
        assert all((counts <= total).all() for counts in used.values())


@pytest.mark.parametrize("name", polybench.NAMES)
def test_vanilla_kernels(name: str) -> None:
    found = schedules(allo.customize(polybench.load(name).kernel("MINI")), auto_pipeline=True)
    assert found
    for done in found:
        check(done)


@pytest.mark.parametrize("name", ["gemm", "atax", "jacobi_2d", "symm", "correlation"])
def test_designs(name: str) -> None:
    for done in schedules(polybench.load(name).designs["best"].customized("SMALL"), auto_pipeline=False):
        check(done)


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


@pytest.mark.parametrize(("copies", "bound"), [(5, 69), pytest.param(100, 1399, marks=pytest.mark.slow)])
def test_without_a_schedule_found_iterations_follow_one_another(
    copies: int, bound: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EXPANDED, "_MOST_NODES", 0)  # copies are not looked at one by one

    def turns(A: float32[200], B: float32[100]):
        for i in range(64):
            for u in range(copies):
                A[i + u + 3] = A[i + u] + B[u]
                A[i + u + 1] = A[i + u + 2] * B[u]

    s = allo.customize(turns)
    s.unroll("u")
    s.pipeline("i")
    loop = allo.estimate(s).loop("i")
    assert loop.interval == loop.depth
    assert str(loop.reason).startswith(f"no schedule with II {bound} found: recurrence through A: ")
