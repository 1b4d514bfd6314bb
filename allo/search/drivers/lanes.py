"""Model of lanes: cycles and DSPs of all pipelines of a design as functions of the lanes of its loops, and the best."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..choices import Decisions, Hole
from ..point import PipelineFacts, Point, PointState

_AT_ONCE = 1 << 18  # combinations of lanes that are compared at once, summed over all pipelines

type _Table = npt.NDArray[np.float64]
type Lanes = tuple[int, ...]
"""The lanes along each axis of a design."""


def title_of(hole: Hole) -> str:
    """The place of a hole."""
    return hole.name.partition(" at ")[2]


def sizes_of(hole: Hole) -> list[int]:
    """The numbers of lanes that a loop may have."""
    return [int(option) for option in hole.options]


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop: it is a part of all lanes along an axis."""

    hole: Hole
    axis: int

    def turns(self, lanes: _Table) -> _Table:
        """The iterations that lanes leave."""
        extent = int(self.hole.options[-1])
        return np.ceil(extent / lanes)


@dataclass(slots=True)
class _Pipeline:
    """A pipeline with the loops of its bodies, and what is known of it.

    Its cycles are `work`, those of an iteration a cycle without lanes, times the share of the iterations that lanes
    leave and its interval, and `rest`. A sum that is needed again waits for `wait` cycles. `dsp` are those of a lane.
    What was found for certain lanes is in `known`, in cycles and in DSPs.
    """

    place: PipelineFacts
    loops: list[_Loop]
    orders: dict[Hole, list[list[_Loop]]]  # of each body with several: its loops in each
    work: float
    rest: float = 0.0
    wait: int = 1
    dsp: float = 0.0
    known: dict[Lanes, tuple[float | None, float]] = field(default_factory=dict)

    def share(self, lanes: Sequence[_Table]) -> _Table:
        """The share of all iterations that lanes leave."""
        found: _Table = np.ones_like(lanes[0])
        for loop in self.loops:
            found = found * loop.turns(lanes[loop.axis]) / int(loop.hole.options[-1])
        return found

    def copies(self, lanes: Sequence[_Table]) -> _Table:
        """The copies of a body."""
        found: _Table = np.multiply.reduce([lanes[loop.axis] for loop in self.loops])
        return found

    def distances(self, lanes: Sequence[_Table]) -> list[tuple[Hole | None, int, _Table]]:
        """For each order of a body the iterations after which a loop needs its own results again."""
        if not self.orders:
            return [(None, 0, _distance(self.loops, lanes))]
        return [
            (hole, number, _distance(loops, lanes))
            for hole, orders in self.orders.items()
            for number, loops in enumerate(orders)
        ]

    def interval(self, lanes: Sequence[_Table]) -> _Table:
        """The cycles between two iterations in the best order of each body."""
        return np.maximum(1.0, np.ceil(self.wait / self.distance(lanes)))

    def distance(self, lanes: Sequence[_Table]) -> _Table:
        """The iterations after which a loop needs its own results again, in the best order of each body."""
        best: dict[Hole | None, _Table] = {}
        for hole, _, distance in self.distances(lanes):
            best[hole] = np.maximum(best[hole], distance) if hole in best else distance
        least: _Table = np.minimum.reduce(list(best.values()))
        return least

    def cycles(self, lanes: Sequence[_Table]) -> _Table:
        """The cycles of all runs."""
        found = self.work * self.share(lanes) * self.interval(lanes) + self.rest
        for shape, (known, _) in self.known.items():
            if known is not None:
                found = np.where(self._are(shape, lanes), known, found)
        return found

    def expected(self, decisions: Decisions, axes: int) -> _Table:
        """The cycles of all runs with the lanes and orders of decisions."""
        lanes: list[_Table] = [np.array(1.0)] * axes
        for loop in self.loops:
            lanes[loop.axis] = np.array(float(sizes_of(loop.hole)[decisions.get(loop.hole.name, 0)]))
        bodies = [orders[decisions.get(hole.name, 0)] for hole, orders in self.orders.items()] or [self.loops]
        distance = min(float(_distance(body, lanes)) for body in bodies)
        return self.work * self.share(lanes) * max(1, math.ceil(self.wait / distance)) + self.rest

    def dsps(self, lanes: Sequence[_Table], *, waits: bool) -> _Table:
        """The DSPs of all lanes at an iteration a cycle: where it waits, another order needs fewer for as much. Where
        orders stay (`waits`), lanes that wait use units in turn: those that are needed at a time."""
        found = self.dsp * self.copies(lanes) / (self.interval(lanes) if waits else 1.0)
        for shape, (_, known) in self.known.items():
            found = np.where(self._are(shape, lanes), known, found)
        return np.ceil(found)

    def own(self, lanes: Lanes) -> Lanes:
        """The lanes of its loops."""
        return tuple(lanes[loop.axis] for loop in self.loops)

    def _are(self, shape: Lanes, lanes: Sequence[_Table]) -> npt.NDArray[np.bool_]:
        pairs = zip(self.loops, shape, strict=True)
        found: npt.NDArray[np.bool_] = np.logical_and.reduce([lanes[loop.axis] == size for loop, size in pairs])
        return found


def _distance(loops: Sequence[_Loop], lanes: Sequence[_Table]) -> _Table:
    """Iterations from one of the innermost loop that needs its own results to the next one, loops from the outermost.

    A loop with as many lanes as iterations needs nothing again.
    """
    found = np.full_like(lanes[0], np.inf)
    inside = np.ones_like(lanes[0])
    for loop in reversed(loops):
        turns = loop.turns(lanes[loop.axis])
        if loop.hole.carries:
            found = np.minimum(found, np.where(turns > 1, inside, np.inf))
        inside = inside * turns
    return found


class LaneModel:
    """All pipelines of a design, whose lanes share DSPs.

    Loops that walk along the same dimension of an array have as many lanes, so that its banks fit all: they are one
    axis. What follows one another does so with any lanes, and shares its units, but for the two pipelines with titles
    in `at_once`, which are to be one. With `waits`, loops stay in the order of `start`: sums that wait use units in
    turn, which may be other ones than those of sums that do not.
    """

    def __init__(
        self, start: Point, limits: Mapping[str, float], at_once: frozenset[str] = frozenset(), *, waits: bool = False
    ) -> None:
        self.limits = limits
        self.waits = waits
        self.at_once = at_once
        self.room = limits["dsp"]
        self.never: list[frozenset[int]] = []  # axes of sums that may not have lanes all at once
        holes = {title: [] for place in start.places for title in place.titles}  # type: dict[str, list[Hole]]
        for hole in start.holes:
            holes.get(title_of(hole), []).append(hole)
        self.axes = _axes(start.places, holes)
        self.pipelines = [
            self._pipeline(place, holes) for place in sorted(start.places, key=lambda p: p.begin or 0) if place.cycles
        ]
        if waits:  # each lane of a sum would let the sum wait longer
            self.never = [frozenset({n}) for n, axis in enumerate(self.axes) if any(hole.carries for hole in axis)]
        self.pipelines = [one for one in self.pipelines if one.loops]
        least = min((one.dsp / (one.wait if waits else 1) for one in self.pipelines if one.dsp), default=0.0)
        for one in self.pipelines:  # what takes none is not to have more lanes than what does
            one.dsp = one.dsp or least

    @property
    def fewest(self) -> Lanes:
        """One lane along each axis."""
        return (1,) * len(self.axes)

    def decisions(self, lanes: Lanes) -> dict[str, int]:
        """Holes for so many lanes, each body in the order in which a sum is needed again as late as possible."""
        found = {hole.name: sizes_of(hole).index(n) for axis, n in zip(self.axes, lanes, strict=True) for hole in axis}
        tables = _tables(lanes)
        for one in self.pipelines:
            best: dict[Hole, float] = {}
            for hole, number, distance in one.distances(tables):
                if hole is not None and float(distance) > best.get(hole, 0.0):
                    best[hole], found[hole.name] = float(distance), hole.taken if self.waits else number
        return found

    def cycles(self, lanes: Sequence[_Table]) -> _Table:
        """When the last pipeline ends."""
        return self._last([one.cycles(lanes) for one in self.pipelines])

    def expected(self, decisions: Decisions) -> float:
        """The cycles of a design with the same pipelines, whatever lanes and orders it has, if its banks fit."""
        return float(self._last([one.expected(decisions, len(self.axes)) for one in self.pipelines]))

    def _last(self, cycles: Sequence[_Table]) -> _Table:
        """When the last pipeline ends, of which each takes so many cycles."""
        ends: list[_Table] = []
        for number, (one, own) in enumerate(zip(self.pipelines, cycles, strict=True)):
            before = [ends[n] for n, other in enumerate(self.pipelines[:number]) if self._follows(other, one)]
            ends.append(np.maximum.reduce(before) + own if before else own)
        found: _Table = np.maximum.reduce(ends)
        return found

    def dsps(self, lanes: Sequence[_Table]) -> _Table:
        """The most DSPs that are used at a time."""
        own = [one.dsps(lanes, waits=self.waits) for one in self.pipelines]
        sums = []
        for one in self.pipelines:
            parts: dict[str, _Table] = {}
            for dsp, other in zip(own, self.pipelines, strict=True):
                merged = other is not one and self._are_at_once(other, one)
                if merged or _runs_at_begin(other.place, one.place):
                    part = other.place.part if other.place.part and not merged else str(id(other))
                    parts[part] = np.maximum(parts[part], dsp) if part in parts else dsp
            sums.append(np.add.reduce(list(parts.values())))
        found: _Table = np.maximum.reduce(sums)
        return found

    def _follows(self, first: _Pipeline, second: _Pipeline) -> bool:
        return not self._are_at_once(first, second) and _follows(first.place, second.place)

    def _are_at_once(self, first: _Pipeline, second: _Pipeline) -> bool:
        return all(self.at_once.intersection(one.place.titles) for one in (first, second))

    def best(self, count: int, among: set[Lanes]) -> list[tuple[float, Lanes]]:
        """The lanes with the fewest cycles within the limit, without those `among`, the best first.

        As many axes as can be compared at once are decided together, the others stay, until nothing changes.
        """
        choices = [_choices(axis) for axis in self.axes]
        found: dict[Lanes, float] = {}
        best, least = self.fewest, math.inf
        while True:
            before = best
            for block in _blocks(choices, _AT_ONCE // len(self.pipelines)):
                for cycles, lanes in self._compared(block, choices, best, count + len(among)):
                    found[lanes] = cycles
                    if cycles < least:
                        best, least = lanes, cycles
            if best == before:
                break
        return sorted((cycles, lanes) for lanes, cycles in found.items() if lanes not in among)[:count]

    def _compared(
        self, block: Sequence[int], choices: Sequence[Sequence[int]], taken: Lanes, count: int
    ) -> Iterator[tuple[float, Lanes]]:
        """The best lanes along some axes."""
        grids = np.meshgrid(*(np.array(choices[axis], float) for axis in block), indexing="ij")
        flat = {axis: grid.ravel() for axis, grid in zip(block, grids, strict=True)}
        length = len(next(iter(flat.values())))
        lanes = [flat[axis] if axis in flat else np.full(length, float(n)) for axis, n in enumerate(taken)]
        few = 1e-9 * np.add.reduce(lanes)  # of equal ones that with the fewest lanes
        cost = np.where(self.dsps(lanes) <= self.room, self.cycles(lanes) + few, np.inf)
        for axes in self.never:
            cost = np.where(np.logical_and.reduce([lanes[axis] > 1 for axis in axes]), np.inf, cost)
        for place in np.argsort(cost, kind="stable")[:count]:
            if cost[place] < math.inf:
                yield float(cost[place]), tuple(int(table[place]) for table in lanes)

    def learn(self, lanes: Lanes, point: Point) -> None:
        """Take over what a point with these lanes has shown."""
        if point.state is PointState.ILLEGAL:
            sums = [number for number, axis in enumerate(self.axes) if any(hole.carries for hole in axis)]
            if own := frozenset(number for number in sums if lanes[number] > 1):
                self.never.append(own)
            return
        tables = _tables(lanes)
        found = {place.titles: place for place in point.places}
        for one in self.pipelines:
            place = found.get(one.place.titles)
            if place is None:
                continue
            copies = float(one.copies(tables))
            if place.dsp:
                one.dsp = place.dsp / copies
            distance = float(one.distance(tables))
            if place.waits and math.isfinite(distance):
                one.wait = max(one.wait, int((place.interval - 1) * distance) + 1)
            if place.cycles is not None:
                one.rest = max(0.0, place.cycles - one.work * float(one.share(tables)) * place.interval)
                ports = 1 if place.waits and not self.waits else place.interval  # with few ports, units are used again
                one.known[one.own(lanes)] = (place.cycles, math.ceil(place.dsp / ports))
        if point.is_design:
            tight = max(point.figure(name) / limit for name, limit in self.limits.items() if limit)
            used = float(self.dsps(tables))
            if tight > 0 and used > 0:
                self.room = used / tight

    def _pipeline(self, place: PipelineFacts, holes: Mapping[str, Sequence[Hole]]) -> _Pipeline:
        axis_of = {hole: number for number, axis in enumerate(self.axes) for hole in axis}
        bodies = [
            [_Loop(hole, axis_of[hole]) for hole in holes[title] if hole in axis_of] for title in place.titles
        ]
        orders = {
            hole: [_ordered(body, option) for option in hole.options]
            for title, body in zip(place.titles, bodies, strict=True)
            for hole in holes[title]
            if hole.name.startswith("order at ")
        }
        if self.waits:
            orders = {hole: loops[hole.taken : hole.taken + 1] for hole, loops in orders.items()}
        work = (place.cycles or 0) / place.interval
        found = _Pipeline(place, bodies[0], orders, work, dsp=place.dsp)
        if place.waits:
            first = [loops[0] for loops in orders.values()] or [found.loops]
            distance = min(float(_distance(loops, _tables(self.fewest))) for loops in first)
            found.wait = int((place.interval - 1) * distance) + 1 if math.isfinite(distance) else 1
        return found


def _tables(lanes: Lanes) -> list[_Table]:
    return [np.array(float(n)) for n in lanes]


def _ordered(body: Sequence[_Loop], option: str) -> list[_Loop]:
    """The loops of a body in the order of an option; those without lanes are left out."""
    by_name = {loop.hole.name.partition(" at ")[0].removeprefix("lanes of "): loop for loop in body}
    return [by_name[name] for name in option.split(", ") if name in by_name]


def _choices(axis: Sequence[Hole]) -> list[int]:
    """The lanes that all loops of an axis may have."""
    others = [set(sizes_of(hole)) for hole in axis[1:]]
    return [n for n in sizes_of(axis[0]) if all(n in sizes for sizes in others)]


def _axes(places: Sequence[PipelineFacts], holes: Mapping[str, Sequence[Hole]]) -> list[list[Hole]]:
    """Loops that walk along the same dimension of an array, or are merged."""
    axes: list[tuple[set[str], list[Hole]]] = []
    for place in places:
        bodies = [[hole for hole in holes[title] if hole.ordered] for title in place.titles]
        for number, hole in enumerate(bodies[0]):
            merged = [body[number] for body in bodies if number < len(body)]
            walks = {name for one in merged for name in one.walks} or {hole.name}
            own = {title_of(one) for one in merged}
            near = []
            for axis in axes:
                titles = {title_of(one) for one in axis[1]}
                if axis[0] & walks and not own & titles:
                    own |= titles
                    near.append(axis)
            axes = [axis for axis in axes if not any(axis is other for other in near)]
            axes.append((walks.union(*(axis[0] for axis in near)), [*(h for a in near for h in a[1]), *merged]))
    return [axis for _, axis in axes]


def _blocks(choices: Sequence[Sequence[int]], most: int) -> Iterator[list[int]]:
    """Axes that are decided together: all, or each with those behind it that can be compared at once."""
    for first in range(len(choices)):
        block: list[int] = []
        size = 1
        for axis in [*range(first, len(choices)), *range(first)]:
            if size * len(choices[axis]) <= most:
                block.append(axis)
                size *= len(choices[axis])
        yield block
        if len(block) == len(choices):
            return


def _follows(first: PipelineFacts, second: PipelineFacts) -> bool:
    """Whether the second of two places, in the order of their begins, waits for the first one."""
    if first.end is None or second.begin is None:
        return True
    return first.part == second.part or first.end <= second.begin


def _runs_at_begin(place: PipelineFacts, other: PipelineFacts) -> bool:
    """Whether a place, or another one of its part, runs when the other one begins."""
    if place.begin is None or place.end is None or other.begin is None:
        return place is other
    return place.begin <= other.begin < place.end
