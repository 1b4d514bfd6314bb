"""Refusals of programs that write an array whose memory is only read."""

from __future__ import annotations

import functools

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
        position: int = ir.BlockArgument(value).arg_number
        return _argument_storages(function.attributes["arg_attrs"])[position]
    op = value.owner.operation
    op = op.operands[0].owner.operation if op.name == "allo.element_cast" else op
    return _storage(op.attributes)


@functools.cache
def _argument_storages(attributes: ir.Attribute) -> tuple[str, ...]:
    """The storage type of each argument; all states of a function share one attribute."""
    return tuple(_storage(ir.DictAttr(given)) for given in ir.ArrayAttr(attributes))


def _storage(attributes: ir.DictAttr | ir.OpAttributeMap) -> str:
    memory = ir.DictAttr(attributes["allo.memory"]) if "allo.memory" in attributes else {}
    storage: str = ir.StringAttr(memory["storage_type"]).value if "storage_type" in memory else ""
    return storage


def check_never_written(module: Module, buffer: Buffer, value: ir.Value, memory: Memory, note: Note) -> None:
    effects = Effects(module)
    for use in uses_of(value):
        op = use.owner.operation
        if any(effect.writes and effect.operand == use.operand_number for effect in effects.of(op)):
            raise ScheduleError(
                f"'{buffer.name}' is written, and {memory.storage_type} is a memory that is only read",
                notes=[note, Note("it is written here", location_of(op))],
            )
