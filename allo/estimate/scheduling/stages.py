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
from .elements import hold, is_run, run
from .fifos import Channel, Waits, occupancy, slowest_circles, too_shallow
from .memory import stream_parts
from .span import Ends, Event, Span, Stream, bits, joined, together, touched

_REMARKABLE = 100  # the part of all cycles from which waiting for FIFOs is worth a remark


@dataclass(frozen=True, slots=True)
class Overlap:
    """Stages as one part, the name of the slowest, and remarks on FIFOs."""

    span: Span
    slowest: str
    notes: tuple[str, ...]


def stages(parts: list[Span], names: list[str]) -> Overlap:
    """Parts that run at once; arrays between them are passed on when they are complete, streams hold their depth."""
    known = all(part.latency is not None for part in parts)
    channels = _channels(parts) if known else []
    waits, in_circle = _waits(parts)
    notes: list[str] = []
    shallow = [] if in_circle else [c for c in channels if c.depth < c.count]
    if not in_circle and is_run(channels):
        _run(waits, channels, bounded=False)
    bounded = _bounded(parts, channels, shallow, waits, notes) if shallow else None
    waits = bounded or waits
    whole = max((waits.end(n) for n in range(len(parts))), default=Fraction(0))
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
    return Overlap(span, names[slowest] if names else "", tuple(notes))


def _placed(
    events: Mapping[Stream, Event], waits: Waits, number: int, whole: Fraction
) -> dict[Stream, Event]:
    """The events of a part, counted from the begin and the end of all stages."""
    found = {}
    for stream, event in events.items():
        first, last = map(waits.at, waits.uses(number, event))
        found[stream] = replace(event, first=first, tail=whole - last, uses=(), times=None)
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
    waits = Waits([part.latency or Fraction(0) for part in parts])
    for number, part in enumerate(parts):
        for event in (*part.ends.puts.values(), *part.ends.gets.values()):
            waits.uses(number, event)
        for other, producer in enumerate(parts):
            if other == number or (forward and other > number):
                continue
            for stream, got in part.ends.gets.items():
                if (put := _put(producer.ends.puts, stream)) is not None:
                    for made, taken in zip(waits.uses(other, put), waits.uses(number, got), strict=True):
                        waits.wait(made, taken, 1)
            if other < number and producer.ends.writes & (part.ends.reads | part.ends.writes):
                waits.wait(waits.node(other, waits.lengths[other]), waits.node(number, Fraction(0)), 0)
    return waits


def _put(puts: Mapping[Stream, Event], stream: Stream) -> Event | None:
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


def _bounded(
    parts: Sequence[Span], channels: Sequence[Channel], shallow: Sequence[Channel], free: Waits, notes: list[str]
) -> Waits | None:
    """When everything happens with FIFOs of these depths; None if stages would wait for ever, which `notes` says."""
    exact = is_run(channels)
    if exact:
        alone = run(channels, free, bounded=False)
        needed = {channel.name: alone.occupancy(number) for number, channel in enumerate(channels)}
    else:
        needed = {channel.name: occupancy(channel, free) for channel in shallow}
    pinched = [channel for channel in shallow if needed[channel.name] > channel.depth]
    if not pinched:
        return None
    waits = _linked(parts, forward=False)
    if not exact:
        too_shallow(waits, channels)
    circle = waits.solve()
    if exact and circle is None:
        circle = _run(waits, channels, bounded=True)
    whole = max(free.end(n) for n in range(len(parts)))
    if circle is not None:
        guilty = [channel for channel in pinched if channel.name in circle] or pinched
        listed = ", ".join(_told(channel, needed) for channel in guilty)
        notes.append(
            f"stages may wait for one another for ever: {listed}; the latency is that with FIFOs deep enough"
        )
        return None
    for slowest in [] if exact else slowest_circles(len(parts), channels):
        for channel in channels:
            if {channel.producer, channel.consumer} <= slowest.stages:
                waits.stretch(channel, slowest)
    waits.solve()
    longer = max(waits.end(n) for n in range(len(parts))) - whole
    if longer < 1:
        return None
    if longer * _REMARKABLE >= whole:
        listed = ", ".join(_told(channel, needed) for channel in pinched)
        notes.append(f"{math.ceil(longer)} of {math.ceil(whole + longer)} cycles are spent waiting for FIFOs: {listed}")
    return waits


def _run(waits: Waits, channels: Sequence[Channel], *, bounded: bool) -> set[str] | None:
    """Let nothing happen before it does element by element; None, or the FIFOs at which stages wait for ever."""
    for _ in waits.lengths:  # what waits for whole arrays begins later then, and all that waits for it
        found = run(channels, waits, bounded=bounded)
        if found.stuck:
            return {channel.name for channel in found.stuck}
        if not hold(waits, channels, found):
            break
        waits.solve()
    return None


def _told(channel: Channel, needed: Mapping[str, int]) -> str:
    depth = min(needed[channel.name], channel.count)
    return f"'{channel.name}' holds {channel.depth}, {depth} would do"
