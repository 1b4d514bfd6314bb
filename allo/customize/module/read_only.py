"""Refusals of programs that write an array whose memory is only read."""

from __future__ import annotations

from mlir import ir

from ...errors import KernelError, Note, ScheduleError
from ...ir.access import uses_of
from ...ir.effects import Effects
from ...ir.memory import Memory
from ...ir.module import Module
from ...ir.walk import buffers_of, location_of
from ..step.handles import Buffer
from ..step.resolve import buffer_note


def check_read_only_memories(module: Module) -> None:
    """Raise KernelError for an array that its declaration keeps in a ROM, and the kernel writes."""
    for function in module.functions():
        for name, value in buffers_of(function).items():
            storage = _declared_storage(function.operation, value)
            if storage.startswith("ROM"):
                buffer = Buffer(function.name.value, name)
                note = buffer_note(buffer, value)
                try:
                    check_never_written(module, buffer, value, Memory(storage_type=storage), note)
                except ScheduleError as error:
                    first = error.diagnostics[0]
                    raise KernelError(first.message, at=note.at, notes=first.notes[1:]) from None


def _declared_storage(function: ir.Operation, value: ir.Value) -> str:
    """The storage type of the memory of an array, "" if none is given."""
    if isinstance(value.owner, ir.Block):
        given = ir.ArrayAttr(function.attributes["arg_attrs"])[ir.BlockArgument(value).arg_number]
        memory = {entry.name: entry.attr for entry in ir.DictAttr(given)}.get("allo.memory")
    else:
        op = value.owner.operation
        op = op.operands[0].owner.operation if op.name == "allo.element_cast" else op
        memory = op.attributes.get("allo.memory")
    entries = {} if memory is None else {entry.name: entry.attr for entry in ir.DictAttr(memory)}
    return ir.StringAttr(entries["storage_type"]).value if "storage_type" in entries else ""


def check_never_written(module: Module, buffer: Buffer, value: ir.Value, memory: Memory, note: Note) -> None:
    effects = Effects(module)
    for use in uses_of(value):
        op = use.owner.operation
        if any(effect.writes and effect.operand == use.operand_number for effect in effects.of(op)):
            raise ScheduleError(
                f"'{buffer.name}' is written, and {memory.storage_type} is a memory that is only read",
                notes=[note, Note("it is written here", location_of(op))],
            )
