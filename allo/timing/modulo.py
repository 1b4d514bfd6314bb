"""Iterative modulo scheduling of a problem, with ports and units: operations that come too late for others move them.

An operation is placed in the first cycles that its sources, ports and units allow, whatever comes behind it. Those that
then start too early, in this or in a later iteration, lose their places and are placed again (B. R. Rau, Iterative
modulo scheduling, MICRO-27, 1994). Without an interval this is list scheduling.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import InternalError
from ..target import Operator
from .copy_starts import CopyStarts
from .interval.walks import components
from .leveling import levelled, unit_limits
from .placement import Places, PortAccess, accesses_of_memories
from .problem.arrivals import NEVER, arrival
from .problem.problem import Precedence, Problem, Table
from .schedule import StaticSchedule, schedule_of

_ATTEMPTS = 6  # at larger intervals
_PLACEMENTS = 8  # of each operation, on average, before an interval is given up
_EVICTIONS = 3
_FEW_LINKS = 4  # between copies, for each operation

type _Numbered = tuple[int, Precedence]


def solve(problem: Problem, interval: int | None) -> StaticSchedule:
    """The schedule with the least interval from `interval` on that is found; None: iterations do not overlap.

    Intervals are tried at growing distances, and then those between, up to the depth, at which iterations do not
    overlap. The interval comes before units: if it takes more than the fewest that could do, there are more.
    """
    accesses = accesses_of_memories(problem)
    if interval is not None and (starts := _Attempt(problem, accesses, interval, {}).run()) is not None:
        return _with_few_units(problem, accesses, starts, interval)
    copies = CopyStarts.of(problem) if interval is not None and _is_chain(problem) else None

    def tried(candidate: int | None) -> list[Table] | None:
        least = copies.starts(candidate) if copies is not None else []
        if least is None:
            return None
        return _Attempt(problem, accesses, candidate, {}, least, settled=copies is not None).run()

    alone = tried(None)
    if alone is None:  # reads that share what others have read may chase each other: each reads by itself then
        reads = {index for index in accesses if problem.operations[index].kind == "read"}
        accesses |= {index: accesses[index].alone() for index in reads}
        alone = tried(None)
    if alone is None:
        raise InternalError("operations wait for one another within an iteration")
    found = schedule_of(problem, alone, None)
    if interval is None:
        return found
    low, high, step = interval, max(found.depth, interval), 1  # not possible, possible
    if copies is not None:
        low = max(low, copies.least_interval(low, high) - 1)
    best: list[Table] | None = None
    for _ in range(_ATTEMPTS):
        if high - low <= 1:
            break
        middle = min(low + step, (low + high) // 2) if best is None else (low + high) // 2
        starts = tried(middle)
        if starts is None:
            low, step = middle, 2 * step
        else:
            high, best = middle, starts
    if best is None:
        return schedule_of(problem, alone, high)
    return _with_few_units(problem, accesses, best, high)


def _is_chain(problem: Problem) -> bool:
    """Whether operations wait for their own copies so often that they would lose their places for each."""
    links = sum(problem.copies(d.sink) for d in problem.dependences if not d.distance and d.source >= d.sink)
    return links > _FEW_LINKS * len(problem.operations)


def _with_few_units(
    problem: Problem, accesses: dict[int, PortAccess], starts: list[Table], interval: int
) -> StaticSchedule:
    """A schedule with as few units as the interval allows, or else no more than a schedule with many needs."""
    found = schedule_of(problem, starts, interval)
    limits = unit_limits(problem, interval)
    if all(found.needed[operator] <= limit for operator, limit in limits.items()):
        return found
    limited = _Attempt(problem, accesses, interval, limits, starts).run()
    return schedule_of(problem, levelled(problem, starts, interval) if limited is None else limited, interval)


class _Attempt:
    """One interval."""

    def __init__(
        self, problem: Problem, accesses: dict[int, PortAccess], interval: int | None, limits: Mapping[Operator, int],
        least: Sequence[Table] | None = None, *, settled: bool = False,
    ) -> None:
        zero: Table = np.zeros((1,) * len(problem.trips), np.int64)
        self.least = list(least or [zero] * len(problem.operations))  # ps before which nothing starts
        self.settled = settled  # these are as late as all that waits for one another demands
        self.problem = problem
        self.interval = interval
        self.places = Places(problem, interval, accesses, limits)
        self.starts: list[Table | None] = [None] * len(problem.operations)
        self.incoming: list[list[_Numbered]] = [[] for _ in problem.operations]
        self.outgoing: list[list[_Numbered]] = [[] for _ in problem.operations]
        for number, dependence in enumerate(problem.dependences):
            if interval is not None or not dependence.distance:
                self.incoming[dependence.sink].append((number, dependence))
                self.outgoing[dependence.source].append((number, dependence))
        self.arrived: dict[int, Table] = {}  # the ps from which sinks may start
        self.sharing: list[list[int]] = [[] for _ in problem.operations]
        for index, access in accesses.items():
            for giver in access.givers if problem.operations[index].kind == "read" else ():
                self.sharing[giver].append(index)
        self.rank = {index: rank for rank, index in enumerate(self._order())}
        self.waiting = list(range(len(problem.operations)))
        self.evictions = [0] * len(problem.operations)
        self.circular: set[int] | None = None

    def run(self) -> list[Table] | None:
        """The ps at which copies of operations start; None if there is no schedule, or none is found."""
        by_rank = sorted(self.rank, key=self.rank.__getitem__)
        budget = _PLACEMENTS * len(by_rank) + 64
        if not self.settled:
            links = self._links()
            budget += sum(links) + 4 * max(links, default=0)
        if self.interval is None:  # there always is a schedule, unless reads that share elements chase each other
            budget *= 4 if any(self.sharing) else 50
        while self.waiting:
            budget -= 1
            index = by_rank[heapq.heappop(self.waiting)]
            ready = self._ready(index)
            table = self.places.place(index, ready)
            if table is None and self._evicts(index):
                table = self.places.place(index, ready)
            if table is None or budget < 0:
                return None
            self._start(index, table)
            if self.interval is not None and (table > ready).any() and self._is_late(index):
                self.places.release(index)
                self._evicts(index)
                table = self.places.place(index, ready)
                if table is None:
                    return None
                self._start(index, table)
            if not self._moves_on(index):
                return None
        return [table for table in self.starts if table is not None]

    def _start(self, index: int, table: Table) -> None:
        """Let an operation start, and what waits for it know of that."""
        self.starts[index] = table
        for number, dependence in self.outgoing[index]:
            found = arrival(self.problem, dependence, table, self.interval or 0)
            if dependence.distance:
                found = -(-found // self.problem.period) * self.problem.period
            self.arrived[number] = found

    def _links(self) -> list[int]:
        """The copies of operations that wait for their own."""
        links = [d for d in self.problem.dependences if not d.distance and d.source >= d.sink]
        return [self.problem.copies(d.sink) for d in links]

    def _ready(self, index: int) -> Table:
        """The ps from which copies may start, by all that is placed before them."""
        period, operation = self.problem.period, self.problem.operations[index]
        ready = self.least[index]
        for number, dependence in self.incoming[index]:
            if self.starts[dependence.source] is not None and dependence.source != index:
                found = self.arrived[number]
                if dependence.source > index and not dependence.distance:
                    found = _continued(found)
                ready = np.maximum(ready, found)
        self.least[index] = ready  # so that what was let go does not come back to where it was
        if operation.latency == 0 and operation.delay:  # logic does not cross a clock edge
            crosses = ready % period + operation.delay > period
            ready = np.where(crosses, -(-ready // period) * period, ready)
        return ready

    def _is_late(self, index: int) -> bool:
        """Whether an operation that was placed starts too late for one of an earlier place in a circle."""
        return any(d.distance and d.sink != index and self._is_violated(n, d) for n, d in self.outgoing[index])

    def _is_violated(self, number: int, dependence: Precedence) -> bool:
        sink = self.starts[dependence.sink]
        if sink is None or self.starts[dependence.source] is None:
            return False
        return bool((self.arrived[number] > sink).any())

    def _moves_on(self, index: int) -> bool:
        """Let go all that starts too early now; False if an operation would wait for itself."""
        for number, dependence in self.outgoing[index]:
            if self._is_violated(number, dependence):
                if dependence.sink == index:
                    if dependence.distance:
                        return False
                    self.least[index] = np.maximum(self.least[index], _continued(self.arrived[number]))
                self._let_go(dependence.sink)
        for other in self.sharing[index]:
            if self.starts[other] is not None and self.places.shares_too_early(index, other):
                self._let_go(other)
        return True

    def _let_go(self, index: int) -> None:
        self.places.release(index)
        self.starts[index] = None
        heapq.heappush(self.waiting, self.rank[index])

    def _evicts(self, index: int) -> bool:
        """Take the places of others that are in no circle, or of all, if an operation in one cannot wait."""
        access = self.places.accesses.get(index)
        if access is None or self.evictions[index] >= _EVICTIONS:
            return False
        self.evictions[index] += 1
        placed = (n for n, a in self.places.accesses.items() if a.memory == access.memory and n != index)
        others = [n for n in placed if self.starts[n] is not None]
        free = [n for n in others if n not in self._in_circles()]
        for other in free or others:
            self._let_go(other)
        return bool(others)

    def _in_circles(self) -> set[int]:
        """The operations that wait for themselves in an earlier iteration."""
        if self.circular is None:
            pairs = [(d.source, d.sink) for d in self.problem.dependences]
            self.circular = set().union(*components(len(self.starts), pairs))
        return self.circular

    def _order(self) -> list[int]:
        """Operations behind all that they wait for within an iteration, but for earlier copies."""
        forward = [(d.source, d.sink) for d in self.problem.dependences if not d.distance and d.source < d.sink]
        forward += [(first, second) for first, others in enumerate(self.sharing) for second in others]
        waiting = [0] * len(self.starts)
        following: list[list[int]] = [[] for _ in self.starts]
        for source, sink in dict.fromkeys(forward):
            waiting[sink] += 1
            following[source].append(sink)
        ready = [n for n, count in enumerate(waiting) if not count]
        for index in ready:
            for target in following[index]:
                waiting[target] -= 1
                if not waiting[target]:
                    ready.append(target)
        return ready


def _continued(arrivals: Table) -> Table:
    """The times of a chain whose first copies are at even distances, so that the others are not found one by one."""
    axes = [n for n, size in enumerate(arrivals.shape) if size > 4]
    if len(axes) != 1 or arrivals.size != arrivals.shape[axes[0]]:
        return arrivals
    times = arrivals.reshape(-1)
    step = int(times[2] - times[1])
    if times[1] == NEVER or step <= 0 or times[3] - times[2] != step or times[-1] != times[3]:
        return arrivals
    found = times.copy()
    found[1:] = times[1] + step * np.arange(len(times) - 1)
    return np.maximum(arrivals, found.reshape(arrivals.shape))
