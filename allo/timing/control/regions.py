"""Spans of regions: the cycles of what is scheduled in one piece, with its streams, arrays, units and callees."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from mlir import ir

from ...ir.access import accessed, callee_name, is_end
from .span import Ends, Event, Span, Stream, stream_key, together
from .tree import Pipeline, Straight


def region_span(node: Straight | Pipeline) -> Span:
    """Straight code or a pipeline, whose loops are part of it, with the times of its streams and its arrays."""
    if isinstance(node, Pipeline):
        latency, enter, leave, runs = node.latency, node.enter, node.leave, node.trips
    else:
        latency, enter, leave, runs = Fraction(node.depth), 0, 0, Fraction(1)
    puts: dict[Stream, Event] = {}
    gets: dict[Stream, Event] = {}
    reads: set[ir.Value] = set()
    writes: set[ir.Value] = set()
    region, schedule = node.region.graph.region, node.region.schedule
    overlaps = schedule.interval is not None and schedule.interval < schedule.depth
    for use in region.nodes:
        if use.memory is None:
            continue
        if not is_end(use.op):
            (reads if use.kind == "read" else writes).add(accessed(use.op))
            continue
        stream = stream_key(use.op.operands[0])
        events = gets if use.kind == "read" else puts
        first = Fraction(enter + schedule.first(use.index))
        tail = Fraction(schedule.depth - schedule.last(use.index) + leave)
        count = None if use.guards or runs is None else runs * region.count(use.around)
        lag = Fraction(schedule.first(use.index) if overlaps else 0)
        event = Event(first, tail, count, lag)
        events[stream] = together(events[stream], event) if stream in events else event
    callees = Counter[str]()
    for use in region.nodes:
        if use.op.name == "func.call":  # each copy has an instance
            callees[callee_name(use.op)] += region.count(use.around)
    ends = Ends(puts, gets, frozenset(reads), frozenset(writes))
    return Span(latency, node.region.units, callees, ends, schedule.register_bits())
