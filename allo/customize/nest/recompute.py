"""Copies of a loop nest where its results are needed, over the iterations that are needed there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from ...ir.builder import Builder, affine_constant, affine_dim, string_attr
from ...ir.context import context
from ...ir.names import unique_name
from ...ir.walk import (
    LOOP_OPERATIONS,
    LoopView,
    bound_operands,
    induction_variable,
    loops_of,
    operations,
    string_of,
)
from ...poly import Linear, Model, Needed, always
from .bounds import Bound, joined
from .rewrite import move_body


@dataclass(frozen=True, slots=True)
class Clip:
    """A bound that holds besides the loop's own one, or `alone`, for it implies that one."""

    bound: Bound
    alone: bool


def recompute(
    model: Model, nest: Sequence[LoopView], target: LoopView, needed: Needed
) -> None:
    """Move the nest to the start of the target's body; its loops run over what is `needed` of their iterations."""
    function = target.chain[0].op.parent
    assert function is not None
    values = {model.loop(view.op).variable: induction_variable(view.op) for view in target.chain}
    values |= {parameter.variable: parameter.value for parameter in model.parameters}
    lowers, uppers = (
        [
            _clip(model, target, view, form, values, is_lower=is_lower)
            for view, form in zip(nest, forms, strict=True)
        ]
        for is_lower, forms in ((True, needed.lower), (False, needed.upper))
    )
    root = nest[0].op
    free_names(function, root, target)
    root.move_before(target.body.operations[0])
    if "allo.nest" in root.attributes:
        del root.attributes["allo.nest"]
    for view, lower, upper in zip(nest, lowers, uppers, strict=True):
        if lower is not None or upper is not None:
            own = _bounds(view.op)
            # The bounds that the loop has now: they may use an outer loop of the nest, which is new already.
            _rebuild(view.op, _applied(lower, own[0]), _applied(upper, own[1]))


def _applied(clip: Clip | None, own: Bound) -> Bound:
    if clip is None:
        return own
    return clip.bound if clip.alone else joined(own, clip.bound)


def free_names(function: ir.OpView | ir.Operation, moved: ir.Operation, target: LoopView) -> None:
    """Give the loops in `moved`, and itself if it goes too, names that no other loop of the target's nest has."""
    inside = operations(moved.regions[0].blocks[0], *LOOP_OPERATIONS)
    others = [view for view in loops_of(function.opview) if view.op not in (moved, *inside)]
    taken = {view.name for view in others if view.nest == target.nest}
    for op in (moved, *inside):
        name = string_of(op, "allo.name")
        if name is not None:
            op.attributes["allo.name"] = string_attr(unique_name(name, taken))


def _bounds(loop: ir.Operation) -> tuple[Bound, Bound]:
    maps = [ir.AffineMapAttr(loop.attributes[n]).value for n in ("lowerBoundMap", "upperBoundMap")]
    lower, upper = bound_operands(loop)
    return (maps[0], lower), (maps[1], upper)


def _clip(
    model: Model,
    target: LoopView,
    view: LoopView,
    form: Linear | None,
    values: dict[int, ir.Value],
    *,
    is_lower: bool,
) -> Clip | None:
    """What keeps a loop of the nest to the needed iterations; None if its own bound does so already."""
    if form is None or ir.IntegerAttr(view.op.attributes["step"]).value != 1:
        return None
    own = _bounds(view.op)[0 if is_lower else 1]
    made = _bound(form, values, 0 if is_lower else 1)
    constant = own[0].results[0] if len(own[0].results) == 1 else None
    if not isinstance(constant, ir.AffineConstantExpr):
        return Clip(made, alone=False)
    edge = constant.value if is_lower else constant.value - 1
    inside = form.plus(-edge) if is_lower else form.scaled(-1).plus(edge)
    if always(model, target.op, inside):
        return Clip(made, alone=True)
    return None if always(model, target.op, inside.scaled(-1)) else Clip(made, alone=False)


def _bound(form: Linear, values: dict[int, ir.Value], beyond: int) -> Bound:
    result = affine_constant(form.constant + beyond)
    for position, (_, coefficient) in enumerate(form.terms):
        result = result + affine_dim(position) * coefficient
    return ir.AffineMap.get(len(form.terms), 0, [result], context()), [values[number] for number, _ in form.terms]


def _rebuild(loop: ir.Operation, lower: Bound, upper: Bound) -> None:
    """The same loop with other bounds."""
    attributes = {key: value for key, value in loop.attributes.items() if key.startswith("allo.")}
    step = ir.IntegerAttr(loop.attributes["step"]).value
    made = Builder.before(loop).affine_for(lower, upper, step, attributes)
    move_body(loop, made.regions[0].blocks[0], induction_variable(made))
