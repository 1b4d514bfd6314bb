"""Calls as parts of a function: what a caller sees of a callee."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from mlir import ir

from ...ir.access import base_of, callee_name
from ...target import Fpga
from .span import Ends, Span, combined, passed, stream_key


@dataclass(frozen=True, slots=True)
class Callee:
    """What callers see of a function; `is_even`: all calls take the same number of cycles."""

    latency: Fraction | None
    interval: Fraction | None
    ends: Ends
    arguments: tuple[ir.Value, ...]
    is_even: bool = False

    def cost(self, target: Fpga) -> tuple[int, int]:
        """The latency and the interval of a call as one operation of a pipeline."""
        latency = math.ceil(self.latency or 0) + target.control.call
        return latency, max(1, math.ceil(self.interval or self.latency or 0))

    def seen_by(self, op: ir.Operation) -> Ends:
        """What a call does to the streams and arrays of its caller."""
        given = dict(zip(self.arguments, (base_of(value) for value in op.operands), strict=False))
        streams = dict(zip(self.arguments, map(stream_key, op.operands), strict=False))
        puts, gets = (
            {passed(streams[v], i): event for (v, i), event in events.items() if v in streams}
            for events in (self.ends.puts, self.ends.gets)
        )
        reads, writes = (frozenset(given[v] for v in own if v in given) for own in (self.ends.reads, self.ends.writes))
        made = frozenset(value for value in op.results if isinstance(value.type, ir.MemRefType))
        return Ends(puts, gets, reads, writes | made)

    def span(self, op: ir.Operation, control: int) -> Span:
        """The part that a call is, with cycles before it."""
        called = Counter({callee_name(op): 1})
        latency = None if self.latency is None else self.latency + control
        part = Span(self.latency, ends=self.seen_by(op))
        return combined([part], latency, [(Fraction(control), Fraction(0))], part.units, called)
