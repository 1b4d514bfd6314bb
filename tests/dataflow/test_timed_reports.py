"""What a timed run shows: tables, the critical path, Perfetto JSON, value change dumps, the page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from allo.dataflow.replay import replay
from allo.dataflow.timed.critical import Hop, critical_path
from allo.dataflow.timed.run import TimedRun
from allo.dataflow.trace import Trace, TracedChannel, TracedProcess, trace_of
from allo.errors import TargetError
from tests.seeds import sweep

from .random_traces import random_trace

N = 5
PROCESSES = [TracedProcess("source", 2 * N), TracedProcess("middle", 4 * N + 2), TracedProcess("sink<1>", 3 * N)]
CHANNELS = [TracedChannel("a", 2), TracedChannel("b", 1), TracedChannel("c", 2)]


def example() -> Trace:
    """A source and two tasks in a circle."""
    middle = [event for k in range(N) for event in ((0, False, 4 * k), (1, True, 4 * k + 1), (2, False, 4 * k + 3))]
    sink = [event for k in range(N) for event in ((1, False, 3 * k), (2, True, 3 * k + 2))]
    return trace_of(PROCESSES, CHANNELS, [[(0, True, 2 * k) for k in range(N)], middle, sink])


def timed(trace: Trace) -> TimedRun:
    return TimedRun("demo", "u280", 300.0, replay(trace))


def test_table() -> None:
    assert str(timed(example())) == """\
demo on u280 at 300 MHz: *33* cycles = 0.00011 ms, *simulated* with the static schedules of its tasks

task     begin  end  waits  for
-------  -----  ---  -----  -------------------------------------
source   0      16   6      room in 'a' 6
middle   0      33   11     elements of 'c' 10, elements of 'a' 1
sink<1>  0      30   15     elements of 'b' 15

channel  elements  depth  most  full  empty  from     to
-------  --------  -----  ----  ----  -----  -------  -------
a        5         2      2     6     1      source   middle
b        5         1      1     0     15     middle   sink<1>
c        5         2      1     0     10     sink<1>  middle

critical path: middle for 12 cycles, sink<1> for 10 cycles
critical cycle, 4 times in 24 cycles: middle waits for elements of 'c' by sink<1>; sink<1> waits for elements of 'b' \
by middle"""


def test_grids_and_arrays_of_streams_are_a_row_each_where_there_are_many() -> None:
    count = 30
    processes = [TracedProcess(f"pe[{n}]", 3, position_of="pe") for n in range(count)]
    channels = [TracedChannel(f"s[{n}]", 1 + n % 2, element_of="s") for n in range(count - 1)]
    events = [
        [*([(n - 1, False, 0)] if n else []), *([(n, True, 2)] if n < count - 1 else [])] for n in range(count)
    ]
    lines = str(timed(trace_of(processes, channels, events))).splitlines()
    assert lines[4] == "pe (30 positions)  0      90   1305   elements of 's' 1305"
    assert lines[8] == "s (29 streams)  29        1 to 2  1     0     1305   29 tasks  29 tasks"


def test_critical_path_goes_round_the_circle_of_a_feedback_loop() -> None:
    run = replay(example())
    found = critical_path(run)
    assert found.circle == (Hop(2, 1, "empty", 1), Hop(1, 2, "empty", 2))
    assert (found.rounds, found.cycles) == (4, 24)
    assert [(step.process, step.begin, step.end) for step in found.steps[:3]] == [(0, 0, 0), (1, 1, 2), (2, 3, 5)]


@sweep(200, quick=40)
def test_steps_of_the_critical_path_fill_the_whole_time(seed: int) -> None:
    run = replay(random_trace(seed, pipelined=seed % 2 == 0))
    if run.stuck:
        return
    path = critical_path(run)
    waits = sum(step.kind in ("full", "empty") for step in path.steps)
    assert sum(path.of_processes(len(run.trace.processes))) + waits == run.total
    assert path.steps[0].kind == "" and path.steps[0].begin == 0


def test_other_depths_need_no_other_run() -> None:
    run = timed(example())
    wider = run.with_depths({"a": 5})
    assert [wider.channels[0].full, wider.cycles, wider.channels[0].most] == [0, 33, 3]
    assert run.channels[0].full == 6
    with pytest.raises(TargetError) as refused:
        run.with_depths({"d": 5})
    assert str(refused.value) == "no channel of 'demo' is called 'd'\n  hint: there are a, b, c"


def test_depths_with_which_it_hangs_are_refused() -> None:
    trace = trace_of(
        [TracedProcess("f", 3), TracedProcess("g", 3)],
        [TracedChannel("a", 2), TracedChannel("b", 1)],
        [[(0, True, 0), (0, True, 1), (1, True, 2)], [(1, False, 0), (0, False, 1), (0, False, 2)]],
    )
    with pytest.raises(TargetError) as refused:
        timed(trace).with_depths({"a": 1})
    assert str(refused.value) == "with these depths 'f' waits for ever: 'a' is full\n  hint: give it more room"


def test_occupancy() -> None:
    times, levels = timed(example()).occupancy("b")
    assert times[:4].tolist() == [2, 4, 8, 10] and levels[:4].tolist() == [1, 0, 1, 0]


def test_perfetto_has_slices_in_slices_and_counters(tmp_path: Path) -> None:
    run = timed(example())
    shown = json.loads(run.save(tmp_path / "run.json").read_text())
    assert shown["otherData"]["cycles"] == 33
    slices = [event for event in shown["traceEvents"] if event["ph"] == "X"]
    own = [(event["ts"], event["ts"] + event["dur"]) for event in slices if event["tid"] == 1]
    assert own[0] == (0, 33) and sum(end - begin for begin, end in own[1:]) == 11
    assert all(first[1] <= second[0] for first, second in pairwise(own[1:]))
    counters = [event for event in shown["traceEvents"] if event["ph"] == "C" and event["name"] == "b"]
    assert [(event["ts"], event["args"]["elements"]) for event in counters[:2]] == [(2, 1), (4, 0)]


def changes(text: str, name: str) -> Iterator[tuple[int, int]]:
    """The changes of a signal in a value change dump."""
    found = re.search(rf"\$var wire \d+ (\S+) {name} \$end", text)
    assert found is not None
    code, time = found[1], 0
    for line in text.partition("$enddefinitions $end\n")[2].splitlines():
        if line.startswith("#"):
            time = int(line[1:])
        elif line.startswith("b") and line.split()[1] == code:
            yield time, int(line.split()[0][1:], 2)
        elif not line.startswith("b") and line[1:] == code:
            yield time, int(line[0])


def test_dump_has_what_runs_and_what_is_in_channels(tmp_path: Path) -> None:
    run = timed(example())
    text = run.save(tmp_path / "run.vcd").read_text()
    times, levels = run.occupancy("b")
    assert list(changes(text, "b"))[1:] == list(zip(times.tolist(), levels.tolist(), strict=True))
    assert list(changes(text, "running"))[1:] == [(0, 1), (16, 0)]  # that of the first task
    waits = list(changes(text, "waiting"))
    waited = sum(time if not value else -time for time, value in waits[1:])
    assert waited == 6
    assert "$scope module sink_1 $end" in text


def test_page_stands_alone_and_is_the_same_again(tmp_path: Path) -> None:
    run = timed(example())
    text = run.save(tmp_path / "run.html").read_text()
    assert text == timed(example()).save(tmp_path / "again.html").read_text()
    assert not re.search(r"(src|href)=|url\((?!#)|<script", text)
    for picture in re.findall(r"<svg.*?</svg>", text, re.S):
        ElementTree.fromstring(picture)
    assert "sink&lt;1&gt;" in text and "<em>33</em> cycles" in text and "b is empty" in text


def test_single_pictures(tmp_path: Path) -> None:
    run = timed(example())
    for picture, said in (("bars", "sink&lt;1&gt;"), ("graph", "sink"), ("occupancy", "b")):
        text = run.save(tmp_path / "run.svg", picture).read_text()
        ElementTree.fromstring(text)
        assert said in text and text in run._repr_html_()
    with pytest.raises(TargetError) as refused:
        run.save(tmp_path / "run.svg", "pie")
    assert str(refused.value) == (
        "a timed run has no picture 'pie'\n  hint: its pictures are 'bars', 'graph', 'occupancy'"
    )


def test_pictures_of_many_tasks_show_those_that_wait_longest() -> None:
    count = 100
    processes = [TracedProcess(f"p{n}", 1 + n) for n in range(count)]
    channels = [TracedChannel(f"s{n}", 1) for n in range(count - 1)]
    events = [[*([(n - 1, False, 0)] if n else []), *([(n, True, n)] if n < count - 1 else [])] for n in range(count)]
    text = timed(trace_of(processes, channels, events))._repr_html_()
    assert "64 of 100 tasks: those that wait longest." in text
    assert "16 of 99 streams: those that are waited for longest." in text
    assert ">p99</text>" in text and ">p1</text>" not in text.partition("<h2>Streams")[0]


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TargetError) as refused:
        timed(example()).save(tmp_path / "run.txt")
    assert str(refused.value) == (
        "a timed run is not written as 'run.txt'\n  hint: end the name with .json, .vcd, .html or .svg"
    )


@sweep(100, quick=20)
def test_any_trace_can_be_shown(seed: int, tmp_path: Path) -> None:
    run = timed(random_trace(seed, pipelined=seed % 2 == 0))
    if run.replayed.stuck:
        return
    assert str(run)
    json.loads(run.save(tmp_path / "run.json").read_text())
    ElementTree.fromstring(re.findall(r"<svg.*?</svg>", run._repr_html_(), re.S)[0])
    dump = run.save(tmp_path / "run.vcd").read_text()
    for channel in run.channels:
        levels = np.array([value for _, value in changes(dump, channel.name)])
        assert levels.max(initial=0) == channel.most
