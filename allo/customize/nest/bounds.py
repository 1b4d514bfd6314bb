"""Bounds of loops in a new order, where they depend on loops that move inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from ...errors import ScheduleError
from ...ir.builder import affine_constant, affine_dim
from ...ir.context import context
from ...ir.walk import LoopView, bound_operands, induction_variable
from ...poly import Side, loop_rows, rebound
from ..step.resolve import loop_note

type Bound = tuple[ir.AffineMap, list[ir.Value]]


@dataclass(frozen=True, slots=True)
class LoopBounds:
    """What `Builder.affine_for` takes."""

    lower: Bound
    upper: Bound
    step: int


def bounds_in_order(order: Sequence[LoopView], *, between: bool) -> list[LoopBounds]:
    """The bounds of the loops in the new order, over the loop variables that they have now.

    Bounds are kept where the loops they depend on stay outside; else those of all the loops are computed anew. This
    is refused if they are not linear or the steps not 1, and if statements are `between` the loops: these would run
    in iterations only in which the inner loops do.
    """
    clash = _clash(order)
    if clash is None:
        return [_kept(view) for view in order]
    values = [induction_variable(view.op) for view in order]
    values += dict.fromkeys(v for view in order for side in bound_operands(view.op) for v in side if v not in values)
    numbers = {value: number + 1 for number, value in enumerate(values)}
    systems = [loop_rows(view.op, numbers) for view in order]
    if between or any(rows is None for rows in systems):
        outer, inner = clash
        raise ScheduleError(
            f"the bounds of loop '{outer.name}' depend on '{inner.name}', which must stay outside of it",
            hint=None if not between else "statements stand between the loops",
            notes=[loop_note(outer), loop_note(inner)],
        )
    found = rebound(
        [numbers[induction_variable(view.op)] for view in order], [row for rows in systems for row in rows or ()]
    )
    return [LoopBounds(_bound(b.lower, values, 0), _bound(b.upper, values, 1), 1) for b in found]


def _clash(order: Sequence[LoopView]) -> tuple[LoopView, LoopView] | None:
    """A loop, and one that would be inside of it although its bounds depend on that one."""
    for position, view in enumerate(order):
        operands = [operand for side in bound_operands(view.op) for operand in side]
        for inner in order[position + 1 :]:
            if induction_variable(inner.op) in operands:
                return view, inner
    return None


def _kept(view: LoopView) -> LoopBounds:
    maps = [ir.AffineMapAttr(view.op.attributes[n]).value for n in ("lowerBoundMap", "upperBoundMap")]
    lower, upper = bound_operands(view.op)
    return LoopBounds((maps[0], lower), (maps[1], upper), ir.IntegerAttr(view.op.attributes["step"]).value)


def joined(first: Bound, second: Bound) -> Bound:
    """All results of two bounds: their maximum as a lower bound, their minimum as an upper one."""
    (one, some), (other, more) = first, second
    dims, symbols = one.n_dims + other.n_dims, one.n_symbols + other.n_symbols
    moved = [
        result.shift_dims(other.n_dims, one.n_dims).shift_symbols(other.n_symbols, one.n_symbols)
        for result in other.results
    ]
    operands = [*some[: one.n_dims], *more[: other.n_dims], *some[one.n_dims :], *more[other.n_dims :]]
    return ir.AffineMap.get(dims, symbols, [*one.results, *moved], context()), operands


def _bound(sides: Sequence[Side], values: list[ir.Value], beyond: int) -> Bound:
    """The map of one side: lower sides are rounded up, upper ones down, and `beyond` is added."""
    used = sorted({number for side in sides for number, _ in side.form.terms})
    results: list[ir.AffineExpr] = []
    for side in sides:
        form = affine_constant(side.form.constant)
        for number, coefficient in side.form.terms:
            form = form + affine_dim(used.index(number)) * coefficient
        if side.coefficient != 1:
            divide = ir.AffineExpr.get_floor_div if beyond else ir.AffineExpr.get_ceil_div
            form = divide(form, affine_constant(side.coefficient))
        results.append(form + beyond)
    return ir.AffineMap.get(len(used), 0, results, context()), [values[number - 1] for number in used]
