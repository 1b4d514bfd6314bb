"""Capacity of an array for a mapped program: each resource with what uses it, and which one binds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..picture import aligned
from ..target import ProcessorArray, TileKind
from .banks import CoreMemory
from .buffers import buffers_of
from .fifos import ArrayFifo, ObjectFifos, StreamFifo
from .memory import CoreEnds, buffers_of_core, end_of
from .place import Placement
from .routes import Route
from .steps import MappedCore
from .switches import Routing

PORTS = "stream ports"
_KINDS = {TileKind.CORE: "core tile", TileKind.MEMORY: "memory tile", TileKind.SHIM: "shim tile"}


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """So much of a resource of one tile, or of the whole array, is used, by what is listed."""

    resource: str
    place: str
    used: int
    limit: int
    users: tuple[str, ...]

    @property
    def part(self) -> float:
        """The part of it that is used; more than 1 if there is too little."""
        return self.used / self.limit if self.limit else float(self.used)

    def __str__(self) -> str:
        return f"{self.resource} of {self.place}: {self.used:,} of {self.limit:,}, for {', '.join(self.users)}"


@dataclass(frozen=True, slots=True)
class CapacityReport:
    """What a program uses of an array; `binding` is what there is least left of, `remarks` what is not known of it."""

    array: str
    uses: tuple[ResourceUse, ...]
    remarks: tuple[str, ...] = ()

    @property
    def binding(self) -> ResourceUse:
        """The resource of which the largest part is used."""
        return max(self.uses, key=lambda use: use.part)

    @property
    def exceeded(self) -> tuple[ResourceUse, ...]:
        """What there is too little of."""
        return tuple(use for use in self.uses if use.used > use.limit)

    @property
    def excess(self) -> int:
        """By how much limits are exceeded in all, in their units; 0 if the program fits."""
        return sum(use.used - use.limit for use in self.exceeded)

    def __str__(self) -> str:
        worst: dict[str, ResourceUse] = {}
        for use in self.uses:
            if use.resource not in worst or use.part > worst[use.resource].part:
                worst[use.resource] = use
        rows = [("resource", "most used", "used", "of", "part")]
        rows += [(u.resource, u.place, f"{u.used:,}", f"{u.limit:,}", f"{u.part:.0%}") for u in worst.values()]
        return "\n".join([*aligned(rows), f"binds: {self.binding}", *self.remarks])

    def with_ports(self, routing: Routing, array: ProcessorArray) -> CapacityReport:
        """The same with ports of stream switches: those used, those that are too few, or that this is not known."""
        lacking = [ResourceUse(PORTS, own.place, len(own.flows), own.ports, own.flows) for own in routing.shortages]
        if lacking and not routing.proved:
            remarks = [f"{use}; whether there are other ways is not known" for use in lacking]
            return replace(self, remarks=(*self.remarks, *remarks, routing.reason))
        if lacking:
            return replace(self, uses=(*self.uses, *lacking), remarks=(*self.remarks, routing.reason))
        used = [
            ResourceUse(
                f"{PORTS} of a {_KINDS[kind]}", f"{_KINDS[kind]} {tile}, out to the {side}", len(names),
                array.ports(tile, side), tuple(names),
            )
            for (tile, side), names in routing.users().items() for kind in (array.kind(tile),)
        ]  # fmt: skip
        return replace(self, uses=(*self.uses, *used))


def capacity_of(
    placement: Placement, fifos: ObjectFifos, routes: Sequence[Route], array: ProcessorArray
) -> CapacityReport:
    """What a placed program uses of `array`."""
    arguments = [buffer.name for buffer in buffers_of(placement.mapping.graph.arguments, array.buffers)]
    cores = [core.name for core in placement.mapping.cores]
    uses = [
        ResourceUse("cores", "the array", len(cores), array.cores, tuple(cores)),
        ResourceUse("buffers", "a call", len(arguments), array.buffers, tuple(arguments)),
    ]
    for core in placement.mapping.cores:
        uses += _core_uses(core, placement, fifos, array)
    for column in range(array.columns):
        uses += _memory_uses(column, routes, array)
        uses += _shim_uses(column, routes, array)
    return CapacityReport(array.name, tuple(use for use in uses if use.used))


def _core_uses(
    core: MappedCore, placement: Placement, fifos: ObjectFifos, array: ProcessorArray
) -> Iterator[ResourceUse]:
    limits = array.tiles[TileKind.CORE]
    place = f"core '{core.name}' at {placement.tile(core.name)}"
    ends = CoreEnds.of(core.name, fifos)
    yield ResourceUse("DMA inputs of a core", place, len(ends.into), limits.dma.inputs, _names(ends.into))
    yield ResourceUse("DMA outputs of a core", place, len(ends.out), limits.dma.outputs, _names(ends.out))
    moved = [fifo for fifo in [*ends.into, *ends.out] for _ in range(fifo.depth)]
    yield ResourceUse("descriptors of a core", place, len(moved), limits.dma.descriptors, _names(moved))
    yield ResourceUse("locks of a core", place, 2 * len(ends.held), limits.dma.locks, _names(ends.held))
    buffers = buffers_of_core(core, placement, fifos)
    sizes: dict[str, int] = {}
    for own in buffers:
        sizes[own.part] = sizes.get(own.part, 0) + own.room
    sizes["stack"] = limits.stack
    total = end_of(buffers, limits.stack, array.access)
    parts = [f"{size:,} bytes of {part}" for part, size in sizes.items() if size]
    gaps = total - sum(sizes.values())
    parts += [f"{gaps:,} bytes between them, as accesses are aligned"] if gaps else []
    yield ResourceUse("memory of a core", place, total, limits.memory, tuple(parts))


def bank_uses(memories: Sequence[CoreMemory]) -> Iterator[ResourceUse]:
    """What is used of the banks of cores."""
    for memory in memories:
        banks = {bank for own in memory.buffers for bank in own.banks}
        for bank in sorted(banks):
            users = memory.users(bank)
            place = f"bank {bank} of core '{memory.core}' at {memory.tile}"
            yield ResourceUse("memory of a bank", place, sum(users.values()), memory.bank_bytes, tuple(users))


def _memory_uses(column: int, routes: Sequence[Route], array: ProcessorArray) -> Iterator[ResourceUse]:
    limits = array.tiles[TileKind.MEMORY]
    place = f"memory tile ({column}, 1)"
    own = [route for route in routes if route.hub == column]
    into = [n for route in own for n in ([route.name] if route.to_core else [f.name for f in route.fifos])]
    out = [n for route in own for n in ([f.name for f in route.fifos] if route.to_core else [route.name])]
    yield ResourceUse("DMA inputs of a memory tile", place, len(into), limits.dma.inputs, tuple(into))
    yield ResourceUse("DMA outputs of a memory tile", place, len(out), limits.dma.outputs, tuple(out))
    descriptors, total = (sum(route.hub_needs[what] for route in own) for what in ("descriptors", "memory"))
    names = tuple(route.name for route in own)
    yield ResourceUse("descriptors of a memory tile", place, descriptors, limits.dma.descriptors, names)
    yield ResourceUse("memory of a memory tile", place, total, limits.memory, names)


def _shim_uses(column: int, routes: Sequence[Route], array: ProcessorArray) -> Iterator[ResourceUse]:
    limits = array.tiles[TileKind.SHIM]
    into = tuple(route.name for route in routes if route.shim == column and route.to_core)
    out = tuple(route.name for route in routes if route.shim == column and not route.to_core)
    place = f"shim tile ({column}, 0)"
    yield ResourceUse("DMA outputs of a shim tile", place, len(into), limits.dma.outputs, into)
    yield ResourceUse("DMA inputs of a shim tile", place, len(out), limits.dma.inputs, out)


def _name(fifo: ArrayFifo | StreamFifo) -> str:
    return fifo.name if isinstance(fifo, ArrayFifo) else fifo.stream.name


def _names(fifos: Sequence[ArrayFifo | StreamFifo]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_name(fifo) for fifo in fifos))
