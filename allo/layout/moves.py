"""Moves of arrays into arrays of another order: digits with a stride on both sides, composed, inverted and normalised.

Packing, transposition and copying are moves (`transform_layout`, Dato paper, section 5.2): a pair that cancels is the
identity, and what a DMA descriptor does is the walk over one side of a move.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from .walks import Walk


@dataclass(frozen=True, slots=True)
class MovedDigit:
    """A loop of a move: `extent` iterations, `source` and `target` elements apart."""

    extent: int
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class ArrayMove:
    """Element `sum(i * source)` of one array goes to element `sum(i * target)` of another, for all places of loops."""

    digits: tuple[MovedDigit, ...]

    @classmethod
    def of(cls, extents: Sequence[int], source: Sequence[int], target: Sequence[int]) -> ArrayMove:
        """The move of loops over `extents` with these strides."""
        made = (MovedDigit(*digit) for digit in zip(extents, source, target, strict=True))
        return cls(tuple(digit for digit in made if digit.extent > 1))

    def __len__(self) -> int:
        return prod(digit.extent for digit in self.digits)

    @property
    def inverse(self) -> ArrayMove:
        """The move back."""
        return ArrayMove(tuple(MovedDigit(d.extent, d.target, d.source) for d in self.digits))

    @property
    def is_whole(self) -> bool:
        """Whether both sides are all elements of an array, each once."""
        return all(_is_dense([(d.extent, s) for d, s in pairs]) for pairs in (
            [(d, d.source) for d in self.digits], [(d, d.target) for d in self.digits],
        ))  # fmt: skip

    @property
    def normal(self) -> ArrayMove:
        """The same move with the fewest digits, in the order of the target: equal moves have equal normal forms."""
        made: list[MovedDigit] = []
        for digit in sorted(self.digits, key=lambda d: (-d.target, -d.source)):
            last = made[-1] if made else None
            if last and (last.source, last.target) == (digit.source * digit.extent, digit.target * digit.extent):
                made[-1] = MovedDigit(last.extent * digit.extent, digit.source, digit.target)
            else:
                made.append(digit)
        return ArrayMove(tuple(made))

    @property
    def is_identity(self) -> bool:
        """Whether each element stays at its place."""
        return all(digit.source == digit.target for digit in self.digits)

    def then(self, other: ArrayMove) -> ArrayMove | None:
        """Both moves as one; None if their digits of the array between them are not digits of one another.

        This move writes, and the other one reads, all elements of that array; digits are in the order of that.
        """
        cuts = {d.target for d in self.digits} | {d.source for d in other.digits}
        first = _refined(((d.extent, d.target, d.source) for d in self.digits), cuts)
        second = _refined(((d.extent, d.source, d.target) for d in other.digits), cuts)
        if first is None or second is None or {k: e for k, (e, _) in first.items()} != {
            k: e for k, (e, _) in second.items()
        }:
            return None
        return ArrayMove(tuple(
            MovedDigit(extent, source, second[weight][1]) for weight, (extent, source) in sorted(first.items())
        ))  # fmt: skip

    def in_order(self, order: Iterable[int]) -> tuple[Walk, Walk]:
        """The walks over the source and the target with the digits in an order, outermost first."""
        digits = [self.digits[k] for k in order]
        extents = tuple(digit.extent for digit in digits)
        return (
            Walk(0, extents, tuple(digit.source for digit in digits)).normal,
            Walk(0, extents, tuple(digit.target for digit in digits)).normal,
        )


def _is_dense(loops: Sequence[tuple[int, int]]) -> bool:
    """Whether loops come to the addresses from 0 on, each once."""
    reach = 1
    for extent, stride in sorted(loops, key=lambda loop: loop[1]):
        if stride != reach:
            return False
        reach *= extent
    return True


def _refined(digits: Iterable[tuple[int, int, int]], cuts: set[int]) -> dict[int, tuple[int, int]] | None:
    """Digits (extent, weight, stride elsewhere), by weight, cut at all weights within them; None if that cannot be."""
    found: dict[int, tuple[int, int]] = {}
    for extent, weight, other in digits:
        bounds = sorted({weight, *(cut for cut in cuts if weight < cut < weight * extent), weight * extent})
        for low, high in pairwise(bounds):
            if high % low or low % weight:
                return None
            found[low] = (high // low, other * (low // weight))
    return found
