"""Parts of a function that share nothing, which a tool runs at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from mlir import ir

from .span import Ends, Event, Span, Stream, all_units, bits, joined, moved, touched


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


def at_once(parts: Sequence[Span]) -> Span:
    """Parts that run at once, each with units of its own."""
    if len(parts) == 1:
        return parts[0]
    latencies = [part.latency for part in parts]
    whole = None if None in latencies else max(latency for latency in latencies if latency is not None)
    puts: dict[Stream, Event] = {}
    gets: dict[Stream, Event] = {}
    callees: Counter[str] = Counter()
    for part in parts:
        rest = Fraction(0) if whole is None or part.latency is None else whole - part.latency
        puts = joined(puts, moved(part.ends.puts, Fraction(0), rest))
        gets = joined(gets, moved(part.ends.gets, Fraction(0), rest))
        callees.update(part.callees)
    return Span(whole, all_units(parts), callees, Ends(puts, gets, *touched(parts)), bits(parts))


def _used(part: Span) -> set[ir.Value]:
    streams = {value for value, _ in (*part.ends.puts, *part.ends.gets)}
    return {*part.ends.reads, *part.ends.writes, *streams}
