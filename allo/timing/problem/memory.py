"""Hardware of arrays: registers, LUTRAM, BRAM, URAM or a FIFO, in which banks, with which ports."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from mlir import ir

from ...errors import InternalError
from ...ir.mlir_types import from_mlir
from ...ir.partitions import divisions_of
from ...ir.streams import is_stream_type
from ...ir.types import TensorType
from ...ir.walk import entry_block
from ...layout import NONE, Banks, Division, PartitionLayout
from ...target import External, Fpga, MemoryKind

_STREAM = re.compile(r"!allo\.stream<(.*), (\d+)>")


@dataclass(frozen=True, slots=True)
class Ports:
    """How many accesses of a bank fit into a cycle: together, reads, writes; None: as many as one likes."""

    total: int | None
    reads: int | None = None
    writes: int | None = None


_STORAGE = {
    "RAM_1P": Ports(1),
    "RAM_2P": Ports(2),
    "RAM_S2P": Ports(2, 1, 1),
    "RAM_T2P": Ports(2),
    "RAM_1WNR": Ports(None, None, 1),
    "ROM_1P": Ports(1),
    "ROM_2P": Ports(2),
    "ROM_NP": Ports(None),
}


@dataclass(frozen=True, slots=True)
class ArrayMemory:
    """An array as hardware: `dims` deal its elements to banks; `depth` words of `width` bits a bank."""

    name: str
    kind: MemoryKind
    ports: Ports
    read: int
    shape: tuple[int, ...]
    width: int
    dims: tuple[Banks, ...]
    banks: int
    bound: bool = False  # the user has said what it is

    @property
    def depth(self) -> int:
        return -(-math.prod(self.shape) // self.banks)

    @property
    def is_register(self) -> bool:
        return self.kind.name == "REGISTER"

    def blocks(self) -> int:
        """How many memory blocks it takes."""
        return self.banks * self.kind.blocks(self.width, self.depth)


def array_memory(value: ir.Value, name: str, target: Fpga) -> ArrayMemory:
    """What the array (or stream, or array of streams) `value` is made of."""
    if is_stream_type(value.type):
        return _fifo(value, name, target)
    memref = ir.MemRefType(value.type)
    shape = tuple(memref.shape) if memref.has_static_shape else tuple(max(e, 1) for e in memref.shape)
    tensor = from_mlir(value.type)
    width = tensor.element.bits if isinstance(tensor, TensorType) else 32
    divisions = Banks.read(divisions_of(memref))
    layout = PartitionLayout.of(shape, divisions) if shape else None
    banks = layout.banks if layout else 1
    dims = layout.dims if layout else ()
    asked = _asked(value)
    elements = math.prod(shape)
    if asked is None or asked.resource in ("AUTO", "SRL"):
        fixed = memref.has_static_shape
        kind = _unasked(elements, banks, width, target) if fixed else target.memories["BRAM"]
    else:
        resource = asked.resource.removesuffix("_ECC")
        kind = target.memories.get(resource, target.memories["BRAM"])
    if kind.name == "REGISTER":
        return ArrayMemory(name, kind, Ports(None), kind.read, shape, width, dims, banks)
    ports = _STORAGE.get(asked.storage if asked else "", Ports(kind.ports))
    read = asked.latency if asked is not None and asked.latency is not None else kind.read
    return ArrayMemory(name, kind, ports, read, shape, width, dims, banks, asked is not None)


def _unasked(elements: int, banks: int, width: int, target: Fpga) -> MemoryKind:
    """What an array becomes if nothing else is asked for."""
    per_bank = -(-elements // banks)
    if elements <= target.registers_up_to or per_bank == 1:
        return target.memories["REGISTER"]
    return target.memories["LUTRAM" if per_bank * width <= target.lutram_up_to else "BRAM"]


def divided(memory: ArrayMemory, dims: tuple[Banks, ...], target: Fpga) -> ArrayMemory:
    """The array in other banks, in what it becomes then."""
    banks = math.prod(d.count(extent) for d, extent in zip(dims, memory.shape, strict=True))
    kind = _unasked(math.prod(memory.shape), banks, memory.width, target)
    ports = Ports(None) if kind.name == "REGISTER" else Ports(kind.ports)
    return replace(memory, kind=kind, ports=ports, read=kind.read, dims=dims, banks=banks)


def stream_parts(kind: ir.Type) -> tuple[str, int]:
    """The type of the elements, as text, and the depth of a stream. Raises InternalError for another type."""
    match = _STREAM.fullmatch(str(kind))
    if match is None:
        raise InternalError(f"the type {kind} is no stream")
    return match[1], int(match[2])


def external_memory(value: ir.Value, name: str, external: External) -> ArrayMemory:
    """An array that stays beside the chip: one port, which reads and writes a word a cycle at best."""
    memref = ir.MemRefType(value.type)
    tensor = from_mlir(value.type)
    width = tensor.element.bits if isinstance(tensor, TensorType) else 32
    kind = MemoryKind(external.name, 1, external.latency, external.latency)
    shape = tuple(max(extent, 1) for extent in memref.shape)
    return ArrayMemory(name, kind, Ports(None, 1, 1), kind.read, shape, width, (NONE,) * len(shape), 1, True)


def _fifo(value: ir.Value, name: str, target: Fpga) -> ArrayMemory:
    kind = target.memories["FIFO"]
    shape: tuple[int, ...] = ()
    element = value.type
    if isinstance(element, ir.MemRefType):
        shape, element = tuple(element.shape), element.element_type
    dims = tuple(Banks(Division.COMPLETE) for _ in shape)
    return ArrayMemory(name, kind, Ports(2, 1, 1), kind.read, shape, 32, dims, max(1, math.prod(shape)))


@dataclass(frozen=True, slots=True)
class _Asked:
    resource: str
    storage: str
    latency: int | None


def _asked(value: ir.Value) -> _Asked | None:
    """The memory that the user binds the array to: an attribute of its declaration or argument."""
    attribute: ir.Attribute | None = None
    if isinstance(value.owner, ir.Block):
        function = value.owner.owner.operation
        if "arg_attrs" in function.attributes and entry_block(function) == value.owner:
            given = ir.DictAttr(ir.ArrayAttr(function.attributes["arg_attrs"])[ir.BlockArgument(value).arg_number])
            attribute = given["allo.memory"] if "allo.memory" in given else None  # noqa: SIM401 - not a dict
    elif "allo.memory" in value.owner.operation.attributes:
        attribute = value.owner.operation.attributes["allo.memory"]
    if attribute is None:
        return None
    entries = ir.DictAttr(attribute)
    latency = ir.IntegerAttr(entries["latency"]).value if "latency" in entries else None
    storage = ir.StringAttr(entries["storage_type"]).value if "storage_type" in entries else ""
    return _Asked(ir.StringAttr(entries["resource"]).value, storage, latency)
