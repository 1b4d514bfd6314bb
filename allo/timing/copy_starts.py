"""Least starts of the copies of a problem: what dependences alone demand, and the least interval that they allow."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from .interval.relaxation import CopyEdges, Relaxation
from .placement import alike
from .problem.arrivals import joined
from .problem.problem import Passing, Precedence, Problem, Table

_MOST_PAIRS = 1 << 18  # of copies that are looked at, for all dependences together


@dataclass(frozen=True, slots=True)
class CopyStarts:
    """The copies of all operations, numbered one operation after the other, with what they wait for."""

    problem: Problem
    first: tuple[int, ...]
    zero: Relaxation  # within an iteration
    every: Relaxation

    @classmethod
    def of(cls, problem: Problem) -> CopyStarts | None:
        """All copies, one by one; None if there are too many pairs of them."""
        copies = [problem.copies(index) for index in range(len(problem.operations))]
        if sum(copies[d.source] * copies[d.sink] for d in problem.dependences) > _MOST_PAIRS:
            return None
        first = np.r_[0, np.cumsum(copies)]
        on_port = problem.on_ports()
        delays = np.repeat([o.delay if not o.latency else 0 for o in problem.operations], copies)
        reads = [o.kind == "read" and index in on_port for index, o in enumerate(problem.operations)]
        parts = [_edges(problem, d, first) for d in problem.dependences]
        own = [part for part, d in zip(parts, problem.dependences, strict=True) if not d.distance]
        zero, every = (Relaxation(problem.period, rows, delays, np.repeat(reads, copies)) for rows in (own, parts))
        return cls(problem, tuple(first.tolist()), zero, every)

    def starts(self, interval: int | None) -> list[Table] | None:
        """The ps before which no copy starts, for each operation; None if there is no schedule at this interval."""
        found = self.every.run(interval) if interval is not None else self.zero.run(0)
        if not isinstance(found, np.ndarray):
            return None
        tables = []
        for index, operation in enumerate(self.problem.operations):
            own = found[self.first[index] : self.first[index + 1]]
            shape = [trip if n in operation.loops else 1 for n, trip in enumerate(self.problem.trips)]
            tables.append(alike(own.reshape(shape)))
        return tables

    def least_interval(self, low: int, high: int) -> int:
        """The least interval above `low` that dependences allow, if `high` is one."""
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.starts(middle) is not None else (middle, high)
        return high


def _edges(problem: Problem, dependence: Precedence, first: Table) -> CopyEdges:
    """The pairs of copies of which one waits for the other."""
    operation = problem.operations[dependence.source]
    sources, sinks = _in_tree(problem, dependence) if dependence.tree else _pairs(problem, dependence)
    match dependence.passing:
        case Passing.VALUE:
            weight = operation.latency * problem.period + operation.delay
        case Passing.FORWARD:
            weight = 0
        case Passing.CYCLES:
            weight = dependence.cycles * problem.period
    from_cycle = dependence.passing is Passing.CYCLES or (dependence.passing is Passing.VALUE and operation.latency > 0)
    sources, sinks = first[dependence.source] + sources, first[dependence.sink] + sinks
    return CopyEdges.of(sources, sinks, weight, np.full_like(sources, dependence.distance), from_cycle=from_cycle)


def _places(problem: Problem, index: int) -> Table:
    """For each copy of an operation, its copy in each loop; 0 in loops of which it has none."""
    loops = problem.operations[index].loops
    shape = [trip if n in loops else 1 for n, trip in enumerate(problem.trips)]
    return np.indices(shape).reshape(len(shape), prod(shape))


def _pairs(problem: Problem, dependence: Precedence) -> tuple[Table, Table]:
    """By the moves of a dependence; in a loop that the sink has no copies of, it waits for all."""
    source_loops, sink_loops = (problem.operations[n].loops for n in (dependence.source, dependence.sink))
    one, other = _places(problem, dependence.source), _places(problem, dependence.sink)
    moves = {move.loop: (move.low, move.high) for move in dependence.moves}
    meet = np.ones((one.shape[1], other.shape[1]), np.bool_)
    for loop, trip in enumerate(problem.trips):
        if loop not in sink_loops:
            continue
        if loop in source_loops:
            low, high = moves.get(loop, (0, 0))
            by = other[loop] - one[loop][:, None]
            meet &= (by >= low) & (by <= high)
        elif loop in moves:  # from some copy, all of which are one
            low, high = moves[loop]
            meet &= ((other[loop] >= low) & (other[loop] < trip + high))[None, :]
    found = np.nonzero(meet)
    return found[0], found[1]


def _in_tree(problem: Problem, dependence: Precedence) -> tuple[Table, Table]:
    """Copies that join others."""
    one, other = _places(problem, dependence.source), _places(problem, dependence.sink)
    trips = [problem.trips[n] for n in dependence.tree]
    left, right = joined(prod(trips))
    flat_one, flat_other = (np.ravel_multi_index(tuple(t[list(dependence.tree)]), trips) for t in (one, other))
    meet = (left[flat_other] == flat_one[:, None]) | (right[flat_other] == flat_one[:, None])
    for loop in range(len(problem.trips)):
        if loop not in dependence.tree and one[loop].any() and other[loop].any():
            meet &= other[loop] == one[loop][:, None]
    found = np.nonzero(meet)
    return found[0], found[1]
