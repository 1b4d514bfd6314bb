"""Calls inside of a loop or a function, replaced by bodies."""

from __future__ import annotations

from mlir import ir

from ...ir.access import callee_name
from ...ir.inlining import inline_call, leave_affine
from ...ir.module import Module
from ...ir.walk import entry_block, operations
from .calls import function_around


def inline_inside(module: Module, outer: ir.Operation) -> None:
    """Replace all calls in the body of a loop, and those in what they call, by bodies; functions stay."""
    while True:
        calls = operations(outer.regions[0].blocks[0], "func.call")
        callees = [(call, module.function(callee_name(call))) for call in calls]
        bodies = [(call, function) for call, function in callees if entry_block(function) is not None]
        if not bodies:
            leave_affine(outer if outer.name == "func.func" else function_around(outer).operation)
            return
        for call, function in bodies:
            inline_call(call, function, function_around(call))
