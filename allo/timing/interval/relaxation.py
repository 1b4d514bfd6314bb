"""Least times of copies that wait for one another, ports and units left out: all edges between them in one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...poly.occurrences import Numbers


@dataclass(frozen=True, slots=True)
class CopyEdges:
    """Edges between copies: the sink starts `weight` ps after the source, or after the cycle in which it starts."""

    sources: Numbers
    sinks: Numbers
    weights: Numbers
    distances: Numbers
    from_cycle: Numbers  # 1: after the beginning of the cycle
    order: Numbers  # 1: an element is not overwritten before it is read

    @classmethod
    def of(
        cls, sources: Numbers, sinks: Numbers, weight: int, distances: Numbers, *, from_cycle: bool, order: bool = False
    ) -> CopyEdges:
        """Edges that are alike."""
        one = np.ones(len(sources), np.int64)
        return cls(sources, sinks, one * weight, distances, one * int(from_cycle), one * int(order))


@dataclass(frozen=True, slots=True, eq=False)
class Unsettled:
    """Times that never settle: for each copy the edge that it waited for last, -1 if none, and one that still moves."""

    before: Numbers
    node: int


class Relaxation:
    """Copies by number, of which some have `delays` of logic that is chained into the cycle of what it waits for.

    Others start `at_edge` of a clock.
    """

    def __init__(self, cycle: int, parts: Sequence[CopyEdges], delays: Numbers, at_edge: Numbers | None = None) -> None:
        self.cycle, self.delays = cycle, delays
        self.at_edge = np.zeros(len(delays), np.bool_) if at_edge is None else at_edge
        self.rows = _sorted(parts)

    def run(self, interval: int) -> Numbers | Unsettled:
        """The least times that are the same in each iteration, in ps."""
        rows, cycle, count = self.rows, self.cycle, len(self.delays)
        start, before = np.zeros(count, np.int64), np.full(count, -1, np.int64)
        if not len(rows.sources):
            return start
        begins = np.flatnonzero(np.r_[True, rows.sinks[1:] != rows.sinks[:-1]])
        sinks = rows.sinks[begins]
        delays, shift = self.delays[rows.sinks], rows.weights - interval * cycle * rows.distances
        at_edge = self.at_edge[rows.sinks] | (rows.distances > 0)
        moved = np.zeros(0, np.bool_)
        for _ in range(count + 2):
            given = start[rows.sources]
            ready = np.where(rows.from_cycle == 1, given // cycle * cycle, given) + shift
            crosses = at_edge | ((delays > 0) & (ready % cycle + delays > cycle))
            ready = np.where(crosses, -(-ready // cycle) * cycle, ready)
            latest = np.maximum.reduceat(ready, begins)
            moved = latest > start[sinks]
            if not moved.any():
                return start
            is_latest = np.flatnonzero(ready == np.repeat(latest, np.diff(np.r_[begins, len(ready)])))
            which = np.full(count, -1, np.int64)
            which[rows.sinks[is_latest]] = is_latest
            start[sinks[moved]] = latest[moved]
            before[sinks[moved]] = which[sinks[moved]]
        return Unsettled(before, int(sinks[np.flatnonzero(moved)[0]]))


def _sorted(parts: Sequence[CopyEdges]) -> CopyEdges:
    """All edges, by their sinks."""
    fields = ("sources", "sinks", "weights", "distances", "from_cycle", "order")
    columns = {name: np.concatenate([np.zeros(0, np.int64), *(getattr(p, name) for p in parts)]) for name in fields}
    order = np.argsort(columns["sinks"], kind="stable")
    return CopyEdges(**{name: column[order] for name, column in columns.items()})
