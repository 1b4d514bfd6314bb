"""Timelines: when parts begin and end, what stages wait for, and what connects them."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

import allo
import polybench
from allo.estimate import StageLink, Stall, Timeline, TimelinePart
from allo.estimate.report.timeline_picture import chart, graph
from allo.ir.types import float32, index
from tests.seeds import sampled

COUNT = 256


def load(A: float32[COUNT], T: float32[COUNT]):
    for i in range(COUNT):
        T[i] = A[i] * 2.0


def change(T: float32[COUNT], U: float32[COUNT]):
    for j in range(COUNT):
        U[j] = T[j] + 1.0


def store(U: float32[COUNT], B: float32[COUNT]):
    for k in range(COUNT):
        B[k] = U[k] * 3.0


def chain(A: float32[COUNT], B: float32[COUNT]):
    T: float32[COUNT]
    U: float32[COUNT]
    load(A, T)
    change(T, U)
    store(U, B)


def stages(intervals: tuple[int, int, int], depth: int) -> allo.Schedule:
    s = allo.customize(chain)
    for loop, interval in zip(("load:i", "change:j", "store:k"), intervals, strict=True):
        s.pipeline(loop, initiation_interval=interval)
    s.relay("chain:T", "change", depth=depth)
    s.relay("chain:U", "store", depth=depth)
    s.dataflow("chain")
    return s


def timeline_of(found: allo.Estimate, name: str) -> Timeline:
    (timeline,) = [t for f in found.functions for t in f.timelines if t.of == name]
    return timeline


def test_parts_in_turn_end_where_the_next_begins() -> None:
    s = allo.customize(chain)
    found = allo.estimate(s)
    timeline = timeline_of(found, "chain")
    assert (timeline.dataflow, timeline.links) == (False, ())
    assert [part.name for part in timeline.parts] == ["'load'", "'change'", "'store'"]
    assert [part.begin for part in timeline.parts] == [0, *(part.end for part in timeline.parts[:-1])]
    assert timeline.cycles == found.cycles
    assert [(f.latency or 0) + 1 for f in found.functions[:3]] == [
        (part.end or 0) - (part.begin or 0) for part in timeline.parts
    ]


def executed(intervals: tuple[int, int, int], depth: int) -> list[int]:
    """By how many cycles the last iteration of each stage is late, all elements one by one."""
    issue: list[list[int]] = [[], [], []]
    lag = 10  # between a get and a put
    for k in range(COUNT):
        for n in range(3):
            at = issue[n][-1] + intervals[n] if k else 0
            if n > 0:
                at = max(at, issue[n - 1][k] + lag + 1)
            if n < 2 and k >= depth:
                at = max(at, issue[n + 1][k - depth] + 1 - lag)
            issue[n].append(at)
    return [times[-1] - times[0] - (COUNT - 1) * interval for times, interval in zip(issue, intervals, strict=True)]


@pytest.mark.parametrize("depth", [16, 40, 100])
@pytest.mark.parametrize("intervals", [(1, 1, 4), (4, 1, 1), (1, 4, 1), (2, 1, 3), (1, 1, 1)])
def test_stalls_of_a_chain(intervals: tuple[int, int, int], depth: int) -> None:
    """In front of a slow stage FIFOs are full, behind it they are empty."""
    found = allo.estimate(stages(intervals, depth))
    timeline = timeline_of(found, "chain")
    assert [sum(stall.cycles for stall in part.stalls) for part in timeline.parts] == executed(intervals, depth)
    slowest = intervals.index(max(intervals))
    for number, part in enumerate(timeline.parts):
        full, empty = ("full", "fifo_T" if number == 0 else "fifo_U"), ("empty", "fifo_T" if number == 1 else "fifo_U")
        causes = {(stall.kind, stall.name) for stall in part.stalls}
        assert causes <= ({full, empty} if number < slowest else {empty})
    assert timeline.cycles == found.cycles
    assert [(x.name, x.kind, x.producer, x.consumer, x.depth, x.elements) for x in timeline.links] == [
        ("fifo_T", "FIFO", 0, 1, depth, COUNT), ("fifo_U", "FIFO", 1, 2, depth, COUNT)
    ]  # fmt: skip


def test_the_depth_that_is_needed_ends_all_waiting_for_room() -> None:
    needed = {link.needed for link in timeline_of(allo.estimate(stages((1, 1, 4), 8)), "chain").links}
    enough = max(depth for depth in needed if depth is not None)
    for depth in (enough, enough - 1):
        timeline = timeline_of(allo.estimate(stages((1, 1, 4), depth)), "chain")
        kinds = {stall.kind for part in timeline.parts for stall in part.stalls}
        assert ("full" in kinds) == (depth < enough)


def test_stages_say_what_they_achieve_and_what_binds_them() -> None:
    found = allo.estimate(stages((1, 1, 4), 16))
    assert [(stage.name, stage.because) for stage in found.stages[1:]] == [
        ("'change'", "waits 703 full fifo_U"), ("'store'", "S_k_0.k: as requested: II 4")
    ]  # fmt: skip
    parts = timeline_of(found, "chain").parts
    assert [stage.cycles for stage in found.stages] == [(part.end or 0) - (part.begin or 0) for part in parts]
    assert [stage.bound for stage in found.stages] == [found.functions[0].latency, found.functions[1].latency, 264]
    assert all(stage.achieved == (stage.bound or 0) / (stage.cycles or 1) for stage in found.stages)
    assert "achieved" in str(found) and "achieved" in found.to_html()
    assert allo.estimate(allo.customize(chain)).stages == ()


def test_nests_that_nobody_named_are_told_apart() -> None:
    def twice(A: float32[64], B: float32[64]):
        T: float32[64]
        for i in range(64):
            T[i] = A[i] * 2.0
        for i in range(64):
            B[i] = T[i] + 1.0

    def named(A: float32[64], B: float32[64]):
        for i in allo.grid(64, name="first"):
            B[i] = A[i] * 2.0
        for j in range(64):
            B[j] += 1.0

    s = allo.customize(twice)
    parts = timeline_of(allo.estimate(s), "twice").parts
    assert [(part.name, part.nest, part.callee) for part in parts] == [
        ("nest 'S_i_0'", "S_i_0", ""), ("nest 'S_i_1'", "S_i_1", "")
    ]  # fmt: skip
    parts = timeline_of(allo.estimate(allo.customize(named)), "named").parts
    assert [part.name for part in parts] == ["nest 'first'", "nest 'S_j_1'"]
    s.fuse_streams("twice")
    slow, _ = allo.estimate(s).stages
    assert slow.because == "S_i_0.i: not pipelined" and slow.achieved is not None and slow.achieved < 0.5


def test_arrays_are_links_and_let_stages_begin_late() -> None:
    s = allo.customize(chain)
    s.dataflow("chain")
    timeline = timeline_of(allo.estimate(s), "chain")
    assert timeline.links == (StageLink("T", "array", 0, 1), StageLink("U", "array", 1, 2))
    assert [part.begin for part in timeline.parts] == [0, *(part.end for part in timeline.parts[:-1])]
    assert not any(part.stalls for part in timeline.parts)


def test_a_loop_has_the_timeline_of_one_iteration() -> None:
    def rows(A: float32[8, 16], B: float32[8, 16]):
        for n in range(8):
            for i in range(16):
                B[n, i] = A[n, i] * 2.0
            for j in range(16):
                B[n, j] += 1.0

    found = allo.estimate(allo.customize(rows), auto_pipeline=True)
    timeline = timeline_of(found, "rows:n")
    assert timeline.cycles == found.loop("n").depth
    assert "parts of an iteration of rows:n" in str(found)


def test_what_is_not_known_has_no_times() -> None:
    def some(A: float32[256], B: float32[256], n: index):
        for i in range(256):
            B[i] = A[i] * 2.0
        for j in range(n):
            B[j] += 1.0
        for k in range(256):
            B[k] += 2.0

    found = allo.estimate(allo.customize(some))
    timeline = timeline_of(found, "some")
    assert [(part.begin is None, part.end is None) for part in timeline.parts] == [
        (False, False), (False, True), (True, True)
    ]  # fmt: skip
    assert timeline.cycles is None and chart(timeline) == "" and "parts of some" in str(found)


@pytest.mark.parametrize("name", sampled(polybench.NAMES))
def test_timelines_of_polybench(name: str) -> None:
    """They end with the function, or with an iteration of the loop."""
    for design in polybench.load(name).designs.values():
        found = allo.estimate(design.customized("MINI"))
        for function in found.functions:
            for timeline in function.timelines:
                loop = found.loop(timeline.of) if ":" in timeline.of else None
                assert timeline.cycles == (function.latency if loop is None else loop.depth)
                for part in timeline.parts:
                    assert part.begin is not None and part.end is not None and part.begin <= part.end
                    assert sum(stall.cycles for stall in part.stalls) <= part.end - part.begin


def test_the_forms_of_a_timeline() -> None:
    found = allo.estimate(stages((1, 1, 4), 16))
    lines = str(found).splitlines()
    row, _ = [line for line in lines if line.startswith("'load'")]
    assert row.split()[1:3] == ["0", "907"] and "641 full fifo_T" in row
    assert set(row.split()[3]) == {"#", "."} and len(row.split()[3]) == 32
    (row,) = [line for line in lines if line.startswith("fifo_U")]
    assert row.split() == ["fifo_U", "'change'", "'store'", "256", "16", "192", "703"]
    (data,) = json.loads(found.to_json())["functions"][-1]["timelines"]
    assert data["parts"][0] == {
        "name": "'load'", "begin": 0, "end": 907, "stalls": [{"kind": "full", "name": "fifo_T", "cycles": 641}],
        "nest": "", "callee": "load",
    }  # fmt: skip
    assert data["links"][1]["depth"] == 16 and data["dataflow"]
    page = found.to_html()
    assert page.count("<svg") == 2 and "depth 16, 192 would do" in page and "703 cycles waited" in page


def test_pictures_are_drawn_to_scale() -> None:
    """And names are shown as they are."""
    parts = (
        TimelinePart("<first>", 0, 50),
        TimelinePart("second", 25, 100, (Stall("empty", "a & b", 7),)),
    )
    timeline = Timeline("top", True, parts, (StageLink("a & b", "FIFO", 0, 1, 2, 2, 9),))
    bars = ElementTree.fromstring(chart(timeline)).findall("{http://www.w3.org/2000/svg}rect[@class='busy']")
    places = [(float(bar.get("x", "")), float(bar.get("width", ""))) for bar in bars]
    assert places[0][1] == pytest.approx(240) and places[1][1] == pytest.approx(360)
    assert places[1][0] - places[0][0] == pytest.approx(120)
    picture = ElementTree.fromstring(graph(timeline))
    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    told = ["0 to 50", "second", "25 to 100", "a & b", "depth 2", "7 cycles waited"]
    assert texts[:8] == ["top", "<first>", *told]
