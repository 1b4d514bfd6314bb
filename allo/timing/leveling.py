"""Levelling of a schedule: operations that can wait do so, until the units of an operator are used evenly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..target import Operator
from .placement import on_units
from .problem.arrivals import arrival
from .problem.problem import Problem, Table
from .reservations import Units


def unit_limits(problem: Problem, interval: int) -> dict[Operator, int]:
    """The fewest units of each operator with which an interval is possible."""
    found = Counter[Operator]()
    for index, operation in enumerate(problem.operations):
        if operation.unit is not None:
            found[operation.unit] += problem.copies(index)
    return {operator: -(-count // interval) for operator, count in found.items()}


def levelled(problem: Problem, starts: Sequence[Table], interval: int) -> list[Table]:
    """The starts, in ps, with operations as late as what waits for them allows where that saves units.

    From the last to the first, so that those behind have made room.
    """
    found = list(starts)
    units = {operator: Units(limit, interval) for operator, limit in unit_limits(problem, interval).items()}
    for index in sorted(range(len(found)), key=lambda n: (-int(found[n].max()), -n)):
        operation = problem.operations[index]
        if operation.unit is None:
            continue
        own, slack = units[operation.unit], _slack(problem, found, index, interval)
        while True:
            later = on_units(problem, own, index, found[index])
            if int((later - found[index]).max()) <= slack * problem.period:
                break
            own.remove(index)
            own.limit += max(1, own.limit // 4)
        found[index] = later
    return found


def _slack(problem: Problem, starts: Sequence[Table], index: int, interval: int) -> int:
    """The cycles by which all copies of an operation could start later."""
    found = interval
    for dependence in problem.dependences:
        if dependence.source == index and dependence.sink != index:
            arrived = arrival(problem, dependence, starts[index], interval)
            found = min(found, int((starts[dependence.sink] - arrived).min()) // problem.period)
    return max(0, found)
