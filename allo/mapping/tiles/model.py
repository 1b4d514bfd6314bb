"""Performance model of mapped tile programs: compute, traffic with contention, overlap (TL, section 2.5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import log, prod, sqrt

import numpy as np

from ...errors import TargetError
from ...target import CoreMesh
from .choices import (
    LoadChoice,
    PlacedLoad,
    TileMapping,
    footprint,
    loads_of,
    nest_of,
    store_choices,
    stores_of,
)
from .program import TileLoop, TileNode, TileProgram, TileSegment, TileWork
from .space import SpaceTime
from .traffic import Busy, TrafficModel, mean_active

_NORM = 4  # fits the simulator best
_STEADY = 1.0  # of the unevenness of channels stays where transfers of two steps overlap
_ROOT = -1  # the level of what is loaded once, before all waves


def compute_cycles(work: TileWork, mesh: CoreMesh) -> float:
    """The time of some work on one core: what depends on each other runs on the units one after the other.

    Raises TargetError if the core has no unit for it.
    """
    total = 0.0
    for m, k, n, count in work.products:
        if mesh.matrix is not None:
            total += mesh.matrix.cycles(m, k, n) * count
        else:
            total += _elements(mesh, 2 * m * k * n * count)
    total += sum(_elements(mesh, count) for count in work.elements)
    if work.elementary:
        weight = 1 if mesh.vector is None else mesh.vector.elementary
        total += sum(weight * _elements(mesh, count) for count in work.elementary)
    if work.scalars:
        total += work.scalars * (mesh.scalar.latency if mesh.scalar is not None else _elements(mesh, 1))
    return total


def _elements(mesh: CoreMesh, count: int) -> float:
    if mesh.vector is not None:
        return mesh.vector.cycles(count)
    if mesh.scalar is not None:
        return count * mesh.scalar.latency
    raise TargetError(
        f"the cores of '{mesh.name}' have no unit for operations on elements", hint="give them a vector or scalar unit"
    )


@dataclass(frozen=True)
class TileEstimate:
    """The estimated time of a mapping in cycles, and what each resource is busy of it.

    `fill` is the part before the first and behind the last step that nothing overlaps. `binding` names what is busiest.
    """

    cycles: float
    compute: float
    fill: float
    memory_bytes: float
    binding: str
    busy: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class _Issued:
    """Transfers of one step of a loop: cycles of resources, how late they end, whether they overlap with the step.

    `spread` is the variance of the cycles of channels, by the places of tiles in them.
    """

    busy: Busy
    late: float
    overlaps: bool
    spread: float


@dataclass(frozen=True)
class _Burst:
    """Transfers that are asked for at once: cycles of resources and of the busiest channel, how late they end."""

    busy: Busy
    cycles: float
    late: float
    spread: float

    @property
    def time(self) -> float:
        """When all have ended."""
        return self.cycles + self.late


@dataclass(frozen=True)
class _Timed:
    """Something that runs: its time without the fill of pipelines, that fill, and the cycles of each resource.

    `first` are transfers into free buffers: they all start at once, before anything runs, and make a part of the fill.
    """

    cycles: float
    fill: float
    busy: Busy
    first: tuple[_Issued, ...] = ()


class TileModel:
    """The model for one program on one mesh."""

    def __init__(self, program: TileProgram, traffic: TrafficModel) -> None:
        self.program, self.traffic = program, traffic
        self.mesh = traffic.routes.mesh
        self.loads, self.stores = loads_of(program), stores_of(program)
        self._zero = np.zeros(traffic.size)
        self._compute = {s.number: compute_cycles(s.work, self.mesh) for s, _ in program.segments}
        loops = [loop for _, around in program.segments for loop in around]
        self._mean = sum(
            self._compute[segment.number] * prod(loop.mean for loop in around) for segment, around in program.segments
        )
        self._uneven: dict[tuple[int, ...], float] = {}  # of each program, where bounds of loops depend on its ids
        if self._mean and any(loop.lower.levels | loop.upper.levels for loop in loops):
            for index in product(*map(range, program.grid)):
                self._uneven[index] = self._cycles(program.body, dict(enumerate(index)))
        self._imbalances: dict[tuple[tuple[int, ...], ...], float] = {}
        self._level: dict[tuple[SpaceTime, int, int], int] = {}
        self._storing: dict[tuple[SpaceTime, tuple[int, ...]], dict[int, list[_Issued]]] = {}
        self._issues: dict[tuple[SpaceTime, int, LoadChoice], _Issued] = {}

    def estimate(self, mapping: TileMapping) -> TileEstimate:
        """The time of a mapping, and what binds it."""
        timed = self.timed(mapping)
        compute = self.compute(mapping.space_time)
        total = timed.cycles + timed.fill
        names = [self.traffic.name(k) for k in range(self.traffic.size)]
        busy: dict[str, float] = {"compute": compute}
        for name, cycles in zip(names, timed.busy, strict=True):
            busy[name] = max(busy.get(name, 0.0), float(cycles))
        binding = max(busy, key=lambda name: busy[name])
        channels = timed.busy[self.traffic.channel]
        moved = float(channels.sum()) * self.traffic.routes.channel_bandwidth
        shown = tuple(sorted(busy.items(), key=lambda item: -item[1]))
        return TileEstimate(total, compute, timed.fill, moved, binding, shown)

    def compute(self, space_time: SpaceTime) -> float:
        """The cycles that the busiest core computes."""
        waves = prod(space_time.wave_count(dim) for dim in range(len(self.program.grid)))
        return waves * self._mean * self.imbalance(space_time)

    def imbalance(self, space_time: SpaceTime) -> float:
        """How many times the mean of all programs the busiest core computes in a wave, where trip counts differ."""
        if not self._uneven:
            return 1.0
        key = space_time.tilings
        if key not in self._imbalances:
            waves = [range(space_time.wave_count(dim)) for dim in range(len(self.program.grid))]
            busiest = 0.0
            for core in product(*map(range, space_time.shape)):
                ran = (space_time.program(core, wave) for wave in product(*waves))
                busiest = max(busiest, sum(self._uneven[index] for index in ran if index is not None))
            self._imbalances[key] = busiest / (prod(map(len, waves)) * self._mean)
        return self._imbalances[key]

    def _cycles(self, nodes: Sequence[TileNode], indices: dict[int, int]) -> float:
        """The compute cycles of one program, or of one iteration of a loop in it."""
        total = 0.0
        for node in nodes:
            if isinstance(node, TileSegment):
                total += self._compute[node.number]
                continue
            full = [indices.get(level, 0) for level in range(len(self.program.names))]
            for value in node.values(full):
                total += self._cycles(node.body, indices | {node.level: value})
        return total

    def timed(self, mapping: TileMapping) -> _Timed:
        """The time and the use of all resources."""
        space_time = mapping.space_time
        issued: dict[int, list[_Issued]] = {}
        for load, choice in zip(self.loads, mapping.loads, strict=True):
            issued.setdefault(self.level(space_time, load, choice), []).append(self.issued(space_time, load, choice))
        key = space_time, mapping.stores
        if key not in self._storing:
            self._storing[key] = self._stored(space_time, mapping.stores)
        return _Evaluation(self, mapping, issued, self._storing[key]).run()

    def level(self, space_time: SpaceTime, load: PlacedLoad, choice: LoadChoice) -> int:
        """The level of the loop that a load is issued in."""
        key = space_time, load.number, choice.level
        if key not in self._level:
            nest = nest_of(space_time, load.loops)
            self._level[key] = nest[choice.level - 1].level if choice.level else _ROOT
        return self._level[key]

    def issued(self, space_time: SpaceTime, load: PlacedLoad, choice: LoadChoice) -> _Issued:
        """What one issue of a load costs."""
        key = space_time, load.number, choice
        if key not in self._issues:
            active = self.traffic.active(space_time)
            traffic = self.traffic.load(active, choice.realisation)
            size = self.mean_bytes(space_time, load, choice.level)
            busy = traffic.busy * (size * mean_active(space_time))
            late = traffic.latency + traffic.repeats * load.box.bytes
            share = size / load.box.bytes  # of a tile, or how many of them
            spread = self.traffic.spread(traffic.tiles, load.box.bytes) * share * mean_active(space_time)
            self._issues[key] = _Issued(busy, late, choice.buffers > 1, spread)
        return self._issues[key]

    def groups(self, mapping: TileMapping) -> int:
        """How many groups of cores wait for one another only: all cores of a broadcast go in step."""
        axes = {
            network.axis
            for choice in mapping.loads
            for network in (self.traffic.routes.network[name] for name in choice.realisation.networks)
        }
        return prod(
            mapping.space_time.active(axis) for axis in range(len(mapping.space_time.shape)) if axis not in axes
        )

    def mean_bytes(self, space_time: SpaceTime, load: PlacedLoad, level: int) -> float:
        """The bytes of one issue of a load, on the mean of all programs."""
        nest = nest_of(space_time, load.loops)
        crossed = [loop for loop in nest[level:] if loop.level in load.box.levels]
        return footprint(load.box, nest, level) * prod(loop.mean / loop.most for loop in crossed)

    def issues(self, space_time: SpaceTime, load: PlacedLoad, level: int) -> float:
        """How often a load is issued in a core, on the mean."""
        return prod(loop.mean for loop in nest_of(space_time, load.loops)[:level])

    def _stored(self, space_time: SpaceTime, buffers: tuple[int, ...]) -> dict[int, list[_Issued]]:
        """By segment, what its stores cost."""
        traffic = self.traffic.store(self.traffic.active(space_time))
        found: dict[int, list[_Issued]] = {}
        for number, (box, segment, loops) in enumerate(self.stores):
            busy = traffic.busy * (box.bytes * mean_active(space_time))
            overlaps = buffers[number] > 1 and max(store_choices(space_time, loops)) > 1
            spread = self.traffic.spread(traffic.tiles, box.bytes) * mean_active(space_time)
            found.setdefault(segment.number, []).append(_Issued(busy, traffic.latency, overlaps, spread))
        return found


class _Evaluation:
    """One candidate, from the innermost loop outwards."""

    def __init__(
        self,
        model: TileModel,
        mapping: TileMapping,
        issued: dict[int, list[_Issued]],
        stored: dict[int, list[_Issued]],
    ) -> None:
        self.model, self.space_time = model, mapping.space_time
        self.groups = model.groups(mapping)
        self.issued, self.stored = issued, stored
        self.zero = model._zero
        self.imbalance = model.imbalance(mapping.space_time)

    def run(self) -> _Timed:
        program = self.model.program
        step: Callable[[], _Timed] = lambda: self.body(program.body)  # noqa: E731
        stores = self.direct_stores(program.body)
        for dim in reversed(self.space_time.waves):
            step = self._wrapped(dim, self.space_time.wave_count(dim), step, stores)
            stores = []
        inner = step()
        once = self.issued.get(_ROOT, [])
        last = self.total(stores)
        busy = inner.busy + self.total(once).busy + last.busy
        fill = inner.fill + self.total([*once, *inner.first]).time
        return _Timed(max(inner.cycles + last.time, float(busy.max()) - fill), fill, busy)

    def _wrapped(
        self, level: int, trips: float, step: Callable[[], _Timed], stores: list[_Issued]
    ) -> Callable[[], _Timed]:
        return lambda: self.loop(level, trips, step(), stores)

    def body(self, nodes: Sequence[TileNode]) -> _Timed:
        cycles, fill, busy = 0.0, 0.0, self.zero
        first: tuple[_Issued, ...] = ()
        for node in nodes:
            if isinstance(node, TileSegment):
                cycles += self.model._compute[node.number] * self.imbalance
                continue
            inner = self.nested(node)
            cycles, fill, busy = cycles + inner.cycles, fill + inner.fill, busy + inner.busy
            first += inner.first
        return _Timed(cycles, fill, busy, first)

    def nested(self, node: TileLoop) -> _Timed:
        step, stores = self.body(node.body), self.direct_stores(node.body)
        return self.loop(node.level, node.mean, step, stores)

    def direct_stores(self, nodes: Sequence[TileNode]) -> list[_Issued]:
        return [
            one for node in nodes if isinstance(node, TileSegment) for one in self.stored.get(node.number, ())
        ]

    def total(self, transfers: Sequence[_Issued]) -> _Burst:
        """What transfers that run at once cost."""
        if not transfers:
            return _Burst(self.zero, 0.0, 0.0, 0.0)
        busy = sum((one.busy for one in transfers), self.zero)
        spread = sum(one.spread for one in transfers)
        return _Burst(busy, self.busiest(busy, spread), max(one.late for one in transfers), spread)

    def busiest(self, busy: Busy, spread: float, share: float = 1.0) -> float:
        """The cycles of the busiest resource, if tiles lie over channels with this variance."""
        channels = busy[self.model.traffic.channel]
        uneven = sqrt(2 * log(len(channels)) * spread) / 2  # half of the largest of so many: others go on meanwhile
        return max(float(busy.max()), float(channels.max()) + share * uneven)

    def bound(self, alone: float, busy: Busy, spread: float) -> float:
        """The time of a step in which a group needs `alone` by itself, and resources are busy for all groups.

        Groups that go their own ways queue at a resource that is nearly always busy: the norm is between the larger of
        both, which nothing reaches, and their sum, the time of groups that go in step.
        """
        if self.groups == 1:
            return max(alone, self.busiest(busy, spread, _STEADY))
        return float((alone**_NORM + float(busy.max()) ** _NORM) ** (1 / _NORM))

    def waited(self, burst: _Burst) -> float:
        """How long a group of cores waits for transfers: other groups ask for theirs while this one computes."""
        return burst.late + burst.cycles / self.groups

    def loop(self, level: int, trips: float, step: _Timed, stores: Sequence[_Issued]) -> _Timed:
        """`trips` steps: transfers with two buffers overlap with the step before or behind, others stand between."""
        loads = self.issued.get(level, [])
        early = tuple(one for one in loads if one.overlaps)
        ahead = self.total(early)
        leaving = self.total([one for one in stores if one.overlaps])
        serial = self.total([one for one in loads if not one.overlaps])
        behind = self.total([one for one in stores if not one.overlaps])
        bursts = (serial, behind, ahead, leaving)
        busy, spread = step.busy + sum(one.busy for one in bursts), sum(one.spread for one in bursts)
        alone = step.cycles + self.waited(serial) + self.waited(behind)
        # A buffer is free when a step ends, and its next tile is needed when the step after the following begins.
        steady = max(self.bound(alone, busy, spread), (self.waited(ahead) + alone) / 2, self.waited(leaving))
        # One step has no transfers beside it, (trips - 1) * steady + alone; in the first, all groups ask at once.
        crowded = serial.time - self.waited(serial)
        fill = max(0.0, step.fill + leaving.time + crowded + alone - steady)
        return _Timed(trips * steady, fill, trips * busy, (*step.first, *early))
