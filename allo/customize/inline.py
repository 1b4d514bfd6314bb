"""inline: replace the calls of a function, or of all, by bodies."""

from __future__ import annotations

from mlir import ir

from ..errors import Note, ScheduleError
from ..ir.inlining import inline_call, leave_affine
from ..ir.module import Module
from ..ir.walk import entry_block, location_of
from .function.calls import calls_of, function_around
from .step.handles import Function
from .step.primitive import primitive


@primitive
def inline(module: Module, func: Function | None = None) -> None:
    """Replace every call of `func` by its body; the function is then gone. Without `func`, that of all functions.

        def f(x): S(x)
        for i in range(n):            for i in range(n):
            f(A)               ->         S(A)

    Loops, loop nests and arrays of the body keep their names where those are free in the caller, else they become
    `i_1`, `S_i_0_1`, ...; statements keep their lines. Always legal: arguments are passed by reference, and arrays
    of the body are new in each call as they are in each iteration. Refused: the kernel itself, a function whose body
    is not in the module, a function that is never called, a process of a dataflow region of which several statements
    use one end of a stream. Source: Allo's primitive of this name.
    """
    if func is None:
        names = [name for name in module.names() if _is_inlined(module, name)]
        if not names:
            raise ScheduleError(f"'{module.top}' calls no function with a body")
        for name in names:
            _inline(module, name, calls_of(module, name))
    else:
        _inline(module, func.name, _calls(module, func))
    for caller in module.functions():
        leave_affine(caller.operation)


def _is_inlined(module: Module, name: str) -> bool:
    return name != module.top and entry_block(module.function(name)) is not None and bool(calls_of(module, name))


def _calls(module: Module, func: Function) -> list[ir.Operation]:
    """The calls of `func`, which has a body and is not the kernel; ScheduleError if there are none."""
    if func.name == module.top:
        raise ScheduleError(f"'{func}' is the kernel, which nothing in the module calls")
    function = module.function(func.name)
    note = Note(f"'{func}' is declared here", location_of(function.operation))
    if entry_block(function) is None:
        raise ScheduleError(f"the body of '{func}' is not in the module", notes=[note])
    calls = calls_of(module, func.name)
    if not calls:
        raise ScheduleError(f"nothing calls '{func}'", notes=[note])
    return calls


def _inline(module: Module, name: str, calls: list[ir.Operation]) -> None:
    """Put copies of the body of a function in the places of its calls, and take it out of the module."""
    function = module.function(name)
    for call in calls:
        inline_call(call, function, function_around(call))
    function.operation.erase()
