"""FIFOs that are too shallow, against a model that passes on every element."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import math
import random
import re
import runpy
from pathlib import Path

import pytest

import allo
from allo.ir.types import float32
from allo.ir.walk import string_of
from allo.target import load_target
from allo.timing.control.build import TreeOptions
from allo.timing.control.elements import ElementTimes
from allo.timing.control.span import Span, Stream
from allo.timing.control.spans import timelines
from allo.timing.control.trees import Trees
from tests.seeds import sweep

N = 128


def split(A: float32[N], S: float32[N], R: float32[N]):
    for i in range(N):
        S[i] = A[i]
        R[i] = A[i] + 1.0


def slow(R: float32[N], Q: float32[N]):
    for i in range(N):
        Q[i] = allo.exp(R[i]) * 2.0 / 3.0


def join(S: float32[N], Q: float32[N], B: float32[N]):
    for i in range(N):
        B[i] = S[i] + Q[i]


def diamond(A: float32[N], B: float32[N]):
    S: float32[N]
    R: float32[N]
    Q: float32[N]
    split(A, S, R)
    slow(R, Q)
    join(S, Q, B)


def connected(depth: int, others: int, interval: int = 1) -> allo.Schedule:
    """Values go directly, through a FIFO of `depth` elements, and through a stage of 42 cycles."""
    s = allo.customize(diamond)
    s.pipeline("split:i")
    s.pipeline("slow:i", initiation_interval=interval)
    s.pipeline("join:i")
    s.relay("diamond:S", "join", depth=depth)
    s.relay("diamond:R", "slow", depth=others)
    s.relay("diamond:Q", "join", depth=others)
    s.dataflow("diamond")
    return s


def executed(parts: list[Span], depths: dict[Stream, int]) -> list[float]:
    """When pipelines end that pass on all elements, one by one; `parts` are in the order of the data."""
    issue: list[list[float]] = [[] for _ in parts]
    ends = [
        [*((s, e, True) for s, e in part.ends.puts.items()), *((s, e, False) for s, e in part.ends.gets.items())]
        for part in parts
    ]
    where = {(s, put): (n, float(e.lag)) for n, uses in enumerate(ends) for s, e, put in uses}

    def time(stream: Stream, put: bool, k: int) -> float:
        stage, lag = where[stream, put]
        return issue[stage][k] + lag

    for k in range(N):
        for n, uses in enumerate(ends):
            event = uses[0][1]
            step = float((parts[n].latency or 0) - event.first - event.tail) / (N - 1)
            start = issue[n][k - 1] + step if k else float(event.first - event.lag)
            for stream, use, put in uses:
                if not put:
                    start = max(start, time(stream, True, k) + 1 - float(use.lag))
                elif k >= depths[stream]:
                    start = max(start, time(stream, False, k - depths[stream]) + 1 - float(use.lag))
            issue[n].append(start)
    return [issue[n][-1] + float(uses[0][1].lag + uses[0][1].tail) for n, uses in enumerate(ends)]


@pytest.mark.parametrize("interval", [1, 3])
@pytest.mark.parametrize(("depth", "others"), [(128, 128), (64, 2), (40, 4), (24, 2), (8, 4), (2, 2), (64, 1), (1, 1)])
def test_waiting_for_fifos(depth: int, others: int, interval: int) -> None:
    s = connected(depth, others, interval)
    trees = Trees(s.ir, TreeOptions(load_target("u280")))
    whole = trees.span("diamond").latency
    spans = trees.spans["diamond"]
    assert whole is not None
    streams = {x for part in spans.parts for x in part.ends.puts}
    depths = {x: depth if string_of(x[0].owner, "allo.name") == "fifo_S" else others for x in streams}
    exact = max(executed(spans.parts, depths))
    assert len(streams) == 3
    assert float(whole) == pytest.approx(exact, abs=0.1)


def random_stages(seed: int, folder: Path) -> tuple[allo.Schedule, dict[str, int]]:
    """Three to five pipelines in a row, with some arrays that skip stages; and the depths of their FIFOs."""
    choose = random.Random(seed)
    count = choose.randint(3, 5)
    skips = [(i, j) for i in range(count) for j in range(i + 2, count) if choose.random() < 0.4]
    edges = [*((i, i + 1) for i in range(count - 1)), *skips]
    lines = ["import allo", "from allo.ir.types import float32", ""]
    calls = []
    for k in range(count):
        ins, outs = [e for e in edges if e[1] == k], [e for e in edges if e[0] == k]
        arrays = [*["A"][k:], *(f"T{i}{j}" for i, j in ins + outs), *(["B"] if k == count - 1 else [])]
        value = "A[i]" if k == 0 else " + ".join(f"T{i}{j}[i]" for i, j in ins)
        value = choose.choice(["{} * 2.0", "{} + 1.0", "allo.exp({})", "({}) / 3.0", "{}"]).format(value)
        lines += [f"def s{k}({', '.join(f'{a}: float32[{N}]' for a in arrays)}):", f"    for i in range({N}):"]
        lines += [f"        v: float32 = {value}"]
        lines += [f"        T{i}{j}[i] = v{choose.choice(['', ' + 1.0', ' * 0.5'])}" for i, j in outs]
        lines += ["        B[i] = v"] * (k == count - 1)
        calls.append(f"    s{k}({', '.join(arrays)})")
    lines += [f"def top(A: float32[{N}], B: float32[{N}]):", *(f"    T{i}{j}: float32[{N}]" for i, j in edges), *calls]
    file = folder / f"stages_{seed}.py"
    file.write_text("\n".join(lines) + "\n")
    s = allo.customize(runpy.run_path(str(file))["top"])
    for k in range(count):
        s.pipeline(f"s{k}:i", initiation_interval=choose.choice([1, 1, 1, 2, 3]))
    depths = {f"fifo_T{i}{j}": choose.choice([1, 2, 2, 4, 8, 16, 32, 64, N]) for i, j in edges}
    for i, j in edges:
        s.relay(f"top:T{i}{j}", f"s{j}", depth=depths[f"fifo_T{i}{j}"])
    s.dataflow("top")
    return s, depths


@sweep(12)
def test_graphs_of_stages(seed: int, tmp_path: Path) -> None:
    s, depths = random_stages(seed, tmp_path)
    trees = Trees(s.ir, TreeOptions(load_target("u280")))
    whole = trees.span("top").latency
    spans = trees.spans["top"]
    assert whole is not None
    streams = {x: depths[string_of(x[0].owner, "allo.name") or ""] for part in spans.parts for x in part.ends.puts}
    assert len(streams) == len(depths)
    assert float(whole) == pytest.approx(max(executed(spans.parts, streams)), abs=0.1)
    timeline = next(timelines(spans))
    assert timeline.cycles == math.ceil(whole)
    for part, stage in zip(timeline.parts, spans.parts, strict=True):
        assert part.begin is not None and part.end is not None and stage.latency is not None
        stalls = sum(stall.cycles for stall in part.stalls)
        assert part.end - part.begin == pytest.approx(float(stage.latency) + stalls, abs=3)
        assert all(stall.name for stall in part.stalls)


def test_most_stages_end_when_they_do(tmp_path: Path) -> None:
    """Not only the last one: those in front of full FIFOs, too."""
    errors = []
    for seed in range(100, 140):
        s, depths = random_stages(seed, tmp_path)
        trees = Trees(s.ir, TreeOptions(load_target("u280")))
        trees.span("top")
        spans = trees.spans["top"]
        streams = {x: depths[string_of(x[0].owner, "allo.name") or ""] for p in spans.parts for x in p.ends.puts}
        parts = next(timelines(spans)).parts
        ends = executed(spans.parts, streams)
        errors += [abs((part.end or 0) / end - 1) for part, end in zip(parts, ends, strict=True)]
    assert sum(error > 0.02 for error in errors) <= 0.02 * len(errors)


def test_all_that_is_lost_is_waited_for_in_each_stage() -> None:
    """The FIFO that skips the slow stage is too shallow: its producer waits for room, the others find nothing."""
    shallow, enough = allo.estimate(connected(16, 2)), allo.estimate(connected(43, 2))
    assert shallow.cycles is not None and enough.cycles is not None
    (timeline,) = shallow.kernel.timelines
    lost = [sum(stall.cycles for stall in part.stalls) for part in timeline.parts]
    assert lost == [shallow.cycles - enough.cycles] * 3
    causes = [{(stall.kind, stall.name) for stall in part.stalls} for part in timeline.parts]
    assert causes == [{("full", "fifo_S")}, {("empty", "fifo_R")}, {("circle", "fifo_S"), ("empty", "fifo_Q")}]
    assert not any(part.stalls for part in enough.kernel.timelines[0].parts)
    (advice,) = shallow.advice
    assert advice.step == shallow.kernel.advice == "# 'fifo_S' with a depth of 43 in place of 16"
    assert advice.gain == shallow.cycles - enough.cycles and enough.advice == ()


def test_where_a_circle_of_fifos_binds_depths_come_first() -> None:
    """A faster stage gains next to nothing there, until the FIFOs are deep enough."""
    shallow, enough = allo.estimate(connected(8, 2, 2)), allo.estimate(connected(64, 2, 2))
    assert [advice.at for advice in shallow.advice] == ["diamond", "slow:i"]
    assert [advice.at for advice in enough.advice] == ["slow:i"]
    gains = [advice.gain or 0 for advice in (*shallow.advice, *enough.advice)]
    assert gains[0] > 400 and gains[1] < 10 and gains[2] > 100


def test_a_remark_says_which_fifo_and_what_would_do() -> None:
    shallow, enough = allo.estimate(connected(16, 2)), allo.estimate(connected(43, 2))
    assert shallow.cycles is not None and enough.cycles is not None
    assert enough.notes == ()
    assert shallow.cycles > 1.9 * enough.cycles
    lost = shallow.cycles - enough.cycles
    assert shallow.notes == (
        f"diamond: {lost} of {shallow.cycles} cycles are spent waiting for FIFOs: 'fifo_S' holds 16, 43 would do",
    )


def late(A: float32[N], S: float32[N], R: float32[N]):
    for i in range(N):
        S[i] = A[i]
        R[i] = A[i] + 1.0


def reordered(S: float32[N], R: float32[N], B: float32[N], C: float32[N]):
    for i in range(N):
        B[i] = S[i]
    for j in range(N):
        C[j] = R[j]


def out_of_order(A: float32[N], B: float32[N], C: float32[N]):
    S: float32[N]
    R: float32[N]
    late(A, S, R)
    reordered(S, R, B, C)


def in_turn(depth: int) -> allo.Schedule:
    """The consumer takes all of one FIFO before it takes something of the other one."""
    s = allo.customize(out_of_order)
    for loop in ("late:i", "reordered:i", "reordered:j"):
        s.pipeline(loop)
    s.relay("out_of_order:S", "reordered", depth=2)
    s.relay("out_of_order:R", "reordered", depth=depth)
    s.dataflow("out_of_order")
    return s


def test_a_consumer_in_another_order_waits_for_ever() -> None:
    found, enough = allo.estimate(in_turn(100)), allo.estimate(in_turn(N))
    assert enough.notes == ()
    assert found.cycles == enough.cycles
    (note,) = found.notes
    match = re.fullmatch(
        r"out_of_order: stages may wait for one another for ever: 'fifo_R' holds 100, (\d+) would do; the latency is "
        r"that with FIFOs deep enough",
        note,
    )
    assert match is not None and N - 3 <= int(match[1]) <= N


def test_a_fifo_of_which_nothing_is_taken_holds_one_element() -> None:
    times = ElementTimes(puts=[[], [1.0, 2.0, 3.0]], gets=[[], [3.0, 4.0, 5.0]], late=[], delays=[])
    assert (times.occupancy(0), times.occupancy(1)) == (1, 3)
