"""Refuses calls that give one array to two arguments of a kernel that writes it."""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir

from ..errors import Diagnostic, KernelError
from ..ir.effects import array_of, written_arguments
from ..ir.module import Module
from ..ir.walk import argument_names, entry_block, location_of, operations


def check_aliases(module: Module) -> None:
    """Raises KernelError with every call in which arguments share an array that the callee writes.

    Everything after this check, dependences and code alike, takes the arguments of a function for distinct arrays.
    """
    found = list(_shared(module))
    if found:
        raise KernelError.collected(found)


def _shared(module: Module) -> Iterator[Diagnostic]:
    known: dict[str, frozenset[int]] = {}
    functions = list(module.functions())
    for function in functions if len(functions) > 1 else ():  # one function alone calls nothing
        entry = entry_block(function)
        for op in operations(entry) if entry is not None else ():
            if op.name == "func.call":
                yield from _of_call(module, op, known)


def _of_call(module: Module, call: ir.Operation, known: dict[str, frozenset[int]]) -> Iterator[Diagnostic]:
    callee = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
    written = written_arguments(module, callee, known)
    if not written:
        return
    names = argument_names(module.function(callee))
    operands = [array_of(operand) for operand in call.operands]
    for position in sorted(written):
        for other, operand in enumerate(operands):
            if other != position and operand == operands[position] and (other not in written or other > position):
                first, second = sorted((position, other))
                yield Diagnostic(
                    f"arguments '{names[first]}' and '{names[second]}' of '{callee}' are the same array, "
                    f"and '{callee}' writes '{names[position]}'",
                    location_of(call),
                    "pass a copy for one of them",
                )
