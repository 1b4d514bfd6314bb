"""Choices by data: comparisons by their predicates, sides of branches, the larger or smaller of two values."""

from __future__ import annotations

from dataclasses import dataclass, field

from .statements import Apply, Chosen, CoreTiles, Expression

COMPARED = {
    "arith.cmpf": (None, "eq", "gt", "ge", "lt", "le", "ne", None, "eq", "gt", "ge", "lt", "le", "ne"),
    "arith.cmpi": ("eq", "ne", "lt", "le", "gt", "ge"),  # of signed integers
}  # by the number of the predicate


@dataclass(eq=False)
class ChoiceSide:
    """A side of a choice by data, and the arrays that are written in it."""

    condition: Expression
    holds: bool
    written: list[CoreTiles] = field(default_factory=list)

    def chosen(self, value: Expression, old: Expression) -> Expression:
        """What an element is that this side gives a value."""
        return Chosen(self.condition, value, old) if self.holds else Chosen(self.condition, old, value)


def choice(condition: Expression, value: Expression, other: Expression) -> Expression:
    """One of two values by a condition; the larger or the smaller of two has an operation of its own."""
    if isinstance(condition, Apply) and condition.name in ("gt", "ge", "lt", "le"):
        greater = condition.name in ("gt", "ge")
        if condition.operands in ((value, other), (other, value)):
            return Apply("max" if greater == (condition.operands[0] == value) else "min", (value, other))
    return Chosen(condition, value, other)
