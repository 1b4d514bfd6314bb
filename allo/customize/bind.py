"""bind: say in which kind of memory an array is kept."""

from __future__ import annotations

from mlir import ir

from ..errors import ScheduleError
from ..ir.builder import memory_attr
from ..ir.context import context
from ..ir.memory import Memory
from ..ir.module import Module
from .module.read_only import check_never_written
from .step.handles import Buffer
from .step.primitive import primitive
from .step.resolve import buffer_note, find_buffer

_BUFFERS = frozenset({"memref.alloc", "memref.get_global"})


@primitive
def bind(module: Module, buffer: Buffer, memory: Memory) -> None:
    """Keep `buffer` in `memory`, for example `Memory(resource="URAM", storage_type="RAM_2P", latency=2)`.

        A: T[N]   ->   A: T[N] in memory; written on its declaration, {allo.memory = {resource = "URAM", ...}}

    Always legal: values do not change, and a backend without such memories ignores it. A second bind replaces the
    first. Refused: a scalar, a ROM for an array that is written, the result of a call (bind it where it is made).
    Source: HLS storage binding; Allo's Memory annotation.
    """
    bind_array(module, buffer, memory)


def bind_array(module: Module, buffer: Buffer, memory: Memory) -> None:
    """Say on its declaration, or on its argument, in which memory an array is kept."""
    value = find_buffer(module, buffer)
    note = buffer_note(buffer, value)
    if ir.MemRefType(value.type).rank == 0:
        raise ScheduleError(f"'{buffer.name}' is a scalar and has no memory to choose", notes=[note])
    if memory.is_rom:
        check_never_written(module, buffer, value, memory, note)
    attribute = memory_attr(memory)
    if isinstance(value.owner, ir.Block):
        function = module.function(buffer.function).operation
        mark_argument(function, ir.BlockArgument(value).arg_number, "allo.memory", attribute)
        return
    op = value.owner.operation
    if op.name == "allo.element_cast":  # a constant of fixed-point numbers or structs, kept as integers
        op = op.operands[0].owner.operation
    if op.name not in _BUFFERS:
        raise ScheduleError(
            f"'{buffer.name}' is the result of a call, and is kept where the callee keeps it",
            hint='bind the array of the callee: s.bind("callee:name", ...)',
            notes=[note],
        )
    op.attributes["allo.memory"] = attribute


def mark_argument(function: ir.Operation, position: int, name: str, attribute: ir.Attribute) -> None:
    """Add an attribute to those of one argument, in the place of an earlier one of its name."""
    count = len(function.regions[0].blocks[0].arguments)
    empty = ir.DictAttr.get({}, context())
    given = list(ir.ArrayAttr(function.attributes["arg_attrs"])) if "arg_attrs" in function.attributes else []
    dictionaries = [ir.DictAttr(entry) for entry in given] or [empty] * count
    entries = {named.name: named.attr for named in dictionaries[position]}
    dictionaries[position] = ir.DictAttr.get({**entries, name: attribute}, context())
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(dictionaries, context())
