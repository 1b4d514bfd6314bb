"""Refusals of regions in which two processes put into one stream, or get from one: elements would come in any order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mlir import ir

from ...errors import Note, ScheduleError
from ...ir.access import callee_name, gets_side, puts_side
from ...ir.effects import Effects
from ...ir.elements import element_nests
from ...ir.module import Module
from ...ir.parts import Part
from ...ir.processes import DATAFLOW, concurrency_marks
from ...ir.states import Draft, FinishedModule
from ...ir.walk import LOOP_OPERATIONS, location_of, operations, statements, string_of
from ...poly import Access, Model, may_meet, model_of, same_stream, shared_end

_WHY = "two processes would share an end of a stream, in no order"


def demand_all_single_ends(module: Module) -> None:
    """Raises ScheduleError if two processes of a dataflow region share an end of a stream."""
    for function in module.functions():
        name = function.name.value
        for block in region_blocks(function.operation):
            hint = "do this before the streams are made"
            refusal = shared_ends(module, partial(model_of, module, name), _processes(block), _WHY, hint)
            if refusal is not None:
                raise refusal


def demand_ends_still_single(module: FinishedModule, draft: Draft) -> None:
    """Raises ScheduleError if the step that wrote `draft` made two processes share an end of a stream.

    In the state before it, none do: if it has as many processes, none do now.
    """
    known, parts = draft.before.parts, module.parts
    names = [*draft.changed, *(known.keys() - parts.keys())]
    sizes = [[region_sizes(state[name]) if name in state else [] for state in (known, parts)] for name in names]
    if any(before != after for before, after in sizes):
        demand_all_single_ends(module)


def region_sizes(part: Part) -> list[int]:
    """How many processes each dataflow region of a function has."""
    if DATAFLOW not in concurrency_marks(part):
        return []
    return part.fact("processes", lambda op: [len(_processes(block)) for block in region_blocks(op)], any_layout=True)


def region_blocks(function: ir.Operation) -> list[ir.Block]:
    """The bodies of the dataflow regions of a function: its own, and those of loops."""
    if function.name != "func.func" or not len(function.regions[0].blocks):
        return []
    entry = function.regions[0].blocks[0]
    owners = [op for op in (function, *operations(entry, *LOOP_OPERATIONS)) if DATAFLOW in op.attributes]
    return [owner.regions[0].blocks[0] for owner in owners]


def _processes(block: ir.Block) -> list[ir.Operation]:
    """The statements of a region that may use streams."""
    return [op for op in statements(block) if len(op.regions) or len(op.operands)]


def shared_ends(
    module: Module, model: Callable[[], Model], processes: list[ir.Operation], why: str, hint: str | None = None
) -> ScheduleError | None:
    """The refusal, which begins with `why`, of two processes that put into one stream or get from one.

    `model` gives the model of their function, which few need.
    """
    effects = Effects(module)
    ends: dict[tuple[str, ir.Value], list[ir.Operation]] = {}
    for op in processes:
        found = effects.touched(op)
        for side, streams in (("put", found.puts), ("get", found.gets)):
            for stream in streams:
                ends.setdefault((side, stream), []).append(op)
    shared = [(side, stream, found) for (side, stream), found in ends.items() if len(found) > 1]
    if not shared:
        return None
    for side, stream, users in sorted(shared, key=lambda end: (processes.index(end[2][1]), stream_name(end[1]))):
        for number, op in enumerate(users):
            for other in users[:number]:
                is_side = puts_side if side == "put" else gets_side
                if same_stream(model(), other, op, is_side) and may_meet(module, stream, other, op, _at(is_side)):
                    does = "puts into" if side == "put" else "gets from"
                    return ScheduleError(
                        f"{why}: {_process(op)} {does} stream '{stream_name(stream)}', and so does {_process(other)}",
                        hint=hint,
                        notes=[Note("this process is here", location_of(one)) for one in (other, op)],
                    )
    return None


def demand_ends_of_elements(module: Module) -> None:
    """Raises ScheduleError if processing elements of an unfolded nest put into one stream or get from one."""
    effects = Effects(module)
    for function in module.functions():
        for nest in element_nests(function):
            process = nest.outermost.op
            touched = effects.touched(process)
            if not touched.streams:
                continue
            model = model_of(module, function.name.value)
            for does, is_side in (("put into", puts_side), ("get from", gets_side)):
                shared = shared_end(model, [view.op for view in nest.spatial], is_side)
                used = touched.puts if is_side is puts_side else touched.gets
                if shared is not None and any(may_meet(module, s, process, process, _at(is_side)) for s in used):
                    raise ScheduleError(
                        f"the processing elements of nest '{nest.outermost.nest}' would {does} one stream, "
                        f"'{shared[0].buffer.name}', in no order",
                        hint="do not unfold the nest, or give each element a FIFO of its own: relay(..., axis=...)",
                        notes=[Note("the nest is here", location_of(nest.outermost.op))],
                    )


def _at(is_side: Callable[[ir.Operation], bool]) -> Callable[[Access], bool]:
    return lambda access: is_side(access.op)


def stream_name(stream: ir.Value) -> str:
    """What messages call a stream, or an array of them."""
    if isinstance(stream.owner, ir.Block):
        return f"argument {stream.arg_number}"
    return string_of(stream.owner.operation, "allo.name") or "stream"


def _process(op: ir.Operation) -> str:
    if op.name == "func.call":
        return f"function '{callee_name(op)}'"
    name = string_of(op, "allo.nest") or string_of(op, "allo.name")
    return f"nest '{name}'" if name else "a statement"
