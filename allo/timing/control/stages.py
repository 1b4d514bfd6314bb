"""Overlap of dataflow stages: what they wait for, and the stalls that shallow FIFOs cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from mlir import ir

from ...errors import InternalError
from ...ir.walk import argument_names, string_of
from ...target import Operator
from ..problem.memory import stream_parts
from .elements import ElementTimes, hold, is_run, run
from .fifos import Channel, Waits, slowest_circles
from .shallow import occupancy, too_shallow
from .span import Ends, Event, Span, Stream, bits, joined, together, touched
from .timeline import PartName, StageLink, Stall, TimelinePart

_REMARKABLE = 100  # the part of all cycles from which waiting for FIFOs is worth a remark


@dataclass(frozen=True, slots=True)
class Overlap:
    """Stages as one part, the name of the slowest, remarks on FIFOs, when each runs, and what connects them.

    `lost` are the cycles that FIFOs cost which are too shallow.
    """

    span: Span
    slowest: str
    notes: tuple[str, ...]
    parts: tuple[TimelinePart, ...]
    links: tuple[StageLink, ...]
    lost: Fraction


def stages(parts: list[Span], names: list[PartName]) -> Overlap:
    """Parts that run at once; arrays between them are passed on when they are complete, streams hold their depth.

    Without names, nothing is said of the single parts.
    """
    known = all(part.latency is not None for part in parts)
    channels = _channels(parts) if known else []
    waits, in_circle = _waits(parts)
    notes: list[str] = []
    needed = {} if in_circle else _needed(channels, waits)
    shallow = [] if in_circle else [c for c in channels if c.depth < c.count]
    bounded = _bounded(parts, channels, shallow, needed, waits, notes) if shallow else None
    free, waits = waits, bounded or waits
    whole, least = (max((w.end(n) for n in range(len(parts))), default=Fraction(0)) for w in (waits, free))
    puts: dict[Stream, Event] = {}
    gets: dict[Stream, Event] = {}
    units: Counter[Operator] = Counter()
    callees: Counter[str] = Counter()
    for number, part in enumerate(parts):
        puts = joined(puts, _placed(part.ends.puts, waits, number, whole))
        gets = joined(gets, _placed(part.ends.gets, waits, number, whole))
        units.update(part.units)
        callees.update(part.callees)
    slowest = max(range(len(parts)), key=lambda n: (parts[n].latency or 0, -n), default=0)
    interval = parts[slowest].latency if parts and known else None
    if bounded is not None:  # a stage that waits is not free either
        interval = max(bounded.end(n) - bounded.begin(n) for n in range(len(parts)))
    ends = Ends(puts, gets, *touched(parts))
    span = Span(whole if known else None, units, callees, ends, bits(parts), interval)
    timed = tuple(_timed(name, waits, number, known) for number, name in enumerate(names))
    links = tuple(_links(parts, channels, needed)) if names else ()
    return Overlap(span, names[slowest].name if names else "", tuple(notes), timed, links, whole - least)


def _timed(name: PartName, waits: Waits, number: int, known: bool) -> TimelinePart:
    """When a stage runs and what it waits for, if that is known."""
    if not known:
        return TimelinePart(name.name, None, None, nest=name.nest, callee=name.callee)
    stalls = [Stall(kind, fifo, round(cycles)) for (kind, fifo), cycles in waits.stalls(number).items()]
    stalls = sorted((stall for stall in stalls if stall.cycles), key=lambda stall: -stall.cycles)
    begin, end = math.floor(waits.begin(number)), math.ceil(waits.end(number))
    return TimelinePart(name.name, begin, end, tuple(stalls), name.nest, name.callee)


def _links(parts: Sequence[Span], channels: Sequence[Channel], needed: Mapping[str, int]) -> list[StageLink]:
    """The FIFOs and arrays between stages."""
    counts = {(c.producer, c.consumer, c.name): c.count for c in channels}
    found, sources = [], sources_of(parts)
    for number, part in enumerate(parts):
        for other in sources[number]:
            producer = parts[other]
            for stream in part.ends.gets:
                if put_into(producer.ends.puts, stream) is not None:
                    name = _name(stream)
                    count = counts.get((other, number, name))
                    found.append(StageLink(name, "FIFO", other, number, _depth(stream), needed.get(name), count))
            found += [StageLink(name, "array", other, number) for name in passed_on(producer, part) if other < number]
    return found


def passed_on(producer: Span, consumer: Span) -> list[str]:
    """The arrays that one stage writes and a later one uses."""
    return sorted(_name((array, None)) for array in producer.ends.writes & (consumer.ends.reads | consumer.ends.writes))


def _placed(
    events: Mapping[Stream, Event], waits: Waits, number: int, whole: Fraction
) -> dict[Stream, Event]:
    """The events of a part, counted from the begin and the end of all stages."""
    found = {}
    for stream, event in events.items():
        first, last = map(waits.at, waits.uses(number, event))
        found[stream] = replace(event, first=first, tail=whole - last, times=None)
    return found


# -- what stages wait for ------------------------------------------------------------------------------------


def _channels(parts: Sequence[Span]) -> list[Channel]:
    """The streams with one producer, one consumer, and as many puts as gets, whose number is known."""
    puts: dict[Stream, list[int]] = {}
    gets: dict[Stream, list[int]] = {}
    for number, part in enumerate(parts):
        for stream in part.ends.puts:
            puts.setdefault(stream, []).append(number)
        for stream in part.ends.gets:
            gets.setdefault(stream, []).append(number)
    found = []
    for stream, producers in puts.items():
        consumers = gets.get(stream, [])
        if len(producers) != 1 or len(consumers) != 1 or producers == consumers:
            continue
        put, got = parts[producers[0]].ends.puts[stream], parts[consumers[0]].ends.gets[stream]
        depth = _depth(stream)
        if put.count is None or put.count != got.count or put.count.denominator != 1 or depth is None:
            continue
        if put.count > 0:
            name = _name(stream)
            found.append(Channel(name, producers[0], consumers[0], put, got, int(put.count), depth))
    return found


def _depth(stream: Stream) -> int | None:
    """How many elements a FIFO holds; None for an array of FIFOs of which it is not known which one is meant."""
    base, index = stream
    kind = base.type
    if isinstance(kind, ir.MemRefType):
        if index is None:
            return None
        kind = kind.element_type
    return stream_parts(kind)[1]


def _name(stream: Stream) -> str:
    base, index = stream
    if isinstance(base.owner, ir.Block):
        name = str(argument_names(base.owner.owner)[ir.BlockArgument(base).arg_number])
    else:
        name = string_of(base.owner.operation, "allo.name") or "stream"
    return name + (f"[{', '.join(map(str, index))}]" if index else "")


def _waits(parts: Sequence[Span]) -> tuple[Waits, bool]:
    """When everything happens if FIFOs are deep enough, and whether stages pass values round in a circle.

    There the order of the text counts: first values, which are not known, let a circle begin.
    """
    waits = _linked(parts, forward=False)
    if waits.solve() is None:
        return waits, False
    waits = _linked(parts, forward=True)
    if waits.solve() is not None:
        raise InternalError("stages in the order of the text wait for one another")
    return waits, True


def _linked(parts: Sequence[Span], forward: bool) -> Waits:
    """Stages that wait for what comes first and last out of a stream, and for arrays."""
    waits, sources = Waits([part.latency or Fraction(0) for part in parts]), sources_of(parts)
    for number, part in enumerate(parts):
        for event in (*part.ends.puts.values(), *part.ends.gets.values()):
            waits.uses(number, event)
        for other in sources[number]:
            producer = parts[other]
            if forward and other > number:
                continue
            for stream, got in part.ends.gets.items():
                if (put := put_into(producer.ends.puts, stream)) is not None:
                    for made, taken in zip(waits.uses(other, put), waits.uses(number, got), strict=True):
                        waits.wait(made, taken, 1, ("empty", _name(stream)))
            if other < number and (arrays := passed_on(producer, part)):
                begin = waits.node(number, Fraction(0))
                waits.wait(waits.node(other, waits.lengths[other]), begin, 0, ("array", arrays[0]))
    return waits


def sources_of(parts: Sequence[Span]) -> list[list[int]]:
    """The other stages that each one takes elements of streams or arrays from, in the order of the text."""
    makers: dict[ir.Value, list[int]] = {}
    for number, part in enumerate(parts):
        for value in {*(base for base, _ in part.ends.puts), *part.ends.writes}:
            makers.setdefault(value, []).append(number)
    found = []
    for number, part in enumerate(parts):
        used = {*(base for base, _ in part.ends.gets), *part.ends.reads, *part.ends.writes}
        found.append(sorted({other for value in used for other in makers.get(value, ())} - {number}))
    return found


def put_into(puts: Mapping[Stream, Event], stream: Stream) -> Event | None:
    """The puts into a stream; where an element is not known they may be into any element of its array."""
    base, index = stream
    found = puts.get(stream)
    if found is None and index is not None:
        return puts.get((base, None))
    if index is None:
        for (other, _), event in puts.items():
            if other == base:
                found = event if found is None else together(found, event)
    return found


# -- FIFOs that are full -------------------------------------------------------------------------------------


def _needed(channels: Sequence[Channel], free: Waits) -> dict[str, int]:
    """How many elements each FIFO holds at most if all are deep enough, in which case `free` has all times."""
    if not is_run(channels):
        return {channel.name: min(channel.count, occupancy(channel, free)) for channel in channels}
    found = _run(free, channels, bounded=False)
    return {channel.name: min(channel.count, found.occupancy(number)) for number, channel in enumerate(channels)}


def _bounded(
    parts: Sequence[Span],
    channels: Sequence[Channel],
    shallow: Sequence[Channel],
    needed: Mapping[str, int],
    free: Waits,
    notes: list[str],
) -> Waits | None:
    """When everything happens with FIFOs of these depths; None if stages would wait for ever, which `notes` says."""
    exact = is_run(channels)
    pinched = [channel for channel in shallow if needed[channel.name] > channel.depth]
    if not pinched:
        return None
    waits = _linked(parts, forward=False)
    numbers = [] if exact else too_shallow(waits, channels)
    circle = waits.solve()
    if exact and circle is None and (stuck := _run(waits, channels, bounded=True).stuck):
        circle = {channel.name for channel in stuck}
    whole = max(free.end(n) for n in range(len(parts)))
    if circle is not None:
        guilty = [channel for channel in pinched if channel.name in circle] or pinched
        listed = ", ".join(_told(channel, needed) for channel in guilty)
        notes.append(
            f"stages may wait for one another for ever: {listed}; the latency is that with FIFOs deep enough"
        )
        return None
    for slowest in [] if exact else slowest_circles(len(parts), channels):
        for channel, own in zip(channels, numbers, strict=True):
            if {channel.producer, channel.consumer} <= slowest.stages:
                waits.stretch(channel, slowest, own)
    waits.solve()
    longer = max(waits.end(n) for n in range(len(parts))) - whole
    if longer >= 1 and longer * _REMARKABLE >= whole:
        listed = ", ".join(_told(channel, needed) for channel in pinched)
        notes.append(f"{math.ceil(longer)} of {math.ceil(whole + longer)} cycles are spent waiting for FIFOs: {listed}")
    return waits


def _run(waits: Waits, channels: Sequence[Channel], *, bounded: bool) -> ElementTimes:
    """Let nothing happen before it does element by element."""
    found = run(channels, waits, bounded=bounded)
    for _ in waits.lengths:  # what waits for whole arrays begins later then, and all that waits for it
        if found.stuck or not hold(waits, channels, found):
            break
        waits.solve()
        found = run(channels, waits, bounded=bounded)
    waits.executed = found.delays
    return found


def _told(channel: Channel, needed: Mapping[str, int]) -> str:
    return f"'{channel.name}' holds {channel.depth}, {needed[channel.name]} would do"
