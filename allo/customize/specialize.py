"""specialize: give some callers of a function a copy of their own."""

from __future__ import annotations

from mlir import ir

from ..errors import Note, ScheduleError
from ..ir.builder import string_attr
from ..ir.context import context
from ..ir.module import Module
from ..ir.walk import entry_block, location_of
from .function.calls import calls_of, function_around
from .step.handles import Function
from .step.primitive import primitive


@primitive
def specialize(module: Module, func: Function, callers: tuple[Function, ...], name: str) -> Function:
    """Let `callers` call a copy of `func`, called `name`, that later steps can change for them alone.

        def f(x): S(x)                def f(x): S(x)
                                      def f_g(x): S(x)
        def g(): f(A)         ->      def g(): f_g(A)
        def h(): f(B)                 def h(): f(B)

    Returns the handle of the copy. Always legal. `compose` with `id` does it for functions that the instance shares
    with others. Refused: the kernel itself, a function whose body is not in the module, a caller that does not call
    it, callers that are all there are, a name that is taken. Source: Allo paper, section 6.3 (instances by id).
    """
    if func.name == module.top:
        raise ScheduleError(f"'{func}' is the kernel, which nothing in the module calls")
    function = module.function(func.name)
    note = Note(f"'{func}' is declared here", location_of(function.operation))
    if entry_block(function) is None:
        raise ScheduleError(f"the body of '{func}' is not in the module", notes=[note])
    taken = module.names()
    if not isinstance(name, str) or not name.isidentifier() or name in taken:
        reason = "is the name of a function already" if name in taken else "is not a name"
        raise ScheduleError(f"{name!r} {reason}", hint=f"the functions are {', '.join(taken)}")
    calls = calls_of(module, func.name)
    around = [function_around(call).name.value for call in calls]
    wanted = {caller.name for caller in callers}
    for caller in callers:
        if caller.name not in around:
            listed = ", ".join(dict.fromkeys(around)) or "nothing"
            raise ScheduleError(f"'{caller}' does not call '{func}'", hint=f"it is called by {listed}", notes=[note])
    if not callers or wanted >= set(around):
        listed = "no callers" if not callers else "all of them"
        hint = f"customize '{func}' itself" if callers else f"it is called by {', '.join(dict.fromkeys(around))}"
        raise ScheduleError(
            f"a copy of '{func}' is for some of its callers, and {listed} are given", hint=hint, notes=[note]
        )
    copy = function.operation.clone(ir.InsertionPoint(function.operation))
    copy.move_after(function.operation)
    copy.attributes["sym_name"] = string_attr(name)
    for call, caller in zip(calls, around, strict=True):
        if caller in wanted:
            call.attributes["callee"] = ir.FlatSymbolRefAttr.get(name, context())
    return Function(name)
