"""Waits of grids that are ranked for all positions at once, against runs of all tasks."""

from __future__ import annotations

# ruff: noqa: F821 - tasks use the streams that a region declares
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import allo.dataflow as df
from allo.errors import DataflowError
from allo.ir.hang import Hang
from allo.ir.module import Module
from allo.ir.types import Stream, int32
from allo.poly import hangs
from allo.poly.ranked_waits import waits_are_ranked
from tests.dataflow import programs as p
from tests.dataflow.designs import elements as e
from tests.dataflow.designs import systolic as s
from tests.dataflow.designs import tiles as t
from tests.seeds import sweep

from .random_graphs import region_of as graph_of
from .random_grids import region_of as grid_of


def ranked(module: Module) -> bool:
    return waits_are_ranked(module)


@pytest.mark.parametrize(
    "region",
    [p.systolic, s.weight_stationary, s.packed, s.convolution, e.cannon, e.smith_waterman, e.sparse, t.flash_attention],
)
def test_designs_are_ranked(region: Callable[..., Any]) -> None:
    assert ranked(df.customize(region).ir)


def unchecked(make: Callable[[int, Path], Callable[..., Any]], seed: int, folder: Path) -> Module | None:
    """A region that nobody has looked at; None if it is refused anyhow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("allo.poly.imbalance_of", lambda *_: None)
        try:
            return df.customize(make(seed, folder)).ir
        except DataflowError:
            return None


@pytest.mark.parametrize("make", [graph_of, grid_of])
@sweep(600, quick=20)
def test_what_is_ranked_ends(seed: int, make: Callable[[int, Path], Callable[..., Any]], tmp_path: Path) -> None:
    module = unchecked(make, seed, tmp_path)
    if module is not None and ranked(module):
        assert hangs.hang_of(module) is None and hangs.imbalance_of(module) is None


@sweep(300, quick=20)
def test_grids_without_data_are_ranked_if_they_end(seed: int, tmp_path: Path) -> None:
    """There are ranks if and only if a run of all tasks ends with nothing left in a stream."""
    module = unchecked(grid_of, seed, tmp_path)
    if module is not None:
        assert ranked(module) == (hangs.hang_of(module) is None and hangs.imbalance_of(module) is None)


def ring(size: int, depth: int) -> Callable[..., Any]:
    """Each task puts two elements before it gets any."""

    @df.region()
    def region(B: int32[size, size]):
        s: Stream[int32, depth][size, size]

        @df.kernel(mapping=[size, size], args=[B])
        def turn(y: int32[size, size]):
            i, j = df.get_pid()
            for _k in range(4 * depth):
                s[i, (j + 1) % size].put(1)
                s[i, (j + 1) % size].put(2)
                y[i, j] = s[i, j].get() + s[i, j].get()

    return region


def test_large_grids_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run would find at each position is proven for all; what has no ranks is run."""
    monkeypatch.setattr(hangs, "TokenRun", None)
    assert hangs.hang_of(df.customize(ring(40, 2)).ir) is None
    monkeypatch.undo()
    found = hangs.hang_of(df.customize(ring(40, 1)).ir)
    assert isinstance(found, Hang) and found.error().depths == {"s": 2}


N = 3000


@df.region()
def triangles(A: int32[1], B: int32[N]):
    """Rows that get shorter, one step each in a run of the tasks; in a circle, so that it is no tree."""
    there: Stream[int32, 1][2]
    ready: Stream[int32, 1]

    @df.kernel(args=[A])
    def source(x: int32[1]):
        for i in range(N):
            ready.put(x[0])
            for _j in range(i, N):
                there[0].put(i)

    @df.kernel(args=[B])
    def sink(y: int32[N]):
        for i in range(N):
            t: int32 = ready.get()
            for _j in range(i, N):
                t += there[0].get()
            y[i] = t


def test_long_runs_are_proven_without_them() -> None:
    module = df.customize(triangles).ir
    assert ranked(module) and hangs.always_ends(module)


def test_streams_that_are_refused_at_runs_have_no_ranks() -> None:
    assert not ranked(df.customize(ring(3, 1)).ir)
    assert ranked(df.customize(ring(3, 2)).ir)
