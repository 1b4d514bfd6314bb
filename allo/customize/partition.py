"""partition: divide an array into banks that can be accessed at the same time."""

from __future__ import annotations

from enum import Enum

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ..errors import Note, ScheduleError
from ..ir.context import context
from ..ir.module import Module
from ..ir.walk import buffers_of, entry_block, location_of, operations
from .handles import Buffer
from .primitive import primitive
from .resolve import buffer_note, find_buffer

_CARRIERS = frozenset({"func.call", "func.return"})


class Partition(Enum):
    """How the elements of a dimension are dealt to banks."""

    Complete = "complete"  # each element is a bank (a register)
    Block = "block"  # `factor` runs of consecutive elements
    Cyclic = "cyclic"  # element i goes to bank i mod factor


@primitive
def partition(
    module: Module,
    buffer: Buffer,
    partition_type: Partition | None = None,
    dim: int = 0,
    factor: int = 0,
) -> None:
    """Divide dimension `dim` of `buffer` (from 1; 0 means all) into banks: cyclic if a factor is given, else complete.

        A: T[M, N]   ->   A: T[M, N] in banks; written in the type, memref<MxNxT, #allo.partition<[...]>>

    Always legal: values do not change. Refused: a dimension that the array has not, a factor below 2 for block and
    cyclic or above the extent, a factor for complete, a dimension that is partitioned already, and an array that
    is passed to or returned from another function, or a constant used twice (layouts do not travel yet).
    Source: Allo paper, Table 2 and section 6.3.
    """
    value = find_buffer(module, buffer)
    memref = ir.MemRefType(value.type)
    note = buffer_note(buffer, value)
    kind = partition_type or (Partition.Cyclic if factor else Partition.Complete)
    _check_factor(kind, factor, note)
    if memref.rank == 0:
        raise ScheduleError(f"'{buffer.name}' is a scalar and has no dimension to divide", notes=[note])
    if not 0 <= dim <= memref.rank:
        raise ScheduleError(
            f"dim must be from 0 to {memref.rank} for '{buffer.name}' of {memref.rank} dimensions, got {dim}",
            notes=[note],
        )
    _check_local(module, buffer, value, note)

    banks = _current(memref)
    for position in range(memref.rank) if dim == 0 else (dim - 1,):
        extent = memref.shape[position]
        if factor > extent:
            raise ScheduleError(
                f"factor {factor} is larger than the extent {extent} of dimension {position + 1}",
                notes=[note],
            )
        if banks[position][0] != "none":
            raise ScheduleError(
                f"dimension {position + 1} of '{buffer.name}' is already partitioned ({_describe(banks[position])})",
                hint="undo() the step that did it, or partition another dimension",
                notes=[note],
            )
        banks[position] = (kind.value, factor)
    _retype(module, buffer, value, banks)


def _check_local(module: Module, buffer: Buffer, value: ir.Value, note: Note) -> None:
    """A layout does not travel to other functions, or to other uses of a constant, yet."""
    calls = _calls(module, buffer.function) if isinstance(value.owner, ir.Block) else []
    for op in [*(use.owner.operation for use in value.uses), *calls]:
        if op.name in _CARRIERS:
            raise ScheduleError(
                f"'{buffer.name}' is passed between functions, and layouts do not travel through calls yet",
                notes=[note, Note("it is passed here", location_of(op))],
            )
    other = _same_constant(module, value)
    if other is not None:
        raise ScheduleError(
            f"the constant '{buffer}' is also used as '{other}', and layouts do not travel between uses yet",
            notes=[note],
        )
    if isinstance(value.owner, ir.Operation | ir.OpView) and value.owner.operation.name in _CARRIERS:
        raise ScheduleError(
            f"'{buffer.name}' is the result of a call, and layouts do not travel through calls yet",
            notes=[note],
        )


def _calls(module: Module, name: str) -> list[ir.Operation]:
    """All calls of function `name`."""
    blocks = [block for function in module.functions() if (block := entry_block(function)) is not None]
    calls = [op for block in blocks for op in operations(block) if op.name == "func.call"]
    return [op for op in calls if ir.FlatSymbolRefAttr(op.attributes["callee"]).value == name]


def _same_constant(module: Module, value: ir.Value) -> Buffer | None:
    """Another buffer, in any function, that is the same constant array as `value`."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "memref.get_global":
        return None
    symbol = value.owner.operation.attributes["name"]
    for function in module.functions():
        for name, other in buffers_of(function).items():
            if isinstance(other.owner, ir.Block) or other == value:
                continue
            owner = other.owner.operation
            if owner.name == "memref.get_global" and owner.attributes["name"] == symbol:
                return Buffer(function.name.value, name)
    return None


def _check_factor(kind: Partition, factor: int, note: Note) -> None:
    if kind is Partition.Complete and factor:
        raise ScheduleError(
            f"a complete partition has no factor, got {factor}", hint="drop factor=", notes=[note]
        )
    if kind is not Partition.Complete and factor < 2:
        raise ScheduleError(
            f"a {kind.value} partition needs a factor of at least 2, got {factor}", notes=[note]
        )


def _describe(bank: tuple[str, int]) -> str:
    return bank[0] if not bank[1] else f"{bank[0]} {bank[1]}"


def _current(memref: ir.MemRefType) -> list[tuple[str, int]]:
    """The partition of each dimension so far."""
    layout = memref.layout
    if isinstance(layout, allo_d.PartitionAttr):
        return list(layout.dims)
    return [("none", 0)] * memref.rank


def _retype(module: Module, buffer: Buffer, value: ir.Value, banks: list[tuple[str, int]]) -> None:
    memref = ir.MemRefType(value.type)
    layout = allo_d.PartitionAttr.get(banks, context())
    made = ir.MemRefType.get(
        memref.shape, memref.element_type, layout, memref.memory_space, ir.Location.unknown(context())
    )
    value.set_type(made)
    if isinstance(value.owner, ir.Block):
        function = module.function(buffer.function)
        types = ir.FunctionType(ir.TypeAttr(function.operation.attributes["function_type"]).value)
        inputs = [argument.type for argument in value.owner.arguments]
        signature = ir.FunctionType.get(inputs, types.results, context())
        function.operation.attributes["function_type"] = ir.TypeAttr.get(signature, context())
        return
    if value.owner.operation.name == "memref.get_global":
        name = ir.FlatSymbolRefAttr(value.owner.operation.attributes["name"]).value
        for op in module.mlir.body.operations:
            if op.operation.name == "memref.global" and op.sym_name.value == name:
                op.operation.attributes["type"] = ir.TypeAttr.get(made, context())
