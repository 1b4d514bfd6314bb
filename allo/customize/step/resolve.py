"""Resolution of arguments to loops and buffers: names or handles, in the notation of users."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from mlir import ir

from ...errors import InternalError, Note, ScheduleError, nearest
from ...ir.module import Module
from ...ir.stream_facts import made_streams
from ...ir.walk import LoopView, buffer_location, entry_block, location_of, operations, string_of
from .handles import Buffer, FifoName, Loop


def resolve_loop(module: Module, given: Any) -> Loop:
    """The loop that `"i"`, `"callee:i"`, `"S_i_j_0.i"` or a handle names."""
    if isinstance(given, Loop):
        find_loop(module, given)
        return given
    if not isinstance(given, str):
        raise ScheduleError(
            f"a loop is named by a string or a handle of get_loops(), got {type(given).__name__} {given!r}"
        )
    function, name = split_function(module, given)
    loops = module.loops(function)
    matches = [
        loop for loop in loops if name in (loop.name, *(f"{nest}.{loop.name}" for nest in _nests(loop)))
    ]
    if len(matches) == 1:
        return Loop(function, matches[0].nest, matches[0].name)
    if not matches:
        known = _distinct_names(loops)
        listed = f"its loops are {', '.join(known)}" if known else _without_loops(module, function)
        raise ScheduleError(
            f"function '{function}' has no loop '{name}'",
            hint=nearest(name, [*known, *(f"{loop.nest}.{loop.name}" for loop in loops)]) or listed,
        )
    callee = "" if function == module.top else f"{function}:"
    names = [f"{callee}{loop.nest}.{loop.name}" for loop in matches]
    raise ScheduleError(
        f"function '{function}' has {len(matches)} loops named '{name}'",
        hint=f"say which one: {', '.join(repr(n) for n in names)}",
        notes=[Note(f"'{n}' is here", location_of(m.op)) for n, m in zip(names, matches, strict=True)],
    )


def _nests(loop: LoopView) -> list[str]:
    """The names of the nests that a loop is in: the whole one, and inner ones that the user named."""
    return [loop.nest, *(member.own_nest for member in loop.chain if member.own_nest is not None)]


def _without_loops(module: Module, function: str) -> str:
    entry = entry_block(module.function(function))
    found = operations(entry) if entry is not None else ()
    if any(op.name.startswith("linalg.") for op in found):
        return "its operators become loops by allo.customize(..., lower_linalg=True)"
    return "it has no loops"


def _distinct_names(loops: Sequence[LoopView]) -> list[str]:
    """What to call each loop: by its name, or with its nest in front if others have the name too."""
    count = Counter(loop.name for loop in loops)
    return [loop.name if count[loop.name] == 1 else f"{loop.nest}.{loop.name}" for loop in loops]


def split_function(module: Module, given: str) -> tuple[str, str]:
    """`"callee:name"` as (function, name); the function is the entry if none is given."""
    function, colon, name = given.rpartition(":")
    if not colon:
        return module.top, given
    if function not in module:
        names = module.names()
        hint = nearest(function, names) or f"the functions are {', '.join(names)}"
        raise ScheduleError(f"the module has no function '{function}'", hint=hint)
    return function, name


def resolve_buffer(module: Module, given: Any) -> Buffer:
    """The buffer that `"A"`, `"callee:A"` or a handle names."""
    if isinstance(given, Buffer):
        given = str(given)
    if not isinstance(given, str):
        raise ScheduleError(
            f"a buffer is named by a string or a handle such as s.A, got {type(given).__name__} {given!r}"
        )
    function, name = split_function(module, given)
    buffers = module.buffer_names(function)
    if name in buffers:
        return Buffer(function, name)
    listed = f"its buffers are {', '.join(buffers)}" if buffers else "it has no buffers"
    raise ScheduleError(
        f"function '{function}' has no buffer '{name}'", hint=nearest(name, buffers) or listed
    )


def resolve_fifo(module: Module, given: Any) -> FifoName:
    """The FIFO, or array of FIFOs, that `"pipe"`, `"callee:fifo_A"` or a handle names."""
    if isinstance(given, FifoName):
        given = str(given)
    if not isinstance(given, str):
        raise ScheduleError(f"a FIFO is named by a string, got {type(given).__name__} {given!r}")
    function, name = split_function(module, given)
    known = fifo_names(module, function)
    if name in known:
        return FifoName(function, name)
    listed = f"its FIFOs are {', '.join(known)}" if known else "it makes no FIFOs"
    raise ScheduleError(f"function '{function}' makes no FIFO '{name}'", hint=nearest(name, known) or listed)


def fifo_names(module: Module, function: str) -> list[str]:
    """The names of the FIFOs that a function makes."""
    made = made_streams(module.function(function))
    return list(dict.fromkeys(string_of(op, "allo.name") or "stream" for op in made))


def find_loop(module: Module, handle: Loop) -> LoopView:
    """The loop operation of a handle; ScheduleError if an earlier step has replaced it."""
    return find_loops(module, [handle])[0]


def find_loops(module: Module, handles: Sequence[Loop]) -> list[LoopView]:
    """The loop operations of handles; ScheduleError if an earlier step has replaced one."""
    known: dict[str, list[LoopView]] = {}
    for handle in handles:
        if handle.function not in known:
            if handle.function not in module:
                raise ScheduleError(f"the module has no function '{handle.function}'")
            known[handle.function] = module.loops(handle.function)
    return [_find_loop(known[handle.function], handle) for handle in handles]


def _find_loop(loops: Sequence[LoopView], handle: Loop) -> LoopView:
    """That one of a function's loops that a handle names."""
    found = [loop for loop in loops if loop.name == handle.name and loop.nest == handle.nest]
    if len(found) == 1:
        return found[0]
    if found:
        raise ScheduleError(
            f"there are {len(found)} loops '{handle}'",
            hint="give the loop nests names of their own (the attribute allo.nest)",
            notes=[loop_note(loop) for loop in found],
        )
    known = ", ".join(loop.name for loop in loops if loop.nest == handle.nest)
    hint = f"the loops of the nest are now {known}" if known else "see s.get_loops()"
    raise ScheduleError(f"there is no loop '{handle}'; an earlier step may have replaced it", hint=hint)


def find_buffer(module: Module, handle: Buffer) -> ir.Value:
    """The memref of a handle."""
    value = module.buffers(handle.function).get(handle.name)
    if value is None:
        raise InternalError(f"no buffer '{handle}'")
    return value


def loop_note(loop: LoopView) -> Note:
    """Where a loop stands in the kernel."""
    return Note(f"loop '{loop.name}' is here", location_of(loop.op))


def buffer_note(handle: Buffer, value: ir.Value) -> Note:
    """Where a buffer is declared in the kernel."""
    return Note(f"'{handle.name}' is declared here", buffer_location(value))
