"""Branches that the position of a task decides, since their conditions hold in all iterations or in none."""

from __future__ import annotations

from mlir import ir

from ...ir.branches import branches_of, take_branches
from ...ir.walk import constant_bounds
from ...poly.formula import compile_set
from ...poly.linear import Linear


def take_decided_branches(block: ir.Block) -> None:
    """Replace the branches of a function at a position by what they do there, in place.

    A condition is decided by the ends of loops alone: windows at the border of an array differ from those within.
    """
    found = enumerate(branches_of(block))
    holds = {number: answer for number, op in found if (answer := _holds(op)) is not None}
    if holds:
        take_branches(block, holds)


def _holds(op: ir.Operation) -> bool | None:
    """Whether the condition of a branch holds in all iterations, or in none; None if neither is seen."""
    if op.name != "affine.if":
        return None
    formula, equalities = compile_set(op.attributes["condition"])
    ranges = [_range(operand) for operand in op.operands]
    ends = [_ends(form, ranges) for form in formula.results]
    if all(own is not None and own[0] >= 0 and (own[1] == 0 or not is_equal)
           for own, is_equal in zip(ends, equalities, strict=True)):  # fmt: skip
        return True
    if any(own is not None and (own[1] < 0 or (is_equal and own[0] > 0))
           for own, is_equal in zip(ends, equalities, strict=True)):  # fmt: skip
        return False
    return None


def _range(value: ir.Value) -> tuple[int, int] | None:
    """The first and the last number that an operand of a condition is; None if it is not known."""
    bounds = constant_bounds(value.owner.owner.operation) if isinstance(value.owner, ir.Block) else None
    if bounds is None or bounds[1] <= bounds[0]:
        return None
    lower, upper, step = bounds
    return lower, lower + (upper - 1 - lower) // step * step


def _ends(form: Linear | None, ranges: list[tuple[int, int] | None]) -> tuple[int, int] | None:
    """The least and the largest value of a form; None if it is not known."""
    if form is None:
        return None
    low = high = form.constant
    for variable, factor in form.terms:
        own = ranges[variable - 1] if variable <= len(ranges) else None
        if own is None:
            return None
        low, high = low + min(factor * end for end in own), high + max(factor * end for end in own)
    return low, high
