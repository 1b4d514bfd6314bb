"""Programs on arrays with few ports: shim and memory tiles are in columns from which there are ways."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout
from allo.target import Tile

TARGET = Path(__file__).resolve().parents[3] / "targets" / "xdna1_npu1.toml"


def columns_apart(folder: Path, wires: int) -> str:
    """An array whose columns only meet at the shim tiles, with so many ports to each side there."""
    text = TARGET.read_text()
    for before, after in (
        ("north = 4, east = 4, south = 6, west = 4, core = 1", "north = 4, south = 6, core = 1"),
        ("north = 6, east = 4, south = 4, west = 4, core = 1", "north = 6, south = 4, core = 1"),
        ("north = 4, east = 4, south = 8, west = 4", f"north = 4, east = {wires}, south = 8, west = {wires}"),
        ("north = 6, east = 4, south = 6, west = 4", f"north = 6, east = {wires}, south = 6, west = {wires}"),
    ):
        assert text.count(before) == 1
        text = text.replace(before, after)
    path = folder / f"apart_{wires}.toml"
    path.write_text(text)
    return str(path)


@df.region()
def squares(C: int32[32]):
    @df.kernel(mapping=[4], args=[C])
    def core(c: int32[32] @ Layout("S0")):
        for i in range(8):
            c[i] = i * i


def test_results_of_a_column_leave_by_the_shim_tiles_that_they_reach(tmp_path: Path) -> None:
    """Four results of a column, of which two can go east: two stay, where one was planned in each column."""
    built = df.build(squares, target="aie", device_type=columns_apart(tmp_path, 2))
    assert Counter(route.shim for route in built.plan.routes) == {0: 2, 1: 2}
    assert [built.plan.routing.of(route.name).flow.sinks[0].column for route in built.plan.routes] == [
        route.shim for route in built.plan.routes
    ]
    assert all(f"aie.tile({route.shim}, 0)" in built.mlir for route in built.plan.routes)
    assert "out C_out_0, out C_out_3  out C_out_1, out C_out_2" in built.draw()
    C = np.zeros(32, np.int32)
    built(C)
    assert (np.tile(np.arange(8) ** 2, 4) == C).all()
    assert built.timed().cycles > 0
    free = df.build(squares, target="aie")
    assert sorted(route.shim for route in free.plan.routes) == [0, 1, 2, 3]


def test_a_column_with_too_few_wires_is_refused(tmp_path: Path) -> None:
    """Of four results, two leave by the shim tile of their column, and one goes east."""
    with pytest.raises(allo.AlloError) as error:
        df.build(squares, target="aie", device_type=columns_apart(tmp_path, 1))
    assert str(error.value) == (
        "the program does not fit 'xdna1_npu1'; there is too little of\n"
        "    stream ports of the tiles (0, 0) to (0, 5), out to the east: 3 of 1, for C_out_1, C_out_2, C_out_3\n"
        "    from other shim and memory tiles there are no ways, which constraint programming has proved\n"
        "  hint: let cores run several tasks (mapping_primitives), so that fewer streams go from tile to tile"
    )


@df.region()
def shifts(A: int32[32], C: int32[32]):
    @df.kernel(mapping=[4], args=[A, C])
    def core(a: int32[32] @ Layout("S0"), c: int32[32] @ Layout("S0")):
        for i in range(8):
            c[i] = a[i] + 1


def test_ways_begin_where_objects_do() -> None:
    """Parts of four cores meet in the memory tile of the only column: what comes goes up, what leaves goes down."""
    built = df.build(shifts, target="aie", device_type="npu1_1col")
    ways = {own.flow.name: own for own in built.plan.routing.flows}
    shim, memory = Tile(0, 0), Tile(0, 1)
    assert {route.to_core for route in built.plan.routes} == {True, False}
    for route in built.plan.routes:
        assert route.hub == 0
        ends = (shim, memory) if route.to_core else (memory, shim)
        assert (ways[route.name].flow.source, ways[route.name].flow.sinks) == (ends[0], (ends[1],))
        assert str(ways[route.name])[0] == ("N" if route.to_core else "S")
        for fifo in route.fifos:
            own = built.plan.placement.tile(fifo.cores[0])
            ends = (memory, own) if route.to_core else (own, memory)
            assert (ways[fifo.name].flow.source, ways[fifo.name].flow.sinks) == (ends[0], (ends[1],))
    A, C = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    built(A, C)
    assert (A + 1 == C).all()
