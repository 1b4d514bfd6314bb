"""Meshes as the `df` operations of the TL paper (section 2.4): text that is printed, and parsed back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import TargetError, nearest
from .mesh import (
    CoreArray,
    CoreMesh,
    CoreUnit,
    Interconnect,
    MatrixUnit,
    MeshMemory,
    MeshMux,
    ScalarUnit,
    SpatialDim,
    VectorUnit,
)
from .mesh_check import checked_mesh

type _Values = dict[str, Any]

_LINE = re.compile(r"%(\w+)\s*=\s*df\.(\w+)\((.*)\)")
_HEAD = re.compile(r"df\.target\((.*)\)")
_ITEM = re.compile(r'\s*(\w+)\s*=\s*(affine_map<.*?>(?=\s*(?:,\s*\w+\s*=|$))|\[[^\]]*\]|"[^"]*"|[^,\[\]"]+)\s*(?:,|$)')


def mesh_text(mesh: CoreMesh) -> str:
    """The `df` operations of a mesh, one a line; `df.target` has what files say in their head."""
    sources = ", ".join(f'"{source}"' for source in mesh.sources)
    head = f'df.target(name = "{mesh.name}", title = "{mesh.title}", part = "{mesh.part}"'
    lines = [f"{head}, frequency = {mesh.frequency:g}, highest_frequency = {mesh.highest_frequency:g})"]
    lines += [f"df.sources([{sources}])"] if mesh.sources else []
    lines += [_line(name, operation, values) for name, operation, values in _operations(mesh)]
    return "\n".join(lines) + "\n"


def _operations(mesh: CoreMesh) -> Iterator[tuple[str, str, _Values]]:
    for dim in mesh.dims:
        yield dim.name, "spatial_dim", {"size": dim.size}
    for unit in mesh.units:
        match unit:
            case MatrixUnit():
                shape = list(unit.shape)
                yield unit.name, "mat", {"shape": shape, "throughput": unit.throughput, "latency": unit.latency}
            case VectorUnit():
                values: _Values = {"shape": [unit.lanes], "throughput": unit.throughput, "latency": unit.latency}
                yield unit.name, "vec", values | {"elementary": unit.elementary}
            case ScalarUnit():
                yield unit.name, "scalar", {"latency": unit.latency}
    cores = mesh.cores
    yield cores.name, "core", {"scaleout": [f"%{d}" for d in cores.dims], "scalein": [f"%{u}" for u in cores.units]}
    for memory in mesh.memories:
        values = {"scaleout": [f"%{dim}" for dim in memory.dims], "size": memory.size, "bandwidth": memory.bandwidth}
        yield memory.name, "memory", values | {"latency": memory.latency, "page": memory.page}
    for network in mesh.interconnects:
        values = {"components": f"%{network.component}", "map": f"affine_map<{network.map}>"}
        yield network.name, "interconnects", values | {"bandwidth": network.bandwidth, "latency": network.latency}
    for mux in mesh.muxes:
        values = {"dst": f"%{mux.target}", "bandwidth": mux.bandwidth, "srcs": f"%{mux.source}"}
        yield mux.name, "mux", values | {"map": f"affine_map<{mux.map}>"}


def _line(name: str, operation: str, values: _Values) -> str:
    return f"%{name} = df.{operation}({', '.join(f'{key} = {_shown(value)}' for key, value in values.items())})"


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(str(item) for item in value)}]"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


class _Reader:
    """The arguments of one operation of a line."""

    def __init__(self, line: int, name: str, operation: str, text: str) -> None:
        self.where = f"line {line}: df.{operation}"
        self.name = name
        self.values = {}
        end = 0
        for item in _ITEM.finditer(text):
            if item.start() != end:
                break
            self.values[item[1]], end = item[2].strip(), item.end()
        if end != len(text):
            raise TargetError(f"{self.where}: cannot read `{text[end:].strip()}`", hint="arguments are `key = value`")

    def take(self, key: str, default: str | None = None) -> str:
        if key not in self.values and default is None:
            raise TargetError(f"{self.where} of '%{self.name}' needs '{key}'")
        return self.values.pop(key, default or "")

    def number(self, key: str, default: str | None = None) -> float:
        text = self.take(key, default)
        try:
            return float(text)
        except ValueError:
            raise TargetError(f"{self.where}: '{key}' must be a number, got `{text}`") from None

    def count(self, key: str, default: str | None = None) -> int:
        return int(self.number(key, default))

    def items(self, key: str) -> list[str]:
        text = self.take(key, "[]")
        return [item.strip() for item in text.removeprefix("[").removesuffix("]").split(",") if item.strip()]

    def names(self, key: str) -> tuple[str, ...]:
        return tuple(item.removeprefix("%") for item in self.items(key))

    def map(self) -> str:
        return self.take("map").removeprefix("affine_map<").removesuffix(">")

    def text(self, key: str) -> str:
        return self.take(key, '""').strip('"')

    def done(self) -> None:
        for key in self.values:
            raise TargetError(f"{self.where} of '%{self.name}' takes no '{key}'")


def _matrix(r: _Reader) -> MatrixUnit:
    shape = [int(item) for item in r.items("shape") if item.isdigit()]
    if len(shape) != 3:
        raise TargetError(f"{r.where}: 'shape' must be [m, k, n]")
    return MatrixUnit(r.name, (shape[0], shape[1], shape[2]), r.number("throughput"), r.count("latency", "0"))


def _vector(r: _Reader) -> VectorUnit:
    shape = [int(item) for item in r.items("shape") if item.isdigit()]
    if len(shape) != 1:
        raise TargetError(f"{r.where}: 'shape' must be [lanes]")
    return VectorUnit(r.name, shape[0], r.number("throughput"), r.count("latency", "0"), r.count("elementary", "1"))


def _memory(r: _Reader) -> MeshMemory:
    numbers = r.count("size"), r.number("bandwidth"), r.count("latency", "0"), r.count("page", "0")
    return MeshMemory(r.name, r.names("scaleout"), *numbers)


def _network(r: _Reader) -> Interconnect:
    component = r.take("components").strip("[]").removeprefix("%")
    return Interconnect(r.name, component, r.map(), r.number("bandwidth"), r.count("latency", "0"))


def _mux(r: _Reader) -> MeshMux:
    target, source = r.take("dst").removeprefix("%"), r.take("srcs").strip("[]").removeprefix("%")
    return MeshMux(r.name, target, r.number("bandwidth"), source, r.map())


_OPERATIONS: dict[str, Callable[[_Reader], Any]] = {
    "spatial_dim": lambda r: SpatialDim(r.name, r.count("size")),
    "mat": _matrix,
    "vec": _vector,
    "scalar": lambda r: ScalarUnit(r.name, r.count("latency")),
    "core": lambda r: CoreArray(r.name, r.names("scaleout"), r.names("scalein")),
    "memory": _memory,
    "interconnects": _network,
    "mux": _mux,
}


def parse_mesh(text: str) -> CoreMesh:
    """The mesh of a text of `df` operations. Raises TargetError for a line that it cannot read, and contradictions."""
    found: list[Any] = []
    head = {"name": "mesh", "title": "", "part": ""}
    frequency, highest, sources = 1000.0, 0.0, ()
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("//")[0].strip() if '"' not in line else line.strip()
        if line.startswith("df.sources("):
            sources = tuple(re.findall(r'"([^"]*)"', line))
        elif (match := _HEAD.fullmatch(line)) is not None:
            reader = _Reader(number, "target", "target", match[1])
            head = {key: reader.text(key) for key in head}
            frequency, highest = reader.number("frequency"), reader.number("highest_frequency", "0")
            reader.done()
        elif line:
            found.append(_parsed(number, line))
    cores = [part for part in found if isinstance(part, CoreArray)]
    if len(cores) != 1:
        raise TargetError(f"a mesh has one df.core, got {len(cores)}")

    def of(*kinds: type) -> tuple[Any, ...]:
        return tuple(part for part in found if isinstance(part, kinds))

    units: tuple[CoreUnit, ...] = of(MatrixUnit, VectorUnit, ScalarUnit)
    return checked_mesh(
        CoreMesh(
            head["name"], head["title"], head["part"], frequency, highest, sources, {}, of(SpatialDim),
            units, cores[0], of(MeshMemory), of(Interconnect), of(MeshMux),
        )
    )


def _parsed(number: int, line: str) -> Any:
    match = _LINE.fullmatch(line)
    if match is None:
        raise TargetError(f"line {number}: cannot read `{line}`", hint="write `%name = df.operation(key = value, ...)`")
    if match[2] not in _OPERATIONS:
        known = sorted(_OPERATIONS)
        hint = nearest(match[2], known) or f"there are {', '.join(known)}"
        raise TargetError(f"line {number}: there is no operation df.{match[2]}", hint=hint)
    reader = _Reader(number, match[1], match[2], match[3])
    part = _OPERATIONS[match[2]](reader)
    reader.done()
    return part
