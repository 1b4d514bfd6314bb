"""Ends of streams at which a task does nothing: loops without iterations, and streams that nobody uses."""

from __future__ import annotations

from mlir import ir

from ...ir.access import callee_name
from ...ir.module import Module
from ...ir.streams import is_stream
from ...ir.walk import argument_names, entry_block, operations, statements, trip_count
from ..element_class import set_signature


def drop_idle_ends(module: Module) -> None:
    """Let tasks at their positions, which are calls, have no streams that they never put into or get from, in place.

    Such as the last of a chain, in a loop that hands on what is left: there it runs zero times.
    """
    for name, own in calls_of_tasks(module).items():
        idle = _idle(module.function(name))
        if idle:
            for call in own:
                without_operands(call, idle)


def calls_of_tasks(module: Module) -> dict[str, list[ir.Operation]]:
    """The calls that stand in the region of a module, by the name of the function."""
    entry = entry_block(module.function(module.top))
    assert entry is not None
    calls: dict[str, list[ir.Operation]] = {}
    for op in statements(entry):
        if op.name == "func.call":
            calls.setdefault(callee_name(op), []).append(op)
    return calls


def _idle(function: ir.OpView) -> list[int]:
    """The numbers of the streams that a function does not use, which are no arguments of it any more."""
    entry = entry_block(function)
    if entry is None:
        return []
    for loop in reversed(operations(entry, "affine.for")):  # those inside of others first
        if trip_count(loop) == 0 and not len(loop.results):
            loop.erase()
    found = [
        number for number, value in enumerate(entry.arguments) if is_stream(value.type) and not list(value.uses)
    ]
    if found:
        without_arguments(function, found)
    return found


def without_arguments(function: ir.OpView, numbers: list[int]) -> None:
    """Let a function have all arguments but those, which it does not use."""
    entry, names = entry_block(function), argument_names(function)
    assert entry is not None
    for number in reversed(numbers):
        entry.erase_argument(number)
        names.pop(number)
    set_signature(function.operation, names)


def without_operands(call: ir.Operation, numbers: list[int]) -> None:
    """Let a call pass all operands but those."""
    kept = [operand for number, operand in enumerate(call.operands) if number not in numbers]
    attributes = {name: call.attributes[name] for name in call.attributes}
    ir.Operation.create(
        call.name, [own.type for own in call.results], kept, attributes, loc=call.location, ip=ir.InsertionPoint(call)
    )
    call.erase()
