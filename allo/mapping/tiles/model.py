"""Performance model of mapped tile programs: compute, traffic with contention, overlap (TL, section 2.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import log, prod
from typing import Any

import numpy as np

from ...errors import TargetError
from ...target import CoreMesh
from .batch import BEFORE, BatchTimes, Key, MappingBatch, Numbers, Table, TransferBurst
from .choices import (
    LoadChoice,
    NestLoop,
    PlacedLoad,
    Realisation,
    TileMapping,
    footprint,
    loads_of,
    nest_of,
    store_choices,
    stores_of,
)
from .program import TileBox, TileNode, TileProgram, TileSegment, TileWork
from .space import SpaceTime, mean_active
from .traffic import TrafficModel

ON_THEIR_WAY = 2  # tiles of one issue: no core asks for a whole strip before others ask for their first tile
_TILES = 32  # iterations of a loop that is crossed whose tiles are placed: those of more lie evenly


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


type Rows = np.ndarray[Any, np.dtype[np.int64]]
type Flags = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class MeshResources:
    """Some resources of a mesh by their numbers, and which of these are channels of the memory beside the chip."""

    columns: Rows
    channels: slice


@dataclass(frozen=True, slots=True)
class LoadTable:
    """Choices for one load in one space-time mapping, and what one issue of each costs: a row of each choice.

    `bytes` are those of a core's buffers, `times` how often a core issues the load, `levels` the loop that it does it
    in, `axes` the dimensions of the cores along which networks go, as a number with these bits.
    """

    choices: tuple[LoadChoice, ...]
    bytes: Numbers
    times: Numbers
    levels: Rows
    double: Flags
    busy: Table
    late: Numbers
    spread: Numbers
    axes: Rows

    def burst(self, chosen: Rows, level: int, double: bool) -> TransferBurst:
        """What mappings issue in a loop, by the choice of each."""
        here = (self.levels == level) & (self.double == double)
        busy = np.where(here[:, None], self.busy, 0.0)[chosen]
        return TransferBurst(busy, np.where(here, self.late, 0.0)[chosen], np.where(here, self.spread, 0.0)[chosen])


class TileModel:
    """The model for one program on one mesh."""

    def __init__(self, program: TileProgram, traffic: TrafficModel) -> None:
        self.program, self.traffic = program, traffic
        self.mesh = traffic.routes.mesh
        self.loads, self.stores = loads_of(program), stores_of(program)
        self._compute = {s.number: compute_cycles(s.work, self.mesh) for s, _ in program.segments}
        loops = [loop for _, around in program.segments for loop in around]
        self._mean = sum(
            self._compute[segment.number] * prod(loop.mean for loop in around) for segment, around in program.segments
        )
        self._uneven: dict[tuple[int, ...], float] = {}  # of each program, where bounds of loops depend on its ids
        if self._mean and any(loop.lower.levels | loop.upper.levels for loop in loops):
            for index in product(*map(range, program.grid)):
                self._uneven[index] = self._cycles(program.body, dict(enumerate(index)))
        self._spreads: dict[tuple[object, ...], float] = {}
        self._imbalances: dict[tuple[tuple[int, ...], ...], float] = {}

    def estimate(self, mapping: TileMapping) -> TileEstimate:
        """The time of a mapping, and what binds it."""
        timed = self.timed([mapping])
        compute = self.compute(mapping.space_time)
        total, used = float(timed.cycles[0] + timed.fill[0]), timed.busy[0]
        names = [self.traffic.name(k) for k in range(self.traffic.size)]
        busy: dict[str, float] = {"compute": compute}
        for name, cycles in zip(names, used, strict=True):
            busy[name] = max(busy.get(name, 0.0), float(cycles))
        binding = max(busy, key=lambda name: busy[name])
        channels = used[self.traffic.channel]
        moved = float(channels.sum()) * self.traffic.routes.channel_bandwidth
        shown = tuple(sorted(busy.items(), key=lambda item: -item[1]))
        return TileEstimate(total, compute, float(timed.fill[0]), moved, binding, shown)

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

    def timed(self, mappings: Sequence[TileMapping]) -> BatchTimes:
        """The time and the use of all resources of mappings that share a space-time mapping."""
        space_time = mappings[0].space_time
        tables, chosen = [], np.zeros((len(mappings), len(self.loads)), int)
        for number, load in enumerate(self.loads):
            places: dict[LoadChoice, int] = {}
            chosen[:, number] = [places.setdefault(one.loads[number], len(places)) for one in mappings]
            tables.append(self.table(space_time, load, list(places)))
        double = np.array([[buffers > 1 for buffers in one.stores] for one in mappings], bool)
        return self.batch(space_time, tables, chosen, double.reshape(len(mappings), -1)).times()

    def batch(
        self,
        space_time: SpaceTime,
        tables: Sequence[LoadTable],
        chosen: Rows,
        double: Flags,
        resources: MeshResources | None = None,
    ) -> MappingBatch:
        """Mappings by the numbers of their choices in `tables`, a row of each, and whether stores have two buffers."""
        known = self.resources if resources is None else resources
        count = len(chosen)
        none = TransferBurst(np.zeros((count, len(known.columns))), np.zeros(count), np.zeros(count))
        loads: dict[Key, TransferBurst] = {}
        bits = np.zeros(count, int)
        for number, table in enumerate(tables):
            mine = chosen[:, number]
            bits |= table.axes[mine]
            for key in set(zip(table.levels.tolist(), table.double.tolist(), strict=True)):
                loads[key] = loads.get(key, none) + table.burst(mine, *key)
        compute = {number: cycles * self.imbalance(space_time) for number, cycles in self._compute.items()}
        return MappingBatch(
            self.program, space_time, compute, known.channels, len(self.traffic.routes.channels),
            self._groups(space_time)[bits], loads, self._stored(space_time, double, known, none), none,
        )  # fmt: skip

    def table(
        self,
        space_time: SpaceTime,
        load: PlacedLoad,
        choices: Sequence[LoadChoice],
        resources: MeshResources | None = None,
    ) -> LoadTable:
        """What issues of a load cost by these choices."""
        known = self.resources if resources is None else resources
        nest, active = nest_of(space_time, load.loops), self.traffic.active(space_time)
        ways = list(dict.fromkeys(choice.realisation for choice in choices))
        costs = [self.traffic.load(active, way) for way in ways]
        at = np.array([ways.index(choice.realisation) for choice in choices], int)
        levels = np.array([choice.level for choice in choices], int)
        depths = range(len(nest) + 1)
        level = np.array([BEFORE, *(loop.level for loop in nest)], int)[levels]
        sizes = np.array([footprint(load.box, nest, depth) for depth in depths], float)[levels]
        means = np.array([self._mean_bytes(load, nest, depth) for depth in depths])[levels]
        times = np.array([prod(loop.mean for loop in nest[:depth]) for depth in depths])[levels]
        axes = np.array([self._axes(way) for way in ways], int)[at]
        share = mean_active(space_time)
        moved = means * share
        # In a wave that is not full, one core of each line still reads what the line shares.
        more = np.array([mean_active(space_time, bits) / share for bits in range(1 << len(active))])[axes]
        busy = np.array([cost.busy[known.columns] for cost in costs])[at]
        busy += np.array([cost.read[known.columns] for cost in costs])[at] * (more - 1)[:, None]
        busy *= moved[:, None]
        late = np.array([cost.latency + cost.repeats * load.box.bytes for cost in costs])[at]
        # No core asks for more tiles of an issue until one of those that are on their way has come.
        turn = np.array([cost.first for cost in costs])[at] + self.traffic.share(load.box)
        turns = np.maximum(np.ceil(means / load.box.bytes / ON_THEIR_WAY) - 1, 0.0)
        late = late + np.maximum(turns * turn - busy.max(axis=1), 0.0)
        buffers = np.array([choice.buffers for choice in choices], int)
        spread = [
            self._spread(space_time, load.box, bits, nest[depth:])
            for bits, depth in zip(axes.tolist(), levels.tolist(), strict=True)
        ]
        return LoadTable(
            tuple(choices), sizes * buffers, times, level, buffers > 1, busy, late, np.array(spread), axes,
        )  # fmt: skip

    @cached_property
    def resources(self) -> MeshResources:
        """All resources of the mesh."""
        return MeshResources(np.arange(self.traffic.size), self.traffic.channel)

    def binding(self, space_time: SpaceTime, ways: Sequence[Sequence[Realisation]]) -> MeshResources:
        """The resources that may be the busiest one if loads are delivered in these ways: others never are."""
        active = self.traffic.active(space_time)
        costs = [self.traffic.load(active, way) for some in ways for way in some]
        rows = [row for cost in costs for row in (cost.busy, cost.read)]
        used = np.array([*rows, self.traffic.store(active).busy]).T
        first, last = self.traffic.channel.start, self.traffic.channel.stop
        kept = [_largest(used, np.arange(first, last)), _largest(used, np.r_[0:first, last : self.traffic.size])]
        return MeshResources(np.concatenate(kept), slice(0, len(kept[0])))

    def _axes(self, way: Realisation) -> int:
        axes = {self.traffic.routes.network[name].axis for name in way.networks}
        return sum(1 << axis for axis in axes if axis is not None)

    def _groups(self, space_time: SpaceTime) -> Numbers:
        """How many groups of cores wait for one another only, by the axes that broadcasts go along: all cores of one
        go in step."""
        active = self.traffic.active(space_time)
        sets = range(1 << len(active))
        return np.array(
            [prod(n for axis, n in enumerate(active) if not bits >> axis & 1) for bits in sets], float
        )

    def _spread(self, space_time: SpaceTime, box: TileBox, axes: int, crossed: Sequence[NestLoop]) -> float:
        """The variance of channels that has them as uneven as the first issue of a load, or a wave of stores.

        One core of each line along `axes` asks for the tiles of all iterations of the loops that are crossed.
        """
        inner = tuple(loop for loop in crossed if loop.level in box.levels)
        key = space_time.tilings, box, axes, frozenset(inner)
        if key not in self._spreads:
            channels = len(self.traffic.routes.channels)
            uneven = self.traffic.uneven(box, self._tiles(space_time, box, axes, inner)) if channels > 1 else 0.0
            self._spreads[key] = 2 * uneven**2 / log(channels) if channels > 1 else 0.0
        return self._spreads[key]

    def _tiles(self, space_time: SpaceTime, box: TileBox, axes: int, crossed: Sequence[NestLoop]) -> Rows:
        """The numbers of tiles that cores ask for together, in the order of the array."""
        active = self.traffic.active(space_time)
        extents = [1 if axes >> axis & 1 else extent for axis, extent in enumerate(active)]
        extents += [min(loop.most, _TILES) for loop in crossed]
        index = np.indices(extents).reshape(len(extents), -1)
        levels = {}
        for dim, tiling in enumerate(space_time.tilings):
            scales = np.cumprod([1, *(space_time.shape[axis] for axis in tiling)])
            levels[dim] = sum((index[axis] * scale for axis, scale in zip(tiling, scales, strict=False)), 0)
        for row, loop in zip(index[len(active) :], crossed, strict=True):
            step = space_time.across(loop.level) if loop.is_wave else loop.step
            levels[loop.level] = levels.get(loop.level, 0) + row * step
        inside = np.ones(index.shape[1], bool)
        for dim, extent in enumerate(space_time.grid):
            inside &= levels[dim] < extent
        number = np.zeros(index.shape[1], int)
        for form, size, extent in zip(box.lower, box.shape, box.array.shape, strict=True):
            start = form.constant + sum(c * levels.get(level, 0) for level, c in form.terms)
            number = number * -(-extent // size) + np.maximum(start, 0) // size
        tiles: Rows = number[inside]
        return tiles

    def _mean_bytes(self, load: PlacedLoad, nest: tuple[NestLoop, ...], level: int) -> float:
        """The bytes of one issue of a load, on the mean of all programs."""
        levels = load.box.levels
        crossed = [loop for loop in nest[level:] if loop.level in levels]
        return footprint(load.box, nest, level) * prod(loop.mean / loop.most for loop in crossed)

    def _stored(
        self, space_time: SpaceTime, double: Flags, known: MeshResources, none: TransferBurst
    ) -> dict[Key, TransferBurst]:
        """What the stores of each segment cost."""
        traffic, share = self.traffic.store(self.traffic.active(space_time)), mean_active(space_time)
        found: dict[Key, TransferBurst] = {}
        for number, (box, segment, loops) in enumerate(self.stores):
            busy = traffic.busy[known.columns] * (box.bytes * share)
            spread = self._spread(space_time, box, 0, ()) * share
            overlaps = double[:, number] & (max(store_choices(space_time, loops)) > 1)
            for twice in (False, True):
                mine = (overlaps == twice).astype(float)
                burst = TransferBurst(np.outer(mine, busy), mine * traffic.latency, mine * spread)
                found[segment.number, twice] = found.get((segment.number, twice), none) + burst
        return found


def _largest(used: Table, resources: Rows) -> Rows:
    """Those of some resources, rows of `used`, of which no other one is as busy in all columns."""
    _, first = np.unique(used[resources], axis=0, return_index=True)
    rows = used[resources[first]]
    no_less = (rows[:, None, :] <= rows[None, :, :]).all(axis=2)
    kept: Rows = resources[first[no_less.sum(axis=1) == 1]]
    return kept
