"""Calls as parts of a function: what a caller sees of a callee."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from mlir import ir

from ...ir.access import base_of, callee_name
from ...target import Fpga
from .span import Ends, Span, delayed, passed, stream_key
from .tokens import of_call


@dataclass(frozen=True, slots=True)
class Callee:
    """What callers see of a function."""

    latency: Fraction | None
    interval: Fraction | None
    ends: Ends
    arguments: tuple[ir.Value, ...]

    def cost(self, target: Fpga) -> tuple[int, int]:
        """The latency and the interval of a call as one operation of a pipeline."""
        latency = math.ceil(self.latency or 0) + target.control.call
        return latency, max(1, math.ceil(self.interval or self.latency or 0))

    def span(self, op: ir.Operation, control: int) -> Span:
        """The part that a call is, with cycles before it."""
        given = dict(zip(self.arguments, (base_of(value) for value in op.operands), strict=False))
        streams = dict(zip(self.arguments, map(stream_key, op.operands), strict=False))
        ends = self.ends
        result = frozenset(value for value in op.results if isinstance(value.type, ir.MemRefType))
        mapped = Ends(
            {passed(streams[v], i): of_call(op, e, self.latency) for (v, i), e in ends.puts.items() if v in streams},
            {passed(streams[v], i): of_call(op, e, self.latency) for (v, i), e in ends.gets.items() if v in streams},
            frozenset(given[v] for v in ends.reads if v in given),
            frozenset(given[v] for v in ends.writes if v in given) | result,
        )
        span = Span(self.latency, Counter(), Counter({callee_name(op): 1}), mapped)
        return delayed(span, Fraction(control), Fraction(0))
