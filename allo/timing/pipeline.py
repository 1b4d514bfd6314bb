"""Interval and depth of one pipelined loop, and what keeps them from being less."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..ir.access import is_at_stream
from ..layout import NONE
from ..poly.updates import updates_of
from ..target import ControlSize, Operator
from .binding import bound_units
from .interval.recurrence import Recurrence, decide, recurrence_of, words
from .modulo import solve
from .problem.dependences import graph_of
from .problem.formulation import problem_of
from .problem.graph import Edge, Graph
from .problem.operators import SharedUnit
from .problem.ports import Accesses, Pressure, accesses_of
from .problem.problem import Table
from .problem.region import LoopBody, RegionNode
from .reason import Reason
from .schedule import StaticSchedule, rebound, schedule_of


@dataclass(frozen=True, slots=True)
class ScheduledRegion:
    """A region with its schedule; `interval` is None if iterations do not overlap."""

    graph: Graph
    accesses: tuple[Accesses, ...]
    schedule: StaticSchedule
    reason: Reason
    least: int  # the interval that recurrences and ports allow
    recurrence: Recurrence | None
    pressure: Pressure | None

    @property
    def interval(self) -> int:
        """The cycles between iterations of what is pipelined, or of one after the other."""
        return self.schedule.interval or self.schedule.depth

    @property
    def units(self) -> Counter[Operator]:
        """How many units of each operator the region needs, and what is not shared."""
        return self._units(Counter(self.schedule.needed), apart=False)

    def units_built(self, size: ControlSize) -> Counter[Operator]:
        """The same in hardware of our own, with what chooses operands and keeps results of units that are shared."""
        found, (units, needed) = self._units(Counter(), apart=True), self.shared_units()
        for unit, count in self._sharing(units).items():
            saved = count - needed[unit]
            found[unit.operator] -= saved
            found[Operator("choice of operands", lut=round(size.choice_lut_per_bit * unit.bits))] += saved
        for node, numbers in zip(self.graph.region.nodes, units, strict=True):
            if numbers is not None and (waits := int((self.schedule.cycles[node.index] <= self._last_wait).sum())):
                alike = self.schedule.problem.copies(node.index) // numbers.size
                found[Operator("results that wait", lut=round(size.wait_lut_per_bit * node.width))] += waits * alike
        return +found

    def shared_units(self) -> tuple[tuple[Table | None, ...], Counter[SharedUnit]]:
        """Of each operation the numbers of its units among those that are shared in hardware of our own, None: it has
        its own; how many there are, which other regions may use before and after this one.

        Those of one pipeline share by the cycles of its interval; of other code each has another number. Where
        iterations may stand still, units that are shared do not, so that only those are of which there are fewer.
        """
        problem, cycles, interval = self.schedule.problem, self.schedule.cycles, self.schedule.interval or 1
        wanted = [node.shared for node in self.graph.region.nodes]
        found, needed = bound_units(problem, cycles, interval, wanted)
        if self._last_wait < 0:
            return found, needed
        saving = {unit for unit, count in self._sharing(found).items() if needed[unit] < count}
        return bound_units(problem, cycles, interval, [unit if unit in saving else None for unit in wanted])

    @property
    def _last_wait(self) -> int:
        """The last cycle in which an iteration may stand still; -1 if there is none."""
        nodes = self.graph.region.nodes
        return max((self.schedule.last(node.index) for node in nodes if is_at_stream(node.op)), default=-1)

    def _sharing(self, units: Sequence[Table | None]) -> Counter[SharedUnit]:
        """How many operations share units, by the numbers of these."""
        found: Counter[SharedUnit] = Counter()
        for node, numbers in zip(self.graph.region.nodes, units, strict=True):
            if node.shared is not None and numbers is not None:
                found[node.shared] += self.schedule.problem.copies(node.index)
        return found

    def _units(self, found: Counter[Operator], *, apart: bool) -> Counter[Operator]:
        region, problem = self.graph.region, self.schedule.problem
        for node in region.nodes:
            if node.routing is not None and not (node.routing.free or node.in_register or node.forwarded):
                found[node.routing] += region.count(node.copies)
            shared = problem.operations[node.index].unit is not None and not apart
            if node.kind == "compute" and not node.operator.free and not shared:
                found[node.operator] += problem.copies(node.index)  # selecting the operands would cost as much
        return found


def scheduled(
    region: LoopBody, budget: int, requested: int | None, *, reassociate: bool = False
) -> ScheduledRegion:
    """The schedule of a region at the requested interval or the least one above; None: not pipelined.

    `reassociate`: sums of floats in one iteration may be added in any order.
    """
    graph = graph_of(region, budget, exchangeable(region, reassociate=reassociate) if region.assumes else {})
    arrays = _accesses(region)
    recurrence = recurrence_of(graph, requested) if requested is not None else None
    pressures = [p for array in arrays if (p := array.pressure()) is not None]
    pressure = max(pressures, key=lambda p: p.interval, default=None)
    if requested is None:
        found = solve(problem_of(graph, arrays), None)
        return ScheduledRegion(
            graph, tuple(arrays), found, Reason("not pipelined", "not pipelined"), 1, None, pressure
        )
    calls = [node for node in region.nodes if node.kind == "call"]
    call = max(calls, key=lambda node: node.interval, default=None)
    demands = [(requested, "requested"), (recurrence.interval if recurrence else 1, "recurrence")]
    demands += [(pressure.interval if pressure else 1, "ports"), (call.interval if call else 1, "call")]
    interval = max(value for value, _ in demands)
    kind = next(kind for value, kind in demands if value == interval)
    problem = problem_of(graph, arrays)
    found = solve(problem, interval)
    if _above(found, interval) and (doubtful := _doubtful(graph)):
        for edge in doubtful:
            decide(graph, edge)
        known = problem_of(graph, arrays)
        found = found if known.dependences == problem.dependences else solve(known, interval)
    if found.depth < interval:  # iterations that do not overlap wait for all that there is to wait for
        found = rebound(found, max(requested, found.depth))
    reason = _reason(kind, graph, requested, recurrence, pressure, call)
    if _above(found, interval):
        reason = Reason("schedule", f"no schedule with II {interval} found: {reason}")
    smallest = min(max(value for value, what in demands if what != "requested"), found.depth)
    return ScheduledRegion(graph, tuple(arrays), found, reason, smallest, recurrence, pressure)


def bounded(
    region: LoopBody, budget: int, requested: int | None, *, reassociate: bool = False, ports: bool = False
) -> ScheduledRegion:
    """What recurrences allow a region, with as many units as it wants and arrays without latency.

    Its interval and depth are lower bounds of those that `scheduled` finds, whatever banks arrays get; with `ports`,
    those that have banks keep these. Nothing is placed, so that it costs what the dependences cost.
    """
    for node in region.nodes:
        if node.memory is not None:
            node.latency = node.delay = 0
    graph = graph_of(region, budget, exchangeable(region, reassociate=reassociate) if region.assumes else {})
    recurrence = recurrence_of(graph, requested) if requested is not None else None
    interval = None if requested is None else max(requested, recurrence.interval if recurrence is not None else 1)
    arrays = tuple(_accesses(region)) if requested is not None else ()
    if interval is not None and ports:
        divided = (array for array in arrays if any(dim != NONE for dim in array.memory.dims))  # no tool divides these
        interval = max([interval, *(found.interval for array in divided if (found := array.pressure()) is not None)])
    problem = problem_of(graph, [])
    zero = np.zeros((1,) * len(problem.trips), np.int64)
    schedule = schedule_of(problem, [zero] * len(problem.operations), interval)
    kind = "recurrence" if recurrence is not None else "requested"
    return ScheduledRegion(graph, arrays, schedule, Reason(kind, "a bound"), interval or 1, recurrence, None)


def _above(found: StaticSchedule, interval: int) -> bool:
    return found.interval is None or found.interval > interval


def _doubtful(graph: Graph) -> list[Edge]:
    """Carried edges whose distance is not certain."""
    return [edge for edge in graph.edges if edge.distance and not edge.exact and edge.pair is not None]


def exchangeable(region: LoopBody, *, reassociate: bool = False) -> dict[int, frozenset[int]]:
    """Updates whose order does not change the result, or all, with the loops in which nothing else uses their array."""
    updates = updates_of([node.access for node in region.nodes if node.access is not None])
    found = {}
    for node in region.nodes:
        own = updates.get(node.op)
        if own is None or not (own.exact or reassociate) or not own.single:
            continue
        loops = set(node.around)
        for other in region.nodes:
            another = updates.get(other.op)
            if other.label == node.label and (another is None or another.kind != own.kind):
                loops.difference_update(other.around)
        found[node.index] = frozenset(loops)
    return found


def _reason(
    kind: str,
    graph: Graph,
    requested: int,
    recurrence: Recurrence | None,
    pressure: Pressure | None,
    call: RegionNode | None,
) -> Reason:
    if kind == "recurrence" and recurrence is not None:
        return Reason(kind, words(graph, recurrence))
    if kind == "ports" and pressure is not None:
        return Reason(kind, str(pressure))
    if kind == "call" and call is not None:
        return Reason(kind, f"{call.operator.name} takes new data every {call.interval} cycles")
    return Reason("requested", f"as requested: II {requested}")


def _accesses(region: LoopBody) -> list[Accesses]:
    groups: dict[str, list[RegionNode]] = {}
    for node in region.nodes:
        if node.memory is not None:
            groups.setdefault(node.label, []).append(node)
    return [found for nodes in groups.values() if (found := accesses_of(region, nodes)) is not None]
