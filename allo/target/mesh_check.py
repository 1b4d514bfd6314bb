"""Contradictions in the description of a mesh: names, maps that leave the mesh, memories that nobody reaches."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from ..errors import TargetError, nearest
from .mesh import CoreMesh, MatrixUnit, ScalarUnit, VectorUnit
from .mesh_topology import Position, dims_named, pairs_of, positions

type _Place = tuple[str, Position]


def checked_mesh(mesh: CoreMesh) -> CoreMesh:
    """The mesh. Raises TargetError for one that contradicts itself, with the reason."""
    _names(mesh)
    _numbers(mesh)
    for network in mesh.interconnects:
        _interconnect(mesh, network.name, network.component, network.map)
    for mux in mesh.muxes:
        _mux(mesh, mux.name, mux.source, mux.target, mux.map)
    _reached(mesh)
    return mesh


def _names(mesh: CoreMesh) -> None:
    components = (mesh.cores.name, *(memory.name for memory in mesh.memories))
    named = [*(dim.name for dim in mesh.dims), *(unit.name for unit in mesh.units), *components]
    named += [*(network.name for network in mesh.interconnects), *(mux.name for mux in mesh.muxes)]
    for name in named:
        if not name.isidentifier():
            raise TargetError(f"'{name}' of '{mesh.name}' is no name", hint="use letters, digits and `_`")
        if named.count(name) > 1:
            raise TargetError(f"'{mesh.name}' has two things of the name '{name}'", hint="rename one of them")
    dims, units = [dim.name for dim in mesh.dims], [unit.name for unit in mesh.units]
    for component in components:
        for dim in mesh.dims_of(component):
            _known(mesh, component, dim, dims, "spatial dimension")
    if not mesh.cores.dims:
        raise TargetError(f"the cores of '{mesh.name}' have no spatial dimension", hint="give one of size 1")
    for unit in mesh.cores.units:
        _known(mesh, mesh.cores.name, unit, units, "unit")
    for network in mesh.interconnects:
        _known(mesh, network.name, network.component, components, "component")
    for mux in mesh.muxes:
        _known(mesh, mux.name, mux.source, components, "component")
        _known(mesh, mux.name, mux.target, components[1:], "memory")


def _known(mesh: CoreMesh, user: str, name: str, known: list[str] | tuple[str, ...], kind: str) -> None:
    if name not in known:
        raise TargetError(
            f"'{user}' of '{mesh.name}' uses the {kind} '{name}', which is not declared",
            hint=nearest(name, known) or f"declared: {', '.join(known) or 'none'}",
        )


def _numbers(mesh: CoreMesh) -> None:
    if mesh.external:
        raise TargetError(f"'{mesh.name}' has external memories", hint="a mesh describes all memories as `memory`")
    for owner, what, number in ((mesh.name, "frequency", mesh.frequency), *_positive(mesh)):
        if not 0 < number < inf:
            wanted = "finite" if number > 0 else "more than 0"
            raise TargetError(f"the {what} of '{owner}' of '{mesh.name}' must be {wanted}, got {number:g}")
    for part in (*mesh.units, *mesh.memories, *mesh.interconnects):
        if part.latency < 0:
            raise TargetError(f"the latency of '{part.name}' of '{mesh.name}' must be at least 0, got {part.latency}")
    for memory in mesh.memories:
        if memory.page < 0:
            raise TargetError(f"the page of '{memory.name}' of '{mesh.name}' must be at least 0, got {memory.page}")


def _positive(mesh: CoreMesh) -> Iterator[tuple[str, str, float]]:
    yield from ((dim.name, "size", dim.size) for dim in mesh.dims)
    for unit in mesh.units:
        match unit:
            case MatrixUnit():
                yield from ((unit.name, "shape", extent) for extent in unit.shape)
                yield unit.name, "throughput", unit.throughput
            case VectorUnit():
                yield unit.name, "shape", unit.lanes
                yield unit.name, "throughput", unit.throughput
                yield unit.name, "elementary", unit.elementary
            case ScalarUnit():
                yield unit.name, "latency", unit.latency
    for memory in mesh.memories:
        yield memory.name, "size", memory.size
        yield memory.name, "bandwidth", memory.bandwidth
    yield from ((network.name, "bandwidth", network.bandwidth) for network in mesh.interconnects)
    yield from ((mux.name, "bandwidth", mux.bandwidth) for mux in mesh.muxes)


def _at(dims: tuple[str, ...], position: Position) -> str:
    return ", ".join(f"{dim} = {k}" for dim, k in zip(dims, position, strict=True)) or "its only position"


def _interconnect(mesh: CoreMesh, name: str, component: str, text: str) -> None:
    names = mesh.dims_of(component)
    box = dims_named(mesh, names)
    pairs = pairs_of(text, box, box)
    if not pairs:
        raise TargetError(f"the network '{name}' of '{mesh.name}' has no links", hint=f"its map is `{text}`")
    inside = set(positions(box))
    seen = {}
    for start, end in pairs:
        if end not in inside:
            axis = next(k for k, dim in enumerate(box) if not 0 <= end[k] < dim.size)
            raise TargetError(
                f"the network '{name}' of '{mesh.name}' leaves the mesh: from {_at(names, start)} its map leads to "
                f"{_at(names, end)}, and '{names[axis]}' has {box[axis].size} positions",
                hint=f"wrap around with `mod {box[axis].size}`, or say with `: condition` where there are links",
            )
        if start == end:
            raise TargetError(f"the network '{name}' of '{mesh.name}' leads from {_at(names, start)} to itself")
        if start in seen:
            raise TargetError(
                f"the network '{name}' of '{mesh.name}' leads from {_at(names, start)} to two positions",
                hint="declare a network for each direction",
            )
        seen[start] = end


def _mux(mesh: CoreMesh, name: str, source: str, target: str, text: str) -> None:
    outer, names = mesh.dims_of(source), mesh.dims_of(target)
    box = dims_named(mesh, names)
    inside = set(positions(box))
    for start, end in pairs_of(text, dims_named(mesh, outer), box):
        if end not in inside:
            raise TargetError(
                f"the mux '{name}' of '{mesh.name}' leaves '{target}': from {_at(outer, start)} its map leads to "
                f"{_at(names, end)}"
            )


def _reached(mesh: CoreMesh) -> None:
    ahead: dict[_Place, set[_Place]] = {}
    for mux in mesh.muxes:
        dims = dims_named(mesh, mesh.dims_of(mux.source)), dims_named(mesh, mesh.dims_of(mux.target))
        for start, end in pairs_of(mux.map, *dims):
            ahead.setdefault((mux.source, start), set()).add((mux.target, end))
    for network in mesh.interconnects:
        box = dims_named(mesh, mesh.dims_of(network.component))
        for start, end in pairs_of(network.map, box, box):  # data come back by the links that requests take
            ahead.setdefault((network.component, start), set()).add((network.component, end))
            ahead.setdefault((network.component, end), set()).add((network.component, start))
    cores = [(mesh.cores.name, p) for p in positions(dims_named(mesh, mesh.cores.dims))]
    everything = _closure(ahead, cores)
    for memory in mesh.memories:
        for place in positions(dims_named(mesh, memory.dims)):
            if (memory.name, place) not in everything:
                raise TargetError(
                    f"nobody reaches the memory '{memory.name}' of '{mesh.name}' at {_at(memory.dims, place)}",
                    hint="give a mux or a network that leads there",
                )
    for core in cores:
        reached = {name for name, _ in _closure(ahead, [core])}
        for memory in mesh.memories:
            if memory.name not in reached:
                raise TargetError(
                    f"the core at {_at(mesh.cores.dims, core[1])} of '{mesh.name}' does not reach '{memory.name}'",
                    hint="give a mux or a network that leads there",
                )


def _closure(ahead: dict[_Place, set[_Place]], start: list[_Place]) -> set[_Place]:
    found, left = set(start), list(start)
    while left:
        for place in ahead.get(left.pop(), ()):
            if place not in found:
                found.add(place)
                left.append(place)
    return found
