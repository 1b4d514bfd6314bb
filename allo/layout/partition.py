"""Partitions of arrays into banks, and their lattice (Allo paper, section 6.4, Figs. 10 and 11).

A layout below another one, X <: Y, does for everybody who wants Y: elements that Y puts into different banks are in
different banks of X too. At the top everything is in one bank, at the bottom each element is a bank of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from .maps import Digit, DigitMap, IndexMap, WeightedDigit, position


class Division(Enum):
    """How the elements of one dimension are dealt to banks."""

    NONE = "none"  # all in one bank
    CYCLIC = "cyclic"  # element i in bank i mod factor
    BLOCK = "block"  # runs of ceil(extent / factor) elements
    COMPLETE = "complete"  # each in a bank of its own


@dataclass(frozen=True, slots=True)
class Banks:
    """The division of one dimension; `factor` is the number of banks of a cyclic or block division, else 0."""

    kind: Division
    factor: int = 0

    def canonical(self, extent: int) -> Banks:
        """The division that deals `extent` elements in the same way and has one spelling for it.

        As many banks as elements are a complete division, one bank is none, and a block division has as many banks
        as it fills: seven banks of 10 elements are runs of two, in five banks.
        """
        match self.kind:
            case Division.CYCLIC:
                return COMPLETE if self.factor >= extent else NONE if self.factor <= 1 else self
            case Division.BLOCK:
                return _runs(self.run(extent), extent)
            case _:
                return self

    @classmethod
    def read(cls, divisions: Iterable[tuple[str, int]]) -> tuple[Banks, ...]:
        """The divisions that a type says, as kinds and factors."""
        return tuple(cls(Division(kind), factor) for kind, factor in divisions)

    @property
    def entry(self) -> tuple[str, int]:
        """What a type says of it."""
        return self.kind.value, self.factor

    def bank(self, extent: int, element: int, strides: Iterable[int] = ()) -> int | None:
        """The bank of `element`, and of all that lie multiples of `strides` from it; None if these are in several."""
        return self.digit(extent).fixed(element, strides)

    def bank_between(self, extent: int, low: int, high: int) -> int | None:
        """The bank of all elements from `low` to `high`; None if these are in several."""
        return self.digit(extent).fixed_between(low, high)

    def digit(self, extent: int) -> Digit:
        """The digit of a subscript that is the bank."""
        match self.canonical(extent):
            case Banks(Division.CYCLIC, factor):
                return Digit(1, factor)
            case Banks(Division.BLOCK, factor):
                return Digit(self.run(extent), factor)
            case Banks(kind):
                return Digit(1, extent if kind is Division.COMPLETE else 1)

    def run(self, extent: int) -> int:
        """How many consecutive elements a bank of a block division holds."""
        return -(-extent // self.factor)

    def neighbours(self, extent: int) -> int:
        """How many elements in a row are in different banks, wherever the row starts at a multiple of their number.

        It is a power of two that divides the extent.
        """
        apart = extent if self.kind is Division.COMPLETE else self.factor if self.kind is Division.CYCLIC else 1
        most = math.gcd(extent, apart)
        return most & -most

    def count(self, extent: int) -> int:
        """How many banks hold `extent` elements."""
        match self.canonical(extent):
            case Banks(Division.NONE):
                return 1
            case Banks(Division.COMPLETE):
                return extent
            case Banks(factor=factor):
                return factor

    def __str__(self) -> str:
        return f"{self.kind.value} {self.factor}" if self.factor else self.kind.value


NONE = Banks(Division.NONE)
COMPLETE = Banks(Division.COMPLETE)


def cyclic(factor: int) -> Banks:
    """Element i in bank i mod `factor`."""
    return Banks(Division.CYCLIC, factor)


def block(factor: int) -> Banks:
    """Consecutive elements, in `factor` banks."""
    return Banks(Division.BLOCK, factor)


def _runs(run: int, extent: int) -> Banks:
    """The block division into runs of `run` elements."""
    return COMPLETE if run <= 1 else NONE if run >= extent else block(-(-extent // run))


def _division(modes: Sequence[WeightedDigit], extent: int) -> Banks | None:
    """The division by digits of a subscript; None if there is none."""
    if not modes:
        return NONE
    begin, *others = sorted(mode.begin for mode in modes)
    *ends, end = sorted(mode.end for mode in modes)
    if others != ends:  # a digit between them is missing
        return None
    made = _runs(begin, extent) if end >= extent else cyclic(end)
    return made if made.digit(extent).divisor == begin else None


def below(left: Banks, right: Banks, extent: int) -> bool:
    """Whether `left` <: `right`, for `extent` elements: C_a <: C_b iff b divides a, B_a <: B_b iff runs divide."""
    left, right = left.canonical(extent), right.canonical(extent)
    if left.kind is Division.COMPLETE or right.kind is Division.NONE:
        return True
    if left.kind is not right.kind:
        return False
    if left.kind is Division.CYCLIC:
        return left.factor % right.factor == 0
    return left.kind is Division.BLOCK and right.run(extent) % left.run(extent) == 0


def meet(left: Banks, right: Banks, extent: int) -> Banks:
    """The greatest division below both: what serves both with the fewest banks."""
    left, right = left.canonical(extent), right.canonical(extent)
    if below(left, right, extent):
        return left
    if below(right, left, extent):
        return right
    if left.kind is not right.kind:
        return COMPLETE
    if left.kind is Division.CYCLIC:
        return cyclic(math.lcm(left.factor, right.factor)).canonical(extent)
    return _runs(math.gcd(left.run(extent), right.run(extent)), extent)


def join(left: Banks, right: Banks, extent: int) -> Banks:
    """The least division above both: what each of them serves."""
    left, right = left.canonical(extent), right.canonical(extent)
    if below(left, right, extent):
        return right
    if below(right, left, extent):
        return left
    if left.kind is not right.kind:
        return NONE
    if left.kind is Division.CYCLIC:
        return cyclic(math.gcd(left.factor, right.factor)).canonical(extent)
    run = math.lcm(left.run(extent), right.run(extent))
    made = _runs(run, extent)
    return made if made == NONE or made.run(extent) == run else NONE


@dataclass(frozen=True, slots=True)
class PartitionLayout:
    """The partition of an array of `shape`, a division for each dimension; `of` gives equal layouts one spelling."""

    shape: tuple[int, ...]
    dims: tuple[Banks, ...]

    @classmethod
    def of(cls, shape: tuple[int, ...], dims: tuple[Banks, ...]) -> PartitionLayout:
        """The layout with canonical divisions. Raises ValueError if their number is not that of the dimensions."""
        if len(shape) != len(dims):
            raise ValueError(f"{len(dims)} divisions for {len(shape)} dimensions")
        return cls(shape, tuple(d.canonical(extent) for d, extent in zip(dims, shape, strict=True)))

    @classmethod
    def top(cls, shape: tuple[int, ...]) -> PartitionLayout:
        """All elements in one bank."""
        return cls(shape, (NONE,) * len(shape))

    @classmethod
    def bottom(cls, shape: tuple[int, ...]) -> PartitionLayout:
        """Each element in a bank of its own."""
        return cls(shape, (COMPLETE,) * len(shape))

    @property
    def banks(self) -> int:
        """How many banks the array lies in."""
        return math.prod(d.count(extent) for d, extent in zip(self.dims, self.shape, strict=True))

    def seen(self, change: IndexMap) -> PartitionLayout | None:
        """The layout with the same elements in one bank after `change`, a one-to-one map; None if none has."""
        digits = [d.digit(extent) for d, extent in zip(self.dims, self.shape, strict=True)]
        counts = tuple(digit.extent for digit in digits)
        modes = tuple(WeightedDigit(d, d, digit, 1) for d, digit in enumerate(digits) if digit.extent > 1)
        banks = IndexMap((DigitMap(self.shape, counts, modes),)).compose(position(counts))
        stage, *others = change.inverse.compose(banks).stages
        dims = [_division([m for m in stage.modes if m.source == d], n) for d, n in enumerate(change.new)]
        made = tuple(d for d in dims if d is not None)
        return None if others or len(made) < len(dims) else PartitionLayout.of(change.new, made)

    def __le__(self, other: PartitionLayout) -> bool:
        """X <: Y, dimension by dimension (the rule S-Array)."""
        self._demand_same_shape(other)
        return all(map(below, self.dims, other.dims, self.shape))

    def meet(self, other: PartitionLayout) -> PartitionLayout:
        """The greatest layout below both."""
        return self._combined(other, meet)

    def join(self, other: PartitionLayout) -> PartitionLayout:
        """The least layout above both."""
        return self._combined(other, join)

    def _combined(self, other: PartitionLayout, rule: Callable[[Banks, Banks, int], Banks]) -> PartitionLayout:
        self._demand_same_shape(other)
        return PartitionLayout(self.shape, tuple(map(rule, self.dims, other.dims, self.shape)))

    def _demand_same_shape(self, other: PartitionLayout) -> None:
        if self.shape != other.shape:
            raise ValueError(f"layouts of shapes {self.shape} and {other.shape} cannot be compared")

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.dims))}]"
