"""Elementary moves of loops that the loop primitives are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mlir import ir

from ...errors import ScheduleError
from ...ir.builder import Builder, constant_map_attr, string_attr
from ...ir.passes import run_passes
from ...ir.walk import ANNOTATIONS, LoopView, annotations_of, loops_of
from ..step.handles import Loop
from ..step.resolve import loop_note


def compose_affine(functions: Iterable[ir.OpView]) -> None:
    """Fold every `affine.apply` of the functions into the maps of the accesses, bounds and conditions that use it.

    Steps are verified at their end.
    """
    for function in functions:
        run_passes("func.func(allo-compose-affine)", function.operation, verify=False)


def constant_for(builder: Builder, extent: int, names: Mapping[str, str | ir.Attribute]) -> ir.Operation:
    """`affine.for` from 0 to `extent`, with an empty body."""
    attributes = {k: string_attr(v) if isinstance(v, str) else v for k, v in names.items()}
    zero, end = (ir.AffineMapAttr(constant_map_attr(v)).value for v in (0, extent))
    return builder.affine_for((zero, []), (end, []), 1, attributes)


def move_body(loop: ir.Operation, target: ir.Block, variable: ir.Value) -> None:
    """Move the body of `loop` to the end of `target`, with `variable` as its loop variable; erase `loop`."""
    body = loop.regions[0].blocks[0]
    body.arguments[0].replace_all_uses_with(variable)
    end = target.operations[len(target.operations) - 1]
    for op in list(body.operations)[:-1]:
        op.operation.move_before(end)
    loop.erase()


def loop_attributes(view: LoopView, refused: tuple[str, ...] = ANNOTATIONS) -> dict[str, ir.Attribute]:
    """The nest name of a loop about to be replaced; refuses annotations that would lose their meaning."""
    if any(name in view.op.attributes for name in refused):
        raise ScheduleError(
            f"loop '{view.name}' is annotated with {', '.join(annotations_of(view.op))}",
            hint="change the structure of the loop first, then annotate the new loops",
            notes=[loop_note(view)],
        )
    return {"allo.nest": view.op.attributes["allo.nest"]} if "allo.nest" in view.op.attributes else {}


def check_free_name(view: LoopView, *names: str) -> None:
    """Refuse names that a loop of the nest already has."""
    function = view.chain[0].op.parent
    assert function is not None
    taken = {loop.name for loop in loops_of(function) if loop.nest == view.nest}
    for name in names:
        if name in taken:
            raise ScheduleError(
                f"the nest '{view.nest}' already has a loop '{name}'", notes=[loop_note(view)]
            )


def only_child(view: LoopView, child: LoopView) -> bool:
    """Whether the body of `view` is nothing but the loop `child`."""
    return len(view.body.operations) == 2 and view.body.operations[0].operation == child.op


def handle(view: LoopView, function: str) -> Loop:
    """The handle of a loop."""
    return Loop(function, view.nest, view.name)
