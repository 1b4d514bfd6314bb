"""Registers that calls of processing elements take: for machine code, variables that are brought in and out again."""

from __future__ import annotations

from mlir import ir

from ....ir.access import base_of, callee_name
from ....ir.builder import Builder, affine_constant
from ....ir.context import context
from ....ir.module import Module
from ....ir.registers import register_place
from ....ir.walk import entry_block, operations
from ...outlining import signature_attributes


def pass_registers(module: Module) -> None:
    """Let calls take a variable with the value of a register, and bring back what it is then, in place.

    Nobody else uses a register while such a call runs.
    """
    for call in operations(module.mlir.body, "func.call"):
        for number, operand in enumerate(call.operands):
            place = register_place(operand)
            if place is None:
                continue
            at, array = Builder.before(call), base_of(operand)
            element = ir.MemRefType(operand.type).element_type
            variable = at.value("memref.alloc", ir.MemRefType.get([], element, loc=call.location), [])
            where = ir.AffineMap.get(0, 0, [affine_constant(k) for k in place], context())
            scalar = ir.AffineMap.get(0, 0, [], context())
            at.affine_store(at.affine_load(array, where, []), variable, scalar, [])
            behind = Builder(ir.InsertionPoint.after(call), call.location)
            behind.affine_store(behind.affine_load(variable, scalar, []), array, where, [])
            call.operands[number] = variable
        _retype(module, call)


def _retype(module: Module, call: ir.Operation) -> None:
    """Let a function take what a call of it passes."""
    function = module.function(callee_name(call))
    entry = entry_block(function)
    if entry is None:
        return
    kinds = [value.type for value in call.operands]
    if all(argument.type == kind for argument, kind in zip(entry.arguments, kinds, strict=True)):
        return
    for argument, kind in zip(entry.arguments, kinds, strict=True):
        argument.set_type(kind)
    function.operation.attributes["function_type"] = signature_attributes(kinds, [])["function_type"]

