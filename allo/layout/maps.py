"""Maps from the subscripts of an array to those of another form of it: digits with strides, composed and inverted.

A digit of a subscript that counts a stride in another one is what the (shape, stride) layouts of CuTe call a mode.
Row-major positions, packed words and the banks of a partition are such maps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce


@dataclass(frozen=True, slots=True)
class Digit:
    """`subscript // divisor % extent`."""

    divisor: int
    extent: int

    def fixed(self, subscript: int, strides: Iterable[int]) -> int | None:
        """Its value for `subscript` and all that are multiples of `strides` away; None if these are several."""
        period = self.divisor * self.extent
        is_fixed = self.extent == 1 or all(stride % period == 0 for stride in strides)
        return subscript // self.divisor % self.extent if is_fixed else None

    def fixed_between(self, low: int, high: int) -> int | None:
        """Its value for all subscripts from `low` to `high`; None if these are several."""
        first, last = low // self.divisor, high // self.divisor
        return first % self.extent if first == last else None


@dataclass(frozen=True, slots=True)
class WeightedDigit:
    """A digit of the subscript `source`, which counts `stride` in the subscript `target` of another array."""

    target: int
    source: int
    digit: Digit
    stride: int

    @property
    def begin(self) -> int:
        return self.digit.divisor

    @property
    def end(self) -> int:
        """What the subscript is divided by to leave the remainder that the digit is of."""
        return self.digit.divisor * self.digit.extent

    @property
    def reach(self) -> int:
        """A bound of what the digit adds to its target."""
        return self.stride * self.digit.extent

    @property
    def inverse(self) -> WeightedDigit:
        return WeightedDigit(self.source, self.target, Digit(self.stride, self.digit.extent), self.digit.divisor)

    def moved(self, targets: int, sources: int) -> WeightedDigit:
        """The same digit where the arrays have dimensions more in front."""
        return replace(self, target=self.target + targets, source=self.source + sources)


@dataclass(frozen=True, slots=True)
class DigitMap:
    """Each subscript below `new` as a sum of weighted digits of those below `old`, the highest ones first.

    A stride is no less than what the digits below it reach, so that the digits of a sum are those of its terms.
    """

    old: tuple[int, ...]
    new: tuple[int, ...]
    modes: tuple[WeightedDigit, ...]

    @property
    def inverse(self) -> DigitMap:
        """The map back. Raises ValueError if there is none: where elements share a place, or a place has no element."""
        extents = math.prod(mode.digit.extent for mode in self.modes)
        if not extents == math.prod(self.old) == math.prod(self.new):
            raise ValueError(f"a map from {self.old} to {self.new} that is not one to one has no inverse")
        return DigitMap(self.new, self.old, _sorted(mode.inverse for mode in self.modes))

    def followed_by(self, other: DigitMap) -> DigitMap | None:
        """Both as one; None if a digit of the subscripts between them is no digit of the old ones."""
        pairs = ((mode, part) for mode in other.modes for part in self.modes if part.target == mode.source)
        made = []
        for mode, part in pairs:
            if (taken := self._part(mode, part)) is None:
                return None
            if taken.digit.extent > 1:
                made.append(taken)
        return DigitMap(self.old, other.new, _merged(made))

    def _part(self, mode: WeightedDigit, part: WeightedDigit) -> WeightedDigit | None:
        """What `mode` takes of a subscript to which `part` adds: a digit of the old subscript, of extent 1 if nothing.

        None if the remainder of a division depends on other parts too.
        """
        low, high = max(mode.begin, part.stride), min(mode.end, part.reach)
        if low >= high:
            carries = part.stride >= mode.end and part.stride % mode.end
            return None if carries else WeightedDigit(mode.target, part.source, Digit(1, 1), 1)
        divisor = low // part.stride
        extent = high // low if high < part.reach else -(-part.digit.extent // divisor)
        is_highest = part.end >= self.old[part.source]
        if low % mode.begin or low % part.stride or (high < part.reach and high % low):
            return None
        if not is_highest and part.digit.extent % (divisor * extent):
            return None
        digit = Digit(part.digit.divisor * divisor, extent)
        return WeightedDigit(mode.target, part.source, digit, mode.stride * (low // mode.begin))


def _sorted(modes: Iterable[WeightedDigit]) -> tuple[WeightedDigit, ...]:
    return tuple(sorted(modes, key=lambda mode: (mode.target, -mode.stride)))


def _merged(modes: Iterable[WeightedDigit]) -> tuple[WeightedDigit, ...]:
    """Neighbouring digits that stay neighbours are one."""
    made: list[WeightedDigit] = []
    for low in _sorted(modes):
        high = made[-1] if made else low
        if (high.target, high.source, high.stride, high.begin) == (low.target, low.source, low.reach, low.end):
            made[-1] = replace(low, digit=Digit(low.begin, low.digit.extent * high.digit.extent))
        else:
            made.append(low)
    return tuple(made)


@dataclass(frozen=True, slots=True)
class IndexMap:
    """The subscripts of an array over those of another one: stages, of which no two neighbours are one stage.

    One-to-one maps with one stage are equal if they are the same function.
    """

    stages: tuple[DigitMap, ...]

    @property
    def old(self) -> tuple[int, ...]:
        return self.stages[0].old

    @property
    def new(self) -> tuple[int, ...]:
        return self.stages[-1].new

    @property
    def inverse(self) -> IndexMap:
        """The old subscripts over the new ones. Raises ValueError if the map is not one to one."""
        return IndexMap(tuple(stage.inverse for stage in reversed(self.stages)))

    def compose(self, other: IndexMap) -> IndexMap:
        """This map, followed by `other`. Raises ValueError if that maps another shape than this one gives."""
        if self.new != other.old:
            raise ValueError(f"a map to the shape {self.new} cannot be followed by one from {other.old}")
        done: list[DigitMap] = []
        for stage in (*self.stages, *other.stages):
            while done and (both := done[-1].followed_by(stage)) is not None:
                stage = both
                done.pop()
            done.append(stage)
        return IndexMap(tuple(done))

    def to_isl(self) -> str:
        """The map on the elements of the old array, in the notation of isl."""
        subscripts = [f"i{d}" for d in range(len(self.old))]
        bounds = [f"0 <= {name} < {extent}" for name, extent in zip(subscripts, self.old, strict=True)]
        results = subscripts
        for stage in self.stages:
            sums: list[list[str]] = [[] for _ in stage.new]
            for mode in stage.modes:
                quotient = f"floor(({results[mode.source]})/{mode.begin})"
                sums[mode.target].append(f"{mode.stride}*({quotient} mod {mode.digit.extent})")
            results = [" + ".join(terms) or "0" for terms in sums]
        return f"{{ [{', '.join(subscripts)}] -> [{', '.join(results)}] : {' and '.join(bounds) or 'true'} }}"


def reshaping(old: Sequence[int], new: Sequence[int]) -> IndexMap:
    """An array seen in another shape of as many elements, both in row-major order.

    Dimensions are treated in the smallest groups of equal products. Raises ValueError if the numbers of
    elements differ.
    """
    if math.prod(old) != math.prod(new):
        raise ValueError(f"shapes {tuple(old)} and {tuple(new)} have different numbers of elements")
    groups = (position(left).compose(position(right).inverse) for left, right in _groups(old, new))
    return reduce(_beside, groups, IndexMap((_identity(()),)))


def _identity(shape: Sequence[int]) -> DigitMap:
    modes = tuple(WeightedDigit(d, d, Digit(1, extent), 1) for d, extent in enumerate(shape) if extent > 1)
    return DigitMap(tuple(shape), tuple(shape), modes)


def position(shape: Sequence[int]) -> IndexMap:
    """The row-major position of an element."""
    strides = (math.prod(shape[dimension + 1 :]) for dimension in range(len(shape)))
    modes = (WeightedDigit(0, d, Digit(1, shape[d]), stride) for d, stride in enumerate(strides) if shape[d] > 1)
    return IndexMap((DigitMap(tuple(shape), (math.prod(shape),), _merged(modes)),))


def _groups(old: Sequence[int], new: Sequence[int]) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    first, second = 0, 0
    while first < len(old) or second < len(new):
        left, right = min(first + 1, len(old)), min(second + 1, len(new))
        while (a := math.prod(old[first:left])) != (b := math.prod(new[second:right])):
            if a < b:
                left += 1
            else:
                right += 1
        yield old[first:left], new[second:right]
        first, second = left, right


def _beside(first: IndexMap, second: IndexMap) -> IndexMap:
    """Two maps of different dimensions: those of `first`, then those of `second`."""
    count = max(len(first.stages), len(second.stages))
    pairs = zip(_padded(first, count), _padded(second, count), strict=True)
    return IndexMap(
        tuple(
            DigitMap(
                a.old + b.old, a.new + b.new, (*a.modes, *(mode.moved(len(a.new), len(a.old)) for mode in b.modes))
            )
            for a, b in pairs
        )
    )


def _padded(given: IndexMap, count: int) -> tuple[DigitMap, ...]:
    return given.stages + (_identity(given.new),) * (count - len(given.stages))
