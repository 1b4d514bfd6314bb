"""Schedule of a body: the cycle, the unit and the port of each operation, copy by copy where copies differ."""

from __future__ import annotations

from dataclasses import dataclass

from .problem.problem import Problem, Table


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """When each operation starts: `cycles` has a table for each, whose axes are those of the problem.

    `units` and `ports` number what each copy runs on. Iterations start `interval` cycles apart (None: they do not
    overlap); `depth` are the cycles of one iteration.
    """

    problem: Problem
    interval: int | None
    depth: int
    cycles: tuple[Table, ...]
    units: tuple[Table | None, ...]
    ports: tuple[Table | None, ...]
