"""The bounds of nested loops in a new order: the polyhedron that the old bounds describe, scanned the other way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlir import ir

from ..ir.walk import bound_operands
from .formula import compile_map, instantiate
from .linear import Linear, Row, combine, negated, variable
from .systems import feasible


@dataclass(frozen=True, slots=True)
class Side:
    """One bound of a variable v: `coefficient * v >= form` (lower) or `coefficient * v <= form` (upper)."""

    coefficient: int
    form: Linear


@dataclass(frozen=True, slots=True)
class Bounds:
    """A variable is at least the greatest of the lower sides and at most the least of the upper ones."""

    lower: tuple[Side, ...]
    upper: tuple[Side, ...]


def loop_rows(op: ir.Operation, numbers: Mapping[ir.Value, int]) -> list[Row] | None:
    """The bounds of an `affine.for` of step 1 as constraints over `numbers`; None if they are not linear."""
    if ir.IntegerAttr(op.attributes["step"]).value != 1:
        return None
    own = variable(numbers[op.regions[0].blocks[0].arguments[0]])
    rows: list[Row] = []
    for name, operands, is_lower in zip(
        ("lowerBoundMap", "upperBoundMap"), bound_operands(op), (True, False), strict=True
    ):
        formula = compile_map(ir.AffineMapAttr(op.attributes[name]).value)
        inputs: list[Linear | None] = [variable(numbers[value]) for value in operands]
        if formula.quotients:
            return None
        for form in instantiate(formula, inputs, []):
            if form is None:
                return None
            rows.append(Row(own - form) if is_lower else Row((form - own).plus(-1)))
    return rows


def rebound(order: Sequence[int], rows: Sequence[Row]) -> list[Bounds]:
    """The bounds of the variables `order`, outer to inner, each by those before it and by the other variables.

    The innermost bounds hold all constraints, so the points are exactly those of `rows`; an outer loop may run over
    values for which an inner one is empty (the elimination is by Fourier and Motzkin, over the rationals).
    """
    rows = _needed(list(rows))
    found: list[Bounds] = []
    for number in reversed(order):
        lower: list[tuple[int, Linear]] = []
        upper: list[tuple[int, Linear]] = []
        others: list[tuple[int, Linear]] = []
        for row in rows:
            coefficient = dict(row.form.terms).get(number, 0)
            (lower if coefficient > 0 else upper if coefficient < 0 else others).append((coefficient, row.form))
        found.append(
            Bounds(
                tuple(Side(c, _without(form, number).scaled(-1)) for c, form in lower),
                tuple(Side(-c, _without(form, number)) for c, form in upper),
            )
        )
        combined = [Row(low.scaled(-b) + high.scaled(a)) for a, low in lower for b, high in upper]
        rows = _needed([Row(form) for _, form in others] + [row for row in combined if row.form.terms])
    return found[::-1]


def scan_bounds(order: Sequence[int], rows: Sequence[Row]) -> list[Bounds]:
    """As `rebound`, where the bounds of each variable hold all constraints of which it is the last one.

    So the bounds of outer variables may be replaced by wider ones, if they hold theirs.
    """
    found, context = [], list[Row]()
    for position, bounds in enumerate(rebound(order, rows)):
        number, lower, upper = order[position], list(bounds.lower), list(bounds.upper)
        later = set(order[position + 1 :])
        for row in rows:
            terms = dict(row.form.terms)
            if number not in terms or not later.isdisjoint(terms):
                continue
            known = [*context, *_rows(number, lower, upper)]
            if any(feasible([*known, opposite]) for opposite in negated(row)):
                rest = _without(row.form, number)
                if terms[number] > 0:
                    lower.append(Side(terms[number], rest.scaled(-1)))
                else:
                    upper.append(Side(-terms[number], rest))
        context += [row for row in rows if number in dict(row.form.terms) and later.isdisjoint(dict(row.form.terms))]
        found.append(Bounds(tuple(lower), tuple(upper)))
    return found


def _rows(number: int, lower: Sequence[Side], upper: Sequence[Side]) -> list[Row]:
    """The constraints that bounds of a variable are."""
    own = variable(number)
    return [
        *(Row(own.scaled(side.coefficient) - side.form) for side in lower),
        *(Row(side.form - own.scaled(side.coefficient)) for side in upper),
    ]


def _without(form: Linear, number: int) -> Linear:
    return combine(form.constant, (term for term in form.terms if term[0] != number))


def _needed(rows: list[Row]) -> list[Row]:
    """The rows that do not follow from the others; all of them if nothing satisfies them."""
    if not rows or not feasible(rows):
        return rows
    kept = list(dict.fromkeys(rows))
    for row in list(kept):
        others = [other for other in kept if other is not row]
        if not any(feasible([*others, opposite]) for opposite in negated(row)):
            kept = others
    return kept
