"""Events of streams and lengths of nodes, against a walk along the tree that adds up the cycles of each iteration."""

from __future__ import annotations

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

import allo
import allo.dataflow as df
from allo.ir.access import is_end
from allo.ir.types import Stream, int32
from allo.target import load_target
from allo.timing.control.build import TreeOptions
from allo.timing.control.events import StreamSite, events
from allo.timing.control.spans import Spans
from allo.timing.control.tree import Invocation, Node, Pipeline, Repeat, Sequence, Straight, nodes
from allo.timing.control.trees import Trees

TARGET = load_target("u280")
type Times = list[tuple[Any, int]]  # operations that put or get, each with a cycle


@df.region()
def rows(A: int32[4, 6], B: int32[4, 6]):
    pipe: Stream[int32, 4]

    @df.kernel(args=[A])
    def source(X: int32[4, 6]):
        pipe.put(X[0, 0])
        for i in range(4):
            head: int32 = X[i, 0] * 3
            for j in range(6):
                pipe.put(X[i, j] + head)
            pipe.put(head)

    @df.kernel(args=[B])
    def drain(Y: int32[4, 6]):
        Y[0, 0] = pipe.get()
        for i in range(4):
            for j in range(6):
                Y[i, j] = pipe.get() * 2
            Y[i, 0] += pipe.get()


@df.region()
def triangle(A: int32[6], B: int32[6]):
    pipe: Stream[int32, 4]

    @df.kernel(args=[A])
    def source(X: int32[6]):
        pipe.put(X[0])
        for i in range(6):
            for _j in range(i):
                pipe.put(X[i])
        pipe.put(X[1])

    @df.kernel(args=[B])
    def drain(Y: int32[6]):
        for i in range(17):
            Y[i % 6] = pipe.get()


def spans_of(s: allo.Schedule, name: str) -> Spans:
    trees = Trees(s.ir, TreeOptions(TARGET))
    trees.span(s.ir.top)
    return trees.spans[name]


def copies_of(node: Straight | Pipeline, begin: int) -> Iterator[tuple[Any, int]]:
    schedule = node.region.schedule
    for use in node.region.graph.region.nodes:
        if is_end(use.op):
            trips = [node.region.graph.region.copy_loops[loop].trip for loop in sorted(use.around)]
            for place in product(*map(range, trips)):
                at = dict(zip(sorted(use.around), place, strict=True))
                table = schedule.cycles[use.index]
                entry = tuple(at.get(n, 0) if size > 1 else 0 for n, size in enumerate(table.shape))
                yield use.op, begin + int(table[entry])


def walk(node: Node, begin: int, variables: dict[str, int], found: Times) -> int:
    """The end of a node that begins in a cycle, by the cycles of `tree.py`."""
    if isinstance(node, Sequence):
        for part in node.parts:
            begin = walk(part, begin, variables, found)
        return begin
    if isinstance(node, Straight):
        found += copies_of(node, begin)
        return begin + node.depth
    if isinstance(node, Pipeline):
        trips = [int(runs) if runs is not None and runs.denominator == 1 else variables["i"] for runs in node.runs]
        if node.loops[-1].name == "_j":
            trips = [variables["i"]]
        count = 1
        for trip in trips:
            count *= trip
        for n in range(count):
            found += copies_of(node, begin + node.enter + n * node.interval)
        return begin + node.enter + ((count - 1) * node.interval + node.depth if count else 0) + node.leave
    assert isinstance(node, Repeat) and node.count is not None
    begin += node.enter
    for n in range(variables["i"] if node.view.name == "_j" else int(node.count)):
        begin = walk(node.body, begin + node.each, {**variables, node.view.name: n}, found)
    return begin + node.leave


def of_site(site: StreamSite) -> list[int]:
    """All cycles of a site, by its formula."""
    periods = [loop.period for loop in site.loops if loop.period]
    trips = [loop.trips for loop in site.loops if loop.period]
    assert site.exact and all(trip is not None for trip in trips)
    moves = product(*(range(int(trip or 0)) for trip in trips))
    starts = [site.first + sum(n * p for n, p in zip(at, periods, strict=True)) for at in moves]
    return sorted(int(start) + int(copy) for start in starts for copy in site.copies.reshape(-1))


@pytest.mark.parametrize("pipelined", ["none", "inner", "outer"])
@pytest.mark.parametrize("function", ["source", "drain"])
def test_the_cycle_of_each_event(function: str, pipelined: str) -> None:
    s = df.customize(rows)
    if pipelined != "none":
        s.pipeline(f"{function}:{'j' if pipelined == 'inner' else 'i'}", initiation_interval=3)
    spans = spans_of(s, function)
    found: Times = []
    end = walk(spans.tree.root, 0, {}, found)
    assert end == spans.of(spans.tree.root).latency and len(found) == 29
    for site in events(spans):
        own = sorted(cycle for op, cycle in found if op == site.op)
        assert of_site(site) == own
    for stream, event in (*spans.whole.ends.puts.items(), *spans.whole.ends.gets.items()):
        cycles = sorted(cycle for _, cycle in found)
        assert (event.first, end - event.tail, event.count) == (cycles[0], cycles[-1], 29), stream


@pytest.mark.parametrize("pipelined", [False, True])
def test_what_other_loops_decide_is_no_exact_form(pipelined: bool) -> None:
    s = df.customize(triangle)
    if pipelined:
        s.pipeline("source:_j")
    spans = spans_of(s, "source")
    found: Times = []
    assert len(list(events(spans))) == 3
    first, inside, last = events(spans)
    assert (first.exact, inside.exact, last.exact) == (True, False, False)
    assert walk(spans.tree.root, 0, {}, found) == pytest.approx(float(spans.of(spans.tree.root).latency or 0), abs=6)
    assert len(found) == 17 and of_site(first) == [found[0][1]]


def test_the_variables_of_loops() -> None:
    s = df.customize(rows)
    s.unroll("source:j", factor=2)
    spans = spans_of(s, "source")
    _, site, _ = events(spans)
    names = {spans.tree.around.model.loop(op).variable: view.name for op, view in spans.tree.views.items()}
    outer, inner = site.loops[:2]
    assert [names[loop.variable] for loop in (outer, inner)] == ["i", "j"]
    assert (outer.trips, inner.trips, inner.factor, inner.lower, inner.step) == (4, 3, 2, 0, 1)


def test_stages_are_no_events_of_the_region() -> None:
    spans = spans_of(df.customize(rows), "rows")
    calls = [node for node in nodes(spans.tree.root) if isinstance(node, Invocation)]
    found = list(events(spans))
    assert [site.op for site in found] == [call.op for call in calls] and len(calls) == 2
    assert all(site.overlapped and site.inner is not None and site.inner.count == 29 for site in found)
