"""Integers of loop variables and constants: their text, their range, and how they grow from iteration to iteration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd, lcm

type Slot = tuple[int, int]  # a loop variable: the number of its process, and its place among the values of that
type Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Growth:
    """What a term gains whenever a loop variable grows by `period`: always `gain`, whatever the other variables are."""

    period: int
    gain: int

    def over(self, distance: int) -> int:
        """The gain over a multiple of the period."""
        return self.gain * (distance // self.period)


@dataclass(frozen=True, slots=True)
class Term:
    """An integer: Python text, the range it is surely in, and its growth with each variable; None if that varies.

    `tests` are comparisons on which it depends too: it grows as said while their outcomes are the same.
    """

    text: str
    range: Range | None
    growths: Mapping[Slot, Growth | None] = field(default_factory=dict)
    tests: tuple[Test, ...] = ()

    @property
    def constant(self) -> int | None:
        return self.range[0] if self.range is not None and self.range[0] == self.range[1] and not self.growths else None

    def fits(self, low: int, high: int) -> bool:
        """Whether it is surely from `low` to `high`."""
        return self.range is not None and low <= self.range[0] and self.range[1] <= high


@dataclass(frozen=True, slots=True)
class Test:
    """A comparison of a term with 0: `>= 0`, or `== 0`."""

    term: Term
    is_equality: bool

    @property
    def text(self) -> str:
        return f"{self.term.text} {'==' if self.is_equality else '>='} 0"

    @property
    def outcome(self) -> bool | None:
        """Whether it holds, where the range of the term decides."""
        if self.term.range is None:
            return None
        low, high = self.term.range
        if self.is_equality:
            return True if low == high == 0 else None if low <= 0 <= high else False
        return True if low >= 0 else False if high < 0 else None


@dataclass(frozen=True, slots=True)
class Truth:
    """A condition: Python text, and the comparisons that it is made of."""

    text: str
    tests: tuple[Test, ...]


def number(value: int) -> Term:
    """A constant."""
    return Term(f"({value})", (value, value))


def loop_variable(text: str, slot: Slot | None, values: Range | None) -> Term:
    """A variable of the process, or of what is around it, which is constant then."""
    return Term(text, values, {} if slot is None else {slot: Growth(1, 1)})


def _merged(
    one: Term, other: Term, join: Callable[[Growth, Growth], Growth | None]
) -> dict[Slot, Growth | None]:
    found: dict[Slot, Growth | None] = {}
    for slot in {**one.growths, **other.growths}:
        left = one.growths.get(slot, Growth(1, 0))
        right = other.growths.get(slot, Growth(1, 0))
        found[slot] = None if left is None or right is None else join(left, right)
    return found


def _tests(one: Term, other: Term) -> tuple[Test, ...]:
    return one.tests + other.tests


def added(one: Term, other: Term, sign: int = 1) -> Term:
    """The sum of two terms, or their difference."""

    def join(left: Growth, right: Growth) -> Growth:
        period = lcm(left.period, right.period)
        return Growth(period, left.over(period) + sign * right.over(period))

    values = None
    if one.range is not None and other.range is not None:
        ends = other.range if sign > 0 else (-other.range[1], -other.range[0])
        values = one.range[0] + ends[0], one.range[1] + ends[1]
    text = f"({one.text} {'+' if sign > 0 else '-'} {other.text})"
    return Term(text, values, _merged(one, other, join), _tests(one, other))


def multiplied(one: Term, other: Term) -> Term:
    """The product of two terms."""
    if other.constant is None:
        one, other = other, one
    factor = other.constant
    values = None
    if one.range is not None and other.range is not None:
        corners = [a * b for a in one.range for b in other.range]
        values = min(corners), max(corners)
    growths: dict[Slot, Growth | None]
    if factor is None:  # grows by what depends on the other factor
        growths = dict.fromkeys({**one.growths, **other.growths})
    else:
        growths = {s: None if g is None else Growth(g.period, g.gain * factor) for s, g in one.growths.items()}
    return Term(f"({one.text} * {other.text})", values, growths, _tests(one, other))


def _divided(one: Term, divisor: int, quotient: bool) -> dict[Slot, Growth | None]:
    found: dict[Slot, Growth | None] = {}
    for slot, growth in one.growths.items():
        if growth is None:
            found[slot] = None
            continue
        times = divisor // gcd(growth.gain, divisor)
        gain = times * growth.gain // divisor if quotient else 0
        found[slot] = Growth(growth.period * times, gain)
    return found


def modulo(one: Term, divisor: int) -> Term:
    """The remainder from 0 to `divisor - 1`."""
    if one.fits(0, divisor - 1):
        return one
    if one.constant is not None:
        return number(one.constant % divisor)
    return Term(f"({one.text} % {divisor})", (0, divisor - 1), _divided(one, divisor, False), one.tests)


def floored(one: Term, divisor: int, *, up: bool = False) -> Term:
    """The quotient, rounded down, or up."""
    text = f"(-(-{one.text} // {divisor}))" if up else f"({one.text} // {divisor})"
    values = None
    if one.range is not None:
        low, high = ((end + divisor - 1 if up else end) // divisor for end in one.range)
        values = low, high
    return Term(text, values, _divided(one, divisor, True), one.tests)


def chosen(condition: Truth, one: Term, other: Term) -> Term:
    """One of two terms."""
    if condition.text in ("True", "False"):
        return one if condition.text == "True" else other
    values = None
    if one.range is not None and other.range is not None:
        values = min(one.range[0], other.range[0]), max(one.range[1], other.range[1])

    def join(left: Growth, right: Growth) -> Growth | None:
        period = lcm(left.period, right.period)
        return Growth(period, left.over(period)) if left.over(period) == right.over(period) else None

    text = f"({one.text} if {condition.text} else {other.text})"
    return Term(text, values, _merged(one, other, join), _tests(one, other) + condition.tests)


def picked(values: Sequence[int], place: Term) -> Term:
    """The value at a place, which is surely one of theirs; how it grows is not known."""
    text = f"{tuple(values)}[{place.text}]"
    return Term(text, (min(values), max(values)), dict.fromkeys(place.growths), place.tests)


def extreme(terms: list[Term], choice: str) -> Term:
    """The least, or the greatest, of some terms; how it grows is known if there is but one."""
    if len(terms) == 1:
        return terms[0]
    ranges = [term.range for term in terms if term.range is not None]
    values = None
    if len(ranges) == len(terms):
        pick = min if choice == "min" else max
        values = pick(low for low, _ in ranges), pick(high for _, high in ranges)
    growths: dict[Slot, Growth | None] = {}
    for slot in {slot for term in terms for slot in term.growths}:
        own = [term.growths.get(slot, Growth(1, 0)) for term in terms]
        known = [growth for growth in own if growth is not None]
        period = lcm(*(growth.period for growth in known))
        same = len(known) == len(own) and all(growth.over(period) == 0 for growth in known)
        growths[slot] = Growth(period, 0) if same else None
    text = f"{choice}({', '.join(term.text for term in terms)})"
    return Term(text, values, growths, tuple(test for term in terms for test in term.tests))


def compared(predicate: str, one: Term, other: Term) -> Truth:
    """`one` compared with `other`, by a signed predicate of MLIR: eq, ne, slt, sle, sgt, sge."""
    if predicate in ("sgt", "sle"):
        one, other = other, one
    test = Test(added(one, other, -1), predicate in ("eq", "ne"))
    holds = test.outcome
    if holds is not None:
        return Truth(str(holds == (predicate in ("eq", "sge", "sle"))), ())
    text = f"({test.text})" if predicate in ("eq", "sge", "sle") else f"(not {test.text})"
    return Truth(text, (test, *test.term.tests))
