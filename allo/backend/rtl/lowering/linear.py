"""Subscripts as sums of multiples of values, with the numbers that they may be; quotients and rests divide the sums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import gcd

from ....errors import InternalError
from ....ir.widths import INDEX_BITS


@dataclass(frozen=True, slots=True)
class SubscriptTerm:
    """A signed expression of hardware times a factor: `residue` plus a multiple of `step`, within `low` and `high`.

    All three are those of the expression itself; `step` 0: it is `residue`.
    """

    factor: int
    text: str
    residue: int
    step: int
    low: int
    high: int

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the greatest number that it may be, with its factor."""
        one, other = self.factor * self.low, self.factor * self.high
        return (one, other) if one <= other else (other, one)


@dataclass(frozen=True, slots=True)
class SubscriptNumber:
    """A subscript as hardware: a sum of terms and a number.

    It is `residue` plus a multiple of `step` (0: exactly `residue`), between `low` and `high`.
    """

    terms: tuple[SubscriptTerm, ...]
    offset: int

    @property
    def text(self) -> str:
        """The signed expression, which stands in any other one."""
        plain = self.sum_text
        is_single = len(self.terms) == 1 and self.terms[0].factor == 1 and not self.offset
        return plain if is_single or plain.isdigit() else f"({plain})"

    @property
    def sum_text(self) -> str:
        """The signed expression alone."""
        found = ""
        for number, term in ((abs(t.factor), t) for t in self.terms):
            part = term.text if number == 1 else f"{term.text} * {number}"
            sign = "-" if term.factor < 0 else "+"
            found = (part if sign == "+" else f"0 - {part}") if not found else f"{found} {sign} {part}"
        if not self.terms:
            return str(self.offset)
        return f"{found} {'-' if self.offset < 0 else '+'} {abs(self.offset)}" if self.offset else found

    @property
    def bits(self) -> int:
        """In how many bits all of its sums are exact, with a sign."""
        ends = [*(term.ends for term in self.terms), (self.offset, self.offset)]
        below, above = sum(min(low, 0) for low, _ in ends), sum(max(high, 0) for _, high in ends)
        return max((-below - 1).bit_length() if below else 0, above.bit_length()) + 1

    @property
    def exact(self) -> SubscriptNumber:
        """The same, in as many bits as it takes where an index has fewer: to be compared, or divided."""
        if self.bits <= INDEX_BITS or not self.terms:
            return self
        first = replace(self.terms[0], text=f"{self.bits}'({self.terms[0].text})")
        return SubscriptNumber((first, *self.terms[1:]), self.offset)

    @property
    def step(self) -> int:
        return gcd(*(term.factor * term.step for term in self.terms))

    @property
    def residue(self) -> int:
        return self.offset + sum(term.factor * term.residue for term in self.terms)

    @property
    def low(self) -> int:
        return self.offset + sum(term.ends[0] for term in self.terms)

    @property
    def high(self) -> int:
        return self.offset + sum(term.ends[1] for term in self.terms)


def constant(number: int) -> SubscriptNumber:
    """A subscript that is a number."""
    return SubscriptNumber((), number)


def value(text: str, residue: int, step: int, low: int, high: int) -> SubscriptNumber:
    """A subscript that is an expression."""
    return SubscriptNumber((SubscriptTerm(1, text, residue, step, low, high),), 0)


def total(parts: Iterable[SubscriptNumber]) -> SubscriptNumber:
    """A sum."""
    factors: dict[str, int] = {}
    terms: dict[str, SubscriptTerm] = {}
    offset = 0
    for part in parts:
        offset += part.offset
        for term in part.terms:
            terms[term.text] = term
            factors[term.text] = factors.get(term.text, 0) + term.factor
    return SubscriptNumber(tuple(_times(terms[text], number) for text, number in factors.items() if number), offset)


def multiple(one: SubscriptNumber, factor: int) -> SubscriptNumber:
    """A subscript times a number."""
    if not factor:
        return constant(0)
    return SubscriptNumber(tuple(_times(t, t.factor * factor) for t in one.terms), one.offset * factor)


def product(left: SubscriptNumber, right: SubscriptNumber) -> SubscriptNumber:
    """A product, of which one side is a number."""
    if left.terms and right.terms:
        raise InternalError("a product of two variables is not affine")
    return multiple(left, right.offset) if left.terms else multiple(right, left.offset)


def quotient(one: SubscriptNumber, divisor: int, *, up: bool = False, in_bounds: bool = False) -> SubscriptNumber:
    """A quotient, rounded toward minus infinity, or (`up`) plus infinity; `in_bounds`: it is not negative when it
    counts."""
    if up:
        one = total((one, constant(divisor - 1)))
    whole, rest = _divided(one, divisor, in_bounds)
    rest = rest if in_bounds else rest.exact
    low, high = rest.low // divisor, rest.high // divisor
    if low == high:
        return total((whole, constant(low)))
    if rest.low >= 0 or in_bounds:
        text = f"({rest.text} / {divisor})"
    else:
        text = f"(({rest.text} - ((({rest.text} % {divisor}) + {divisor}) % {divisor})) / {divisor})"
    return total((whole, value(text, low, 1, low, high)))


def remainder(one: SubscriptNumber, divisor: int, *, in_bounds: bool = False) -> SubscriptNumber:
    """A rest that is not negative; `in_bounds`: what is divided is not negative when it counts."""
    _, rest = _divided(one, divisor, in_bounds)
    rest = rest if in_bounds else rest.exact
    low, high = rest.low // divisor, rest.high // divisor
    if low == high:
        return total((rest, constant(-divisor * low)))
    text = f"({rest.text} % {divisor})"
    if rest.low < 0 and not in_bounds:
        text = f"(({text} + {divisor}) % {divisor})"
    step = gcd(rest.step, divisor)
    return value(text, rest.residue % step, step, 0, divisor - 1)


def _divided(one: SubscriptNumber, divisor: int, in_bounds: bool) -> tuple[SubscriptNumber, SubscriptNumber]:
    """A quotient that is exact, and what is left to divide."""
    whole = tuple(_times(t, t.factor // divisor) for t in one.terms if t.factor % divisor == 0)
    rest = SubscriptNumber(tuple(t for t in one.terms if t.factor % divisor), one.offset % divisor)
    if in_bounds and rest.low < 0 and rest.low // divisor != rest.high // divisor:
        return constant(0), one  # only the sum of all is known not to be negative
    return SubscriptNumber(whole, one.offset // divisor), rest


def _times(term: SubscriptTerm, factor: int) -> SubscriptTerm:
    return SubscriptTerm(factor, term.text, term.residue, term.step, term.low, term.high)


def row_major(parts: Sequence[SubscriptNumber], lengths: Sequence[int]) -> SubscriptNumber:
    """A number of digits with these bases."""
    weight = 1
    found: list[SubscriptNumber] = []
    for part, length in zip(reversed(parts), reversed(lengths), strict=True):
        found.append(multiple(part, weight))
        weight *= length
    return total(reversed(found))
