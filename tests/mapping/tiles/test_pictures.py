"""Pictures of plans: arrows are the broadcasts of the first wave, bars what cores did in the simulator."""

from __future__ import annotations

import pytest

from allo import tile
from allo.errors import TargetError
from allo.picture.mesh import Way, mesh
from tests.mapping.tiles.kernels import CASES, gemm
from tests.mapping.tiles.test_space import small_mesh

VALUES = {"BM": 8, "BN": 8, "BK": 8}


def plan(x: int = 2, y: int = 3) -> tile.TilePlan:
    return tile.plan(gemm, small_mesh(x, y), VALUES)


def test_an_arrow_leads_through_each_line_of_cores() -> None:
    drawn = plan().load("A", "broadcast", "v", inside="k").load("B", "broadcast", "h", inside="k").draw()
    svg = drawn.drawing.svg
    # two columns of three cores, and three rows of two: arrows are lines and heads, ways begin with a dot; a legend
    assert svg.count('class="curve"') == 2 * 2 + 1 and svg.count('class="hot"') == 3 * 1 + 1
    assert svg.count('class="busy"') == 2 * (1 + 2) and svg.count('class="hot-head"') == 3 * (1 + 1)
    assert all(f">{line}<" in svg for line in ("A: broadcast along v", "B: broadcast along h", "0,1"))
    assert str(drawn).splitlines()[-2:] == ["A: broadcast along v", "B: broadcast along h"]


def test_loads_by_each_core_have_no_arrow() -> None:
    svg = plan().draw().drawing.svg
    assert ">A: per core<" in svg and 'class="curve"' not in svg


def test_cores_without_a_program_are_empty() -> None:
    """Ten programs on twelve cores; the last line of four has two, and its broadcast ends there."""
    made = tile.plan(CASES["softmax"].kernel, small_mesh(4, 3)).spread(m=("x", "y"))
    svg = made.draw().drawing.svg
    assert svg.count('class="same-row"') == 2 and svg.count('class="hue0"') == 10


def test_wavefronts_are_dashed() -> None:
    cells = [("0", ["a", "b"])]
    drawn = [mesh("t", ["0", "1"], cells, [Way(0, ((0, 0), (1, 0)), dashed)], ["A"], []) for dashed in (False, True)]
    assert [svg.count("stroke-dasharray") for svg in drawn] == [0, 1]


def test_the_time_of_cores() -> None:
    made = plan()
    drawn = made.timeline()
    run = made.simulate()
    head, *lines = str(drawn).splitlines()
    assert head == f"{run.cycles:.0f} cycles, simulated; of each core: computes, waits for tiles, waits for stores"
    assert len(lines) == 6 and lines[0].startswith("x = 0, y = 0: ")
    for line in lines:
        busy, waits, stores = (int(part.strip(" %")) for part in line.split(": ")[1].split(","))
        assert busy == round(100 * run.compute / run.cycles) and 97 <= busy + waits + stores <= 101
    assert str(made.timeline([(1, 2)])).splitlines()[1:] == [lines[-1]]


def test_many_cores_are_not_all_drawn() -> None:
    assert len(str(tile.plan(gemm, "mesh8x8", VALUES).timeline()).splitlines()) == 1 + 16


def test_a_core_that_has_no_program() -> None:
    with pytest.raises(TargetError) as caught:
        plan().timeline([(2, 0)])
    assert str(caught.value) == "core [2, 0] runs no program\n  hint: name cores of the 2 x 3 that do"
