"""Schedules beside the best ones, by constraint programming."""

from __future__ import annotations

import sys

import pytest

import allo
import polybench
from allo.errors import ToolError
from allo.timing import exact
from allo.timing.check import violations
from allo.timing.exact import optimum
from tests.seeds import sweep

from .enumerated import broken
from .optima import RANDOM_KERNELS, Loop, compared, of_random_kernel, recorded
from .test_check import chain, lanes, schedule, sums, total


@pytest.mark.parametrize("kernel", [sums, total, chain])
def test_small_loops_are_as_good_as_can_be(kernel: object) -> None:
    pytest.importorskip("ortools")
    found = schedule(kernel)
    best = optimum(found.problem, 1, found)
    assert best is not None and best.proved
    assert violations(best.schedule) == broken(best.schedule) == []
    assert (found.interval, found.depth) == (best.schedule.interval, best.schedule.depth)


def test_reads_that_leave_no_port_to_writes() -> None:
    """Eight lanes read and write one bank: reads as early as they can be take the cycles that writes need."""
    pytest.importorskip("ortools")
    found = schedule(lanes)
    best = optimum(found.problem, 1, found)
    assert best is not None and best.proved
    assert (found.interval, found.depth) == (8, 24)
    assert (best.schedule.interval, best.schedule.depth) == (8, 18)


@pytest.mark.parametrize("name", ["gemm", "atax", "jacobi_1d", "trisolv", "nussinov"])
def test_polybench(name: str) -> None:
    pytest.importorskip("ortools")
    loops: list[Loop] = []
    s = allo.customize(polybench.load(name).kernel("MINI"))
    recorded(name, lambda: allo.estimate(s, auto_pipeline=True), loops)
    rows = compared(loops, 10)
    assert rows
    for row in rows:
        assert row.best.proved
        assert row.loop.found.interval == row.best.schedule.interval
        assert row.loop.found.depth <= row.best.schedule.depth + 1


@sweep(RANDOM_KERNELS, 4)
def test_the_best_are_never_worse(seed: int) -> None:
    pytest.importorskip("ortools")
    for row in compared(of_random_kernel(seed), 2):
        ours, best = row.loop.found, row.best.schedule
        assert (best.interval or 0) <= (ours.interval or 0)
        assert best.interval != ours.interval or best.depth <= ours.depth


def test_without_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    found = schedule(chain)
    with pytest.raises(ToolError) as error:
        optimum(found.problem, 1, found)
    assert str(error.value) == (
        "exact schedules need the constraint solver of ortools, which is not installed\n"
        "  hint: pip install 'allo[exact]'"
    )


def test_what_no_time_is_left_for_is_no_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver gives a deep schedule when its time is over: the one that was to be improved stays."""
    pytest.importorskip("ortools")
    found = schedule(lanes)
    shallow = optimum(found.problem, 8, found)
    assert shallow is not None
    late = exact._Solution([cycles * found.problem.period for cycles in found.cycles], certain=False)
    monkeypatch.setattr(exact._Model, "solved", lambda self, seconds: late)
    best = optimum(found.problem, 8, shallow.schedule)
    assert best is not None and best.schedule is shallow.schedule and not best.proved
