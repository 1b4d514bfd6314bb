"""Pictures of designs: figures of runs and estimates, loops, banks, waveforms."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array; tasks are compiled where they stand

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.errors import ScheduleError, ToolError
from allo.ir.types import Stream, float32, int16
from allo.report import draw_roofline, draw_waveform
from tests.picture.geometry import SVG, demand_readable, rectangle, text_area, vertices

N = 16


@df.region()
def fork_and_join(A: float32[N], B: float32[N]):
    left: Stream[float32, 4]
    right: Stream[float32, 2]

    @df.kernel(args=[A])
    def fork(A: float32[N]):
        for i in range(N):
            left.put(A[i])
        for i in range(N):
            right.put(A[i])

    @df.kernel(args=[B])
    def join(B: float32[N]):
        for i in range(N):
            B[i] = left.get()
        for i in range(N):
            B[i] += right.get()


def product(A: int16[8, 12], B: int16[12], C: int16[8]):
    for i, k in allo.grid(8, 12):
        C[i] += A[i, k] * B[k]


@pytest.fixture(scope="module")
def design() -> allo.Schedule:
    return df.customize(fork_and_join)


def texts(picture: str, name: str) -> list[str]:
    """The lines of a vertex."""
    return [area.name for area in vertices(picture)[name][1]]


def test_figures_of_a_run_are_in_the_picture(design: allo.Schedule) -> None:
    built = df.build(design, target="simulator", timed=True)
    built(np.zeros(N, np.float32), np.zeros(N, np.float32))
    picture = design.draw(built.timing).svg
    demand_readable(picture)
    run = built.timing
    (task,) = [task for task in run.tasks if task.name == "join"]
    (call,) = [name for name in vertices(picture) if name.startswith("fork_and_join:join@")]
    assert texts(picture, call) == ["join", f"{task.begin} to {task.end}"]
    (left,) = [channel for channel in run.channels if channel.name == "left"]
    waited = f"{left.full + left.empty} cycles waited"
    assert texts(picture, "fork_and_join:left") == ["left", "float32", f"{left.most} of depth 4", waited]
    assert texts(picture, "join:left") == ["left", "float32", "depth 4"]
    assert f">{run.cycles} cycles of fork_and_join on u280, simulated<" in picture


def test_figures_of_an_estimate_are_in_the_picture(design: allo.Schedule) -> None:
    estimate = design.report("u280")
    picture = design.draw(estimate).svg
    demand_readable(picture)
    (call,) = [name for name in vertices(picture) if name.startswith("fork_and_join:fork@")]
    (function,) = [f for f in estimate.functions if f.name == "fork"]
    assert texts(picture, call) == ["fork", f"{function.latency} cycles"] and ", estimated<" in picture


def test_figures_of_others_are_refused(design: allo.Schedule) -> None:
    other = allo.customize(product)
    with pytest.raises(ScheduleError) as refused:
        other.draw(design.report("u280"))
    assert str(refused.value) == "these are figures of 'fork_and_join', and the design is 'product'"
    with pytest.raises(ScheduleError) as refused:
        other.draw(3)  # type: ignore[arg-type]
    assert str(refused.value) == (
        "the figures of a picture are those of a run or of an estimate, got int\n"
        '  hint: give built.timing of a timed build, or s.report("u280")'
    )


def test_loops_before_and_after() -> None:
    s = allo.customize(product)
    s.split("k", 4)
    s.pipeline("k.inner")
    root = ElementTree.fromstring(s.draw_loops(0).svg)
    shown = [text.text for text in root.iter(f"{SVG}text")]
    assert shown == [
        *("before", "product", "S_i_k_0", "i", "8 x", "k", "12 x"),
        *("after step 0, split", "product", "S_i_k_0", "i", "8 x", "k.outer", "3 x", "k.inner", "4 x"),
    ]
    kinds = [rect.get("class") for rect in root.iter(f"{SVG}rect")][1:]
    assert kinds == ["same-row", "same-row", "same-row", "removed", *["same-row"] * 3, "added", "added"]
    assert "after 2 steps" in s.draw_loops().svg and "pipeline=1" in s.draw_loops(1).svg
    with pytest.raises(ScheduleError, match=r"^there is no state after 3 steps: the schedule has 2 steps"):
        s.draw_loops(2)
    assert "before" not in allo.customize(product).draw_loops().svg


def test_designs_below_a_roof() -> None:
    def scaled(A: float32[64], B: float32[64]):
        for i in range(64):
            B[i] = A[i] * 2.0 + 1.0

    report = allo.customize(scaled).report("u280", memory="HBM")
    picture = draw_roofline(report, peak=100, bandwidth=10).svg
    root = ElementTree.fromstring(picture)
    frame = next(rectangle(r) for r in root.iter(f"{SVG}rect") if r.get("class") == "frame")
    (point,) = [rectangle(r) for r in root.iter(f"{SVG}rect") if r.get("class") == "best"]
    assert report.milliseconds is not None
    across = (point.x + 4 - frame.x) / (frame.right - frame.x)
    up = (frame.lower - point.y - 4) / (frame.lower - frame.y)
    assert 10 ** (-2 + 4 * across) == pytest.approx(2 / 8, rel=0.02)  # 2 operations and 8 bytes an element
    assert 10 ** (-2 + 4 * up) == pytest.approx(128 / report.milliseconds / 1e6, rel=0.02)
    for wrong, told in (
        ((), "a roofline is that of one design or more\n  hint: "),
        ((allo.estimate(allo.customize(product)),), "the report of 'product' has no bytes between a memory"),
    ):
        with pytest.raises(ToolError) as refused:
            draw_roofline(*wrong, peak=1, bandwidth=1)
        assert str(refused.value).startswith(told)


def banks(picture: str) -> list[list[int]]:
    """The banks as they are drawn, a list for each row."""
    titles = [rect.findtext(f"{SVG}title") for rect in ElementTree.fromstring(picture).iter(f"{SVG}rect")]
    found: dict[int, list[int]] = {}
    for title in filter(None, titles):
        *place, bank = map(int, re.findall(r"\d+", title))
        found.setdefault(place[0] if len(place) > 1 else 0, []).append(bank)
    return [*found.values()]


def test_banks_are_those_of_the_partition() -> None:
    s = allo.customize(product)
    s.partition(s.A, partition_type=allo.Partition.Cyclic, dim=2, factor=4)
    s.partition(s.A, partition_type=allo.Partition.Block, dim=1, factor=2)
    s.partition(s.B, partition_type=allo.Partition.Complete)
    assert banks(s.draw_banks("A").svg) == [[4 * (i // 4) + k % 4 for k in range(12)] for i in range(8)]
    assert banks(s.draw_banks(s.B).svg) == [[*range(12)]]
    assert banks(s.draw_banks("product:C").svg) == [[0] * 8]
    with pytest.raises(ScheduleError) as refused:
        s.draw_banks("D")
    assert str(refused.value).startswith("the schedule has no array 'D'\n  hint: ")


def test_cells_hold_their_texts_and_large_arrays_say_what_is_left_out() -> None:
    def many(A: int16[2, 40, 50], B: int16[1]):
        B[0] = A[1, 39, 49]

    picture = allo.customize(many).draw_banks("A").svg
    root = ElementTree.fromstring(picture)
    assert "768 of them are drawn" in picture and len(banks(picture)) == 1  # the first subscript is 0
    cells = [rectangle(rect) for rect in root.iter(f"{SVG}rect")][1:]
    numbers = [text_area(t) for t in root.iter(f"{SVG}text") if t.get("class") == "ink" and t.text == "0"]
    assert len(cells) == len(numbers) == 768
    assert all(number.within(cell) for cell, number in zip(cells, numbers, strict=True))


DUMP = """$timescale 1ns $end
$scope module top $end $var wire 1 ! clk $end $var wire 8 " data [7:0] $end
$scope module inner $end $var wire 1 ! clock $end $var wire 1 # done $end $upscope $end $upscope $end
$enddefinitions $end
#0
0!
bxxxxxxxx "
0#
#5
1!
b1010 "
#10
0!
#20
1#
b11111111 "
#40
"""


def test_excerpts_of_waveforms(tmp_path: Path) -> None:
    (tmp_path / "run.vcd").write_text(DUMP)
    root = ElementTree.fromstring(draw_waveform(tmp_path / "run.vcd", ["data", "top.clk", "done"], end=30).svg)
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert words[words.index("top.data") :] == ["top.data", "xxxxxxxx", "a", "ff", "top.clk", "top.inner.done"]
    places = {rect.findtext(f"{SVG}title"): rectangle(rect) for rect in root.iter(f"{SVG}rect") if len(rect)}
    assert set(places) == {"xxxxxxxx", "a", "ff"} and places["a"].right - places["a"].x == pytest.approx(360)
    assert places["a"].right == places["ff"].x and "1ns" in words
    everything = ElementTree.fromstring(draw_waveform(tmp_path / "run.vcd").svg)
    names = [text.text for text in everything.iter(f"{SVG}text") if (text.text or "").startswith("top.")]
    assert names == ["top.clk", "top.data", "top.inner.done"]  # a wire once
    (clock, done) = [path.get("d") or "" for path in root.iter(f"{SVG}path") if path.get("class") == "curve"]
    assert clock.count("V") == 2 and done.count("V") == 1


def test_refused_waveforms(tmp_path: Path) -> None:
    dump = tmp_path / "run.vcd"
    dump.write_text(DUMP)
    for path, options, told in (
        (tmp_path / "run.fst", {}, "'run.fst' is no value change dump\n  hint: simulate with waveform='run.vcd'"),
        (dump, {"signals": ["dine"]}, "'run.vcd' has no signal 'dine'\n  hint: "),
        (dump, {"begin": 50}, "there is no time from 50 to 40; the dump ends at 40"),
    ):
        with pytest.raises(ToolError) as refused:
            draw_waveform(path, **options)  # type: ignore[arg-type]
        assert str(refused.value).startswith(told)
