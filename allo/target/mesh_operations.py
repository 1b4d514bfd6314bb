"""Meshes as the `df` operations of the TL paper (section 2.4): text that is printed, and parsed back."""

from __future__ import annotations

import json
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
_TEXT = r'"(?:[^"\\]|\\.)*"'
_VALUE = rf'affine_map<.*?>(?=\s*(?:,\s*\w+\s*=|$))|\[[^\]]*\]|{_TEXT}|[^,\[\]"]+'
_ITEM = re.compile(rf"\s*(\w+)\s*=\s*({_VALUE})\s*(?:,|$)")
_SOURCES = re.compile(rf"df\.sources\(\[(\s*{_TEXT}\s*(?:,\s*{_TEXT}\s*)*)\]\)")
_COMMENT = re.compile(rf'^((?:[^"/]|/(?!/)|{_TEXT})*)//.*')


def mesh_text(mesh: CoreMesh) -> str:
    """The `df` operations of a mesh, one a line; `df.target` has what files say in their head."""
    texts = ", ".join(f"{key} = {_quoted(getattr(mesh, key))}" for key in ("name", "title", "part"))
    clocks = f"frequency = {_shown(mesh.frequency)}, highest_frequency = {_shown(mesh.highest_frequency)}"
    lines = [f"df.target({texts}, {clocks})"]
    lines += [f"df.sources([{', '.join(map(_quoted, mesh.sources))}])"] if mesh.sources else []
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


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(str(item) for item in value)}]"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


class _Reader:
    """The arguments of one operation of a line."""

    def __init__(self, line: int, name: str, operation: str, text: str) -> None:
        self.where = f"line {line}: df.{operation}"
        self.name = name
        self.values: dict[str, str] = {}
        end = 0
        for item in _ITEM.finditer(text):
            if item.start() != end:
                break
            if item[1] in self.values:
                raise TargetError(f"{self.where} of '%{name}' has '{item[1]}' twice")
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
        number = self.number(key, default)
        if not number.is_integer():
            raise TargetError(f"{self.where}: '{key}' must be an integer, got {number:g}")
        return int(number)

    def extents(self, names: tuple[str, ...]) -> tuple[int, ...]:
        items = self.items("shape")
        if len(items) != len(names) or not all(item.isdecimal() for item in items):
            got = f"[{', '.join(items)}]"
            raise TargetError(f"{self.where}: 'shape' must be integers [{', '.join(names)}], got {got}")
        return tuple(map(int, items))

    def items(self, key: str) -> list[str]:
        text = self.take(key, "[]")
        return [item.strip() for item in text.removeprefix("[").removesuffix("]").split(",") if item.strip()]

    def names(self, key: str) -> tuple[str, ...]:
        return tuple(item.removeprefix("%") for item in self.items(key))

    def map(self) -> str:
        return self.take("map").removeprefix("affine_map<").removesuffix(">")

    def text(self, key: str) -> str:
        text = self.take(key, '""')
        if re.fullmatch(_TEXT, text) is None:
            raise TargetError(f"{self.where}: '{key}' must be a text in quotes, got `{text}`")
        return str(json.loads(text))

    def done(self) -> None:
        for key in self.values:
            raise TargetError(f"{self.where} of '%{self.name}' takes no '{key}'")


def _matrix(r: _Reader) -> MatrixUnit:
    m, k, n = r.extents(("m", "k", "n"))
    return MatrixUnit(r.name, (m, k, n), r.number("throughput"), r.count("latency", "0"))


def _vector(r: _Reader) -> VectorUnit:
    (lanes,) = r.extents(("lanes",))
    return VectorUnit(r.name, lanes, r.number("throughput"), r.count("latency", "0"), r.count("elementary", "1"))


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
        line = _COMMENT.sub(r"\1", line).strip()
        if (match := _SOURCES.fullmatch(line)) is not None:
            sources = tuple(json.loads(f"[{match[1]}]"))
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
