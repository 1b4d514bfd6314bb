"""Runs of MLIR passes on a function, whose remarks become records."""

from __future__ import annotations

from mlir import ir

from ...ir.access import is_load
from ...ir.builder import unit_attr
from ...ir.context import context
from ...ir.module import Module
from ...ir.passes import run_passes
from ...ir.walk import file_location
from ...poly import is_inside
from .facts import CONDITIONS, FunctionFacts, ancestors
from .record import Rewrite

_INSIDE = "allo.x_inside"


def run(module: Module, function: str, name: str) -> list[Rewrite]:
    """Run a pass on one function. Its remarks say `done: what` or `left: why`."""
    found: list[Rewrite] = []

    def remark(diagnostic: ir.Diagnostic) -> bool:
        state, _, what = diagnostic.message.partition(": ")
        if diagnostic.severity != ir.DiagnosticSeverity.REMARK or state not in ("done", "left"):
            return False
        found.append(Rewrite(name, function, what, file_location(diagnostic.location), state == "done"))
        return True

    handler = context().attach_diagnostic_handler(remark)
    try:
        run_passes(f"func.func({name})", module.function(function).operation)
    finally:
        handler.detach()
    return found


def if_conversion(module: Module, function: str) -> list[Rewrite]:
    """Run `allo-if-conversion`, with marks on the guarded loads whose elements exist in any case."""
    seen = FunctionFacts(module, function)
    marked = []
    for op in seen.operations:
        access = seen.access(op) if is_load(op) else None
        if access is None or not any(outer.name in CONDITIONS for outer in ancestors(op)):
            continue
        if is_inside(seen.model, access, seen.around(op)):
            op.attributes[_INSIDE] = unit_attr()
            marked.append(op)
    found = run(module, function, "allo-if-conversion")
    for op in marked:
        del op.attributes[_INSIDE]
    return found
