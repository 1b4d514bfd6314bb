"""Token curves of many FIFOs as columns, and how many elements are between the two ends of each at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...customize.fifo.sizes import TokenCurve
from ..trace import Trace

type Numbers = np.ndarray[tuple[int], np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class CurveTable:
    """The curves of one end of many FIFOs, as columns."""

    first: Numbers
    last: Numbers
    count: Numbers
    burst: Numbers

    @classmethod
    def of(cls, curves: Sequence[TokenCurve]) -> CurveTable:
        rows = np.array([(c.first, c.last, c.count, c.burst) for c in curves], np.float64).reshape(-1, 4)
        return cls(*rows.T)

    def row(self, number: int) -> TokenCurve:
        """The curve of one FIFO."""
        first, last, count, burst = (int(c[number]) for c in (self.first, self.last, self.count, self.burst))
        return TokenCurve(first, last, count, burst)

    def stretched(self, factors: Numbers) -> CurveTable:
        """The curves of processes that go on so many times slower once they have begun to put or get."""
        return CurveTable(self.first, self.first + (self.last - self.first) * factors, self.count, self.burst)

    def shifted(self, begins: Numbers) -> CurveTable:
        """The curves of processes that begin at these cycles."""
        return CurveTable(self.first + begins, self.last + begins, self.count, self.burst)

    @property
    def distance(self) -> Numbers:
        """Cycles from one element to the next, on average."""
        distances: Numbers = (self.last - self.first) / np.maximum(self.count - 1, 1)
        return distances


@dataclass(frozen=True, slots=True, eq=False)
class TraceCurves:
    """The curves of all FIFOs of a trace that elements pass through, `fifos`, with the processes at both ends."""

    fifos: Numbers
    sources: Numbers
    sinks: Numbers
    puts: CurveTable
    gets: CurveTable


def curves_of(trace: Trace) -> TraceCurves:
    """The curves of a trace, in cycles from the begin of each process."""
    used = np.array([n for n, c in enumerate(trace.channels) if len(trace.puts[n]) and len(trace.gets[n])], np.int64)
    owner, tables, ends = trace.owner, list[CurveTable](), list[Numbers]()
    for events in (trace.puts, trace.gets):
        own = [events[channel] for channel in used.tolist()]
        sizes = np.array([len(numbers) for numbers in own], np.int64)
        every = np.concatenate(own) if own else np.zeros(0, np.int64)
        starts = np.cumsum(sizes) - sizes
        cycles = trace.cycle[every]
        columns = (cycles[starts], cycles[starts + sizes - 1], sizes, _bursts(cycles, starts))
        tables.append(CurveTable(*(column.astype(np.float64) for column in columns)))
        ends.append(owner[every[starts]])
    return TraceCurves(used, ends[0], ends[1], tables[0], tables[1])


def _bursts(cycles: Numbers, starts: Numbers) -> Numbers:
    """The most elements of each channel that pass in one cycle, one behind the other."""
    if not len(starts):
        return starts
    new = np.diff(cycles, prepend=-1) != 0
    new[starts] = True
    at = np.flatnonzero(new)
    together = np.diff(np.append(at, len(cycles)))
    found: Numbers = np.maximum.reduceat(together, np.searchsorted(at, starts))
    return found


def most_tokens(puts: CurveTable, gets: CurveTable) -> tuple[Numbers, Numbers]:
    """How many elements wait at most when the first one is got, and when the last one is put.

    An element can be got in the cycle after it was put, and its place be used in the cycle after that. Sources:
    StreamTensor, equations 2 and 1; Allo, equations 3 and 4, where the consumer takes no more than there is.
    """
    begin = np.maximum(gets.first, puts.first + 1)
    late = CurveTable(begin, begin + gets.last - gets.first, gets.count, gets.burst)
    at_first = np.minimum(_passed(puts, begin) + puts.burst - 1, puts.count)
    return at_first, np.minimum(puts.count - _passed(late, puts.last - 1), puts.count)


def _passed(curves: CurveTable, cycles: Numbers) -> Numbers:
    """How many elements have passed at these cycles, at even distances."""
    distance = np.maximum(curves.distance, 1e-9)
    passed = np.floor((cycles - curves.first) / distance + 1e-9) + 1
    found: Numbers = np.clip(np.where(cycles < curves.first, 0, passed), 0, curves.count)
    return found
