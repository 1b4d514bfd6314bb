"""Linear integer forms and constraint rows over numbered variables: the mathematics under every model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

# A variable is a number. Loops, parameters and existential variables of one function share one numbering;
# the second instance in a question about two iterations uses the same numbers moved up by PRIME.
PRIME = 1 << 24


class Linear(NamedTuple):
    """`constant + sum(coefficient * variable)`; terms are sorted by variable and have no zeros."""

    constant: int
    terms: tuple[tuple[int, int], ...] = ()

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def __add__(self, other: Linear) -> Linear:  # type: ignore[override] # forms add up, tuples do not
        if not other.terms:
            return Linear(self.constant + other.constant, self.terms)
        if not self.terms:
            return Linear(self.constant + other.constant, other.terms)
        return combine(self.constant + other.constant, (*self.terms, *other.terms))

    def __sub__(self, other: Linear) -> Linear:
        if not other.terms:
            return Linear(self.constant - other.constant, self.terms)
        return self + other.scaled(-1)

    def scaled(self, factor: int) -> Linear:
        if factor == 0:
            return Linear(0)
        return Linear(self.constant * factor, tuple((v, c * factor) for v, c in self.terms))

    def plus(self, constant: int) -> Linear:
        return Linear(self.constant + constant, self.terms)

    def primed(self, shared: frozenset[int]) -> Linear:
        """The same form on the second instance; variables in `shared` (the parameters) stay."""
        if not self.terms:
            return self
        moved = [(v if v in shared else v + PRIME, c) for v, c in self.terms]
        moved.sort()
        return Linear(self.constant, tuple(moved))

    def text(self, name: Callable[[int], str]) -> str:
        """Python text, e.g. `2*i - j + 1`."""
        parts: list[str] = []
        for variable, coefficient in self.terms:
            body = name(variable) if abs(coefficient) == 1 else f"{abs(coefficient)}*{name(variable)}"
            sign = "-" if coefficient < 0 else "+"
            parts.append(body if not parts and sign == "+" else f"{sign} {body}" if parts else f"-{body}")
        if self.constant or not parts:
            sign = "-" if self.constant < 0 else "+"
            parts.append(f"{sign} {abs(self.constant)}" if parts else str(self.constant))
        return " ".join(parts)


def combine(constant: int, terms: Iterable[tuple[int, int]]) -> Linear:
    """Sum up terms that may repeat variables."""
    total: dict[int, int] = {}
    for variable, coefficient in terms:
        total[variable] = total.get(variable, 0) + coefficient
    return Linear(constant, tuple(sorted((v, c) for v, c in total.items() if c)))


def variable(number: int) -> Linear:
    return Linear(0, ((number, 1),))


class Row(NamedTuple):
    """One constraint: `form == 0` or `form >= 0`."""

    form: Linear
    equality: bool = False

    def primed(self, shared: frozenset[int]) -> Row:
        return Row(self.form.primed(shared), self.equality)


class Quotient(NamedTuple):
    """The existential variable `variable` is `numerator // divisor` (divisor > 0)."""

    variable: int
    numerator: Linear
    divisor: int

    def rows(self) -> tuple[Row, Row]:
        remainder = self.numerator - Linear(0, ((self.variable, self.divisor),))
        return Row(remainder), Row(remainder.scaled(-1).plus(self.divisor - 1))


type Piece = tuple[Row, ...]  # a conjunction
type Pieces = tuple[Piece, ...]  # a disjunction of conjunctions


def negated(row: Row) -> tuple[Row, ...]:
    """The disjunction of rows that holds exactly where `row` does not."""
    below = Row(row.form.scaled(-1).plus(-1))
    if not row.equality:
        return (below,)
    return (below, Row(row.form.plus(-1)))
