"""Uses of a stream under conditions: their times, from the iterations in which the conditions hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from mlir import ir

from ...ir.access import asks_stream
from ...poly import Access, Iterations, iterations_of
from .events import Lengths, PeriodicLoop, StreamSite, events
from .span import Ends, Event, Span, Stream, Times
from .tree import Node

_MOST = 50_000  # uses that are looked at one by one
_CONDITIONS = ("affine.if", "scf.if")

type Accesses = Mapping[ir.Operation, list[Access]]

def settled(lengths: Lengths, node: Node) -> Span:
    """The span of a node, with the times of what it puts and gets under conditions, where these are affine."""
    span = lengths.of(node)
    sites: dict[tuple[Stream, bool], list[StreamSite]] = {}
    for site in events(lengths, node) if span.ends.puts or span.ends.gets else ():
        sites.setdefault((site.stream, site.is_put), []).append(site)
    guarded = {key: own for key, own in sites.items() if _is_uneven(own) or any(_is_guarded(site.op) for site in own)}
    if not guarded:
        return span
    ends, accesses = span.ends, lengths.tree.around.accesses
    puts, gets = (
        {
            stream: exact
            for stream, event in found.items()
            if (exact := _exact(event, guarded.get((stream, is_put), []), accesses)) is not None
        }
        for found, is_put in ((ends.puts, True), (ends.gets, False))
    )
    return replace(span, ends=Ends(puts, gets, ends.reads, ends.writes))


def _is_uneven(sites: Sequence[StreamSite]) -> bool:
    """Whether some uses come sooner after the one before than others."""
    for site in sites:
        steps = [loop for loop in site.loops if loop.trips != 1 and loop.period != 0]
        for outer, inner in pairwise(steps):
            if None not in (inner.trips, inner.period) and outer.period != inner.trips * inner.period:  # type: ignore[operator]
                return True
    return len(sites) > 1


def _is_guarded(op: ir.Operation) -> bool:
    around = op.parent
    while around is not None and around.name != "func.func":
        if around.name in _CONDITIONS:
            return True
        around = around.parent.operation if around.parent is not None else None
    return False


def _exact(event: Event, sites: Sequence[StreamSite], accesses: Accesses) -> Event | None:
    """The event from all its iterations; itself where these are not known or not asked for, None if there is none."""
    parts: list[Times] = []
    tails: list[Fraction] = []
    for site in sites:
        made = None if site.overlapped else _times(site, accesses)
        if made is None:
            return event
        times, last = made
        if times.size:
            parts.append(times)
            tails.append(last)
    if not parts:
        return None if sites else event
    every = np.sort(np.concatenate(parts))
    first = int(every[0])
    return Event(Fraction(first), min(tails), Fraction(every.size), event.lag, every - first)


def _times(site: StreamSite, accesses: Accesses) -> tuple[Times, Fraction] | None:
    """The cycles of all uses by an operation, and those behind the last one; None if they are not known."""
    if asks_stream(site.op):
        return None  # it may find nothing
    own = accesses.get(site.op)
    if not own or (inner := _inner(site)) is None:
        return None
    access, steps = own[0], {step.variable: step for step in site.loops}
    if not {loop.variable for loop in access.loops} <= steps.keys():
        return None
    rows = iterations_of(access, max(1, _MOST // max(1, inner.size)))
    if rows is None:
        return None
    times, whole = np.zeros(len(rows), np.int64), 0
    for column, loop in enumerate(access.loops):
        moved = _moved(rows, column, steps[loop.variable])
        if moved is None:
            return None
        times, whole = times + moved[0], whole + moved[1]
    if not times.size:
        return times, Fraction(0)
    every = (int(site.first) + times[:, None] + inner[None, :]).reshape(-1)
    return every, site.behind + whole - int(times.max())


def _moved(rows: Iterations, column: int, step: PeriodicLoop) -> tuple[Times, int] | None:
    """The cycles by which a loop moves each iteration, and its last one; None if they are not known."""
    if step.period == 0:
        return np.zeros(len(rows), np.int64), 0
    if step.lower is None or step.trips is None or step.period is None or step.trips.denominator != 1:
        return None
    numbers = (rows[:, column] - step.lower) // step.step // step.factor
    last = max(step.trips - 1, Fraction(0))
    if step.share is not None:
        runs, before = np.unique(numbers, return_inverse=True)
        if runs.size == step.share * step.trips:  # as many as on average: the same ones each time
            longer = int(step.taken - step.idle)
            return numbers * int(step.idle) + before * longer, int(last * step.idle) + (runs.size - 1) * longer
    period = step.period  # a mean, if not all iterations take as long
    return numbers * period.numerator // period.denominator, int(last * period)


def _inner(site: StreamSite) -> Times | None:
    """The cycles of what one run of the operation does, from the first on."""
    if site.inner is None:
        return np.zeros(1, np.int64)
    if site.inner.times is not None:
        return site.inner.times
    count = site.inner.count
    if count is None or count.denominator != 1 or not 0 < count <= _MOST:
        return None
    places = np.arange(int(count), dtype=np.int64)
    return places * int(site.cycles) // max(1, int(count) - 1)
