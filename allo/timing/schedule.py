"""Schedule of a body: the cycle, the unit and the port of each operation, copy by copy where copies differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..target import Operator
from .problem.problem import Passing, Problem, Table


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """When each operation starts: `cycles` has a table for each, whose axes are those of the problem.

    Iterations start `interval` cycles apart (None: they do not overlap); `depth` are the cycles of one iteration.
    `units` number the units of an operator that copies start on: those that are alike, and so are one entry, start on
    as many units in a row, the first of which is given. `binding.ports` numbers ports likewise.
    """

    problem: Problem
    interval: int | None
    depth: int
    cycles: tuple[Table, ...]
    units: tuple[Table | None, ...]
    needed: Counter[Operator]  # units

    def first(self, index: int) -> int:
        """The cycle in which the first copy of an operation starts."""
        return int(self.cycles[index].min())

    def last(self, index: int) -> int:
        """The cycle in which the last copy of an operation starts."""
        return int(self.cycles[index].max())

    def register_bits(self) -> int:
        """The bits that wait in pipeline registers from their producer to their last consumer."""
        total = 0
        last: dict[int, Table] = {}
        for dependence in self.problem.dependences:
            if dependence.passing is Passing.VALUE:
                source, ends = dependence.source, self.cycles[dependence.sink]
                if self.problem.operations[source].kind == "read":  # later copies take what copies before have stored
                    for loop in self._linked(dependence.sink):
                        ends = ends.take([0], axis=loop)
                for axis in range(ends.ndim):
                    if axis not in self.problem.operations[source].loops:
                        ends = ends.max(axis=axis, keepdims=True)
                last[source] = np.maximum(last[source], ends) if source in last else ends
        for source, ends in last.items():
            operation = self.problem.operations[source]
            waits = np.maximum(ends - self.cycles[source] - operation.latency, 0)
            registers = -(-waits // self.interval) if self.interval else np.minimum(waits, 1)
            total += operation.width * int(registers.sum()) * (self.problem.copies(source) // waits.size)
        return total

    def _linked(self, index: int) -> set[int]:
        """The loops in whose later copies an operation takes what earlier ones have stored."""
        links = (d for d in self.problem.dependences if d.sink == index and d.passing is Passing.FORWARD)
        moved = {move.loop for d in links if d.source > index for move in d.moves if move.low > 0}
        return moved


def schedule_of(problem: Problem, starts: Sequence[Table], interval: int | None) -> Schedule:
    """The schedule in which operations start at these ps, with units for it."""
    period = problem.period
    depth = 1
    for operation, start in zip(problem.operations, starts, strict=True):
        done = int(start.max()) + operation.latency * period + operation.delay
        depth = max(depth, -(-done // period) if operation.latency == 0 else done // period)
    cycles = tuple(start // period for start in starts)
    units, needed = _bound(problem, cycles, interval)
    return Schedule(problem, interval, depth, cycles, units, needed)


def rebound(schedule: Schedule, interval: int) -> Schedule:
    """The schedule with iterations so far apart."""
    units, needed = _bound(schedule.problem, schedule.cycles, interval)
    return replace(schedule, interval=interval, units=units, needed=needed)


def _bound(
    problem: Problem, cycles: Sequence[Table], interval: int | None
) -> tuple[tuple[Table | None, ...], Counter[Operator]]:
    """The units of each operation, in the order of operations and copies, and how many of each operator there are."""
    taken: dict[Operator, Counter[int]] = {}
    found: list[Table | None] = []
    for index, operation in enumerate(problem.operations):
        if operation.unit is None:
            found.append(None)
            continue
        own = taken.setdefault(operation.unit, Counter())
        table = cycles[index]
        each = problem.copies(index) // max(1, table.size)
        slots = (table if interval is None else table % interval).reshape(-1)
        units = np.zeros(slots.size, np.int64)
        for slot, count in zip(*np.unique(slots, return_counts=True), strict=True):
            units[slots == slot] = own[int(slot)] + each * np.arange(count)
            own[int(slot)] += each * int(count)
        found.append(units.reshape(table.shape))
    return tuple(found), Counter({operator: max(slots.values()) for operator, slots in taken.items()})
