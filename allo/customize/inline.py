"""inline: replace the calls of a function by its body."""

from __future__ import annotations

from ..errors import Note, ScheduleError
from ..ir.module import Module
from ..ir.walk import entry_block, location_of
from .function.calls import calls_of
from .function.inlining import inline_call, leave_affine
from .step.handles import Function
from .step.primitive import primitive


@primitive
def inline(module: Module, func: Function) -> None:
    """Replace every call of `func` by its body; the function is then gone.

        def f(x): S(x)
        for i in range(n):            for i in range(n):
            f(A)               ->         S(A)

    Loops, loop nests and arrays of the body keep their names where those are free in the caller, else they become
    `i_1`, `S_i_0_1`, ...; statements keep their lines. Always legal: arguments are passed by reference, and arrays
    of the body are new in each call as they are in each iteration. Refused: the kernel itself, a function whose body
    is not in the module, a function that is never called, a process of a dataflow region of which several statements
    use one end of a stream. Source: Allo's primitive of this name.
    """
    if func.name == module.top:
        raise ScheduleError(f"'{func}' is the kernel, which nothing in the module calls")
    function = module.function(func.name)
    note = Note(f"'{func}' is declared here", location_of(function.operation))
    if entry_block(function) is None:
        raise ScheduleError(f"the body of '{func}' is not in the module", notes=[note])
    calls = calls_of(module, func.name)
    if not calls:
        raise ScheduleError(f"nothing calls '{func}'", notes=[note])
    for call in calls:
        inline_call(call, function)
    function.operation.erase()
    for caller in module.functions():
        leave_affine(caller.operation)
