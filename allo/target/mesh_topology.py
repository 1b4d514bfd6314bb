"""Topology of a mesh: the positions, links and ports that its affine maps stand for, evaluated with isl."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import islpy as isl

from ..errors import TargetError
from .mesh import CoreMesh, SpatialDim

type Position = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MeshLink:
    """A link of a network, from a position to another."""

    network: str
    start: Position
    end: Position

    def __str__(self) -> str:
        return f"{self.network}{list(self.start)}->{list(self.end)}"


@dataclass(frozen=True, slots=True)
class MeshRing:
    """The positions that links of one network lead through, in order; `closed` if the last leads to the first."""

    network: str
    positions: tuple[Position, ...]
    closed: bool


@dataclass(frozen=True)
class MeshNetwork:
    """An interconnect as links. `axis` is the number of the core dimension that all links run along, None if several.

    `stride` is 1 or -1: from each position to the next or the one before; 0 for links of another kind.
    """

    name: str
    bandwidth: float
    latency: int
    links: tuple[MeshLink, ...]
    axis: int | None
    stride: int

    @cached_property
    def following(self) -> dict[Position, MeshLink]:
        """The link that leads away from each position."""
        return {link.start: link for link in self.links}


@lru_cache(maxsize=128)
def pairs_of(
    text: str, source: tuple[SpatialDim, ...], target: tuple[SpatialDim, ...]
) -> tuple[tuple[Position, Position], ...]:
    """The pairs of positions that a map relates, those of the target also where it leaves its box.

    The text is `(x, y) -> (x + 1, y) : x < 7`, in whose condition stand affine comparisons joined by `and` and `or`.
    Raises TargetError for a text that isl cannot read.
    """
    head, _, condition = text.partition(":")
    inputs, arrow, outputs = head.partition("->")
    names = [name.strip() for name in inputs.strip().removeprefix("(").removesuffix(")").split(",")]
    expected = [dim.name for dim in source]
    if not arrow or names != expected:
        raise TargetError(f"the map `{text}` must start with `({', '.join(expected)}) ->`, as its source has them")
    body = outputs.strip().removeprefix("(").removesuffix(")")
    bounds = [f"0 <= {dim.name} < {dim.size}" for dim in source]
    conditions = " and ".join([*bounds, *([f"({condition.strip()})"] if condition.strip() else [])])
    results = [part.strip() for part in body.split(",")]
    free = [dim for dim in target if dim.name in results and dim.name not in names]
    conditions += "".join(f" and 0 <= {dim.name} < {dim.size}" for dim in free)
    try:
        relation = isl.Map(f"{{ [{', '.join(names)}] -> [{body}] : {conditions} }}")
    except isl.Error:
        raise TargetError(
            f"the map `{text}` is not affine in {', '.join(expected)}",
            hint="write sums, products with constants, mod and floor(x / c), as `(x, y) -> ((x + 1) mod 8, y)`",
        ) from None
    if relation.dim(isl.dim_type.out) != len(target):
        raise TargetError(
            f"the map `{text}` gives {relation.dim(isl.dim_type.out)} numbers, its target has {len(target)} dimensions"
        )
    return tuple(sorted(_points(relation, len(source))))


def _points(relation: isl.Map, inputs: int) -> Iterable[tuple[Position, Position]]:
    found: list[tuple[Position, Position]] = []

    def add(point: isl.Point) -> None:
        count = point.get_space().dim(isl.dim_type.set)
        values = tuple(point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(count))
        found.append((values[:inputs], values[inputs:]))

    flat = relation.wrap().flatten()
    if not flat.is_bounded():
        raise TargetError("a map relates a position to any number of others")
    flat.foreach_point(add)
    return found


def dims_named(mesh: CoreMesh, names: Iterable[str]) -> tuple[SpatialDim, ...]:
    """The dimensions of these names."""
    return tuple(SpatialDim(name, mesh.size(name)) for name in names)


def positions(dims: Iterable[SpatialDim]) -> tuple[Position, ...]:
    """All positions of a box."""
    return tuple(product(*(range(dim.size) for dim in dims)))


def networks_of(mesh: CoreMesh) -> tuple[MeshNetwork, ...]:
    """The interconnects between positions of cores, or of memories that are beside the cores, as links."""
    result = []
    box = dims_named(mesh, mesh.cores.dims)
    for network in mesh.interconnects:
        if mesh.dims_of(network.component) != mesh.cores.dims:
            continue
        links = tuple(MeshLink(network.name, start, end) for start, end in pairs_of(network.map, box, box))
        result.append(MeshNetwork(network.name, network.bandwidth, network.latency, links, *_along(links, box)))
    return tuple(result)


def _along(links: tuple[MeshLink, ...], box: tuple[SpatialDim, ...]) -> tuple[int | None, int]:
    moved = {k for link in links for k in range(len(box)) if link.start[k] != link.end[k]}
    if len(moved) != 1:
        return None, 0
    axis = moved.pop()
    size = box[axis].size
    steps = {(link.end[axis] - link.start[axis]) % size for link in links}
    if steps == {1}:
        backward = size == 2 and all(link.end[axis] < link.start[axis] for link in links)
        return axis, -1 if backward else 1
    return axis, -1 if steps == {size - 1} else 0


@dataclass(frozen=True, slots=True)
class MeshPort:
    """A port of a mux, from a core (or the memory beside it) to a position of a memory, in bytes a cycle."""

    mux: str
    core: Position
    place: Position
    bandwidth: float

    def __str__(self) -> str:
        return f"{self.mux}{list(self.core)}->{list(self.place)}"


@dataclass(frozen=True, slots=True)
class GlobalPorts:
    """How cores reach the memory beside the chip; `local` is the memory that each core has for itself."""

    memory: str
    local: str
    ports: tuple[MeshPort, ...]

    @property
    def places(self) -> tuple[Position, ...]:
        """The positions of the memory."""
        return tuple(sorted({port.place for port in self.ports}))

    def at(self, place: Position) -> tuple[MeshPort, ...]:
        """The ports to a position of the memory."""
        return tuple(port for port in self.ports if port.place == place)


def local_memory(mesh: CoreMesh) -> str | None:
    """The memory that each core has for itself: a port leads from each core to one position, another for each."""
    for mux in mesh.muxes:
        pairs = port_pairs(mesh, mux.name)
        one_each = len({start for start, _ in pairs}) == len(pairs) == len({end for _, end in pairs}) == mesh.count
        if mux.source == mesh.cores.name and one_each and mesh.dims_of(mux.target) == mesh.cores.dims:
            return mux.target
    return None


def port_pairs(mesh: CoreMesh, name: str) -> tuple[tuple[Position, Position], ...]:
    """The positions that the ports of a mux lead from and to."""
    mux = next(known for known in mesh.muxes if known.name == name)
    source, target = mesh.dims_of(mux.source), mesh.dims_of(mux.target)
    return pairs_of(mux.map, dims_named(mesh, source), dims_named(mesh, target))


def global_ports(mesh: CoreMesh) -> GlobalPorts:
    """The ports to the memory beside the chip, which is the largest that is no memory of single cores.

    Raises TargetError if there is none, cores have no memory of their own, or a position of it has no port.
    """
    local = local_memory(mesh)
    if local is None:
        raise TargetError(
            f"the cores of '{mesh.name}' have no memory of their own",
            hint="give a memory with the dimensions of the cores, and a mux from each core to its position",
        )
    shared = [mux for mux in mesh.muxes if mux.target != local and mesh.dims_of(mux.source) == mesh.cores.dims]
    if not shared:
        raise TargetError(
            f"'{mesh.name}' has no memory that its cores share",
            hint=f"give a memory for whole arrays, and a mux from '{local}' or '{mesh.cores.name}' to it",
        )
    memory = max((mux.target for mux in shared), key=lambda name: mesh.memory(name).size)
    ports = [
        MeshPort(mux.name, core, place, mux.bandwidth)
        for mux in shared
        if mux.target == memory
        for core, place in port_pairs(mesh, mux.name)
    ]
    for place in positions(dims_named(mesh, mesh.dims_of(memory))):
        if all(port.place != place for port in ports):
            raise TargetError(
                f"no core of '{mesh.name}' has a port to '{memory}' at {list(place)}",
                hint=f"give a mux from '{local}' or '{mesh.cores.name}' that leads there",
            )
    return GlobalPorts(memory, local, tuple(ports))
