"""Replay of traces: exact times, stalls, occupancies and circles, against slow simulations that share no code."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from allo.dataflow.replay import ProcessWait, replay
from allo.dataflow.trace import Trace, TracedChannel, TracedProcess, trace_of
from allo.timing.control.elements import run
from allo.timing.control.fifos import Channel, Waits
from allo.timing.control.span import Event
from tests.seeds import sweep

from .random_traces import random_trace, relaxed, stood_still, ticked


def two(depth: int, put_every: int, get_every: int, count: int = 6) -> Trace:
    """A producer and a consumer of `count` elements."""
    return trace_of(
        [TracedProcess("producer", put_every * count), TracedProcess("consumer", get_every * count)],
        [TracedChannel("pipe", depth)],
        [[(0, True, n * put_every) for n in range(count)], [(0, False, n * get_every) for n in range(count)]],
    )


def test_consumer_waits_for_a_slow_producer() -> None:
    found = replay(two(2, 3, 1))
    assert found.times[6:].tolist() == [1, 4, 7, 10, 13, 16]
    assert (found.total, found.empty.tolist(), found.full.tolist()) == (18, [11], [0])
    assert found.occupied.tolist() == [1]
    assert (found.trace.channels[0].producer, found.trace.channels[0].consumer) == (0, 1)


def test_producer_waits_for_room() -> None:
    found = replay(two(2, 1, 4))
    assert found.times.tolist() == [0, 1, 2, 6, 10, 14, 1, 5, 9, 13, 17, 21]
    assert (found.stalls.tolist(), found.full.tolist(), found.total) == ([9, 1], [9], 25)
    assert found.occupied.tolist() == [2]


def test_a_look_waits_for_the_element_that_the_next_get_takes() -> None:
    puts, uses = [1, 1, 0, 0, 0, 0], [0, 0, 1, 0, 1, 0]  # a put each, then twice a look and a get
    cycles = np.array([4, 8, 0, 5, 5, 9])
    pair = (TracedProcess("producer", 9), TracedProcess("consumer", 10))
    flags = (np.array(row, np.bool_) for row in (puts, uses))
    trace = Trace(pair, (TracedChannel("pipe", 1),), np.array([0, 2, 6]), np.zeros(6, np.int64), next(flags), cycles,
                  looks=next(flags))  # fmt: skip
    found = replay(trace)
    assert found.times.tolist() == [4, 11, 5, 10, 12, 16]
    assert (found.waits.tolist(), found.occupied.tolist()) == ([0, 3, 5, 0, 2, 0], [1])


def test_depths_of_a_replay_are_its_own() -> None:
    trace = two(2, 1, 4)
    assert replay(trace, [6]).full.tolist() == [0]
    assert replay(trace, [0]).occupied.tolist() == [5]
    times, levels = replay(trace, [1]).levels(0)
    assert (levels.max(), times[:3].tolist()) == (1, [0, 2, 6])  # in cycle 2 the next one takes the place of the first


def test_pipeline_goes_on_with_iterations_that_have_begun() -> None:
    events = [(channel, bool(channel), 2 * n + 5 * channel) for n in range(3) for channel in (0, 1)]
    source = [(0, True, cycle) for cycle in (0, 10, 11)]
    sink = [(1, False, 0)] * 3
    trace = trace_of(
        [TracedProcess("source", 12), TracedProcess("middle", 10), TracedProcess("sink", 1)],
        [TracedChannel("a", 4), TracedChannel("b", 4)],
        [source, events, sink],
    )
    assert replay(trace).times[3:9].tolist() == [1, 6, 11, 16, 13, 18]  # the put of iteration 0 does not wait for get 1


def test_processes_begin_when_others_have_ended() -> None:
    processes = [TracedProcess("one", 5), TracedProcess("other", 7, (0,)), TracedProcess("last", 1, (0, 1))]
    found = replay(trace_of(processes, [], [[], [], []]))
    assert (found.begins.tolist(), found.ends.tolist(), found.total) == ([0, 5, 12], [5, 12, 13], 13)


def test_circle_of_waits_is_told() -> None:
    trace = trace_of(
        [TracedProcess("f", 4), TracedProcess("g", 4)],
        [TracedChannel("a", 1), TracedChannel("b", 1)],
        [[(0, True, 0), (0, True, 1), (1, True, 2)], [(1, False, 0), (0, False, 1), (0, False, 2)]],
    )
    found = replay(trace)
    assert found.circle == (ProcessWait(0, "full", 0, 1, 0, 1), ProcessWait(1, "empty", 1, 0, 0, 0))
    assert replay(trace, [2, 1]).stuck == ()


def test_get_of_what_nobody_puts_is_no_circle() -> None:
    trace = trace_of(
        [TracedProcess("f", 1), TracedProcess("g", 3), TracedProcess("h", 1, (1,))],
        [TracedChannel("a", 1)],
        [[(0, True, 0)], [(0, False, 0), (0, False, 1)], []],
    )
    found = replay(trace)
    assert found.stuck == (ProcessWait(1, "empty", 0, 1, 1, None), ProcessWait(2, "begin", None, 0, 0, 1))
    assert found.circle == ()
    assert found.begins.tolist() == [0, 0, -1]


def test_depths_that_do_not_fit_are_refused() -> None:
    for depths in ([1, 2], [-1], []):
        with pytest.raises(ValueError, match="a trace of 1 channels takes as many depths, none below 0"):
            replay(two(2, 1, 1), depths)


def assert_same(trace: Trace, slow: tuple[list[int | None], list[int | None]]) -> None:
    found = replay(trace)
    times, ends = slow
    assert found.times.tolist() == [-1 if time is None else time for time in times]
    assert found.ends.tolist() == [-1 if end is None else end for end in ends]
    assert bool(found.stuck) == (None in ends)
    depths = np.where(trace.depths == 0, len(trace), trace.depths)
    assert (found.occupied <= depths).all()


@sweep(400, quick=60)
def test_replay_is_that_of_a_simulation_cycle_by_cycle(seed: int) -> None:
    trace = random_trace(seed)
    assert_same(trace, ticked(trace, trace.depths.tolist()))


@sweep(400, quick=60)
def test_replay_of_pipelines_is_the_least_run_that_obeys_all_rules(seed: int) -> None:
    trace = random_trace(seed, pipelined=seed % 3 != 0)
    assert_same(trace, relaxed(trace, trace.depths.tolist()))


@sweep(100, quick=20)
def test_estimates_of_stages_use_the_same_rules(seed: int) -> None:
    random = Random(seed)
    count, depth = random.randint(2, 9), random.randint(1, 4)
    lags = [random.randint(0, 5) for _ in range(2)]
    starts = [np.cumsum([0, *(random.randint(1, 6) for _ in range(count - 1))]) for _ in range(2)]
    events = [
        Event(Fraction(lag), Fraction(1), Fraction(count), Fraction(lag), own)
        for lag, own in zip(lags, starts, strict=True)
    ]
    lengths = [int(own[-1]) + lag + 1 for lag, own in zip(lags, starts, strict=True)]
    waits = Waits([Fraction(length) for length in lengths])
    waits.solve()
    estimated = run([Channel("c", 0, 1, *events, count, depth)], waits, bounded=True)
    trace = trace_of(
        [TracedProcess("producer", lengths[0]), TracedProcess("consumer", lengths[1])],
        [TracedChannel("c", depth)],
        [[(0, not end, int(cycle) + lags[end]) for cycle in starts[end]] for end in (0, 1)],
    )
    found = replay(trace)
    assert found.times.tolist() == [*estimated.puts[0], *estimated.gets[0]]
    assert found.stalls.tolist() == estimated.late
    assert found.occupied.tolist() == [estimated.occupancy(0)]


@sweep(900)
def test_waits_that_hold_up_only_what_comes_while_they_last(seed: int) -> None:
    """Hardware of our own, run cycle by cycle; only where nothing waits for ever, which waits in order decide."""
    random = Random(seed)
    trace = random_trace(seed, pipelined=seed % 3 > 0)
    step = random.choice([1, 1, 2, 3])
    trace = replace(trace, steps=np.full(len(trace), step, np.int64))
    found = replay(trace)
    if found.stuck:
        return
    times, ends = stood_still(trace, trace.depths.tolist())
    assert found.times.tolist() == times
    assert found.ends.tolist() == ends
    assert (found.waits >= 0).all()
