"""Dies of stages: the places that steps have given them, as functions hold them."""

from __future__ import annotations

from mlir import ir

from .access import callee_name
from .walk import string_of

DIES = "allo.x_dies"  # of a function: the dies of its stages, by their names


def placed_stages(function: ir.OpView) -> dict[str, str]:
    """The dies of the stages of a function, as steps have placed them."""
    if DIES not in function.operation.attributes:
        return {}
    given = ir.DictAttr(function.operation.attributes[DIES])
    return {named.name: ir.StringAttr(named.attr).value for named in given}


def stage_name(op: ir.Operation) -> str | None:
    """The stage that a statement of a dataflow region is: a loop nest by its name, a call by its function."""
    return callee_name(op) if op.name == "func.call" else string_of(op, "allo.nest")
