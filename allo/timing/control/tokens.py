"""Uses of a stream under conditions: their times, from the iterations in which the conditions hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
from mlir import ir

from ...ir.walk import LoopView, constant_bounds
from ...poly import Access, Iterations, Model, Trips, iterations_of
from .span import UNKNOWN_LOOP, Ends, Event, PeriodicLoop, Span, Stream, StreamUse, Times

_MOST = 50_000  # uses that are looked at one by one
_CONDITIONS = ("affine.if", "scf.if")

type Accesses = Mapping[ir.Operation, list[Access]]


def step_of(model: Model, view: LoopView, trips: Trips, factor: int = 1) -> PeriodicLoop:
    """A loop whose iterations run one after the other, `factor` of them at once."""
    bounds = constant_bounds(view.op)
    if bounds is None:
        return UNKNOWN_LOOP
    count = None if trips.mean is None else Fraction(-(-trips.mean // factor))
    return PeriodicLoop(model.loop(view.op).variable, bounds[0], bounds[2], count, None, factor)


def settled(span: Span, accesses: Accesses) -> Span:
    """The part with the times of what it puts and gets under conditions, where these are affine."""
    if not any(_is_guarded(use.op) for events in (span.ends.puts, span.ends.gets) for use in _uses(events.values())):
        return span
    ends = span.ends
    return replace(span, ends=Ends(_all(ends.puts, accesses), _all(ends.gets, accesses), ends.reads, ends.writes))


def closed(ends: Ends) -> Ends:
    """What callers see of a function: when it puts and gets, without the operations that do it."""
    puts, gets = ({s: replace(e, uses=()) for s, e in events.items()} for events in (ends.puts, ends.gets))
    return Ends(puts, gets, ends.reads, ends.writes)


def of_call(op: ir.Operation, event: Event, latency: Fraction | None) -> Event:
    """The uses of a callee as those of the operation that calls it."""
    cycles = (latency or Fraction(0)) - event.first - event.tail
    return replace(event, uses=(StreamUse(op, event.first, event.tail, (), event, cycles),))


def _uses(events: Iterable[Event]) -> list[StreamUse]:
    return [use for event in events for use in event.uses]


def _is_guarded(op: ir.Operation) -> bool:
    around = op.parent
    while around is not None and around.name != "func.func":
        if around.name in _CONDITIONS:
            return True
        around = around.parent.operation if around.parent is not None else None
    return False


def _all(events: Mapping[Stream, Event], accesses: Accesses) -> dict[Stream, Event]:
    found = {}
    for stream, event in events.items():
        exact = _exact(event, accesses) if any(_is_guarded(use.op) for use in event.uses) else event
        if exact is not None:
            found[stream] = exact
    return found


def _exact(event: Event, accesses: Accesses) -> Event | None:
    """The event from all its iterations; itself where these are not known, None if there is none."""
    parts: list[Times] = []
    tails: list[Fraction] = []
    for use in event.uses:
        made = _times(use, accesses)
        if made is None:
            return event
        times, last = made
        if times.size:
            parts.append(times)
            tails.append(last)
    if not parts:
        return None
    every = np.sort(np.concatenate(parts))
    first = int(every[0])
    return Event(Fraction(first), min(tails), Fraction(every.size), event.lag, (), every - first)


def _times(use: StreamUse, accesses: Accesses) -> tuple[Times, Fraction] | None:
    """The cycles of all uses by an operation, and those behind the last one; None if they are not known."""
    own = accesses.get(use.op)
    if not own or use.before.denominator != 1 or (inner := _inner(use)) is None:
        return None
    access, steps = own[0], {step.variable: step for step in use.steps}
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
    every = (int(use.before) + times[:, None] + inner[None, :]).reshape(-1)
    return every, use.behind + whole - int(times.max())


def _moved(rows: Iterations, column: int, step: PeriodicLoop) -> tuple[Times, int] | None:
    """The cycles by which a loop moves each iteration, and its last one; None if they are not known."""
    if step.period == 0:
        return np.zeros(len(rows), np.int64), 0
    known = step.lower is not None and step.trips is not None and step.period is not None
    if not known or step.period.denominator != 1 or step.trips.denominator != 1:  # type: ignore[union-attr]
        return None
    assert step.lower is not None and step.trips is not None and step.period is not None
    numbers = (rows[:, column] - step.lower) // step.step // step.factor
    return numbers * int(step.period), int(max(step.trips - 1, Fraction(0)) * step.period)


def _inner(use: StreamUse) -> Times | None:
    """The cycles of what one run of the operation does, from the first on."""
    if use.inner is None:
        return np.zeros(1, np.int64)
    if use.inner.times is not None:
        return use.inner.times
    count = use.inner.count
    if count is None or count.denominator != 1 or not 0 < count <= _MOST:
        return None
    places = np.arange(int(count), dtype=np.int64)
    return places * int(use.cycles) // max(1, int(count) - 1)
