"""Refusals of regions in which two processes put into one stream, or get from one: elements would come in any order."""

from __future__ import annotations

from mlir import ir

from ..errors import Note, ScheduleError
from ..ir.module import Module
from ..ir.processes import region_blocks
from ..ir.streams import StreamUses
from ..ir.walk import location_of, statements, string_of
from ..poly import extract, same_stream
from .calls import callee_of

_WHY = "two processes would share an end of a stream, in no order"


def demand_all_single_ends(module: Module) -> None:
    """Raises ScheduleError if two processes of a dataflow region share an end of a stream."""
    for function in module.functions():
        for block in region_blocks(function):
            demand_single_ends(module, function, statements(block)[:-1], _WHY, "do this before the streams are made")


def demand_single_ends(
    module: Module, function: ir.OpView, processes: list[ir.Operation], why: str, hint: str | None = None
) -> None:
    """Raises ScheduleError, which begins with `why`, if two of the processes put into one stream or get from one."""
    uses = StreamUses(module)
    ends: dict[tuple[str, ir.Value], list[ir.Operation]] = {}
    for op in processes:
        found = uses.of(op)
        for side, streams in (("put", found.puts), ("get", found.gets)):
            for stream in streams:
                ends.setdefault((side, stream), []).append(op)
    shared = [(side, stream, found) for (side, stream), found in ends.items() if len(found) > 1]
    if not shared:
        return
    model = extract(function)
    for side, stream, users in sorted(shared, key=lambda end: (processes.index(end[2][1]), stream_name(end[1]))):
        for number, op in enumerate(users):
            for other in users[:number]:
                if same_stream(model, other, op, f"allo.stream_{side}"):
                    does = "puts into" if side == "put" else "gets from"
                    raise ScheduleError(
                        f"{why}: {_process(op)} {does} stream '{stream_name(stream)}', and so does {_process(other)}",
                        hint=hint,
                        notes=[Note("this process is here", location_of(one)) for one in (other, op)],
                    )


def stream_name(stream: ir.Value) -> str:
    """What messages call a stream, or an array of them."""
    if isinstance(stream.owner, ir.Block):
        return f"argument {stream.arg_number}"
    return string_of(stream.owner.operation, "allo.name") or "stream"


def _process(op: ir.Operation) -> str:
    if op.name == "func.call":
        return f"function '{callee_of(op)}'"
    name = string_of(op, "allo.nest") or string_of(op, "allo.name")
    return f"nest '{name}'" if name else "a statement"
