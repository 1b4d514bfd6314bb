"""Estimates of grids of tasks, and of tasks that wait for one another: the cycles of a timed run."""

# Streams and arrays of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import Stream, int32

N, P = 8, 4


@df.region()
def feedback(A: int32[P, N], B: int32[P, N]):
    question: Stream[int32, 2]
    answer: Stream[int32, 2]

    @df.kernel(args=[A, B])
    def client(A: int32[P, N], B: int32[P, N]):
        for i in range(N):
            question.put(A[0, i])
            B[0, i] = answer.get()

    @df.kernel()
    def server():
        for _ in range(N):
            answer.put(question.get() * 2)


@df.region()
def ring(A: int32[P, N], B: int32[P, N]):
    line: Stream[int32, 2][P]

    @df.kernel(mapping=[P], args=[A, B])
    def node(A: int32[P, N], B: int32[P, N]):
        p = df.get_pid()
        for i in range(N):
            line[(p + 1) % P].put(A[p, i])
            B[p, i] = line[p].get()


@df.region()
def line(A: int32[P, N], B: int32[P, N]):
    between: Stream[int32, 4][P + 1]

    @df.kernel(mapping=[P + 1], args=[A, B])
    def node(A: int32[P, N], B: int32[P, N]):
        p = df.get_pid()
        with allo.meta_if(p == 0):
            for i in range(N):
                between[1].put(A[0, i])
        with allo.meta_elif(p == P):
            for i in range(N):
                B[p - 1, i] = between[p].get()
        with allo.meta_else():
            for i in range(N):
                v: int32 = between[p].get()
                B[p - 1, i] = v
                between[p + 1].put(v + A[p, i])


@df.region()
def long_line(A: int32[P, N], B: int32[P, N]):
    between: Stream[int32, 4][2]

    @df.kernel(mapping=[2])
    def source():
        p = df.get_pid()
        for i in range(40_000):
            between[p].put(i)

    @df.kernel(mapping=[2])
    def sink():
        p = df.get_pid()
        for _ in range(40_000):
            between[p].get()


WHY = {
    feedback: "feedback: its tasks wait for one another in a circle",
    ring: "ring: positions of a grid do not do the same at the same time",
    line: "line: positions of a grid do not do the same at the same time",
}


@pytest.mark.parametrize("region", WHY, ids=lambda region: region.__name__)
@pytest.mark.parametrize("pipelined", [False, True])
def test_cycles_of_the_timed_run(region: Callable[..., Any], pipelined: bool) -> None:
    s = df.customize(region)
    if pipelined:
        s.pipeline({"feedback": "client:i", "ring": "node:i", "line": "node[1:4]:i"}[region.__name__])
    found = s.report(target="u280")
    timed = s.build(timed=True)
    timed(np.ones((P, N), np.int32), np.zeros((P, N), np.int32))
    assert found.cycles == timed.timing.cycles
    assert f"{WHY[region]}: the latency is that of a run without data, put by put" in found.notes


def test_runs_that_are_too_long() -> None:
    found = df.customize(long_line).report(target="u280")
    assert found.cycles is not None
    assert (
        "long_line: positions of a grid do not do the same at the same time, and the latency is that of their rates: "
        "more than 100,000 elements pass through streams"
    ) in found.notes
