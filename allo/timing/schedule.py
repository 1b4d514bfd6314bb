"""StaticSchedule of a body: the cycle, the unit and the port of each operation, copy by copy where copies differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..picture import aligned
from ..target import Operator
from .binding import bound_ports, bound_units
from .problem.problem import Passing, Problem, Table


@dataclass(frozen=True, slots=True, eq=False)
class StaticSchedule:
    """When each operation starts: `cycles` has a table for each, whose axes are those of the problem.

    Iterations start `interval` cycles apart (None: they do not overlap); `depth` are the cycles of one iteration.
    `units` number the units of an operator that copies start on: those that are alike, and so are one entry, start on
    as many units in a row, the first of which is given. `ports` are those of the first bank that an access comes to; -1
    where another access has the value.
    """

    problem: Problem
    interval: int | None
    depth: int
    cycles: tuple[Table, ...]
    units: tuple[Table | None, ...]
    needed: Counter[Operator]  # units
    ports: tuple[Table | None, ...]

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

    def __str__(self) -> str:
        """A table of cycles, operations, units and ports, in the order of cycles."""
        names = [name or f"copy {n}" for n, name in enumerate(self.problem.loops)]
        rows = [("cycle", "operation", "copies", "unit", "port")]
        for index in sorted(range(len(self.cycles)), key=lambda n: (self.first(n), n)):
            operation, unit, port = self.problem.operations[index], self.units[index], self.ports[index]
            copies = " x ".join(f"{self.problem.trips[n]} {names[n]}" for n in operation.loops)
            units = "" if unit is None else formula(unit, names, self.problem.copies(index) // unit.size - 1)
            kind = "" if operation.unit is None else f"{operation.unit.name} "
            ports = "" if port is None else formula(np.where(port < 0, port.max(), port), names)
            rows.append((formula(self.cycles[index], names), operation.name, copies, kind + units, ports))
        return "\n".join([f"II {self.interval or '-'}, depth {self.depth}", *aligned(rows)])

    def _linked(self, index: int) -> set[int]:
        """The loops in whose later copies an operation takes what earlier ones have stored."""
        links = (d for d in self.problem.dependences if d.sink == index and d.passing is Passing.FORWARD)
        moved = {move.loop for d in links if d.source > index for move in d.moves if move.low > 0}
        return moved


def schedule_of(problem: Problem, starts: Sequence[Table], interval: int | None) -> StaticSchedule:
    """The schedule in which operations start at these ps, with units for it."""
    period = problem.period
    depth, on_ports = 1, problem.on_ports()
    for index, (operation, start) in enumerate(zip(problem.operations, starts, strict=True)):
        done = int(start.max()) + operation.latency * period + operation.delay
        if index in on_ports:  # what runs next takes ports, too
            depth = max(depth, int(start.max()) // period + 1)
        depth = max(depth, -(-done // period) if operation.latency == 0 else done // period)
    cycles = tuple(start // period for start in starts)
    ports = bound_ports(problem, cycles, interval)
    units, needed = bound_units(problem, cycles, interval, [operation.unit for operation in problem.operations])
    return StaticSchedule(problem, interval, depth, cycles, units, needed, ports)


def rebound(schedule: StaticSchedule, interval: int) -> StaticSchedule:
    """The schedule with iterations so far apart."""
    wanted = [operation.unit for operation in schedule.problem.operations]
    units, needed = bound_units(schedule.problem, schedule.cycles, interval, wanted)
    ports = bound_ports(schedule.problem, schedule.cycles, interval)
    return replace(schedule, interval=interval, units=units, needed=needed, ports=ports)


def formula(table: Table, names: Sequence[str], more: int = 0) -> str:
    """A table in closed form, `2 + 6 (k // 2)`, or its range, `0 to 3`; each entry stands for `more` numbers too."""
    base = int(table.reshape(-1)[0])
    found, terms = np.full(table.shape, base), [str(base)]
    for axis, size in enumerate(table.shape):
        line = table[tuple(slice(None) if n == axis else 0 for n in range(table.ndim))]
        changes = np.flatnonzero(line != base)
        if len(changes):
            run, step = int(changes[0]), int(line[changes[0]]) - base
            places = np.arange(size) // run
            found = found + step * places.reshape([size if n == axis else 1 for n in range(table.ndim)])
            name = names[axis] if run == 1 else f"({names[axis]} // {run})"
            terms.append(name if step == 1 else f"{step} {name}")
    if not more and (found == table).all():
        return " + ".join(terms[1:] if base == 0 and len(terms) > 1 else terms)
    low, high = int(table.min()), int(table.max()) + more
    return str(low) if low == high else f"{low} to {high}"
