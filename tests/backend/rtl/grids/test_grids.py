# ruff: noqa: F821, B007 (streams of regions are declarations, not variables of Python)
"""Regions with grids in simulation: as arrays they do, bit by bit and cycle by cycle, what their modules do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.backend.rtl import RTLModule
from allo.backend.rtl import module as rtl_module
from allo.backend.rtl.grids import grid_design
from allo.errors import DataflowError
from allo.ir.types import Stream, int32
from tests.backend.rtl.test_flows import told

N, TASKS = 12, 9


@df.region()
def line(A: int32[N], B: int32[N]):
    pipe: Stream[int32, 2][TASKS + 1]

    @df.kernel(mapping=[1], args=[A])
    def source(A: int32[N]):
        for i in range(N):
            pipe[0].put(A[i])

    @df.kernel(mapping=[TASKS])
    def part():
        p = df.get_pid()
        kept: int32 = 1
        for i in range(N):
            x: int32 = pipe[p].get()
            kept += x
            if x != 9:
                pipe[p + 1].put(x * kept)

    @df.kernel(mapping=[1], args=[B])
    def sink(B: int32[N]):
        for i in range(N):
            B[i] = pipe[TASKS].get()


def both(monkeypatch: pytest.MonkeyPatch, s: allo.Schedule) -> tuple[RTLModule, RTLModule]:
    """A design with arrays, and with modules."""
    one, other = s.build(target="rtl", random_state=3), s.build(target="rtl", random_state=4)
    with monkeypatch.context() as patch:
        patch.setattr(rtl_module, "grid_design", lambda *_: None)
        other._simulation()
    return one, other


def fifo_counts(made: RTLModule) -> dict[str, int]:
    """What was put and got in a run, by the path of the FIFO."""
    fifos = {fifo.path for wait in made.design.waits for fifo in wait.fifos.values()}
    model = made._simulation()
    return {f"{path}.{name}": model.number(f"{path}.{name}") for path in fifos for name in ("all_puts", "all_gets")}


def assert_same(one: RTLModule, other: RTLModule, *arguments: Any) -> None:
    """Two runs of a design: results, cycles, loops, and what its FIFOs have seen."""
    own, wanted = ([array.copy() for array in arguments] for _ in range(2))
    one(*own)
    other(*wanted)
    for found, array in zip(own, wanted, strict=True):
        assert found.tobytes() == array.tobytes()
    assert (one.cycles, one.loops) == (other.cycles, other.loops)
    assert fifo_counts(one) == fifo_counts(other)


@pytest.mark.slow
def test_a_line_of_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    s = df.customize(line)
    for task in ("source", "part", "sink"):
        s.pipeline(f"{task}:i")
    one, other = both(monkeypatch, s)
    grids = grid_design(one.design.modules)
    assert grids is not None and "module part" not in grids.text and ".GRID(10)" in grids.text
    for first in (2, 5):
        assert_same(one, other, np.arange(first, first + N, dtype=np.int32) * 11, np.zeros(N, np.int32))
    errors = []
    for made in (one, other):  # 9 is not passed on
        with pytest.raises(DataflowError) as caught:
            made(np.arange(N, dtype=np.int32), np.zeros(N, np.int32))
        errors.append(caught.value)
    assert told(errors[0]) == told(errors[1])
    assert (errors[0].tasks, errors[0].streams) == (errors[1].tasks, errors[1].streams)
    assert_same(one, other, np.arange(20, 20 + N, dtype=np.int32), np.zeros(N, np.int32))
