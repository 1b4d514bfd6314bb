"""distribute: give each task, and each position of a task, that uses an array of a region a part of its own."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from ..errors import Note, ScheduleError
from ..ir.builder import Builder, string_attr
from ..ir.context import context
from ..ir.effects import Effects
from ..ir.module import Module
from ..ir.names import unique_name
from ..ir.processes import DATAFLOW, is_process, spatial_loops
from ..ir.streams import is_stream_type
from ..ir.walk import entry_block, location_of, statements
from .array.task_parts import TaskPart, copy_parts, own_array, task_part, use_own
from .step.handles import Buffer
from .step.primitive import primitive
from .step.resolve import buffer_note, find_buffer


@primitive
def distribute(module: Module, buffer: Buffer) -> None:
    """Give each position of the tasks that share `buffer`, an array of a dataflow region, a part of its own.

        for p < P: task(A, B)    ->    load(A, parts_A); for p < P: task(parts_A[p], parts_B[p]); store(parts_B, B)

    Tools for FPGAs let no two processes use one array. A process `load` reads it once, in the order of the parts, and
    writes what each position reads to an array of its own, in banks of their own; what all positions read goes to all
    of them in the same cycle. A process `store` writes what positions have computed back. A part is the box that a
    position uses; where there is no box of constant extents, a part that is read is the whole array.
    Readers are served if there are several, and so are writers. Refused: an array of a function that is no dataflow
    region; a process that is no call of a function of its own, or hands the array on; a task that reads and writes it,
    or whose positions may not write all elements of their parts; two tasks that write it.
    Source: Dato paper, section 3.4 (sharding), for tools that need it in the text.
    """
    function = module.function(buffer.function)
    value = find_buffer(module, buffer)
    why = f"'{buffer.name}' cannot be distributed"
    entry = entry_block(function)
    if entry is None or DATAFLOW not in function.operation.attributes:
        raise ScheduleError(
            f"{why}: '{buffer.function}' is no dataflow region",
            hint="only processes that run at the same time need parts of their own",
            notes=[buffer_note(buffer, value)],
        )
    if not isinstance(value.type, ir.MemRefType) or is_stream_type(value.type) or not value.type.has_static_shape:
        what = "holds streams" if is_stream_type(value.type) else "is no array of constant extents"
        raise ScheduleError(f"{why}: it {what}", notes=[buffer_note(buffer, value)])
    users = _users(module, value, statements(entry)[:-1])
    if len(users) < 2 and not any(spatial_loops(op) for op in users):
        raise ScheduleError(
            f"{why}: no two processes share it", hint="leave it as it is", notes=[buffer_note(buffer, value)]
        )
    parts = [task_part(module, buffer, value, op, why) for op in users]
    reading = [part for part in parts if not part.written]
    writing = [part for part in parts if part.written]
    _check(buffer, value, reading, writing, why)
    several = [group if len(group) > 1 or any(part.grid for part in group) else [] for group in (reading, writing)]
    if not any(several):
        raise ScheduleError(
            f"{why}: one process writes it and one reads it",
            hint="leave it as it is",
            notes=[buffer_note(buffer, value)],
        )
    _distribute(module, function, buffer, value, several[0], inward=True)
    _distribute(module, function, buffer, value, several[1], inward=False)


def _users(module: Module, value: ir.Value, region: Sequence[ir.Operation]) -> list[ir.Operation]:
    """The processes that use an array."""
    effects = Effects(module)
    return [op for op in region if is_process(op) and value in effects.touched(op).reads | effects.touched(op).writes]


def _check(
    buffer: Buffer, value: ir.Value, reading: Sequence[TaskPart], writing: Sequence[TaskPart], why: str
) -> None:
    for part in writing:
        name = part.name
        notes = [Note(f"'{name}' is called here", location_of(part.process)), buffer_note(buffer, value)]
        if part.read:
            raise ScheduleError(
                f"{why}: '{name}' reads it and writes it",
                hint="let it work on a local array, or read one argument and write another",
                notes=notes,
            )
        if (part.grid or len(writing) > 1) and not part.covers:
            raise ScheduleError(
                f"{why}: positions of '{name}' may not write all elements of a box of constant extents",
                hint="let each position write all of its part, from a local array",
                notes=notes,
            )
    if len(writing) > 1:
        names = " and ".join(f"'{part.name}'" for part in writing)
        raise ScheduleError(
            f"{why}: {names} both write it",
            hint="let each write an array of its own",
            notes=[buffer_note(buffer, value)],
        )


def _distribute(
    module: Module, function: ir.OpView, buffer: Buffer, value: ir.Value, parts: Sequence[TaskPart], *, inward: bool
) -> None:
    """Serve the tasks that read it (`inward`) or write it, by one process for all of them."""
    if not parts:
        return
    first, last = parts[0].process, parts[-1].process
    builder = Builder.before(first)
    taken = set(module.buffers(buffer.function))
    owns = []
    for part in parts:
        name = unique_name(f"{buffer.name}_{part.name}", taken)
        taken.add(name)
        owns.append(own_array(part, name, value, builder))
        use_own(module, part, owns[-1])
    label = unique_name(f"{buffer.function}_{'load' if inward else 'store'}_{buffer.name}", set(module.names()))
    _copier(function, label, [value, *owns], [buffer.name, *taken], parts, inward=inward)
    if not inward:
        after = statements(last.parent.regions[0].blocks[0]) if last.parent is not None else []
        builder = Builder.before(after[after.index(last) + 1])
    callee = {"callee": ir.FlatSymbolRefAttr.get(label, context())}
    builder.op("func.call", (), [value, *owns], callee)


def _copier(
    function: ir.OpView, label: str, arrays: Sequence[ir.Value], names: Sequence[str], parts: Sequence[TaskPart],
    *, inward: bool,
) -> None:  # fmt: skip
    """The function that copies the parts of all tasks."""
    kinds = [array.type for array in arrays]
    shown = [names[0], *(f"part_{number}" for number in range(len(parts)))]
    attributes: dict[str, ir.Attribute] = {
        "sym_name": string_attr(label),
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(kinds, [], context()), context()),
        "arg_attrs": ir.ArrayAttr.get(
            [ir.DictAttr.get({"allo.name": string_attr(name)}, context()) for name in shown], context()
        ),
    }
    place = function.operation.location
    made = Builder(ir.InsertionPoint(function.operation), place).op("func.func", (), (), attributes, 1)
    block = made.regions[0].blocks.append(*kinds, arg_locs=[place] * len(kinds))
    end = Builder(ir.InsertionPoint(block), place).op("func.return")
    for number, part in enumerate(parts):
        builder = Builder(ir.InsertionPoint(end), place)
        copy_parts(part, block.arguments[number + 1], block.arguments[0], builder, f"c{number}", inward=inward)
