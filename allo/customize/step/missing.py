"""Refusals of handles that a schedule does not have: which step replaced what they name, or that none made it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import Note, ScheduleError, nearest
from ...ir.states import FinishedModule
from .handles import HANDLES, Buffer, FifoName, Function, Handle, Loop, Nest
from .loop_tree import LoopNest, nest_name
from .record import Steps
from .resolve import fifo_names

_KINDS = {Loop: "loop", Buffer: "buffer", Nest: "loop nest", Function: "function", FifoName: "FIFO"}


def missing_handle(
    states: Sequence[FinishedModule], steps: Steps, handles: Sequence[Handle], *, is_replayed: bool
) -> ScheduleError | None:
    """Why one of `handles`, arguments of a step, is not of the last of `states`; None if all are.

    `states[k]` is the one before `steps[k]`; `is_replayed` says that the step comes from another schedule.
    """
    now = states[-1]
    for handle in handles:
        if _has(now, handle):
            continue
        last = next((k for k in reversed(range(len(states))) if _has(states[k], handle)), None)
        if last is not None:
            return _replaced(now, handle, last, steps)
        function = handle.name if isinstance(handle, Function) else handle.function
        if isinstance(handle, Function) or function not in now:
            return ScheduleError(
                f"the {_KINDS[type(handle)]} '{handle}' is of another schedule: "
                f"that of '{now.top}' has no function '{function}'",
                hint="give handles of the same schedule; s.compose(...) joins schedules of kernels and callers",
            )
        refusal = _absent(now, handle)
        if is_replayed:
            return refusal
        message = refusal.diagnostics[0].message
        return ScheduleError(
            f"the {_KINDS[type(handle)]} '{handle}' is of another schedule, or of a step that was undone: {message}",
            hint=refusal.diagnostics[0].hint,
        )
    return None


def handles_in(given: Any) -> Iterator[Handle]:
    """The handles that a user gave for a parameter."""
    if isinstance(given, HANDLES):
        yield given
    elif isinstance(given, LoopNest):
        yield Nest(given.lines[0][2].function, given.name)
    elif isinstance(given, list | tuple):
        for item in given:
            yield from handles_in(item)


def _has(state: FinishedModule, handle: Handle) -> bool:
    if isinstance(handle, Function):
        return handle.name in state
    if handle.function not in state:
        return False
    if isinstance(handle, Buffer):
        return handle.name in state.buffer_names(handle.function)
    if isinstance(handle, FifoName):
        return handle.name in fifo_names(state, handle.function)
    views = state.loops(handle.function)
    if isinstance(handle, Nest):
        return any(nest_name(view) == handle.name for view in views)
    return any((view.nest, view.name) == (handle.nest, handle.name) for view in views)


def _replaced(now: FinishedModule, handle: Handle, last: int, steps: Steps) -> ScheduleError:
    """The refusal of what `steps[last]` took away."""
    hint = None
    if not isinstance(handle, Function) and handle.function not in now:
        hint = f"there is no function '{handle.function}' any more: see s.get_loops()"
    elif isinstance(handle, Loop):
        left = [view.name for view in now.loops(handle.function) if view.nest == handle.nest]
        hint = f"the loops of the nest are now {', '.join(left)}" if left else "see s.get_loops()"
    step = steps[last]
    note = [Note(f"'{handle.name}' was replaced here", step.at)] if step.at is not None else []
    return ScheduleError(
        f"there is no {_KINDS[type(handle)]} '{handle}' any more: step {last}, {step}, replaced it",
        hint=hint,
        notes=note,
    )


def _absent(now: FinishedModule, handle: Loop | Buffer | Nest | FifoName) -> ScheduleError:
    """The refusal of what a function has never had."""
    function = handle.function
    if isinstance(handle, Buffer):
        known, what, of = now.buffer_names(function), "buffer", f"function '{function}'"
    elif isinstance(handle, FifoName):
        known, what, of = fifo_names(now, function), "FIFO", f"function '{function}'"
    else:
        views = now.loops(function)
        nests = list(dict.fromkeys(name for view in views if (name := nest_name(view)) is not None))
        known, what, of = nests, "loop nest", f"function '{function}'"
        if isinstance(handle, Loop):
            if loops := [view.name for view in views if view.nest == handle.nest]:
                known, what, of = loops, "loop", f"nest '{function}:{handle.nest}'"
            else:
                handle = Nest(function, handle.nest)
    listed = f"its {what}s are {', '.join(known)}" if known else f"it has no {what}s"
    return ScheduleError(f"{of} has no {what} '{handle.name}'", hint=nearest(handle.name, known) or listed)
