"""Random graphs of tasks: types, simulator, reference and C simulation agree on what hangs, and on all results."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.errors import DataflowError
from allo.poly import Untold, hang_of
from tests.seeds import sweep

from .random_graphs import N, loaded, region_of, text_of
from .random_grids import region_of as grid_of
from .random_grids import text_of as grid_text


def told(error: DataflowError) -> tuple[str, list[str]]:
    """What an error says, without places; the depths that do in any order."""
    text = str(error)
    return text.splitlines()[0].split(": ", 1)[1], sorted(re.findall(r"\d+ for '\w+'", text))


def ran(run: Callable[..., Any], seed: int) -> list[Any] | DataflowError:
    """The results, or why there are none."""
    outputs = [np.zeros(N, np.int32) for _ in range(text_of(seed).count("def t"))]
    try:
        run(*(array for output in outputs for array in (np.arange(1, N + 1, dtype=np.int32), output)))
    except DataflowError as error:
        return error
    return outputs


def with_depths(seed: int, depths: dict[str, int], folder: Path) -> Callable[..., Any]:
    """The same graph with other depths of some streams."""
    text = text_of(seed)
    for stream, depth in depths.items():
        text, found = re.subn(rf"({stream}: Stream\[.*), \d+\](?=$|\[2\]$)", rf"\1, {depth}]", text, flags=re.MULTILINE)
        assert found == 1
    return loaded(text, folder / f"deeper_{seed}.py", "graph")


def refused(error: DataflowError, wanted: list[Any] | DataflowError) -> None:
    """Types that refuse: the reference waits for ever, too, or has elements left if there is room for them."""
    message = str(error).splitlines()[0]
    if "taken out of" in message:
        told_too = isinstance(wanted, DataflowError) and ("taken out of it" in str(wanted) or "is full" in str(wanted))
        assert told_too or "whatever" in message
    else:
        assert isinstance(wanted, DataflowError)
        assert "no depth is enough" in str(wanted) or "is empty" in str(wanted)


def agree(seen: list[Any] | DataflowError, wanted: list[Any] | DataflowError) -> None:
    """The same results, or the same reason; where data decide, the depths that do need not be the least ones."""
    if isinstance(seen, DataflowError) or isinstance(wanted, DataflowError):
        assert isinstance(seen, DataflowError) and isinstance(wanted, DataflowError)
        if "depths that do" in str(seen):
            assert told(seen)[0] == told(wanted)[0]
        else:
            assert told(seen) == told(wanted)
        return
    for one, other in zip(seen, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@sweep(1500, quick=20)
def test_graph(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("allo.poly.waiting.periods._FIRST_ROUND", 1)  # few iterations have periods, too
    graph = region_of(seed, tmp_path)
    wanted = ran(allo.interpret(graph), seed)
    try:
        s = df.customize(graph)
    except DataflowError as error:
        refused(error, wanted)
        return
    seen = ran(s.build(), seed)
    agree(seen, wanted)
    if isinstance(seen, DataflowError) and "depths that do" in str(seen):
        deeper = ran(allo.interpret(with_depths(seed, seen.depths, tmp_path)), seed)
        assert not isinstance(deeper, DataflowError) or "is full" not in str(deeper)
    verdict = hang_of(s.ir)
    if isinstance(verdict, Untold):
        assert "depends on data" in verdict.reason
    else:
        assert (verdict is None) == (not isinstance(seen, DataflowError))


@sweep(300, quick=8)
def test_grid(seed: int, tmp_path: Path) -> None:
    """Tasks of a torus: types, the simulator and the reference say the same, and so does the proof for all at once."""
    grid, text = grid_of(seed, tmp_path), grid_text(seed)
    shape = tuple(map(int, re.findall(r"\d+", text.split("B: int32", 1)[1])[:2]))

    def found(run: Callable[..., Any]) -> list[Any] | DataflowError:
        B = np.zeros(shape, np.int32)
        try:
            run(B)
        except DataflowError as error:
            return error
        return [B]

    wanted = found(allo.interpret(grid))
    try:
        s = df.customize(grid)
    except DataflowError as error:
        refused(error, wanted)
        return
    agree(found(s.build()), wanted)
    verdict = hang_of(s.ir)
    assert (verdict is None) == (not isinstance(wanted, DataflowError))


@sweep(9, quick=1)
def test_c_simulation(seed: int, tmp_path: Path) -> None:
    graph = region_of(seed, tmp_path)
    wanted = ran(allo.interpret(graph), seed)
    try:
        built = df.customize(graph).build(target="vitis_hls", mode="csim")
    except DataflowError as error:  # of the types, or of a depth
        assert isinstance(wanted, DataflowError) or "put into" in str(error)
        return
    agree(ran(built, seed), wanted)
