"""Spans of time: parts one after the other, repeated, or overlapping as stages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
from mlir import ir

from ...ir.access import access_map, base_of, is_load
from ...poly.formula import compile_map
from ...target import Operator
from ..problem.operators import SharedUnit
from .timeline import PartName, Timeline, TimelinePart

# A stream: its declaration or argument, and the element of an array of streams (None: any of them, or no array).
type Stream = tuple[ir.Value, tuple[int, ...] | None]


type Times = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class Event:
    """Uses of a stream: cycles before the first one, and from the last one to the end; how many, if that is known.

    `lag` are the cycles from the start of an iteration of a pipeline: what waits there does not stop earlier ones.
    `times` are the cycles of all from the first one, where they are not at even distances.
    """

    first: Fraction
    tail: Fraction
    count: Fraction | None = None
    lag: Fraction = Fraction(0)
    times: Times | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Ends:
    """What a part does to streams and arrays: when it puts and gets, what it reads and writes."""

    puts: Mapping[Stream, Event] = field(default_factory=dict)
    gets: Mapping[Stream, Event] = field(default_factory=dict)
    reads: frozenset[ir.Value] = frozenset()
    writes: frozenset[ir.Value] = frozenset()


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a program: its cycles (None: not known), its units, the callees it uses, its ends.

    `reusable` are those of its units that parts before and after it may use too.
    """

    latency: Fraction | None
    units: Counter[Operator] = field(default_factory=Counter)
    callees: Counter[str] = field(default_factory=Counter)
    ends: Ends = field(default_factory=Ends)
    register_bits: int = 0
    interval: Fraction | None = None  # until the next run can start, if less than `latency`
    reusable: Counter[SharedUnit] = field(default_factory=Counter)


def moved(events: Mapping[Stream, Event], before: Fraction, after: Fraction) -> dict[Stream, Event]:
    """The events with cycles before and after them."""
    return {v: replace(e, first=e.first + before, tail=e.tail + after) for v, e in events.items()}


def joined(left: Mapping[Stream, Event], right: Mapping[Stream, Event], *, either: bool = False) -> dict[Stream, Event]:
    """The events of two parts, both of which run, or `either`."""
    found = dict(left)
    for value, event in right.items():
        found[value] = event if value not in found else together(found[value], event, either=either)
    if either:
        for value in left.keys() ^ right.keys():
            found[value] = replace(found[value], count=None)
    return found


def together(one: Event, other: Event, *, either: bool = False) -> Event:
    """What two uses of a stream are as one."""
    if one.count is None or other.count is None:
        count = None
    elif either:
        count = one.count if one.count == other.count else None
    else:
        count = one.count + other.count
    first, tail, lag = min(one.first, other.first), min(one.tail, other.tail), min(one.lag, other.lag)
    return Event(first, tail, count, lag)


def combined(
    parts: Sequence[Span],
    latency: Fraction | None,
    places: Iterable[tuple[Fraction, Fraction]],
    units: Counter[Operator],
    callees: Counter[str],
    *,
    either: bool = False,
) -> Span:
    """Parts as one, with so many cycles before and behind each; `either` of them runs, and a single one may not."""
    puts: dict[Stream, Event] = {}
    gets: dict[Stream, Event] = {}
    for number, (part, place) in enumerate(zip(parts, places, strict=False)):
        other = either and (number > 0 or len(parts) == 1)
        puts = joined(puts, moved(part.ends.puts, *place), either=other)
        gets = joined(gets, moved(part.ends.gets, *place), either=other)
    return Span(latency, units, callees, Ends(puts, gets, *touched(parts)), bits(parts))


def shared_units(parts: Iterable[Span]) -> Counter[Operator]:
    """Units of parts that run one after the other: those with registers or DSP blocks are shared, logic is not."""
    found: Counter[Operator] = Counter()
    for part in parts:
        for operator, count in part.units.items():
            shared = operator.dsp > 0 or operator.latency > 0
            found[operator] = max(found[operator], count) if shared else found[operator] + count
    return found


def all_units(parts: Iterable[Span]) -> Counter[Operator]:
    """Units of parts that share none."""
    found: Counter[Operator] = Counter()
    for part in parts:
        found.update(part.units)
    return found


def apart(whole: Span, parts: Iterable[Span], choice: float) -> Span:
    """A span of parts in turn, each of which has callees of its own, and units but for those that they share.

    `choice` are the LUTs for each bit that one more place brings to a unit.
    """
    kept = list(parts)
    units, most = all_units(kept), Counter[SharedUnit]()
    for part in kept:
        most |= part.reusable
    for unit, count in sum((part.reusable for part in kept), Counter[SharedUnit]()).items():
        saved = count - most[unit]
        units[unit.operator] -= saved
        units[Operator("choice of operands", lut=round(choice * unit.bits))] += saved
    callees = sum((part.callees for part in kept), Counter[str]())
    return replace(whole, units=+units, callees=callees, reusable=most)


def begins(parts: Sequence[Span]) -> list[Fraction]:
    """When parts that run one after the other begin, and when the last one ends; times not known count as none."""
    return list(accumulate((part.latency or Fraction(0) for part in parts), initial=Fraction(0)))


def in_turn(of: str, names: Sequence[PartName], groups: Sequence[Sequence[Span]]) -> Timeline:
    """The timeline of groups of parts: groups one after the other, the parts of a group at once."""
    begin: Fraction | None = Fraction(0)
    found: list[TimelinePart] = []
    for group in groups:
        end: Fraction | None = begin
        for part in group:
            own = None if begin is None or part.latency is None else begin + part.latency
            span = (None if begin is None else math.floor(begin), None if own is None else math.ceil(own))
            part_name = names[len(found)]
            found.append(TimelinePart(part_name.name, *span, nest=part_name.nest, callee=part_name.callee))
            end = None if end is None or own is None else max(end, own)
        begin = end
    return Timeline(of, False, tuple(found))


def sequence(parts: Sequence[Span]) -> Span:
    """Parts one after the other."""
    times = begins(parts)
    whole = None if any(part.latency is None for part in parts) else times[-1]
    places = ((begin, times[-1] - end) for begin, end in pairwise(times))
    return combined(parts, whole, places, shared_units(parts), _most(parts))


def alternatives(parts: Sequence[Span], shares: Sequence[Fraction] | None = None) -> Span:
    """One of several parts: as long as they are on average if each runs in such a part of all cases, or the longest."""
    latency, places = _longest(parts), [(Fraction(0), Fraction(0))] * len(parts)
    if shares is not None and latency is not None:
        latency = sum((s * (part.latency or 0) for s, part in zip(shares, parts, strict=False)), Fraction(0))
    return combined(parts, latency, places, shared_units(parts), _most(parts), either=True)


def at_once(parts: Sequence[Span]) -> Span:
    """Parts that run at once, each with units of its own."""
    whole = _longest(parts)
    rest = (Fraction(0) if whole is None or part.latency is None else whole - part.latency for part in parts)
    callees = sum((part.callees for part in parts), Counter[str]())
    return combined(parts, whole, ((Fraction(0), after) for after in rest), all_units(parts), callees)


def independent(parts: Sequence[Span]) -> list[list[Span]]:
    """Parts that follow one another in groups: those of a group share no array and no stream."""
    groups: list[list[Span]] = []
    used: set[ir.Value] = set()
    for part in parts:
        own = _used(part)
        if not groups or own & used:
            groups.append([])
            used = set()
        groups[-1].append(part)
        used |= own
    return groups


def repeated(body: Span, trips: Fraction | None, each: int, around: int) -> Span:
    """A body that runs `trips` times, `each` cycles apart from its own, with `around` cycles to enter and leave."""
    enter, leave = Fraction(around // 2 + each), Fraction(around - around // 2)
    latency = None if trips is None or body.latency is None else trips * (body.latency + each) + around
    puts, gets = (
        {
            stream: replace(e, count=None if e.count is None or trips is None else e.count * trips, times=None)
            for stream, e in moved(events, enter, leave).items()
        }
        for events in (body.ends.puts, body.ends.gets)
    )
    ends = replace(body.ends, puts=puts, gets=gets)
    return Span(latency, body.units, body.callees, ends, body.register_bits, reusable=body.reusable)


def _longest(parts: Iterable[Span]) -> Fraction | None:
    lengths = [part.latency for part in parts]
    return None if None in lengths else max((length for length in lengths if length is not None), default=Fraction(0))


def _used(part: Span) -> set[ir.Value]:
    streams = {value for value, _ in (*part.ends.puts, *part.ends.gets)}
    return {*part.ends.reads, *part.ends.writes, *streams}


def touched(parts: Iterable[Span]) -> tuple[frozenset[ir.Value], frozenset[ir.Value]]:
    """The arrays that parts read, and those that they write."""
    reads: frozenset[ir.Value] = frozenset()
    writes: frozenset[ir.Value] = frozenset()
    for part in parts:
        reads, writes = reads | part.ends.reads, writes | part.ends.writes
    return reads, writes


def _most(parts: Iterable[Span]) -> Counter[str]:
    """Callees of parts that run one after the other: each has one instance, unless a part itself has more."""
    found: Counter[str] = Counter()
    for part in parts:
        for name, count in part.callees.items():
            found[name] = max(found[name], count)
    return found


def bits(parts: Iterable[Span]) -> int:
    """The bits of all pipeline registers."""
    return sum(part.register_bits for part in parts)


def stream_key(value: ir.Value) -> Stream:
    """The stream that a value is, with its place in an array of streams if that is constant."""
    index: tuple[int, ...] | None = None
    load = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if load is not None and is_load(load) and (places := access_map(load)) is not None:
        forms = compile_map(places).results
        known = tuple(form.constant for form in forms if form is not None and form.is_constant)
        index = known if len(known) == len(forms) else None
    return base_of(value), index


def passed(given: Stream, index: tuple[int, ...] | None) -> Stream:
    """A stream that a callee uses, seen by its caller."""
    return given if given[1] is not None else (given[0], index)


def uncounted(events: Mapping[Stream, Event]) -> dict[Stream, Event]:
    """The events of copies, which may use other elements of an array of streams."""
    return {stream: replace(event, count=None, times=None) for stream, event in events.items()}
