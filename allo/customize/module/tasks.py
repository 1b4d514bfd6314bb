"""Refusals of dataflow regions whose tasks would meet: at one end of a stream, in one element, or for ever."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

from mlir import ir

from ...errors import DataflowError, Note, counted
from ...ir.access import (
    callee_name,
    gets_side,
    is_at_stream,
    looks,
    makes_stream,
    may_get,
    may_put,
    puts_side,
)
from ...ir.hang import Hang
from ...ir.module import Module
from ...ir.processes import DATAFLOW, is_process, region_blocks
from ...ir.streams import is_stream_type
from ...ir.walk import argument_names, location_of, operations, statements, string_of
from ...poly import (
    Access,
    TaskUse,
    TokenBounds,
    first_clash,
    first_outside,
    pairs_of,
    task_uses,
    token_bounds,
)

if TYPE_CHECKING:
    from ...poly import Surplus

type _Side = Callable[[ir.Operation], bool]

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
                    _demand_streams(module, processes, value)
                    _demand_single_ends(module, processes, value)
                else:
                    _demand_own_elements(module, processes, value)
    from ...poly import SharedStream, Surplus, Untold, imbalance_of

    found = imbalance_of(module, _MOST_STEPS)
    if isinstance(found, Hang) and found.empty is not None:
        raise found.error()
    if isinstance(found, SharedStream):
        one, other = (_placed(task.process, task.position) for task in found.tasks)
        made = Note(f"'{found.name}' is made here", found.made)
        raise _two_at_one_end(found.name, (found.ends[0], one), (found.ends[1], other), made)
    if isinstance(found, Surplus):
        raise _left_over(found)
    if isinstance(found, Untold):
        for function in regions:
            for block in region_blocks(function):
                _demand_possible_counts(module, block)


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
            sides = zip((clash.first, clash.second), clash.positions, strict=True)
            first, second = ((use.access.op, _placed(use.process, position)) for use, position in sides)
            raise _two_at_one_end(name, first, second, _made(stream))


def _two_at_one_end(
    name: str, one: tuple[ir.Operation, str], other: tuple[ir.Operation, str], made: Note
) -> DataflowError:
    (first_op, first), (second_op, second) = one, other
    does, also = _does(first_op), _does(second_op)
    so = f"so does {second}" if does == also else f"{second} {also}"
    hint = "elements would come in any order: give each task a stream of its own, `Stream[T, d][P]`"
    if looks(first_op) or looks(second_op):
        hint = "let the task at this end say it to the other one through a stream of its own"
    return DataflowError(
        f"stream '{name}' has two tasks at one end: {first} {does}, and {so}",
        at=location_of(second_op),
        hint=hint,
        notes=[Note(f"{first} {does} here", location_of(first_op)), made],
    )


def _does(op: ir.Operation, name: str = "it") -> str:
    """What an operation does at an end of a stream."""
    if looks(op):
        state = op.name.rpartition("_")[2]
        return f"peeks at {name}" if state == "peek" else f"asks whether {name} is {state}"
    return f"gets from {name}" if may_get(op) else f"puts into {name}"


def _demand_streams(module: Module, processes: Sequence[ir.Operation], streams: ir.Value) -> None:
    """Each subscript is of a stream that is there."""
    if not isinstance(streams.type, ir.MemRefType):
        return
    extents = list(streams.type.shape)
    found = first_outside(_uses(module, processes, streams, lambda access: is_at_stream(access.op)), extents)
    if found is not None:
        use, position, element = found
        name = f"'{_element(streams, element)}'"
        raise DataflowError(
            f"{_placed(use.process, position)} {_does(use.access.op, name)}, which is not there: "
            f"'{_name(streams)}' has {' x '.join(map(str, extents))} streams",
            at=location_of(use.access.op),
            hint="leave the edge of the grid out with `meta_if`, or make more streams",
            notes=[_made(streams)],
        )


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
        sides = zip((clash.first, clash.second), clash.positions, strict=True)
        first, second = (_placed(use.process, position) for use, position in sides)
        what = "writes it too" if does == "writes" else "reads it"
        raise DataflowError(
            f"'{name}' is written by {first}, and {second} {what}, in no order",
            at=location_of(clash.second.access.op),
            hint="let one task write it, and pass values between tasks through streams",
            notes=[Note(f"{first} writes it here", location_of(clash.first.access.op))],
        )


def _demand_possible_counts(module: Module, block: ir.Block) -> None:
    """Data may choose how much is put and taken, but it must be possible that both are as much."""
    processes = [op for op in statements(block)[:-1] if is_process(op)]
    for made in statements(block):
        if not makes_stream(made):
            continue
        stream = made.results[0]
        bounds = token_bounds(module, stream)
        short = bounds.puts.most is not None and bounds.puts.most < bounds.gets.least
        if not short and (bounds.gets.most is None or bounds.gets.most >= bounds.puts.least):
            continue
        raise _never_balanced(module, processes, stream, bounds, may_put if not short else may_get)


def _never_balanced(
    module: Module, processes: Sequence[ir.Operation], stream: ir.Value, bounds: TokenBounds, blamed: _Side
) -> DataflowError:
    notes, at = [], None
    for does, is_side in (("puts into", may_put), ("takes out of", may_get)):
        uses = _uses(module, processes, stream, lambda access, side=is_side: side(access.op))
        places = [(_placed(use.process, ()), location_of(use.access.op)) for use in uses]
        notes += [Note(f"{who} {does} it here", place) for who, place in places]
        at = places[0][1] if places and is_side is blamed else at
    name, are_many = _name(stream), isinstance(stream.type, ir.MemRefType)
    into, out_of = ("the streams", "them") if are_many else ("stream", "it")
    taken = f"{bounds.gets} {'is' if str(bounds.gets) == '1' else 'are'} taken"
    return DataflowError(
        f"whatever the data are, {bounds.puts} elements are put into {into} '{name}', and {taken} out of {out_of}",
        at=at or location_of(stream.owner.operation),
        hint="take as many elements out as are put in, in each branch",
        notes=[*notes, _made(stream)],
    )


def _placed(process: ir.Operation | None, position: tuple[int, ...]) -> str:
    """A process as errors call it, at its position."""
    if process is None:
        return "the program"
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


def _left_over(surplus: Surplus) -> DataflowError:
    waiting = surplus.waiting
    stream, name = waiting.stream, waiting.name
    puts, gets, noun = waiting.puts, waiting.gets, "element"
    if surplus.block > 1 and puts % surplus.block == gets % surplus.block == 0:
        puts, gets, noun = puts // surplus.block, gets // surplus.block, "block"
    who = _placed(surplus.putter.process, surplus.putter.position)
    when = ", ".join(f"{loop} = {value}" for loop, value in surplus.iteration)
    which = f"{who} puts {noun} {gets + 1}, the first that stays, " + (f"in iteration {when}" if when else "here")
    notes = [Note(which, surplus.at)]
    if surplus.taker is None:
        notes.append(Note("no task takes anything out of it"))
    else:
        taker = _placed(surplus.taker.process, surplus.taker.position)
        notes += [Note(f"{taker} takes {counted(gets, noun)}, and ends", place) for place in stream.gets]
    notes += [Note(f"'{stream.name}' is made here", stream.made)] if stream.made else []
    given, taken = (f"{counted(number, noun)} {'is' if number < 2 else 'are'}" for number in (puts, gets))
    return DataflowError(
        f"{given} put into stream '{name}', and {taken} taken out of it",
        at=surplus.at or (stream.puts[0] if stream.puts else stream.made),
        hint="take out as much as is put in",
        notes=notes,
    )
