"""unify: two functions on one piece of hardware."""

from __future__ import annotations

from mlir import ir

from ..errors import Note, ScheduleError, counted
from ..ir.access import callee_name
from ..ir.builder import Builder, string_attr
from ..ir.context import context, unknown_location
from ..ir.inlining import leave_affine
from ..ir.names import unique_name
from ..ir.states import Draft
from ..ir.walk import (
    annotations_of,
    argument_names,
    constant_bounds,
    entry_block,
    location_of,
    operations,
    statements,
)
from .function.calls import calls_of
from .function.unifying import shared_loops, unify_bodies
from .step.handles import Function
from .step.primitive import primitive

_CONTROL = "control"


@primitive
def unify(module: Draft, first: Function, second: Function, loop_num: int = 0, name: str | None = None) -> Function:
    """Make one function of two: a last argument, `control`, says which of them a call means.

        def f(A, B):                  def f_g(A, B, control):
            for i in range(n):            for i in range(n):
                S(i)                          if control:
        def g(A, B):                              S(i)
            for i in range(n):    ->          else:
                T(i)                              T(i)
        f(X, Y)                       f_g(X, Y, True)
        g(Y, Z)                       f_g(Y, Z, False)

    Both run the outermost `loop_num` loops of their last nest together; what stands before and behind runs for one of
    them. Returns the handle of the function, called `name`. Always legal: in each call one of the bodies runs, as it
    was. Refused: the kernel itself, one function twice, functions that call each other or have other types of
    arguments and results, streams, dataflow, results that are made in other ways, fewer shared loops, loops with
    other bounds or annotations, values that are computed outside of the shared loops and used elsewhere. Source:
    Allo's primitive of this name.
    """
    functions = [_function(module, which) for which in (first, second)]
    notes = [
        Note(f"'{which}' is declared here", location_of(function.operation))
        for which, function in zip((first, second), functions, strict=True)
    ]
    _check_pair(module, first, second, functions, notes)
    loops = [shared_loops(function, loop_num) for function in functions]
    _check_loops(first, second, loop_num, loops, notes)
    taken = module.names()
    if name is not None and (not isinstance(name, str) or not name.isidentifier() or name in taken):
        reason = "is the name of a function already" if name in taken else "is not a name"
        raise ScheduleError(f"{name!r} {reason}", hint=f"the functions are {', '.join(taken)}")
    made = name or unique_name(f"{first.name}_{second.name}", set(taken))
    calls = [calls_of(module, which.name) for which in (first, second)]
    control = _with_control(functions[0], made)
    if not unify_bodies(functions[0], functions[1], control, (loops[0], loops[1])):
        raise ScheduleError(
            f"'{first}' or '{second}' computes a value outside of the shared loops that is used elsewhere",
            hint="share fewer loops", notes=notes,
        )  # fmt: skip
    functions[1].operation.erase()
    for number, found in enumerate(calls):
        for call in found:
            _pass(call, made, number == 0)
    leave_affine(functions[0].operation)
    return Function(made)


def _function(module: Draft, which: Function) -> ir.OpView:
    if which.name == module.top:
        raise ScheduleError(f"'{which}' is the kernel, which nothing in the module calls")
    function = module.function(which.name)
    note = Note(f"'{which}' is declared here", location_of(function.operation))
    if entry_block(function) is None:
        raise ScheduleError(f"the body of '{which}' is not in the module", notes=[note])
    if "allo.dataflow" in function.operation.attributes:
        raise ScheduleError(f"the statements of '{which}' run at once, by dataflow", notes=[note])
    return function


def _check_pair(
    module: Draft, first: Function, second: Function, functions: list[ir.OpView], notes: list[Note]
) -> None:
    """Whether one signature does for both, and nothing calls itself then."""
    if first == second:
        raise ScheduleError(f"'{first}' is one function, and two are made one", notes=notes[:1])
    types = [ir.TypeAttr(function.operation.attributes["function_type"]).value for function in functions]
    if types[0] != types[1]:
        told = f"{types[0]} and {types[1]}"
        raise ScheduleError(f"'{first}' and '{second}' have other types of arguments and results: {told}", notes=notes)
    if "!allo.stream" in str(types[0]):
        raise ScheduleError(f"'{first}' and '{second}' have streams as arguments", notes=notes)
    if _memories(functions[0]) != _memories(functions[1]):
        raise ScheduleError(f"arguments of '{first}' and '{second}' are bound to other memories", notes=notes)
    reached = [_reached(module, which.name) for which in (first, second)]
    if second.name in reached[0] or first.name in reached[1]:
        raise ScheduleError(f"one of '{first}' and '{second}' calls the other", notes=notes)
    ends = [statements(entry)[-1] for f in functions if (entry := entry_block(f)) is not None]
    for position, pair in enumerate(zip(*(list(end.operands) for end in ends), strict=True)):
        arrays = [value for value in pair if isinstance(value.type, ir.MemRefType)]
        made = [not isinstance(v.owner, ir.Block) and v.owner.operation.name == "memref.alloc" for v in arrays]
        same = [isinstance(v.owner, ir.Block) for v in arrays]
        if arrays and not all(made) and not (all(same) and len({v.arg_number for v in arrays}) == 1):
            raise ScheduleError(f"result {position} of '{first}' and '{second}' is no array of their own", notes=notes)


def _memories(function: ir.OpView) -> list[str]:
    attributes = function.operation.attributes
    marks = [ir.DictAttr(a) for a in ir.ArrayAttr(attributes["arg_attrs"])] if "arg_attrs" in attributes else []
    return [str(mark["allo.memory"]) if "allo.memory" in mark else "" for mark in marks]


def _reached(module: Draft, name: str) -> set[str]:
    """The functions that a function calls, also through others."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        entry = entry_block(module.function(waiting.pop()))
        for call in operations(entry, "func.call") if entry is not None else ():
            callee = callee_name(call)
            if callee not in found:
                found.add(callee)
                waiting.append(callee)
    return found


def _check_loops(
    first: Function, second: Function, count: int, loops: list[list[ir.Operation]], notes: list[Note]
) -> None:
    """Whether both have as many loops, which run alike."""
    if count < 0:
        raise ScheduleError(f"loop_num must be at least 0, got {count}")
    for which, found, note in zip((first, second), loops, notes, strict=True):
        if len(found) < count:
            loops_found = counted(len(found), "loop")
            raise ScheduleError(
                f"the last nest of '{which}' has {loops_found} without statements between them, not {count}",
                hint="share fewer loops", notes=[note],
            )  # fmt: skip
    for number, (mine, its) in enumerate(zip(*loops, strict=True)):
        bounds = [constant_bounds(loop) for loop in (mine, its)]
        if None in bounds or bounds[0] != bounds[1]:
            raise ScheduleError(f"loop {number} of '{first}' and '{second}' has other bounds", notes=notes)
        if annotations_of(mine) != annotations_of(its):
            raise ScheduleError(f"loop {number} of '{first}' and '{second}' has other annotations", notes=notes)


def _with_control(function: ir.OpView, name: str) -> ir.Value:
    """Give a function its name and one more argument."""
    entry = entry_block(function)
    assert entry is not None
    attributes = function.operation.attributes
    names = set(argument_names(function))
    signature = ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value)
    flag = ir.IntegerType.get_signless(1, context())
    control = entry.add_argument(flag, unknown_location())
    made = ir.FunctionType.get([*signature.inputs, flag], list(signature.results), context())
    marks = list(ir.ArrayAttr(attributes["arg_attrs"])) if "arg_attrs" in attributes else []
    label = ir.DictAttr.get({"allo.name": string_attr(unique_name(_CONTROL, names))}, context())
    attributes["function_type"] = ir.TypeAttr.get(made, context())
    attributes["arg_attrs"] = ir.ArrayAttr.get([*marks, label], context())
    attributes["sym_name"] = string_attr(name)
    return control


def _pass(call: ir.Operation, name: str, chosen: bool) -> None:
    """Let a call mean one of the bodies."""
    builder = Builder.before(call)
    value = builder.constant(ir.IntegerType.get_signless(1, context()), int(chosen))
    attributes = {key: call.attributes[key] for key in call.attributes}
    attributes["callee"] = ir.FlatSymbolRefAttr.get(name, context())
    made = builder.op("func.call", [result.type for result in call.results], [*call.operands, value], attributes)
    for old, new in zip(call.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    call.erase()
