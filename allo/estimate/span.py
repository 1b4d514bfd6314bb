"""Decides how the times of parts add up: one after the other, repeated, or overlapping as stages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from mlir import ir

from ..target import Operator

# A stream: its declaration or argument, and the element of an array of streams (None: any of them, or no array).
type Stream = tuple[ir.Value, tuple[int, ...] | None]


@dataclass(frozen=True, slots=True)
class Event:
    """Uses of a stream: cycles before the first one, and from the last one to the end."""

    first: Fraction
    tail: Fraction


@dataclass(frozen=True, slots=True)
class Ends:
    """What a part does to streams and arrays: when it puts and gets, what it reads and writes."""

    puts: Mapping[Stream, Event] = field(default_factory=dict)
    gets: Mapping[Stream, Event] = field(default_factory=dict)
    reads: frozenset[ir.Value] = frozenset()
    writes: frozenset[ir.Value] = frozenset()


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a program: its cycles (None: not known), its units, the callees it uses, its ends."""

    latency: Fraction | None
    units: Counter[Operator] = field(default_factory=Counter)
    callees: Counter[str] = field(default_factory=Counter)
    ends: Ends = field(default_factory=Ends)
    register_bits: int = 0
    interval: Fraction | None = None  # until the next run can start, if less than `latency`


def _moved(events: Mapping[Stream, Event], before: Fraction, after: Fraction) -> dict[Stream, Event]:
    return {v: Event(e.first + before, e.tail + after) for v, e in events.items()}


def _joined(left: Mapping[Stream, Event], right: Mapping[Stream, Event]) -> dict[Stream, Event]:
    found = dict(left)
    for value, event in right.items():
        old = found.get(value)
        found[value] = (
            event if old is None else Event(min(old.first, event.first), min(old.tail, event.tail))
        )
    return found


def delayed(span: Span, before: Fraction, after: Fraction) -> Span:
    """The part with cycles before and after it."""
    ends = Ends(
        _moved(span.ends.puts, before, after), _moved(span.ends.gets, before, after), span.ends.reads, span.ends.writes
    )
    latency = None if span.latency is None else span.latency + before + after
    return Span(latency, span.units, span.callees, ends, span.register_bits)


def shared_units(parts: Iterable[Span]) -> Counter[Operator]:
    """Units of parts that run one after the other: those with registers or DSP blocks are shared, logic is not."""
    found: Counter[Operator] = Counter()
    for part in parts:
        for operator, count in part.units.items():
            shared = operator.dsp > 0 or operator.latency > 0
            found[operator] = max(found[operator], count) if shared else found[operator] + count
    return found


def sequence(parts: list[Span]) -> Span:
    """Parts one after the other."""
    total = Fraction(0)
    lengths = [part.latency for part in parts]
    whole = None if None in lengths else sum((x for x in lengths if x is not None), Fraction(0))
    puts: dict[Stream, Event] = {}
    gets: dict[Stream, Event] = {}
    for number, part in enumerate(parts):
        after = sum((x for x in lengths[number + 1 :] if x is not None), Fraction(0))
        puts = _joined(puts, _moved(part.ends.puts, total, after))
        gets = _joined(gets, _moved(part.ends.gets, total, after))
        total += part.latency or 0
    return Span(whole, shared_units(parts), _most(parts), Ends(puts, gets, *_touched(parts)), _bits(parts))


def alternatives(parts: list[Span]) -> Span:
    """One of several parts: as long as the longest."""
    lengths = [part.latency for part in parts]
    whole = None if None in lengths else max((x for x in lengths if x is not None), default=Fraction(0))
    puts: dict[Stream, Event] = {}
    gets: dict[Stream, Event] = {}
    for part in parts:
        puts, gets = _joined(puts, part.ends.puts), _joined(gets, part.ends.gets)
    return Span(whole, shared_units(parts), _most(parts), Ends(puts, gets, *_touched(parts)), _bits(parts))


def repeated(body: Span, trips: Fraction | None, each: int, around: int) -> Span:
    """A body that runs `trips` times, `each` cycles apart from its own, with `around` cycles to enter and leave."""
    enter, leave = Fraction(around // 2 + each), Fraction(around - around // 2)
    latency = None if trips is None or body.latency is None else trips * (body.latency + each) + around
    ends = Ends(
        _moved(body.ends.puts, enter, leave), _moved(body.ends.gets, enter, leave), body.ends.reads, body.ends.writes
    )
    return Span(latency, body.units, body.callees, ends, body.register_bits)


def stages(parts: list[Span], names: list[str]) -> tuple[Span, str]:
    """Parts that run at once, and the name of the slowest; arrays between them are passed on when they are complete."""
    starts, finishes = _times(parts)
    whole = max(finishes, default=Fraction(0))
    known = all(part.latency is not None for part in parts)
    puts: dict[Stream, Event] = {}
    gets: dict[Stream, Event] = {}
    units: Counter[Operator] = Counter()
    callees: Counter[str] = Counter()
    for part, start, finish in zip(parts, starts, finishes, strict=True):
        puts = _joined(puts, _moved(part.ends.puts, start, whole - finish))
        gets = _joined(gets, _moved(part.ends.gets, start, whole - finish))
        units.update(part.units)
        callees.update(part.callees)
    slowest = max(range(len(parts)), key=lambda n: (parts[n].latency or 0, -n), default=0)
    interval = parts[slowest].latency if parts and known else None
    ends = Ends(puts, gets, *_touched(parts))
    return Span(whole if known else None, units, callees, ends, _bits(parts), interval), names[slowest] if names else ""


@dataclass(frozen=True, slots=True)
class _Link:
    """What a stage waits for: it starts `after_start` cycles after another one and ends `after_end` after its end."""

    producer: int
    after_start: Fraction | None  # None: not before the end of the other
    after_end: Fraction


def _times(parts: list[Span]) -> tuple[list[Fraction], list[Fraction]]:
    """When parts start and end; where they wait for one another in a circle, the order of the text counts."""
    links = [_links(parts, number) for number in range(len(parts))]
    for forward in (False, True):
        starts = [Fraction(0)] * len(parts)
        finishes = [part.latency or Fraction(0) for part in parts]
        for _ in range(len(parts) + 1):
            changed = False
            for number, part in enumerate(parts):
                start, finish = Fraction(0), Fraction(0)
                for link in links[number]:
                    if forward and link.producer >= number:
                        continue
                    if link.after_start is None:
                        start = max(start, finishes[link.producer])
                    else:
                        start = max(start, starts[link.producer] + link.after_start)
                        finish = max(finish, finishes[link.producer] + link.after_end)
                finish = max(start + (part.latency or 0), finish)
                changed = changed or (start, finish) != (starts[number], finishes[number])
                starts[number], finishes[number] = start, finish
            if not changed:
                return starts, finishes
    return starts, finishes


def _links(parts: list[Span], number: int) -> list[_Link]:
    """What one stage waits for."""
    part = parts[number]
    found = []
    for other, producer in enumerate(parts):
        if other == number:
            continue
        for stream, got in part.ends.gets.items():
            if (put := _put(producer.ends.puts, stream)) is not None:
                found.append(_Link(other, put.first + 1 - got.first, 1 + got.tail - put.tail))
        if other < number and producer.ends.writes & (part.ends.reads | part.ends.writes):
            found.append(_Link(other, None, Fraction(0)))
    return found


def _put(puts: Mapping[Stream, Event], stream: Stream) -> Event | None:
    """The puts into a stream; where an element is not known they may be into any element of its array."""
    base, index = stream
    found = puts.get(stream)
    if found is None and index is not None:
        return puts.get((base, None))
    if index is None:
        for (other, _), event in puts.items():
            if other == base:
                found = event if found is None else Event(min(found.first, event.first), min(found.tail, event.tail))
    return found


def _touched(parts: Iterable[Span]) -> tuple[frozenset[ir.Value], frozenset[ir.Value]]:
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


def _bits(parts: Iterable[Span]) -> int:
    return sum(part.register_bits for part in parts)
