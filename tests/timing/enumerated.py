"""A slow reading of schedules: all copies of some iterations, one by one, on ports and units that are counted."""

from __future__ import annotations

from collections import Counter
from itertools import product

from allo.timing.problem.problem import Passing, Precedence, Problem
from allo.timing.schedule import StaticSchedule

type Copy = tuple[int, ...]


def copies_of(problem: Problem, index: int) -> list[Copy]:
    """The copies of an operation: a number for each unrolled loop, 0 where it has none."""
    loops = problem.operations[index].loops
    return list(product(*(range(trip if n in loops else 1) for n, trip in enumerate(problem.trips))))


def start(schedule: StaticSchedule, index: int, copy: Copy, iteration: int) -> int:
    table = schedule.cycles[index]
    place = tuple(0 if size == 1 else at for size, at in zip(table.shape, copy, strict=True))
    return int(table[place]) + iteration * (schedule.interval or schedule.depth)


def waits(problem: Problem, dependence: Precedence, first: Copy, second: Copy) -> bool:
    """Whether one copy of the sink waits for one of the source."""
    one, other = (set(problem.operations[n].loops) for n in (dependence.source, dependence.sink))
    moves = {move.loop: (move.low, move.high) for move in dependence.moves}
    for loop in range(len(problem.trips)):
        if loop in dependence.tree:
            continue
        if loop in one and loop in other:
            low, high = moves.get(loop, (0, 0))
            if not low <= second[loop] - first[loop] <= high:
                return False
        elif loop in moves and loop in other and not any(
            moves[loop][0] <= second[loop] - at <= moves[loop][1] for at in range(problem.trips[loop])
        ):
            return False
    return not dependence.tree or in_tree(problem, dependence.tree, first, second)


def in_tree(problem: Problem, loops: tuple[int, ...], first: Copy, second: Copy) -> bool:
    """Whether one number lies in what another one joins: 4 joins 1 to 7 and so on, and 0 all."""
    numbers = []
    for copy in (first, second):
        number = 0
        for loop in loops:
            number = number * problem.trips[loop] + copy[loop]
        numbers.append(number)
    below, above = numbers
    size = above & -above
    return below != 0 and below != above and (above == 0 or abs(below - above) < size)


def broken(schedule: StaticSchedule, iterations: int = 3) -> list[str]:
    """What goes wrong in some iterations: values that come late, ports and units that are used twice."""
    problem, found = schedule.problem, list[str]()
    for dependence in problem.dependences:
        source = problem.operations[dependence.source]
        needed = {Passing.VALUE: source.latency, Passing.FORWARD: 0, Passing.CYCLES: dependence.cycles}
        for first, second in product(copies_of(problem, dependence.source), copies_of(problem, dependence.sink)):
            if not waits(problem, dependence, first, second):
                continue
            ready = start(schedule, dependence.source, first, 0) + needed[dependence.passing]
            if start(schedule, dependence.sink, second, dependence.distance) < ready:
                found.append(f"{dependence.sink} {second} comes before {dependence.source} {first}")
    return found + _used_twice(schedule, iterations)


def _used_twice(schedule: StaticSchedule, iterations: int) -> list[str]:
    problem, found = schedule.problem, list[str]()
    busy = Counter[tuple[object, ...]]()
    for iteration in range(iterations):
        for index, operation in enumerate(problem.operations):
            if operation.unit is not None:
                for copy in copies_of(problem, index):
                    busy[operation.unit, start(schedule, index, copy, iteration)] += 1
        for number, memory in enumerate(problem.memories):
            for kind in ("read", "write"):
                for (index, element), (cycle, place) in _fetches(schedule, memory.uses, kind, iteration).items():
                    for bank in range(memory.banks):
                        if memory.uses[index].spread[bank] == place:
                            busy[number, bank, cycle] += 1
                            busy[number, bank, cycle, kind] += 1
                            own = memory.ports.reads if kind == "read" else memory.ports.writes
                            limits = own, memory.ports.total
                            counts = busy[number, bank, cycle, kind], busy[number, bank, cycle]
                            if any(n is not None and n < m for n, m in zip(limits, counts, strict=True)):
                                found.append(f"{memory.name}: bank {bank} in cycle {cycle} for element {element}")
    for key, count in busy.items():
        if len(key) == 2 and count > schedule.needed[key[0]]:  # type: ignore[index]
            found.append(f"{count} of {key[0]} start in cycle {key[1]}")
    return found


def _fetches(
    schedule: StaticSchedule, uses: object, kind: str, iteration: int
) -> dict[tuple[int, int], tuple[int, int]]:
    """The cycle and the class of banks in which each element is read for the first time, or written for the last."""
    problem = schedule.problem
    when: dict[int, tuple[int, int, int]] = {}
    for index, use in uses.items():  # type: ignore[attr-defined]
        if problem.operations[index].kind != kind:
            continue
        own: dict[int, tuple[int, int, int]] = {}
        wide = {n for n, size in enumerate(use.elements.shape) if size > 1}
        every = range(len(problem.trips))
        loops = wide | set(problem.operations[index].loops)
        for copy in product(*(range(problem.trips[n] if n in loops else 1) for n in every)):
            place = tuple(0 if size == 1 else at for size, at in zip(use.elements.shape, copy, strict=True))
            element, cycle = int(use.elements[place]), start(schedule, index, copy, iteration)
            before = own.get(element)
            if before is None or (cycle < before[1]) == (kind == "read"):
                own[element] = (index, cycle, int(use.places[place]))
        for element, (_, cycle, bank) in own.items():
            if kind == "write" or element not in when or cycle < when[element][1]:
                when[element] = (index, cycle, bank)
    return {(index, element): (cycle, bank) for element, (index, cycle, bank) in when.items()}
