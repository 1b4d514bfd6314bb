"""Sizes of FIFOs on random traces and graphs: exact depths are the least, linear ones stand against the curves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.customize.fifo.sizes import TokenCurve
from allo.dataflow.replay import replay
from allo.dataflow.sizing.curves import CurveTable, curves_of, most_tokens
from allo.dataflow.sizing.exact import DepthSearch, backward
from allo.dataflow.sizing.front import front
from allo.dataflow.sizing.linear import least_delays, linear_depths
from allo.dataflow.trace import Trace, TracedChannel, TracedProcess, trace_of
from allo.errors import DataflowError
from allo.estimate.traces.static import static_trace
from polybench.suite import load
from tests.seeds import sweep

from .random_graphs import N, region_of, text_of
from .random_traces import random_trace

type Event = tuple[int, bool, int]


def usable(seed: int) -> Trace | None:
    """A random trace whose FIFOs end empty, and that ends if they are deep enough."""
    trace = random_trace(seed, pipelined=seed % 2 == 1)
    if any(len(puts) != len(gets) for puts, gets in zip(trace.puts, trace.gets, strict=True)):
        return None
    return None if replay(trace, [0] * len(trace.channels)).stuck else trace


def looked(trace: Trace, seed: int) -> Trace:
    """The trace with looks in front of some gets, up to two cycles earlier."""
    rng = np.random.default_rng(seed)
    chosen = ~trace.is_put & (rng.random(len(trace)) < 0.4)
    rows = np.repeat(np.arange(len(trace)), 1 + chosen)
    looks = chosen[rows] & np.append(rows[:-1] == rows[1:], False)
    bounds = np.append(0, np.cumsum(1 + chosen))[trace.bounds]
    cycle = np.maximum(trace.cycle[rows] - looks * rng.integers(0, 3, len(rows)), 0)
    return Trace(trace.processes, trace.channels, bounds, trace.channel[rows], trace.is_put[rows], cycle, looks=looks)


def search_of(trace: Trace) -> DepthSearch:
    return DepthSearch(trace, np.arange(len(trace.channels)), len(trace.channels))


@sweep(300, quick=60)
def test_exact_depths_are_the_least(seed: int) -> None:
    """They cost no cycle, and each costs some, or everything, if it is lower by one."""
    trace = usable(seed)
    if trace is None:
        return
    trace = looked(trace, seed) if seed % 3 else trace
    search = search_of(trace)
    fastest = search.run(None).total
    enough = search.enough()
    assert search.cycles(enough) == fastest
    found = search.least(enough, fastest, range(search.count))
    assert replay(trace, found).total == fastest
    for kind, depth in enumerate(found):
        run = replay(trace, [d - (k == kind) for k, d in enumerate(found)]) if depth > 1 else None
        assert run is None or run.stuck or run.total > fastest


@sweep(200, quick=40)
def test_no_depth_can_be_lower_within_a_deadline(seed: int) -> None:
    trace = usable(seed)
    if trace is None:
        return
    search = search_of(trace)
    enough = search.enough()
    for slack in (3, 15, None):
        deadline = None if slack is None else search.run(None).total + slack
        found = search.least(enough, deadline, range(search.count))
        for kind, depth in enumerate(found):
            cycles = search.with_one_less(found, kind) if depth > 1 else None
            assert cycles is None or (deadline is not None and cycles > deadline)


def test_depths_let_the_order_of_the_program_end_too() -> None:
    """By its schedule a task puts into `b` first; as it is written, `a` must hold two elements until then."""
    gets: list[Event] = [(1, False, 0), (0, False, 1), (0, False, 2)]
    orders: list[list[Event]] = [
        [(1, True, 0), (0, True, 1), (0, True, 2)],
        [(0, True, 1), (0, True, 2), (1, True, 0)],
    ]
    processes = [TracedProcess("puts", 3), TracedProcess("gets", 3)]
    scheduled, written = (
        trace_of(processes, [TracedChannel(name, 0) for name in "ab"], [order, gets]) for order in orders
    )
    search = DepthSearch(scheduled, np.arange(2), 2, written)
    assert not replay(scheduled, [1, 1]).stuck and replay(written, [1, 1]).stuck and search.cycles((1, 1)) is None
    assert search.enough() == search.least(search.enough(), None, range(2)) == (2, 1)


@sweep(150, quick=30)
def test_bounds_of_depths_hold(seed: int) -> None:
    """No depths that keep a deadline are below what is said to be least for each of them."""
    trace = usable(seed)
    if trace is None:
        return
    search = search_of(trace)
    enough, fastest = search.enough(), search.run(None).total
    for slack in (0, 5):
        bound = search.at_least(enough, slack)
        for kind, depth in enumerate(enough):
            lower = next(d for d in range(1, depth + 1) if kept(search, enough, kind, d, fastest + slack))
            assert bound[kind] <= lower


def kept(search: DepthSearch, depths: tuple[int, ...], kind: int, depth: int, deadline: int) -> bool:
    cycles = search.cycles((*depths[:kind], depth, *depths[kind + 1 :]))
    return cycles is not None and cycles <= deadline


@sweep(150, quick=30)
def test_a_trace_from_its_end_takes_as_long(seed: int) -> None:
    trace = usable(seed)
    if trace is None:
        return
    depths = search_of(trace).enough()
    for given in ([0] * len(depths), depths):
        assert replay(backward(trace), given).total == replay(trace, given).total


@sweep(100, quick=20)
def test_front_is_a_front(seed: int) -> None:
    """Each point is what a run takes, none beats another one, and the fastest is as fast as FIFOs without limits."""
    trace = usable(seed)
    if trace is None:
        return
    search = search_of(trace)
    fastest = search.run(None).total
    least = search.least(search.enough(), fastest, range(search.count))
    points = front(search, least, lambda depths: (max(depths) // 4, sum(depths)))
    assert points[0].cycles == fastest
    assert all(replay(trace, point.depths).total == point.cycles for point in points)
    for one in points:
        assert not any(
            other != one and other.cycles <= one.cycles and other.blocks <= one.blocks and other.bits <= one.bits
            for other in points
        )


def even(first: int, apart: int, count: int, burst: int) -> list[int]:
    return [first + apart * (k // burst) for k in range(count * burst)]


@sweep(400, quick=100)
def test_curves_hold_what_even_rates_need(seed: int) -> None:
    """Equations 1 and 2 give no less than the least depth of what they describe, and at most a burst more."""
    random = np.random.default_rng(seed)
    count, burst = int(random.integers(1, 40)), int(random.integers(1, 4))
    puts = even(int(random.integers(0, 10)), int(random.integers(1, 6)), count, burst)
    gets = even(int(random.integers(0, 60)), int(random.integers(1, 6)), count * burst, 1)
    processes = [TracedProcess("put", puts[-1] + 1), TracedProcess("get", gets[-1] + 1)]
    events: list[list[Event]] = [[(0, True, cycle) for cycle in puts], [(0, False, cycle) for cycle in gets]]
    trace = trace_of(processes, [TracedChannel("c", 0)], events)
    run = replay(trace)
    needed = next(d for d in range(1, len(puts) + 1) if (replay(trace, [d]).full == run.full).all())
    curves = curves_of(trace)
    found = int(max(1, *(column.max() for column in most_tokens(curves.puts, curves.gets))))
    assert needed <= found <= needed + burst


def test_curve_counts_its_elements() -> None:
    """Allo, equation 2: C elements every II cycles, until all have passed."""
    curve = TokenCurve(3, 11, 6, 2)
    assert curve.interval == 4
    assert [curve.at(cycle) for cycle in (2, 3, 6, 7, 10, 11, 99)] == [0, 2, 2, 4, 4, 6, 6]
    assert str(curve) == "3 to 11, 2 at once, every 4"


def test_figure_8_of_streamtensor() -> None:
    """Kernel 2 waits for kernel 1, and that for kernel 0: the direct FIFO from 0 to 2 holds what is put meanwhile."""
    begins = least_delays(3, np.array([0, 1, 0]), np.array([1, 2, 2]), np.array([4.0, 7.0, 4.0]), np.ones(3))
    assert begins.tolist() == [0, 4, 11]
    n = 20
    first: list[Event] = [event for k in range(n) for event in ((0, True, 3 + k), (1, True, 3 + k))]
    second: list[Event] = [event for k in range(n) for event in ((0, False, k), (2, True, k + 6))]
    third: list[Event] = [event for k in range(n) for event in ((1, False, k), (2, False, k))]
    processes = [TracedProcess(name, n + 6) for name in ("kernel0", "kernel1", "kernel2")]
    trace = trace_of(processes, [TracedChannel(name, 0) for name in ("f01", "f02", "f12")], [first, second, third])
    free = replay(trace)
    for conservative in (False, True):
        found = linear_depths(trace, free, conservative=conservative)
        assert found.depths.tolist() == [2, 9, 2] and found.waits_for.tolist() == [0, 2, 2]
    run = replay(trace, found.depths)
    assert run.total == free.total and replay(trace, [2, 8, 2]).total > free.total
    search = search_of(trace)
    for slack in range(40):
        _, deep, _ = search.least((2, 9, 2), free.total + slack, (1,))
        deadlines = [replay(trace, [2, depth, 2]) for depth in range(1, 10)]
        assert deep == 1 + next(n for n, r in enumerate(deadlines) if not r.stuck and r.total <= free.total + slack)


def test_conservative_slows_down_what_is_faster() -> None:
    """A producer of 1 element a cycle and a consumer of 1 in 8: at equal rates the FIFO holds almost nothing."""
    n = 64
    events: list[list[Event]] = [[(0, True, k) for k in range(n)], [(0, False, 8 * k) for k in range(n)]]
    trace = trace_of([TracedProcess("p", n), TracedProcess("c", 8 * n)], [TracedChannel("f", 0)], events)
    free = replay(trace)
    normal, conservative = (linear_depths(trace, free, conservative=flag) for flag in (False, True))
    assert normal.depths.tolist() == [56] and conservative.depths.tolist() == [1]
    assert replay(trace, conservative.depths).total == free.total


def test_circles_have_a_solution() -> None:
    """A token that goes round: neither of two processes begins before the other one."""
    n = 5
    ping: list[Event] = [event for k in range(n) for event in ((0, True, 2 * k), (1, False, 2 * k + 1))]
    pong: list[Event] = [event for k in range(n) for event in ((0, False, 2 * k), (1, True, 2 * k + 1))]
    processes = [TracedProcess(name, 11) for name in "ab"]
    trace = trace_of(processes, [TracedChannel(name, 0) for name in "xy"], [ping, pong])
    found = linear_depths(trace, replay(trace), conservative=False)
    assert found.circles.all() and not replay(trace, found.depths).stuck


@sweep(60, quick=5)
def test_random_graphs_in_the_simulator(seed: int, tmp_path: Path) -> None:
    """The simulator takes as many cycles as each strategy says; exact costs none, and any depth lower by one some."""
    try:
        s = df.customize(region_of(seed, tmp_path))
    except DataflowError:
        return
    sized = {}
    for strategy in ("exact", "normal", "conservative"):
        copy = s.copy()
        try:
            sized[strategy] = copy, copy.size_fifos(strategy)
        except DataflowError as error:
            assert "whether a stream is used depends on data" in str(error)
            return
    for schedule, sizes in sized.values():
        assert timed_run(schedule, seed)[0] == sizes.cycles and (sizes.cycles or 0) >= (sizes.unlimited or 0)
        again = s.copy()
        again.replay(str(schedule.steps))
        assert str(again.module) == str(schedule.module)
    schedule, exact = sized["exact"]
    assert exact.cycles is not None and exact.cycles == exact.unlimited
    for size in exact.fifos:
        if size.depth > 1:
            lower = schedule.copy()
            lower.size_fifos(fifos=[size.fifo], depths=[size.depth - 1])
            cycles, notes = timed_run(lower, seed)
            assert cycles is None or cycles > exact.cycles or (notes and not timed_run(schedule, seed)[1])


def timed_run(schedule: allo.Schedule, seed: int) -> tuple[int | None, bool]:
    """The cycles of a run in the simulator, None if tasks wait for one another for ever; and whether they would by
    their schedules, though not as they are written."""
    built = df.build(schedule, target="simulator", timed=True)
    try:
        given = (np.arange(1, N + 1, dtype=np.int32), np.zeros(N, np.int32))
        built(*(array.copy() for _ in range(text_of(seed).count("def t")) for array in given))
    except DataflowError:
        return None, False
    return int(built.timing.cycles), bool(built.timing.notes)


@pytest.mark.parametrize("name", ["covariance", "three_mm", "ludcmp"])
def test_traces_without_data_take_as_long_as_runs(name: str) -> None:
    """Stages of loops, FIFOs that wait for room, and loops without streams whose extents change."""
    benchmark = load(name)
    s = benchmark.designs["streams"].customized("MINI")
    built = df.build(s, target="simulator", timed=True)
    built(*benchmark.arguments("MINI"))
    assert replay(static_trace(s.ir, "u280").trace).total == built.timing.cycles


def test_ten_thousand_channels() -> None:
    """The linear program has a row for each, and no Python loop over paths."""
    random = np.random.default_rng(7)
    count, channels = 4_000, 10_000
    sources = random.integers(0, count - 1, channels)
    sinks = np.minimum(sources + random.integers(1, 50, channels), count - 1)
    thresholds = random.integers(1, 200, channels).astype(np.float64)
    begins = least_delays(count, sources, sinks, thresholds, np.ones(channels))
    assert (begins[sinks] - begins[sources] >= thresholds).all()
    single = CurveTable.of([TokenCurve(0, 9, 10)])
    assert single.row(0) == TokenCurve(0, 9, 10)


