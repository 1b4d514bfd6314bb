"""Refusals of dataflow regions whose tasks would meet: at one end of a stream, in one element, or for ever."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from mlir import ir

from ...errors import DataflowError, Note
from ...ir.access import callee_name, gets_side, looks, may_get, puts_side
from ...ir.module import Module
from ...ir.processes import DATAFLOW, is_process, region_blocks
from ...ir.stream_facts import Hang, Waiting
from ...ir.streams import is_stream_type
from ...ir.walk import argument_names, location_of, operations, statements, string_of
from ...poly import Access, TaskUse, first_clash, pairs_of, task_uses

_MOST_STEPS = 400_000  # puts and gets that are looked at: about half a second


def check_tasks(module: Module) -> None:
    """Raises DataflowError for tasks that share an end of a stream, write one element, or put another number than get.

    What depends on data is left to builds and runs, which refuse what they see.
    """
    regions = [function for function in module.functions() if DATAFLOW in function.operation.attributes]
    if not regions:
        return
    for function in regions:
        for block in region_blocks(function):
            processes = [op for op in statements(block)[:-1] if is_process(op)]
            for value in _values(block):
                if is_stream_type(value.type):
                    _demand_single_ends(module, processes, value)
                else:
                    _demand_own_elements(module, processes, value)
    from ...poly import imbalance_of

    found = imbalance_of(module, _MOST_STEPS)
    if isinstance(found, Hang) and found.empty is not None:
        raise found.error()
    if isinstance(found, Waiting):
        raise _left_over(found)


def _values(block: ir.Block) -> Iterator[ir.Value]:
    """The arrays and streams of a region."""
    yield from (argument for argument in block.arguments if _is_array(argument.type))
    for op in operations(block):
        if op.block == block:
            yield from (result for result in op.results if op.name != "func.call" and _is_array(result.type))


def _is_array(kind: ir.Type) -> bool:
    return isinstance(kind, ir.MemRefType) or is_stream_type(kind)


def _uses(module: Module, processes: Sequence[ir.Operation], value: ir.Value, wanted: object) -> list[TaskUse]:
    return [use for op in processes for use in task_uses(module, op, value, wanted)]  # type: ignore[arg-type]


def _demand_single_ends(module: Module, processes: Sequence[ir.Operation], stream: ir.Value) -> None:
    """One process puts into each FIFO, and one gets from it; who asks or looks is one of them."""
    for is_side in (puts_side, gets_side):
        uses = _uses(module, processes, stream, lambda access, side=is_side: side(access.op))
        clash = first_clash(pairs_of(uses))
        if clash is not None:
            name = _element(stream, clash.element)
            first, second = _task(clash.first, clash.positions[0]), _task(clash.second, clash.positions[1])
            does, also = _does(clash.first.access.op), _does(clash.second.access.op)
            so = f"so does {second}" if does == also else f"{second} {also}"
            hint = "elements would come in any order: give each task a stream of its own, `Stream[T, d][P]`"
            if looks(clash.first.access.op) or looks(clash.second.access.op):
                hint = "let the task at this end say it to the other one through a stream of its own"
            raise DataflowError(
                f"stream '{name}' has two tasks at one end: {first} {does}, and {so}",
                at=location_of(clash.second.access.op),
                hint=hint,
                notes=[Note(f"{first} {does} here", location_of(clash.first.access.op)), _made(stream)],
            )


def _does(op: ir.Operation) -> str:
    """What an operation does at an end of a stream, `it`."""
    if looks(op):
        return "peeks at it" if op.name == "allo.stream_peek" else f"asks whether it is {op.name.rpartition('_')[2]}"
    return "gets from it" if may_get(op) else "puts into it"


def _demand_own_elements(module: Module, processes: Sequence[ir.Operation], array: ir.Value) -> None:
    """No element is written by two positions, or written by one and read by another of the same task."""

    def is_write(access: Access) -> bool:
        return access.is_write

    def is_read(access: Access) -> bool:
        return not access.is_write

    writes = _uses(module, processes, array, is_write)
    clash = first_clash(pairs_of(writes))
    does = "writes"
    if clash is None and writes:
        reads = _uses(module, processes, array, is_read)
        clash = first_clash((w, r) for w, r in product(writes, reads) if w.process == r.process)
        does = "reads"
    if clash is not None:
        name = _element(array, clash.element)
        first, second = _task(clash.first, clash.positions[0]), _task(clash.second, clash.positions[1])
        what = "writes it too" if does == "writes" else "reads it"
        raise DataflowError(
            f"'{name}' is written by {first}, and {second} {what}, in no order",
            at=location_of(clash.second.access.op),
            hint="let one task write it, and pass values between tasks through streams",
            notes=[Note(f"{first} writes it here", location_of(clash.first.access.op))],
        )


def _task(use: TaskUse, position: tuple[int, ...]) -> str:
    process = use.process
    name = string_of(process, "allo.nest") or string_of(process, "allo.name")
    name = callee_name(process) if process.name == "func.call" else name
    where = f"position [{', '.join(map(str, position))}] of " if position else ""
    return f"{where}task '{name}'" if name else "a statement of the region"


def _name(value: ir.Value) -> str:
    if isinstance(value.owner, ir.Block):
        return str(argument_names(value.owner.owner)[ir.BlockArgument(value).arg_number])
    return string_of(value.owner.operation, "allo.name") or "stream"


def _element(value: ir.Value, element: tuple[int, ...]) -> str:
    return _name(value) + (f"[{', '.join(map(str, element))}]" if element else "")


def _made(stream: ir.Value) -> Note:
    made = None if isinstance(stream.owner, ir.Block) else location_of(stream.owner.operation)
    return Note(f"'{_name(stream)}' is made here", made)


def _left_over(waiting: Waiting) -> DataflowError:
    stream = waiting.stream
    notes = [Note(f"'{stream.name}' is made here", stream.made)] if stream.made else []
    notes += [Note(f"elements are taken out of '{stream.name}' here", place) for place in stream.gets]
    return DataflowError(
        f"elements are left in stream '{waiting.name}' when all tasks have ended: {waiting.puts} are put, and "
        f"{waiting.gets} taken",
        at=stream.puts[0] if stream.puts else stream.made,
        hint="take as many elements out of it as are put in",
        notes=notes,
    )
