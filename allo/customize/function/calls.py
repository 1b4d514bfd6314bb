"""Calls of a function, and the function around a statement."""

from __future__ import annotations

from collections import Counter

from mlir import ir

from ...ir.access import callee_name
from ...ir.module import Module
from ...ir.walk import entry_block, operations


def calls_of(module: Module, name: str) -> list[ir.Operation]:
    """All calls of function `name`, in the order of the text."""
    entries = [entry for function in module.functions() if (entry := entry_block(function)) is not None]
    calls = [op for entry in entries for op in operations(entry, "func.call")]
    return [call for call in calls if callee_name(call) == name]


def call_counts(module: Module) -> Counter[str]:
    """How often each function is called."""
    entries = [entry for function in module.functions() if (entry := entry_block(function)) is not None]
    return Counter(callee_name(op) for entry in entries for op in operations(entry, "func.call"))


def function_around(op: ir.Operation) -> ir.OpView:
    """The function that a statement stands in."""
    parent = op.parent
    while parent is not None and parent.operation.name != "func.func":
        parent = parent.operation.parent
    assert parent is not None
    view: ir.OpView = parent.opview
    return view
