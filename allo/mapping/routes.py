"""Routes of object FIFOs between memory and cores: shim channels, and memory tiles that join and distribute objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..target import ProcessorArray, Tile, TileKind
from .fifos import ArrayFifo, ObjectFifos
from .place import Placement
from .switches import FlowSite, StreamFlow

_SHIM, _MEMORY = "shim tile of", "memory tile of"  # names of sites


@dataclass(frozen=True, slots=True)
class Route:
    """FIFOs that one channel of a shim tile feeds, or empties.

    Several meet in the memory tile of the column `hub`, where their objects are parts of a larger one; a single FIFO
    goes through no memory tile, and `hub` is None.
    """

    name: str
    fifos: tuple[ArrayFifo, ...]
    to_core: bool
    shim: int
    hub: int | None
    hub_depth: int = 2

    @property
    def near(self) -> Tile:
        """The tile at which its FIFOs begin or end, opposite to the cores."""
        return Tile(self.shim, 0) if self.hub is None else Tile(self.hub, 1)

    @property
    def hub_needs(self) -> dict[str, int]:
        """What it takes of the memory tile in which its FIFOs meet: channels, descriptors, bytes."""
        ends = (1, len(self.fifos)) if self.to_core else (len(self.fifos), 1)
        descriptors, memory = (1 + len(self.fifos)) * self.hub_depth, self.bytes * self.hub_depth
        return {"inputs": ends[0], "outputs": ends[1], "descriptors": descriptors, "memory": memory}

    @property
    def rounds(self) -> int:
        """How many objects pass."""
        return len(self.fifos[0].objects)

    @property
    def bytes(self) -> int:
        """The bytes of one object: those of all its parts."""
        return sum(fifo.bytes for fifo in self.fifos)


def routed(fifos: ObjectFifos, placement: Placement, array: ProcessorArray, channels: int) -> tuple[Route, ...]:
    """Routes for all FIFOs with parts of arguments, over at most `channels` channels in each direction if that can be.

    FIFOs with as many objects share a route; those of cores in one column rather than others.
    """
    found: list[Route] = []
    load = [0] * array.columns  # of memory tiles: FIFOs that they have
    for to_core in (True, False):
        chosen = [fifo for fifo in fifos.arrays if fifo.to_core == to_core]
        own = [0] * array.columns  # channels taken of shim tiles
        for group in _groups(chosen, placement, channels):
            near = _column(group, placement)
            shim = min(range(array.columns), key=lambda c: (own[c], abs(c - near)))
            own[shim] += 1
            hub = None
            if len(group) > 1:
                hub = min(range(array.columns), key=lambda c: (load[c], abs(c - shim)))
                load[hub] += len(group)
            name = group[0].name if hub is None else f"hub_{'in' if to_core else 'out'}_{len(found)}"
            depth = 1 if len(group[0].objects) == 1 else 2
            found.append(Route(name, tuple(group), to_core, shim, hub, depth))
    return tuple(found)


def flows_of(fifos: ObjectFifos, routes: Sequence[Route], placement: Placement) -> Iterator[StreamFlow]:
    """What stream switches carry: all that no memory shared by two cores holds."""
    for route in routes:
        if route.hub is not None:
            ends = [Tile(route.shim, 0), route.near]
            source, sink = ends if route.to_core else reversed(ends)
            yield StreamFlow(route.name, source, (sink,))
        for fifo in route.fifos:
            cores = tuple(placement.tile(core) for core in fifo.cores)
            if fifo.to_core:
                yield StreamFlow(fifo.name, route.near, cores)
            else:
                yield StreamFlow(fifo.name, cores[0], (route.near,))
    for stream in fifos.streams:
        if not stream.shared:
            source, sink = placement.tile(stream.producer), placement.tile(stream.consumer)
            yield StreamFlow(stream.stream.name, source, (sink,))


def sites_of(routes: Sequence[Route], array: ProcessorArray) -> Iterator[FlowSite]:
    """The shim and memory tiles of routes, each of which may be in another column: the nearest ones first."""
    shim, memory = array.tiles[TileKind.SHIM], array.tiles[TileKind.MEMORY]
    for route in routes:
        first, none = frozenset({route.fifos[0].name if route.hub is None else route.name}), frozenset[str]()
        ends = (first, none) if route.to_core else (none, first)
        sense, limit = ("outputs", shim.dma.outputs) if route.to_core else ("inputs", shim.dma.inputs)
        yield _site(_SHIM, route.name, Tile(route.shim, 0), *ends, {sense: 1}, {sense: limit}, array)
        if route.hub is not None:
            names = frozenset(fifo.name for fifo in route.fifos)
            own = (names, first) if route.to_core else (first, names)
            limits = {
                "inputs": memory.dma.inputs, "outputs": memory.dma.outputs,
                "descriptors": memory.dma.descriptors, "memory": memory.memory,
            }  # fmt: skip
            yield _site(_MEMORY, route.name, route.near, *own, route.hub_needs, limits, array)


def _site(
    kind: str, name: str, tile: Tile, begins: frozenset[str], ends: frozenset[str], needs: dict[str, int],
    limits: dict[str, int], array: ProcessorArray,
) -> FlowSite:  # fmt: skip
    columns = sorted(range(array.columns), key=lambda column: (abs(column - tile.column), column))
    tiles = tuple(Tile(column, tile.row) for column in columns)
    return FlowSite(f"{kind} {name}", tile, tiles, begins, ends, needs, limits)


def at_sites(routes: Sequence[Route], tiles: Mapping[str, Tile]) -> tuple[Route, ...]:
    """The routes with their sites at these tiles, by name; others stay where they are."""
    found = []
    for route in routes:
        shim = tiles.get(f"{_SHIM} {route.name}", Tile(route.shim, 0)).column
        hub = None if route.hub is None else tiles.get(f"{_MEMORY} {route.name}", route.near).column
        found.append(replace(route, shim=shim, hub=hub))
    return tuple(found)


def _column(group: Iterable[ArrayFifo], placement: Placement) -> int:
    """The column in the middle of the cores of some FIFOs."""
    columns = sorted(placement.tile(core).column for fifo in group for core in fifo.cores)
    return columns[len(columns) // 2]


def _groups(fifos: Sequence[ArrayFifo], placement: Placement, channels: int) -> list[list[ArrayFifo]]:
    """FIFOs that share a route: as few of them as there are channels for."""
    kinds: dict[tuple[int, str], list[ArrayFifo]] = {}
    for fifo in fifos:
        kinds.setdefault((len(fifo.objects), fifo.element), []).append(fifo)
    found: list[list[ArrayFifo]] = []
    for own in kinds.values():
        count = max(1, min(len(own), channels * len(own) // len(fifos)))
        order = sorted(own, key=lambda fifo: _column([fifo], placement))
        sizes = [len(own) // count + (k < len(own) % count) for k in range(count)]
        for size in sizes:
            found.append(order[:size])
            order = order[size:]
    return found
