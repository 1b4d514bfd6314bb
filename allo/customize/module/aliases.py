"""Refusal of programs with aliased arrays of which one is written."""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir

from ...errors import Diagnostic, KernelError
from ...ir.access import callee_name, is_array
from ...ir.effects import Effects
from ...ir.module import Module
from ...ir.walk import argument_names, array_operations, entry_block, location_of


def check_aliases(module: Module) -> None:
    """Raises KernelError with every call whose callee writes an array by one name and knows it by another one.

    Such are two arguments, and an argument and a Stateful variable. Values that are one array or another, by a
    condition, are refused too. Everything after this check, dependences and code alike, takes arguments, variables and
    what is allocated for distinct arrays.
    """
    found = list(_shared(module))
    if found:
        raise KernelError.collected(found)


def _shared(module: Module) -> Iterator[Diagnostic]:
    effects = Effects(module)
    for function in module.functions():
        entry = entry_block(function)
        for op, _ in array_operations(entry, "func.call") if entry is not None else ():
            if op.name == "func.call":
                yield from _of_call(module, op, effects)
            elif op.name == "arith.select" or len(op.regions):
                yield _chosen(op)


def _of_call(module: Module, call: ir.Operation, effects: Effects) -> Iterator[Diagnostic]:
    callee = callee_name(call)
    places = {k: effects.place(operand) for k, operand in enumerate(call.operands) if is_array(operand.type)}
    if len(set(places.values())) == len(places) and not any(isinstance(place, str) for place in places.values()):
        return
    done = effects.summary(callee)
    written = {effect.operand for effect in done if effect.writes and not effect.symbol}
    variables = {effect.symbol: effect.writes for effect in done if effect.symbol}
    if not written and not variables:
        return
    names = argument_names(module.function(callee))
    for position in sorted(written):
        for other, place in places.items():
            if other != position and place == places[position] and (other not in written or other > position):
                first, second = sorted((position, other))
                yield Diagnostic(
                    f"arguments '{names[first]}' and '{names[second]}' of '{callee}' are the same array, "
                    f"and '{callee}' writes '{names[position]}'",
                    location_of(call),
                    "pass a copy for one of them",
                )
    for position, place in places.items():
        if isinstance(place, str) and place in variables and (variables[place] or position in written):
            yield Diagnostic(
                f"argument '{names[position]}' of '{callee}' is '@{place}', which '{callee}' uses by that name too, "
                "and it writes one of them",
                location_of(call),
                "pass a copy",
            )


def _chosen(op: ir.Operation) -> Diagnostic:
    return Diagnostic(
        f"'{op.name}' gives one array or another: no analysis can tell which one is used",
        location_of(op),
        "use the arrays themselves under the condition",
    )
