"""Exact modulo scheduling of small problems by constraint programming: the least interval, and the least depth then."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ToolError
from .leveling import unit_limits
from .placement import accesses_of_memories
from .problem.arrivals import NEVER, arrival
from .problem.problem import Passing, Problem, Table
from .schedule import StaticSchedule, schedule_of

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

MOST_OPERATIONS = 60  # with all their copies


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best schedule that was found; `proved` if there is none with a lower interval, or as deep at this one."""

    schedule: StaticSchedule
    proved: bool


def optimum(problem: Problem, least: int, bound: StaticSchedule, seconds: float = 10.0) -> Optimum | None:
    """The schedule with the least interval from `least` on, and then the least depth, no worse than `bound`.

    It has the fewest units with which the interval is possible, as far as `bound` has. None if the problem is too large
    (`MOST_OPERATIONS`), or no time is left. Raises ToolError without ortools (`pip install 'allo[exact]'`).
    """
    copies = sum(problem.copies(index) for index in range(len(problem.operations)))
    if copies > MOST_OPERATIONS or bound.interval is None:
        return None
    proved = True
    for interval in range(least, bound.interval + 1):
        found = _Model(problem, interval, bound).solved(seconds)
        proved = proved and found.certain
        if found.starts is not None:
            made = schedule_of(problem, found.starts, interval)
            is_worse = interval == bound.interval and made.depth > bound.depth  # all that there was time for
            return Optimum(bound if is_worse else made, proved)
    return None


@dataclass(frozen=True, slots=True)
class _Solution:
    """The starts of all copies, None if there are none; whether it is certain that there are no better ones."""

    starts: list[Table] | None
    certain: bool


class _Model:
    """All copies at one interval: a start in ps for each, split into a cycle and what is left of it."""

    def __init__(self, problem: Problem, interval: int, bound: StaticSchedule) -> None:
        try:
            from ortools.sat.python import cp_model
        except ImportError as error:
            raise ToolError(
                "exact schedules need the constraint solver of ortools, which is not installed",
                hint="pip install 'allo[exact]'",
            ) from error
        self.cp, self.problem, self.interval = cp_model, problem, interval
        self.on_ports = problem.on_ports()
        self.model = cp_model.CpModel()
        self.horizon = max(bound.depth, bound.interval or 0) + 2 * interval + 2
        self.cycles: dict[tuple[int, tuple[int, ...]], cp_model.IntVar] = {}
        self.starts: dict[tuple[int, tuple[int, ...]], cp_model.LinearExpr] = {}
        self.slots: dict[tuple[int, tuple[int, ...]], list[cp_model.IntVar]] = {}
        for index, copy in self._copies():
            self._start(index, copy)
        self._dependences()
        self._ports()
        self._units(bound)
        self.depth = self.model.new_int_var(1, self.horizon * 2, "depth")
        for (index, copy), cycle in self.cycles.items():
            operation = problem.operations[index]
            if operation.latency:
                self.model.add(self.depth >= cycle + operation.latency)
            else:
                self.model.add(self.depth * problem.period >= self.starts[index, copy] + operation.delay)
            if index in self.on_ports:
                self.model.add(self.depth >= cycle + 1)
        self.model.minimize(self.depth)

    def _copies(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        trips = self.problem.trips
        for index, operation in enumerate(self.problem.operations):
            ranges = (range(trip if n in operation.loops else 1) for n, trip in enumerate(trips))
            yield from ((index, copy) for copy in product(*ranges))

    def _start(self, index: int, copy: tuple[int, ...]) -> None:
        operation, period = self.problem.operations[index], self.problem.period
        key = (index, copy)
        self.cycles[key] = cycle = self.model.new_int_var(0, self.horizon, f"cycle {key}")
        most = period - 1
        if operation.latency == 0:
            most = max(0, period - operation.delay) if operation.delay else most
        if operation.kind == "read" and index in self.on_ports:
            most = 0
        self.starts[key] = cycle * period + self.model.new_int_var(0, most, f"rest {key}")

    def _slot(self, key: tuple[int, tuple[int, ...]]) -> list[cp_model.IntVar]:
        """For each cycle of the interval, whether a copy starts in it."""
        if key not in self.slots:
            own = [self.model.new_bool_var(f"slot {key} {n}") for n in range(self.interval)]
            laps = self.model.new_int_var(0, self.horizon // self.interval + 1, f"laps {key}")
            self.model.add_exactly_one(own)
            rest = sum(n * slot for n, slot in enumerate(own))
            self.model.add(self.cycles[key] == self.interval * laps + rest)
            self.slots[key] = own
        return self.slots[key]

    def _dependences(self) -> None:
        """Copies that wait for others are found by letting one of them start alone."""
        problem, period = self.problem, self.problem.period
        for dependence in problem.dependences:
            source = problem.operations[dependence.source]
            first = [key for key in self.cycles if key[0] == dependence.source]
            shape = [trip if n in source.loops else 1 for n, trip in enumerate(problem.trips)]
            for _, copy in first:
                starts: Table = np.full(shape, NEVER // period * period, np.int64)
                starts[copy] = 0
                reached = arrival(problem, dependence, starts, 0)
                for key, end in self.starts.items():
                    if key[0] != dependence.sink:
                        continue
                    place = tuple(0 if size == 1 else at for size, at in zip(reached.shape, key[1], strict=True))
                    if reached[place] <= NEVER // 2:
                        continue
                    begin = self.starts[dependence.source, copy]
                    if dependence.passing is not Passing.FORWARD and (source.latency or dependence.cycles):
                        begin = self.cycles[dependence.source, copy] * period
                    self.model.add(
                        end + dependence.distance * self.interval * period >= begin + int(reached[place])
                    )

    def _ports(self) -> None:
        """In each cycle of the interval no bank is used more often than it has ports."""
        for index, access in accesses_of_memories(self.problem).items():
            for giver in access.givers if self.problem.operations[index].kind == "read" else ():
                self._behind(index, giver)
        for memory in self.problem.memories:
            taken: dict[str, dict[tuple[int, int], list[cp_model.IntVar]]] = {
                "read": defaultdict(list), "write": defaultdict(list)
            }  # fmt: skip
            for index, copy, banks, kind in self._users(memory.uses):
                for slot, variable in enumerate(self._slot((index, copy))):
                    for bank in banks:
                        taken[kind][slot, bank].append(variable)
            for kind, limit in (("read", memory.ports.reads), ("write", memory.ports.writes)):
                if limit is not None:
                    for variables in taken[kind].values():
                        self.model.add(sum(variables) <= limit)
            if (total := memory.ports.total) is not None:
                for key in sorted({*taken["read"], *taken["write"]}):
                    self.model.add(sum(taken["read"].get(key, []) + taken["write"].get(key, [])) <= total)

    def _behind(self, index: int, giver: int) -> None:
        """A read whose value another one fetches comes behind that."""
        for key, cycle in self.cycles.items():
            for other, later in self.cycles.items():
                if key[0] == giver and other[0] == index:
                    self.model.add(later >= cycle)

    def _users(self, uses: object) -> Iterator[tuple[int, tuple[int, ...], list[int], str]]:
        """The copies that take ports, with their banks."""
        accesses = accesses_of_memories(self.problem)
        for index, access in accesses.items():
            if access.use not in uses.values():  # type: ignore[attr-defined]
                continue
            kind = self.problem.operations[index].kind
            copies = [key for key in self.cycles if key[0] == index]
            holder: dict[int, tuple[int, tuple[int, ...]]] = {}
            for key in copies if kind == "write" else copies[::-1]:
                place = tuple(0 if size == 1 else at for size, at in zip(access.local.shape, key[1], strict=True))
                holder[int(access.local[place])] = key
            for element, key in holder.items():
                for other in copies:
                    place = tuple(0 if s == 1 else at for s, at in zip(access.local.shape, other[1], strict=True))
                    if int(access.local[place]) == element and other != key:
                        ends = (self.cycles[key], self.cycles[other])
                        self.model.add(ends[1] >= ends[0] if kind == "read" else ends[0] >= ends[1])
                if access.own[element]:
                    banks = np.flatnonzero(access.use.spread == access.classes[element]).tolist()
                    yield index, key[1], banks, kind

    def _units(self, bound: StaticSchedule) -> None:
        limits = unit_limits(self.problem, self.interval)
        for operator, limit in limits.items():
            most = max(limit, bound.needed[operator]) if bound.interval == self.interval else limit
            users = [key for key in self.cycles if self.problem.operations[key[0]].unit == operator]
            if most < len(users):
                for slot in range(self.interval):
                    self.model.add(sum(self._slot(key)[slot] for key in users) <= most)

    def solved(self, seconds: float) -> _Solution:
        """The best starts that are found in some time."""
        solver = self.cp.CpSolver()
        solver.parameters.max_time_in_seconds = seconds
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 1
        status = solver.solve(self.model)
        if status not in (self.cp.OPTIMAL, self.cp.FEASIBLE):
            return _Solution(None, status == self.cp.INFEASIBLE)
        found: list[Table] = []
        trips = self.problem.trips
        for operation in self.problem.operations:
            found.append(np.zeros([t if n in operation.loops else 1 for n, t in enumerate(trips)], np.int64))
        for (index, copy), start in self.starts.items():
            found[index][copy] = solver.value(start)
        return _Solution(found, status == self.cp.OPTIMAL)
