"""MLIR-AIE text of a planned program: tiles, object FIFOs, cores with the bodies of tasks, the sequence of a call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir import ir

from ...errors import TargetError, counted
from ...ir.access import callee_name
from ...ir.module import Module
from ...ir.walk import entry_block, operations, string_of
from ...layout import Walk
from ...mapping import (
    ArrayFifo,
    ArrayPlan,
    CallBuffer,
    MappedCore,
    Route,
    RuntimeSequence,
    ShimTransfer,
    StreamFifo,
)
from .core_text import CoreBody, core_bodies
from .localize import external_functions
from .model import symbol_of


@dataclass(frozen=True, slots=True)
class AieRelease:
    """What differs between releases of MLIR-AIE: the sequence of a call is an operation of one dialect or another."""

    name: str
    sequence: str
    devices: dict[str, str]
    links_cores: bool  # whether cores name the file of what they call, not the declarations of that


RELEASES = {
    "v1.0": AieRelease("v1.0", "aiex.runtime_sequence", {"npu1": "npu1_4col"}, links_cores=True),
    "current": AieRelease("current", "aie.runtime_sequence", {}, links_cores=False),
}


def aie_text(plan: ArrayPlan, sequence: RuntimeSequence, bodies: Module, dialect: AieRelease) -> str:
    """The module that MLIR-AIE compiles."""
    device = dialect.devices.get(plan.array.part, plan.array.part)
    lines = [f"aie.device({device}) {{"]
    externals = [_declared(function, dialect) for function in external_functions(bodies)]
    cores = _cores(plan, bodies, dialect)
    for part in (_tiles(plan), _fifos(plan), _shims(plan), externals, cores, _sequence(plan, sequence, dialect)):
        lines += [f"  {line}" for line in part]
    return "\n".join(["module {", *(f"  {line}" for line in [*lines, "}"]), "}", ""])


def _tile(column: int, row: int) -> str:
    return f"%tile_{column}_{row}"


def _tiles(plan: ArrayPlan) -> Iterator[str]:
    used = {(route.shim, 0) for route in plan.routes}
    used |= {(route.hub, 1) for route in plan.routes if route.hub is not None}
    used |= {(tile.column, tile.row) for tile in plan.placement.tiles}
    for column, row in sorted(used):
        yield f"{_tile(column, row)} = aie.tile({column}, {row})"


def _core_tile(plan: ArrayPlan, core: str) -> str:
    tile = plan.placement.tile(core)
    return _tile(tile.column, tile.row)


def _fifos(plan: ArrayPlan) -> Iterator[str]:
    for route in plan.routes:
        yield from _route(plan, route)
    for fifo in plan.fifos.streams:
        ends = _core_tile(plan, fifo.producer), _core_tile(plan, fifo.consumer)
        yield _fifo(fifo.stream.name, ends[0], [ends[1]], fifo.depth, stream_kind(fifo))


def _fifo(name: str, producer: str, consumers: list[str], depth: int, kind: str) -> str:
    listed = ", ".join(consumers)
    return f"aie.objectfifo @{name}({producer}, {{{listed}}}, {depth} : i32) : !aie.objectfifo<{kind}>"


def _dimensions(way: str, walk: Walk | None) -> str:
    """The walk over an object of the DMA engine at one end of a FIFO."""
    if walk is None:
        return ""
    loops = (f"<size = {n}, stride = {s}>" for n, s in zip(walk.extents, walk.strides, strict=True))
    return f" dimensions{way}Stream [{', '.join(loops)}]"


def _route(plan: ArrayPlan, route: Route) -> Iterator[str]:
    shim = _tile(route.shim, 0)
    near = shim if route.hub is None else _tile(route.hub, 1)
    for fifo in route.fifos:
        cores = [_core_tile(plan, core) for core in fifo.cores]
        sent, received = (fifo.near, fifo.at_core) if fifo.to_core else (fifo.at_core, fifo.near)
        if fifo.to_core:
            ends = near + _dimensions("To", sent), [core + _dimensions("From", received) for core in cores]
        else:
            ends = cores[0] + _dimensions("To", sent), [near + _dimensions("From", received)]
        yield _fifo(fifo.name, *ends, fifo.depth, object_kind(fifo))
    if route.hub is None:
        return
    total = sum(fifo.length for fifo in route.fifos)
    ends = (shim, [near]) if route.to_core else (near, [shim])
    yield _fifo(route.name, *ends, route.hub_depth, f"memref<{total}x{signless(route.fifos[0].element)}>")
    parts = ", ".join(f"@{fifo.name}" for fifo in route.fifos)
    offsets, at = [], 0
    for fifo in route.fifos:
        offsets.append(str(at))
        at += fifo.length
    if route.to_core:
        yield f"aie.objectfifo.link [@{route.name}] -> [{parts}] ([] [{', '.join(offsets)}])"
    else:
        yield f"aie.objectfifo.link [{parts}] -> [@{route.name}] ([{', '.join(offsets)}] [])"


def _shims(plan: ArrayPlan) -> Iterator[str]:
    """Nothing but the names: the channel of a FIFO that begins or ends at a shim tile is allocated by MLIR-AIE."""
    for route in plan.routes:
        way = "to" if route.to_core else "from"
        yield f"// @{route.name}: {way} the array by shim tile ({route.shim}, 0), {counted(route.rounds, 'object')}"


def _declared(function: ir.Operation, dialect: AieRelease) -> str:
    """A function of C++, which cores link."""
    name = string_of(function, "sym_name")
    kinds = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs
    mark = "" if dialect.links_cores else f' attributes {{link_with = "{name}.o"}}'
    return f"func.func private @{name}({', '.join(signless_array(kind) for kind in kinds)}){mark}"


def _linked(plan: ArrayPlan, core: MappedCore, bodies: Module) -> list[str]:
    """The functions of C++ that a core calls."""
    names = {string_of(function, "sym_name") or "" for function in external_functions(bodies)}
    entries = [entry_block(bodies.function(node.function)) for node in core.nodes]
    calls = [callee_name(call) for entry in entries if entry is not None for call in operations(entry, "func.call")]
    return sorted(names & set(calls))


def _cores(plan: ArrayPlan, bodies: Module, dialect: AieRelease) -> Iterator[str]:
    for core, body in zip(plan.mapping.cores, core_bodies(plan, bodies), strict=True):
        tile = _core_tile(plan, core.name)
        yield from _buffers(tile, body)
        yield f"%{symbol_of(core.name)} = aie.core({tile}) {{"
        yield from (f"  {line}" for line in body.lines)
        yield "  aie.end"
        linked = _linked(plan, core, bodies) if dialect.links_cores else []
        if len(linked) > 1:
            raise TargetError(
                f"core '{core.name}' calls {' and '.join(linked)}, and cores of MLIR-AIE {dialect.name} link one file",
                hint='take dialect="current"',
            )
        yield f'}} {{link_with = "{linked[0]}.o"}}' if linked else "}"


def _buffers(tile: str, body: CoreBody) -> Iterator[str]:
    for name, kind in body.buffers:
        values = f" = {body.values[name]}" if name in body.values else ""
        yield f'%{name} = aie.buffer({tile}) {{sym_name = "{name}"}} : {kind}{values}'


def _sequence(plan: ArrayPlan, sequence: RuntimeSequence, dialect: AieRelease) -> Iterator[str]:
    buffers = plan.buffers
    listed = ", ".join(f"%{buffer.name}: {flat_kind(buffer)}" for buffer in buffers)
    yield f"{dialect.sequence}({listed}) {{"
    for step in sequence.steps:
        wait = f"aiex.npu.dma_wait {{symbol = @{step.route}}}"
        yield f"  {_transfer(step, buffers) if isinstance(step, ShimTransfer) else wait}"
    yield "}"


def _transfer(transfer: ShimTransfer, buffers: Sequence[CallBuffer]) -> str:
    offsets = [(buffer, buffer.offset(transfer.argument)) for buffer in buffers]
    own, begin = next((buffer, offset) for buffer, offset in offsets if offset is not None)
    sizes, strides = four_loops(transfer.walk)
    token = ", issue_token = true" if transfer.token else ""
    return (
        f"aiex.npu.dma_memcpy_nd(%{own.name}[0, 0, 0, {begin + transfer.walk.offset}]"
        f"[{', '.join(map(str, sizes))}][{', '.join(map(str, strides))}]) "
        f"{{id = {transfer.descriptor} : i64, metadata = @{transfer.route}{token}}} : {flat_kind(own)}"
    )


def four_loops(walk: Walk) -> tuple[list[int], list[int]]:
    """Extents and strides of a descriptor, whose first loop is the iteration."""
    missing = 4 - len(walk.extents)
    sizes, strides = [1] * missing + list(walk.extents), [0] * missing + list(walk.strides)
    if not walk.extents:
        strides[-1] = 1
    return sizes, strides


def signless(element: str) -> str:
    """The type of elements as MLIR-AIE has it: cores tell signed from unsigned by the operations."""
    return element.removeprefix("u")


def signless_array(kind: ir.Type) -> str:
    """The type of a parameter as MLIR-AIE has it."""
    if not isinstance(kind, ir.MemRefType):
        return signless(str(kind))
    return f"memref<{'x'.join(map(str, kind.shape))}x{signless(str(kind.element_type))}>"


def object_kind(fifo: ArrayFifo) -> str:
    """The type of an object."""
    return f"memref<{'x'.join(map(str, fifo.extents))}x{signless(fifo.element)}>"


def stream_kind(fifo: StreamFifo) -> str:
    """The type of an object of a stream: a block of it."""
    return f"memref<{fifo.stream.block}x{signless(fifo.stream.element)}>"


def flat_kind(buffer: CallBuffer) -> str:
    """The type of a buffer of a call: all its elements in a row."""
    return f"memref<{buffer.length}x{signless(buffer.element)}>"
