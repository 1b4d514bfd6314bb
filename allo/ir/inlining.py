"""Bodies of functions in the places of their calls."""

from __future__ import annotations

from mlir import ir

from .builder import string_attr
from .names import unique_name
from .passes import run_passes
from .walk import LOOP_OPERATIONS, argument_names, entry_block, loops_of, operations, statements, string_of


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


def inline_call(call: ir.Operation, function: ir.OpView, caller: ir.OpView) -> None:
    """Put a copy of the body of `function`, with names that are free there, in the place of a call in `caller`."""
    copy = function.operation.clone(ir.InsertionPoint(caller))
    _rename(caller, call, copy.regions[0].blocks[0])
    replace_call(call, copy)


def _rename(caller: ir.OpView, call: ir.Operation, body: ir.Block) -> None:
    """Give loops, nests and arrays of the body names that are free where the call stands."""
    loops = loops_of(caller)
    around = next((view for view in loops if _encloses(view.op, call)), None)
    nests = {view.nest for view in loops}
    taken = {view.name for view in loops if around is not None and view.nest == around.nest}
    entry = entry_block(caller)
    assert entry is not None
    nests |= {name for op in operations(entry) if (name := string_of(op, "allo.nest")) is not None}
    arrays = {name for op in operations(entry) if op != call and (name := _array(op)) is not None}
    arrays |= set(argument_names(caller))
    returned = _returned_array(call, body)
    for op in operations(body):
        name = string_of(call, "allo.name") if returned is not None and op == returned else _array(op)
        if name is not None:
            op.attributes["allo.name"] = string_attr(unique_name(name, arrays))
        nest = string_of(op, "allo.nest")  # of a loop, or of an operator that will be loops
        if nest is not None:
            op.attributes["allo.nest"] = string_attr(unique_name(nest, nests))
    for view in loops_of(body.owner):
        if around is not None:
            view.op.attributes["allo.name"] = string_attr(unique_name(view.name, taken))


def _returned_array(call: ir.Operation, body: ir.Block) -> ir.Operation | None:
    """The allocation in the body that the caller knows by the name of the result."""
    values = list(body.operations[len(body.operations) - 1].operands)
    if _array(call) is None or len(values) != 1 or isinstance(values[0].owner, ir.Block):
        return None
    made: ir.Operation = values[0].owner.operation
    return made if made.name == "memref.alloc" else None


def _encloses(outer: ir.Operation, inner: ir.Operation) -> bool:
    parent = inner.parent
    while parent is not None:
        if parent.operation == outer:
            return True
        parent = parent.operation.parent
    return False


def _array(op: ir.Operation) -> str | None:
    """The name of an array, scalar or stream that `op` makes."""
    return None if op.name in LOOP_OPERATIONS else string_of(op, "allo.name")
