"""Maps between subscripts: digits of a subscript, and the subscripts of an array that is seen in another shape."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Digit:
    """`subscript // divisor % modulus`, of one dimension; modulus 0: the whole quotient."""

    divisor: int = 1
    modulus: int = 0
    dimension: int = 0

    def of(self, subscript: int) -> int:
        """Its value."""
        quotient = subscript // self.divisor
        return quotient % self.modulus if self.modulus else quotient

    def fixed(self, subscript: int, strides: Iterable[int]) -> int | None:
        """Its value for `subscript` and all that are multiples of `strides` away; None if these are several."""
        moving = [stride for stride in strides if stride]
        if self.modulus == 1:
            return 0
        period = self.divisor * self.modulus
        return None if any(period == 0 or stride % period for stride in moving) else self.of(subscript)


@dataclass(frozen=True, slots=True)
class Subscript:
    """A sum of digits times strides, of which one digit is taken in the end."""

    digits: tuple[tuple[Digit, int], ...]
    last: Digit = Digit()

    def of(self, subscripts: Sequence[int]) -> int:
        """Its value."""
        return self.last.of(sum(digit.of(subscripts[digit.dimension]) * stride for digit, stride in self.digits))


@dataclass(frozen=True, slots=True)
class Reshaping:
    """An array of one shape seen in another one of as many elements, both in row-major order."""

    old: tuple[int, ...]
    new: tuple[int, ...]

    def __post_init__(self) -> None:
        if math.prod(self.old) != math.prod(self.new):
            raise ValueError(f"shapes {self.old} and {self.new} have different numbers of elements")

    @property
    def inverse(self) -> Reshaping:
        return Reshaping(self.new, self.old)

    @property
    def subscripts(self) -> tuple[Subscript, ...]:
        """The new subscripts of an element, in terms of its old ones.

        Dimensions are treated in the smallest groups of equal products; inside of a group each new subscript is put
        together from digits of the old ones where the extents divide each other, else from the linear position.
        """
        return tuple(subscript for group in self._groups() for subscript in group.subscripts())

    def _groups(self) -> Iterator[_Group]:
        old, new = self.old, self.new
        first, second = 0, 0
        while first < len(old) or second < len(new):
            left, right = min(first + 1, len(old)), min(second + 1, len(new))
            while (a := math.prod(old[first:left])) != (b := math.prod(new[second:right])):
                if a < b:
                    left += 1
                else:
                    right += 1
            yield _Group(old[first:left], new[second:right], first)
            first, second = left, right


@dataclass(frozen=True, slots=True)
class _Group:
    """Dimensions, the old ones from `first` on, that take part in a reshaping alone."""

    old: tuple[int, ...]
    new: tuple[int, ...]
    first: int

    def subscripts(self) -> list[Subscript]:
        made: list[Subscript] = []
        for extent, stride in zip(self.new, _strides(self.new), strict=True):
            digits: list[tuple[Digit, int]] = []
            for number, (size, step) in enumerate(zip(self.old, _strides(self.old), strict=True), self.first):
                low, high = max(step, stride), min(step * size, stride * extent)
                if low >= high:
                    continue
                if low % step or low % stride or high % low or (step * size) % high:
                    return self._of_positions()
                modulus = high // low if high < step * size else 0
                digits.append((Digit(low // step, modulus, number), low // stride))
            made.append(Subscript(tuple(digits)))
        return made

    def _of_positions(self) -> list[Subscript]:
        digits = tuple((Digit(dimension=n), stride) for n, stride in enumerate(_strides(self.old), self.first))
        made = []
        for number, (extent, stride) in enumerate(zip(self.new, _strides(self.new), strict=True)):
            made.append(Subscript(digits, Digit(stride, extent if number else 0)))
        return made


def _strides(shape: Sequence[int]) -> list[int]:
    return [math.prod(shape[dimension + 1 :]) for dimension in range(len(shape))]
