"""Bands of loops built anew in another order, with the statements between them in their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir import ir

from ...ir.builder import Builder, string_attr
from ...ir.names import unique_name
from ...ir.walk import LoopView, induction_variable, loops_of, operations, string_of
from .bounds import LoopBounds, NewBounds
from .distribute import Group
from .rewrite import move_body

# What the loops that single statements get, copies of the band's, do not keep.
_NOT_COPIED = frozenset({"allo.nest", "allo.name", "allo.parallel", "allo.spatial", "allo.dataflow"})

type Variables = dict[ir.Value, ir.Value]


def rebuild(
    function: ir.OpView,
    band: Sequence[LoopView],
    order: Sequence[LoopView],
    groups: Sequence[Group],
    new: NewBounds,
) -> None:
    """Build the loops in `order`, move the statements and the innermost body into them, and erase the old ones."""
    builder = Builder.before(band[0].op)
    nest = band[0].op.attributes.get("allo.nest")
    variables: Variables = {}
    made: list[ir.Operation] = []
    for view, bounds in zip(order, new.loops, strict=True):
        attributes = {
            name: attribute
            for name, attribute in view.op.attributes.items()
            if name.startswith("allo.") and (name != "allo.nest" or view is not band[0])
        }
        if not made and nest is not None:
            attributes["allo.nest"] = nest
        made.append(_loop(builder, view, bounds, attributes, variables))
    innermost = builder.point.block
    _place(function, band, list(zip(groups, new.own, strict=True)), made)
    body = band[-1].op
    last = induction_variable(body)
    for old, new in variables.items():
        if old != last:
            old.replace_all_uses_with(new)
    move_body(body, innermost, variables[last])
    band[0].op.erase()


def _loop(
    builder: Builder,
    view: LoopView,
    bounds: LoopBounds,
    attributes: dict[str, ir.Attribute],
    variables: Variables,
) -> ir.Operation:
    """One loop, which `builder` enters; `variables` take the old loop variables to the new ones."""
    builder.loc = view.op.location
    lower, upper = (
        (affine_map, [variables.get(value, value) for value in values])
        for affine_map, values in (bounds.lower, bounds.upper)
    )
    made = builder.affine_for(lower, upper, bounds.step, attributes)
    variables[induction_variable(view.op)] = induction_variable(made)
    builder.point = ir.InsertionPoint.at_block_terminator(made.regions[0].blocks[0])
    return made


def _place(
    function: ir.OpView,
    band: Sequence[LoopView],
    groups: Sequence[tuple[Group, Mapping[str, LoopBounds]]],
    made: Sequence[ir.Operation],
) -> None:
    """Put each group in front of the loop that is next in the new order, or behind it."""
    views = loops_of(function) if groups else []
    loop_names = {view.name for view in views if view.nest == band[0].nest}
    nest_names = {view.own_nest for view in views if view.own_nest is not None}
    leading = [found for found in groups if found[0].leading]
    trailing = [found for found in groups if not found[0].leading]
    for group, bounds in [*leading, *reversed(trailing)]:
        anchor = made[group.prefix]
        own_nest = group.prefix == 0 and band[0].parent is None
        taken = _names(group) if own_nest else loop_names
        placed = _own_loops(group, bounds, anchor, taken)
        if own_nest:
            name = unique_name(band[0].nest, nest_names)
            placed[0].attributes["allo.nest"] = string_attr(name)
        if group.leading:
            continue
        for op in reversed(placed):
            op.move_after(anchor)


def _names(group: Group) -> set[str]:
    """The names in the group."""
    inside = (op for s in group.statements for region in s.regions for block in region for op in operations(block))
    return {string_of(op, "allo.name") or "" for op in (*group.statements, *inside)}


def _own_loops(
    group: Group, bounds: Mapping[str, LoopBounds], anchor: ir.Operation, taken: set[str]
) -> list[ir.Operation]:
    """Move the statements in front of `anchor`, in loops of their own if they need some; what stands there now."""
    builder = Builder.before(anchor)
    variables: Variables = {}
    loops: list[ir.Operation] = []
    for view in group.private:
        kept = {name: value for name, value in view.op.attributes.items() if name.startswith("allo.")}
        attributes = {name: value for name, value in kept.items() if name not in _NOT_COPIED}
        attributes["allo.name"] = string_attr(unique_name(view.name, taken))
        loops.append(_loop(builder, view, bounds[view.name], attributes, variables))
    end = _last(builder.point.block) if loops else anchor
    for op in group.statements:
        op.move_before(end)
        _substitute(op, variables)
    return loops[:1] or list(group.statements)


def _last(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation


def _substitute(op: ir.Operation, variables: Variables) -> None:
    """Let an operation, and all inside of it, use the new loop variables."""
    for inner in (op, *(inner for region in op.regions for block in region for inner in operations(block))):
        for position, operand in enumerate(inner.operands):
            if operand in variables:
                inner.operands[position] = variables[operand]
