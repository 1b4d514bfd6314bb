"""Inlining of straight code that pipelines call, a part of their datapath; what calls other code is no pipeline."""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir

from ...ir.access import callee_name
from ...ir.inlining import inline_call, leave_affine
from ...ir.module import Module
from ...ir.streams import uses_streams
from ...ir.walk import LOOP_OPERATIONS, LoopView, entry_block, location_of, loops_of, operations, statements
from ..roles import Roles, has_copies, is_straight
from .record import Rewrite

NAME = "allo-inline-calls"


def inline_calls(module: Module, name: str, *, auto_pipeline: bool, turns: bool) -> list[Rewrite]:
    """Rewrite one function, until nothing is left to do.

    `turns`: a pipeline in which calls are left is none any more, as iterations take turns at what is called.
    """
    caller = module.function(name)
    found: list[Rewrite] = []
    while calls := [call for call in _calls(caller, auto_pipeline) if is_straight_code(module, callee_name(call))]:
        for call in calls:
            callee, at = callee_name(call), location_of(call)
            inline_call(call, module.function(callee), caller)
            found.append(Rewrite(NAME, name, f"the body of '{callee}' stands where it is called", at))
        leave_affine(caller.operation)
    return found + _taking_turns(caller, auto_pipeline) if turns else found


def _taking_turns(caller: ir.OpView, auto_pipeline: bool) -> list[Rewrite]:
    """Let loops around calls that are left run one iteration at a time."""
    found: list[Rewrite] = []
    for view in list(_pipelines(caller, auto_pipeline)):
        for call in operations(view.body, "func.call")[:1]:
            del view.op.attributes["allo.pipeline"]
            said = f"loop '{view.name}' is not pipelined: '{callee_name(call)}', which it calls, is not straight code"
            found.append(Rewrite(NAME, caller.name.value, said, location_of(view.op)))
    return found


def _calls(caller: ir.OpView, auto_pipeline: bool) -> Iterator[ir.Operation]:
    """The calls in the bodies of pipelines."""
    for view in _pipelines(caller, auto_pipeline):
        yield from operations(view.body, "func.call")


def _pipelines(caller: ir.OpView, auto_pipeline: bool) -> Iterator[LoopView]:
    """The innermost loops of pipelines."""
    views = {view.op: view for view in loops_of(caller)}
    roles = Roles(views, auto_pipeline)
    return (view for view in views.values() if roles.chain(view) == [view])


def is_straight_code(module: Module, name: str, callers: tuple[str, ...] = ()) -> bool:
    """Whether a function has a body without streams and loops that are not unrolled, and so has all that it calls."""
    function = module.function(name)
    entry = entry_block(function)
    if entry is None or name in callers or uses_streams(function):
        return False
    return all(_can_stand(module, op, (*callers, name)) for op in statements(entry))


def _can_stand(module: Module, op: ir.Operation, callers: tuple[str, ...]) -> bool:
    """Whether a statement of those functions can stand in a pipeline."""
    if op.name == "func.call":
        return is_straight_code(module, callee_name(op), callers)
    if op.name not in LOOP_OPERATIONS:
        blocks = [block for region in op.regions for block in region.blocks]
        return (bool(blocks) or is_straight(op)) and all(
            _can_stand(module, inner, callers) for block in blocks for inner in statements(block)
        )
    return has_copies(op) and all(_can_stand(module, inner, callers) for inner in statements(op.regions[0].blocks[0]))
