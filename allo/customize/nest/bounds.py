"""Bounds of loops in a new order, where they depend on loops that move inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from ...errors import ScheduleError
from ...ir.builder import affine_constant, affine_dim
from ...ir.context import context
from ...ir.walk import LoopView, bound_operands, induction_variable
from ...poly import Bounds, Side, loop_rows, scan_bounds
from ..step.resolve import loop_note
from .distribute import Group

type Bound = tuple[ir.AffineMap, list[ir.Value]]


@dataclass(frozen=True, slots=True)
class LoopBounds:
    """What `Builder.affine_for` takes."""

    lower: Bound
    upper: Bound
    step: int


@dataclass(frozen=True, slots=True)
class NewBounds:
    """The bounds of the loops in a new order, and, for each group between them, those of the loops of its own."""

    loops: list[LoopBounds]
    own: list[dict[str, LoopBounds]]


def bounds_in_order(band: Sequence[LoopView], order: Sequence[LoopView], groups: Sequence[Group]) -> NewBounds:
    """The bounds of the loops of a band in the new order, over the loop variables that they have now.

    Bounds are kept where the loops they depend on stay outside; else those of all the loops are computed anew. This
    is refused if they are not linear or the steps not 1. Loops around a group of statements between the loops run
    over all the iterations in which the group does; those further in have all the conditions of what they hold.
    """
    clash = _clash(order)
    if clash is None:
        kept = {view.name: _kept(view) for view in order}
        own = [{view.name: kept[view.name] for view in group.private} for group in groups]
        return NewBounds(list(kept.values()), own)
    values = [induction_variable(view.op) for view in order]
    values += dict.fromkeys(v for view in order for side in bound_operands(view.op) for v in side if v not in values)
    numbers = {value: number + 1 for number, value in enumerate(values)}
    systems = {view.name: loop_rows(view.op, numbers) for view in band}
    if any(rows is None for rows in systems.values()):
        outer, inner = clash
        raise ScheduleError(
            f"the bounds of loop '{outer.name}' depend on '{inner.name}', which must stay outside of it",
            hint="bounds in another order are found for loops of step 1 whose bounds are linear",
            notes=[loop_note(outer), loop_note(inner)],
        )
    variables = {view.name: numbers[induction_variable(view.op)] for view in order}

    def scanned(within: Sequence[LoopView]) -> list[Bounds]:
        """The bounds of the loops `within`, which are some first loops of the band in the new order."""
        rows = [row for view in within for row in systems[view.name] or ()]
        return scan_bounds([variables[view.name] for view in within], rows)

    loops = []
    for position in range(len(order)):
        count = min((group.count for group in groups if group.prefix > position), default=len(band))
        names = [view.name for view in band[:count]]
        loops.append(scanned([view for view in order if view.name in names])[position])
    own = []
    for group in groups:
        within = [*order[: group.prefix], *group.private]
        found = scanned(within)[group.prefix :]
        own.append({view.name: _made(b, values) for view, b in zip(group.private, found, strict=True)})
    return NewBounds([_made(bounds, values) for bounds in loops], own)


def _made(bounds: Bounds, values: list[ir.Value]) -> LoopBounds:
    return LoopBounds(_bound(bounds.lower, values, 0), _bound(bounds.upper, values, 1), 1)


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
