"""Search for the k best mappings of a tile program: bounds, dominated choices cut early, then the performance model."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import batched, combinations, groupby, product
from math import inf, prod

import numpy as np

from ...errors import TargetError
from .batch import Numbers
from .choices import (
    LoadChoice,
    PlacedLoad,
    Realisation,
    TileMapping,
    all_mappings,
    load_choices,
    loads_of,
    nest_of,
    realisations,
    store_choices,
)
from .model import Flags, LoadTable, MeshResources, Rows, TileModel
from .program import TileProgram
from .space import SpaceTime, mean_active, space_times
from .traffic import TrafficModel

_WHOLE = 16384  # combinations of choices that are all looked at, in one space-time mapping
_WIDTH = 512  # combinations that go on from load to load where there are more
_AT_ONCE = 512  # mappings of the whole space that are estimated together
_ORDERS = 64  # space-time mappings of which all are looked at


@dataclass(frozen=True)
class TileCandidate:
    """A mapping with its estimated cycles."""

    cycles: float
    mapping: TileMapping


@dataclass(frozen=True)
class TileSearch:
    """The best candidates, fastest first; how many mappings the space has that were not cut, and were estimated.

    Where loads or dimensions of the grid are many, `whole` is false: some combinations of choices, or orders of waves,
    were not considered.
    """

    best: tuple[TileCandidate, ...]
    considered: int
    estimated: int
    whole: bool


def search(program: TileProgram, traffic: TrafficModel, k: int, model: TileModel | None = None) -> TileSearch:
    """The `k` fastest mappings by the performance model. Raises TargetError if none fits the memory of a core."""
    kept = _Fastest(model or TileModel(program, traffic), k)
    every = list(space_times(program, traffic.routes.mesh.shape))
    boxes = [load.box.levels for load in kept.model.loads]
    users = [frozenset(k for k, levels in enumerate(boxes) if dim in levels) for dim in range(len(program.grid))]
    taken = every if len(every) <= _ORDERS else [one for one in every if _in_order(one, users)]
    parts = {one: part for one in taken if (part := kept.part(one)) is not None}
    for part in sorted(parts.values(), key=lambda part: part.least):
        if part.least < kept.slowest:
            kept.consider(part, part.combinations())
    if not kept.heap:
        raise TargetError(_too_large(program, traffic), hint="make blocks smaller")
    whole = len(taken) == len(every) and all(part.whole for part in parts.values())
    if not whole:
        kept.improve(parts, every)
    return TileSearch(kept.best(), kept.considered, kept.estimated, whole)


def _in_order(space_time: SpaceTime, users: Sequence[frozenset[int]]) -> bool:
    """Whether waves of the same users, the loads that depend on them, are in the order of the grid.

    No tile is used again from one of them to the other.
    """
    waves = space_time.waves
    return not any(users[outer] == users[inner] and outer > inner for outer, inner in combinations(waves, 2))


class _Fastest:
    """The `k` fastest mappings of all that were considered."""

    def __init__(self, model: TileModel, k: int) -> None:
        self.model, self.k = model, k
        self.heap: list[tuple[float, int, TileMapping]] = []  # the slowest first
        self.known: set[TileMapping] = set()
        self.ways: dict[tuple[tuple[int, ...], ...], tuple[list[list[Realisation]], MeshResources]] = {}
        self.considered = self.estimated = 0

    @property
    def slowest(self) -> float:
        """The cycles that a further mapping must be faster than."""
        return -self.heap[0][0] if len(self.heap) == self.k else inf

    def part(self, space_time: SpaceTime) -> _Combinations | None:
        """All combinations of one space-time mapping; None if a load does not fit at all."""
        if space_time.tilings not in self.ways:
            ways = [_undominated_ways(self.model, space_time, load) for load in self.model.loads]
            self.ways[space_time.tilings] = ways, self.model.binding(space_time, ways)
        made = _Combinations(self.model, space_time, *self.ways[space_time.tilings])
        return made if all(table.choices for table in made.tables) else None

    def consider(self, part: _Combinations, chosen: Rows) -> None:
        """Estimate combinations, but for those whose bounds say that they are none of the fastest."""
        chosen, double = part.fitting(chosen)
        self.considered += len(chosen)
        hopeful = part.bounds(chosen) < self.slowest
        chosen, double = chosen[hopeful], double[hopeful]
        self.estimated += len(chosen)
        if not len(chosen):
            return
        cycles = part.cycles(chosen, double)
        for row in np.argsort(cycles, kind="stable")[: self.k].tolist():
            if cycles[row] >= self.slowest:
                return
            mapping = part.mapping(chosen[row], double[row])
            if mapping in self.known:
                continue
            self.known.add(mapping)
            entry = -float(cycles[row]), -len(self.known), mapping
            (heapq.heappush if len(self.heap) < self.k else heapq.heapreplace)(self.heap, entry)

    def improve(self, parts: dict[SpaceTime, _Combinations], every: Sequence[SpaceTime]) -> None:
        """Change one load after the other of the fastest mappings, and the order of waves of the fastest, as long as
        that makes one of them faster."""
        tried: set[TileMapping] = set()
        while fresh := [one.mapping for one in self.best() if one.mapping not in tried]:
            tried.add(fresh[0])
            now = fresh[0].space_time
            self.consider(parts[now], parts[now].neighbours(fresh[0]))
            if fresh[0] == self.best()[0].mapping:
                self._reorder(parts, [one for one in every if one not in parts and _swapped(one, now)])

    def _reorder(self, parts: dict[SpaceTime, _Combinations], others: Iterable[SpaceTime]) -> None:
        for space_time in others:
            if (part := self.part(space_time)) is not None:
                parts[space_time] = part
                self.consider(part, part.combinations())

    def best(self) -> tuple[TileCandidate, ...]:
        """The fastest first; of equals, what was found first."""
        ordered = sorted(self.heap, key=lambda entry: (-entry[0], -entry[1]))
        return tuple(TileCandidate(-cycles, mapping) for cycles, _, mapping in ordered)


def _swapped(one: SpaceTime, other: SpaceTime) -> bool:
    """Whether two waves have changed their places, and nothing else."""
    if one.tilings != other.tilings or len(one.waves) != len(other.waves):
        return False
    return sum(a != b for a, b in zip(one.waves, other.waves, strict=True)) == 2


def exhaustive(program: TileProgram, traffic: TrafficModel) -> Iterator[TileCandidate]:
    """All mappings of the space with their estimates, for small programs."""
    model = TileModel(program, traffic)
    for _, group in groupby(all_mappings(program, traffic.routes), lambda mapping: mapping.space_time):
        for some in batched(group, _AT_ONCE):
            timed = model.timed(some)
            for cycles, mapping in zip(timed.cycles + timed.fill, some, strict=True):
                yield TileCandidate(float(cycles), mapping)


def _too_large(program: TileProgram, traffic: TrafficModel) -> str:
    tiles = sum(load.box.bytes for load in loads_of(program))
    return (
        f"no mapping of '{program.name}' fits: its arrays take {program.local} bytes of a core and one tile of each "
        f"load {tiles}, together more than the {traffic.local.size} bytes of '{traffic.local.name}'"
    )


class _Combinations:
    """The choices for all loads and stores of one space-time mapping that fit together, with bounds of their cycles.

    `whole` says whether all of them are listed. Where loads have too many choices together, they are taken one by one,
    and only the best combinations by the bound go on. `least` is a bound of the cycles of all of them.
    """

    def __init__(
        self, model: TileModel, space_time: SpaceTime, ways: Sequence[Sequence[Realisation]], resources: MeshResources
    ) -> None:
        self.model, self.space_time, self.resources = model, space_time, resources
        self.capacity = model.traffic.local.size
        self.tables: list[LoadTable] = [
            model.table(space_time, load, list(self._choices(load, some)), resources)
            for load, some in zip(model.loads, ways, strict=True)
        ]
        self.compute = model.compute(space_time)
        active = model.traffic.active(space_time)
        per_byte = model.traffic.store(active).busy[resources.columns] * mean_active(space_time)
        self.stored = np.zeros(len(resources.columns))
        for box, _, loops in model.stores:
            times = prod(loop.mean for loop in nest_of(space_time, loops))
            self.stored = self.stored + per_byte * (box.bytes * times)
        self.all = [table.busy * table.times[:, None] for table in self.tables]
        self.alone = [_alone(table, prod(active)) for table in self.tables]
        self.whole = prod(len(table.choices) for table in self.tables) <= _WHOLE

    def _choices(self, load: PlacedLoad, ways: Sequence[Realisation]) -> Iterator[LoadChoice]:
        """Without those inside of a loop that the tile does not depend on: outside, it needs no more room."""
        nest, levels = nest_of(self.space_time, load.loops), load.box.levels
        for choice in load_choices(load, self.space_time, self.model.traffic.routes, self.capacity, ways):
            if not choice.level or nest[choice.level - 1].level in levels:
                yield choice

    @property
    def least(self) -> float:
        """A bound of the cycles of all combinations."""
        if not all(table.choices for table in self.tables):
            return inf
        moved = sum((busy.min(axis=0) for busy in self.all), self.stored)
        alone = max((float(cycles.min()) for cycles in self.alone), default=0.0)
        return max(self.compute + alone, float(moved.max()))

    def bounds(self, chosen: Rows) -> Numbers:
        """Bounds of the cycles of combinations: what resources are busy, and what a core computes and waits for."""
        busy = self.stored + np.zeros((len(chosen), 1))
        alone = np.zeros(len(chosen))
        for number in range(chosen.shape[1]):
            busy = busy + self.all[number][chosen[:, number]]
            alone = np.maximum(alone, self.alone[number][chosen[:, number]])
        return np.maximum(self.compute + alone, busy.max(axis=1))

    def combinations(self) -> Rows:
        """A row of each combination of choices for loads: all, or the best by their bounds."""
        if self.whole:
            return _rows([len(table.choices) for table in self.tables])
        chosen = np.zeros((1, 0), int)
        used = np.full(1, float(self.model.program.local))
        least = [float(table.bytes.min()) for table in self.tables]
        for number, table in enumerate(self.tables):
            pairs = _rows([len(chosen), len(table.choices)])
            used = used[pairs[:, 0]] + table.bytes[pairs[:, 1]]
            chosen = np.column_stack([chosen[pairs[:, 0]], pairs[:, 1]])
            fits = used + sum(least[number + 1 :]) <= self.capacity
            chosen, used = chosen[fits], used[fits]
            late = np.zeros(len(chosen))
            for k in range(number + 1):
                late = late + self.tables[k].late[chosen[:, k]]
            best = np.lexsort((late, self.bounds(chosen)))[:_WIDTH]
            chosen, used = chosen[best], used[best]
        return chosen

    def fitting(self, chosen: Rows) -> tuple[Rows, Flags]:
        """Combinations with numbers of buffers of stores that fit the memory of a core, and which of these are two."""
        used = self.model.program.local + sum(
            table.bytes[chosen[:, number]] for number, table in enumerate(self.tables)
        ) + np.zeros(len(chosen))
        rows, flags = [], []
        for buffers in product(*(store_choices(self.space_time, loops) for _, _, loops in self.model.stores)):
            extra = sum(box.bytes * (n - 1) for (box, _, _), n in zip(self.model.stores, buffers, strict=True))
            fits = chosen[used + extra <= self.capacity]
            rows.append(fits)
            flags.append(np.tile(np.array([n > 1 for n in buffers], bool), (len(fits), 1)))
        return np.concatenate(rows), np.concatenate(flags)

    def cycles(self, chosen: Rows, double: Flags) -> Numbers:
        """The estimated cycles of combinations."""
        times = self.model.batch(self.space_time, self.tables, chosen, double, self.resources).times()
        return times.cycles + times.fill

    def mapping(self, chosen: Rows, double: Flags) -> TileMapping:
        """One combination."""
        loads = (table.choices[row] for table, row in zip(self.tables, chosen.tolist(), strict=True))
        return TileMapping(self.space_time, tuple(loads), tuple(2 if twice else 1 for twice in double.tolist()))

    def neighbours(self, mapping: TileMapping) -> Rows:
        """The combinations that differ from a mapping in the choice for one load at most."""
        pairs = zip(self.tables, mapping.loads, strict=True)
        now = np.array([table.choices.index(choice) for table, choice in pairs], int)
        rows = [now[None, :]]
        for number, table in enumerate(self.tables):
            changed = np.tile(now, (len(table.choices), 1))
            changed[:, number] = np.arange(len(table.choices))
            rows.append(changed)
        return np.unique(np.concatenate(rows), axis=0)


def _alone(table: LoadTable, groups: int) -> Numbers:
    """How long a core waits for a load by each choice at least: with one buffer, nothing else goes on meanwhile."""
    waits = table.late + (table.busy.max(axis=1) / groups if table.choices else 0.0)
    return np.where(table.double, 0.0, waits * table.times)


def _rows(sizes: Sequence[int]) -> Rows:
    """All combinations of numbers below some sizes."""
    return np.indices(sizes).reshape(len(sizes), -1).T if sizes else np.zeros((1, 0), int)


def _undominated_ways(model: TileModel, space_time: SpaceTime, load: PlacedLoad) -> list[Realisation]:
    """The ways of delivery of a load but for those that another one is no worse than, on any resource."""
    ways = list(realisations(space_time, load.box, model.traffic.routes))
    active = model.traffic.active(space_time)
    costs = [model.traffic.load(active, way) for way in ways]
    late = [cost.latency + cost.repeats * load.box.bytes for cost in costs]
    kept: list[int] = []
    for k in sorted(range(len(ways)), key=lambda k: (float(costs[k].busy.sum()), late[k])):
        if not any(
            late[one] <= late[k] and costs[one].first <= costs[k].first and np.all(costs[one].busy <= costs[k].busy)
            for one in kept
        ):
            kept.append(k)
    return [ways[k] for k in kept]
