"""Routes of object FIFOs between memory and cores: shim channels, and memory tiles that join and distribute objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..target import ProcessorArray, Tile
from .fifos import ArrayFifo, ObjectFifos
from .place import Placement
from .switches import StreamFlow


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
