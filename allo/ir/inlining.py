"""The body of a function in the place of a call."""

from __future__ import annotations

from mlir import ir

from .passes import run_passes
from .walk import statements


def replace_call(call: ir.Operation, function: ir.Operation) -> None:
    """Move the body of `function`, a copy made for this, to the place of `call`, and erase both."""
    body = function.regions[0].blocks[0]
    for argument, operand in zip(list(body.arguments), list(call.operands), strict=True):
        argument.replace_all_uses_with(operand)
    *moved, end = statements(body)
    for op in moved:
        op.move_before(call)
    for result, value in zip(list(call.results), list(end.operands), strict=True):
        result.replace_all_uses_with(value)
    call.erase()
    function.erase()


def leave_affine(function: ir.Operation) -> None:
    """Subscripts and bounds that depended on a scalar argument are not affine where it is computed from data.

    To be called where arguments were replaced, before anything is verified.
    """
    run_passes("func.func(allo-leave-affine)", function, verify=False)
