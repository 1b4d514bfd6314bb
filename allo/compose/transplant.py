"""Transplants of steps: a step of a part that would do just the same in the schedule is taken over with its result."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from mlir import ir

from allo._mlir import rename_symbols

from ..customize.step.record import Step
from ..ir.function_arrays import ArrayRole
from ..ir.module import attributes_of
from ..ir.parts import Part
from ..ir.walk import entry_block
from .correspondence import reachable
from .footprint import History
from .renaming import Renaming


def transplant(part: History, number: int, wanted: Step, history: History, names: Renaming) -> bool:
    """Do step number `number` of `part`, which is `wanted` by the `names` of the schedule, without computing it again.

    A primitive reads the function that it is about and those that this one calls. Where they are the same in both
    modules, and nothing but the body of one function changed in the part, the same body is the result here; then the
    step is done, and the answer is True. Layouts of arguments may differ if the primitive does not look at them.
    """
    schedule, functions = history.schedule, names.functions
    changed = None if wanted.traits.whole_module else _changed_body(part, number)
    if changed is None:
        return False
    read = reachable(part.functions(number), changed)
    same_names = all(functions.get(name, name) == name for name in read)
    step = dataclasses.replace(wanted, result=names.value(part.schedule.steps[number].result))
    made = part.functions(number + 1)[changed]
    if same_names and all(_is_shared(part, number, name, history) for name in read):
        schedule._install(schedule._state.taking({changed: made}), step)
        return True
    if not all(_same(part, number, name, history, functions, wanted.traits.any_layout) for name in read):
        return False
    if same_names:
        retyped = _with_arguments(made, schedule._state.parts[changed])
        schedule._install(schedule._state.taking({changed: retyped}), step)
        return True
    draft = schedule._state.draft()
    replaced = draft.function(functions.get(changed, changed))
    copy = made.op.clone(ir.InsertionPoint(replaced.operation))
    rename_symbols(copy.operation, functions)
    _take_types(copy, replaced)
    replaced.operation.erase()
    schedule._install(draft.finished(), step)
    return True


def _is_shared(part: History, number: int, name: str, history: History) -> bool:
    """Whether a function is the same in the schedule now, its name and layouts included."""
    now = len(history.schedule.steps)
    known, there = history.functions(now).get(name), part.functions(number)[name]
    if known is None or known.plain is there.plain:
        return known is there  # with the same layouts they are one
    return history.fingerprint(now, name, True) == part.fingerprint(number, name, True)


def _same(
    part: History, number: int, name: str, history: History, functions: Mapping[str, str], any_layout: bool
) -> bool:
    """Whether a function is the same in the schedule now, but for names of functions and layouts of its arguments."""
    now, there = len(history.schedule.steps), functions.get(name, name)
    known, ours = history.functions(now).get(there), part.functions(number)[name]
    if known is None or (known.plain is ours.plain and there == name and not any_layout):
        return known is ours
    if known.plain is not ours.plain:
        found = history.fingerprint(now, there, not any_layout)
        if found != part.fingerprint(number, name, not any_layout, functions):
            return False
    return not any_layout or _local_arrays(known) == _local_arrays(ours)


def _local_arrays(function: Part) -> list[ir.Type]:
    """The types of the arrays and streams that a function does not get as arguments, in the order of the text."""
    return [array.type for array in function.arrays.arrays if array.role is not ArrayRole.ARGUMENT]


def _with_arguments(function: Part, other: Part) -> Part:
    """The function with arguments of the types that they have in another one."""
    places = zip(function.arrays.arguments, other.arrays.arguments, strict=True)
    types = {own: other.array_type(there) for own, there in places if own is not None and there is not None}
    return function.retyped(types)


def _signature(function: ir.OpView) -> ir.Attribute:
    return function.operation.attributes["function_type"]


def _take_types(function: ir.OpView, other: ir.OpView) -> None:
    """Give the arguments of a function the types that they have in another one."""
    function.operation.attributes["function_type"] = _signature(other)
    body, there = entry_block(function), entry_block(other)
    if body is not None and there is not None:
        for argument, wanted in zip(body.arguments, there.arguments, strict=True):
            argument.set_type(wanted.type)


def _changed_body(part: History, number: int) -> str | None:
    """The function whose body is all that a step changed; None if it changed something else."""
    before, after = part.state(number).parts, part.state(number + 1).parts
    if before.keys() != after.keys():
        return None
    differing = [name for name, other in after.items() if before[name] is not other]
    if any(_attributes(before[name]) != _attributes(after[name]) for name in differing):
        return None
    if len(differing) == 1:
        return differing[0]
    changed = [
        name for name in differing if part.fingerprint(number, name, True) != part.fingerprint(number + 1, name, True)
    ]
    return changed[0] if len(changed) == 1 else None


def _attributes(part: Part) -> dict[str, ir.Attribute]:
    return part.fact("attributes", attributes_of)
