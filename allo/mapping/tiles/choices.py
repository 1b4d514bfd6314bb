"""Choices for the loads and stores of a tile program: how tiles come to cores, at which loop, in how many buffers.

The space of TL, section 2.3: reuse is read off the maps of accesses, realisations off the networks of the mesh.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from math import prod

from ...target.mesh_routes import MeshRoutes
from .program import TileBox, TileLoop, TileProgram, TileSegment
from .space import SpaceTime, space_times


class Delivery(StrEnum):
    """How a tile that several cores use comes to them."""

    PER_CORE = "per core"  # each core loads it from the memory beside the chip
    LINE = "broadcast"  # one core of each line loads it, and it goes along the line
    PLANE = "broadcast twice"  # one core loads it; it goes along one line, then along all lines that cross it
    WAVEFRONT = "wavefront"  # one core loads it; each core passes it on to its neighbours as it arrives


@dataclass(frozen=True, slots=True)
class Realisation:
    """A delivery, and the networks that it uses in turn."""

    delivery: Delivery
    networks: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.delivery.value + (f" along {', then '.join(self.networks)}" if self.networks else "")


@dataclass(frozen=True, slots=True)
class LoadChoice:
    """How a load is done: issued inside of `level` of the loops around it, waves first, into so many `buffers`."""

    realisation: Realisation
    level: int
    buffers: int


@dataclass(frozen=True, slots=True)
class TileMapping:
    """All decisions for a tile program: choices for its loads, numbers of buffers for its stores, in program order."""

    space_time: SpaceTime
    loads: tuple[LoadChoice, ...]
    stores: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NestLoop:
    """A loop around a load: over waves of a dimension of the grid, or of the program; `level` is that of boxes."""

    level: int
    most: int
    mean: float
    is_wave: bool
    step: int = 1


@dataclass(frozen=True, slots=True)
class PlacedLoad:
    """A load with the loops around it that run more than once, outermost first."""

    number: int
    box: TileBox
    segment: TileSegment
    loops: tuple[TileLoop, ...]


def loads_of(program: TileProgram) -> tuple[PlacedLoad, ...]:
    """All loads of a program in the order of the text."""
    found: list[PlacedLoad] = []
    for segment, loops in program.segments:
        found += [PlacedLoad(len(found) + k, box, segment, loops) for k, box in enumerate(segment.loads)]
    return tuple(found)


def stores_of(program: TileProgram) -> tuple[tuple[TileBox, TileSegment, tuple[TileLoop, ...]], ...]:
    """All stores of a program in the order of the text."""
    return tuple((box, segment, loops) for segment, loops in program.segments for box in segment.stores)


def nest_of(space_time: SpaceTime, loops: tuple[TileLoop, ...]) -> tuple[NestLoop, ...]:
    """The loops that run more than once around something that stands in `loops`."""
    waves = [NestLoop(d, n, n, True) for d in space_time.waves if (n := space_time.wave_count(d)) > 1]
    return (*waves, *(NestLoop(loop.level, loop.most, loop.mean, False, loop.step) for loop in loops if loop.most > 1))


def reuse_axes(space_time: SpaceTime, box: TileBox) -> tuple[int, ...]:
    """The dimensions of the cores along which all cores of a wave use the same tile, and there are several."""
    levels = box.levels
    return tuple(
        axis
        for axis in range(len(space_time.shape))
        if space_time.active(axis) > 1 and space_time.dim_of(axis) not in levels
    )


def footprint(box: TileBox, nest: tuple[NestLoop, ...], level: int) -> int:
    """The bytes that one buffer holds if a load is issued inside of the first `level` loops of its nest.

    A loop that is crossed, and that the place of the tile depends on, multiplies the tile; where tiles of neighbouring
    iterations of a program overlap, the box around them counts.
    """
    levels = box.levels
    crossed = [loop for loop in nest[level:] if loop.level in levels]
    hull = box.hull({loop.level: (loop.most - 1) * loop.step for loop in crossed if not loop.is_wave})
    return hull * prod(loop.most for loop in crossed if loop.is_wave)


def realisations(space_time: SpaceTime, box: TileBox, routes: MeshRoutes) -> Iterator[Realisation]:
    """The legal realisations of a load: per core, along one line on each network, over planes, as wavefronts."""
    yield Realisation(Delivery.PER_CORE)
    axes = reuse_axes(space_time, box)
    lines = {axis: [network.name for network in routes.broadcasting[axis]] for axis in axes}
    for axis in axes:
        yield from (Realisation(Delivery.LINE, (name,)) for name in lines[axis])
    for first, second in product(axes, repeat=2):
        if first != second:
            yield from (Realisation(Delivery.PLANE, pair) for pair in product(lines[first], lines[second]))
        if first < second:
            yield from (Realisation(Delivery.WAVEFRONT, pair) for pair in product(lines[first], lines[second]))


def load_choices(
    load: PlacedLoad,
    space_time: SpaceTime,
    routes: MeshRoutes,
    capacity: int,
    ways: Sequence[Realisation] | None = None,
) -> Iterator[LoadChoice]:
    """The choices for a load whose buffers fit by themselves, in some `ways` of delivery or in all.

    What is loaded once needs no second buffer.
    """
    nest = nest_of(space_time, load.loops)
    if ways is None:
        ways = tuple(realisations(space_time, load.box, routes))
    for level in range(len(nest), -1, -1):
        size = footprint(load.box, nest, level)
        for buffers in (1, 2) if level else (1,):
            if size * buffers <= capacity:
                yield from (LoadChoice(way, level, buffers) for way in ways)


def store_choices(space_time: SpaceTime, loops: tuple[TileLoop, ...]) -> tuple[int, ...]:
    """The numbers of buffers that a store may have: a second one if something follows it."""
    return (1, 2) if nest_of(space_time, loops) else (1,)


def used_bytes(program: TileProgram, mapping: TileMapping) -> int:
    """The bytes of a core that a mapping needs: its own arrays, buffers of loads, second buffers of stores."""
    total = program.local
    for load, choice in zip(loads_of(program), mapping.loads, strict=True):
        nest = nest_of(mapping.space_time, load.loops)
        total += footprint(load.box, nest, choice.level) * choice.buffers
    return total + sum(
        box.bytes * (buffers - 1) for (box, _, _), buffers in zip(stores_of(program), mapping.stores, strict=True)
    )


def all_mappings(program: TileProgram, routes: MeshRoutes) -> Iterator[TileMapping]:
    """The whole space, in which everything fits the memory of a core; for small programs."""
    capacity = routes.mesh.memory(routes.ports.local).size
    for space_time in space_times(program, routes.mesh.shape):
        loads = [tuple(load_choices(load, space_time, routes, capacity)) for load in loads_of(program)]
        stores = [store_choices(space_time, loops) for _, _, loops in stores_of(program)]
        for chosen in product(*loads):
            for buffers in product(*stores):
                mapping = TileMapping(space_time, chosen, buffers)
                if used_bytes(program, mapping) <= capacity:
                    yield mapping
