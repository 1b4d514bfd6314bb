"""Files that describe meshes of cores."""

from __future__ import annotations

from .description import Target
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
from .table import Table, each

_UNITS = ("matrix", "vector", "scalar")


def read_mesh(head: Target, root: Table) -> CoreMesh:
    """The mesh of a file whose `head` has been read. Raises TargetError if it contradicts itself."""
    dims = root.table("dims")
    sizes = tuple(SpatialDim(name, dims.count(name)) for name in dims.data)
    units = each(root.table("unit"), _unit, ())
    core = root.table("core")
    cores = CoreArray(core.text("name", "core"), _names(core, "dims"), _names(core, "units"))
    core.done()
    memories = each(root.table("memory"), _memory, ())
    networks = each(root.table("interconnect"), _interconnect, ()) if "interconnect" in root.data else {}
    muxes = each(root.table("mux"), _mux, ())
    return checked_mesh(
        CoreMesh(
            head.name, head.title, head.part, head.frequency, head.highest_frequency, head.sources, head.external,
            sizes, tuple(units.values()), cores,
            tuple(memories.values()), tuple(networks.values()), tuple(muxes.values()),
        )
    )


def _names(table: Table, key: str) -> tuple[str, ...]:
    items = table.get(key, (list,), "a list of names", None)
    if not all(isinstance(item, str) for item in items):
        raise table.error(key, f"must be a list of names, got {items!r}")
    return tuple(items)


def _unit(name: str, table: Table) -> CoreUnit:
    unit: CoreUnit
    match table.text("kind"):
        case "matrix":
            shape = table.get("shape", (list,), "a list [m, k, n]", None)
            if len(shape) != 3 or not all(isinstance(n, int) for n in shape):
                raise table.error("shape", f"must be a list [m, k, n], got {shape!r}")
            throughput, latency = table.number("throughput"), table.count("latency", 0)
            unit = MatrixUnit(name, (shape[0], shape[1], shape[2]), throughput, latency)
        case "vector":
            lanes, throughput = table.count("lanes"), table.number("throughput")
            unit = VectorUnit(name, lanes, throughput, table.count("latency", 0), table.count("elementary", 1))
        case "scalar":
            unit = ScalarUnit(name, table.count("latency"))
        case other:
            raise table.error("kind", f"must be one of {', '.join(_UNITS)}, got '{other}'")
    table.done()
    return unit


def _memory(name: str, table: Table) -> MeshMemory:
    sizes = table.count("size"), table.number("bandwidth"), table.count("latency", 0), table.count("page", 0)
    memory = MeshMemory(name, _names(table, "dims"), *sizes)
    table.done()
    return memory


def _interconnect(name: str, table: Table) -> Interconnect:
    on, text = table.text("component"), table.text("map")
    network = Interconnect(name, on, text, table.number("bandwidth"), table.count("latency", 0))
    table.done()
    return network


def _mux(name: str, table: Table) -> MeshMux:
    mux = MeshMux(name, table.text("target"), table.number("bandwidth"), table.text("source"), table.text("map"))
    table.done()
    return mux
