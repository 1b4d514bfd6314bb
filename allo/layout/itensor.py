"""Iterative tensors: in which order the elements of an array pass through a stream, as a type that prints and parses.

A token is a block of the array; loops with trip counts and steps visit the blocks, and a map says which block an
iteration means. Source: StreamTensor, sections 3.1.2 and 4.1, and Fig. 5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod

import islpy as isl


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """So many iterations, and how far the next one is from each in the dimensions of the array."""

    trip: int
    stride: tuple[int, ...]

    def split(self, outer: int) -> tuple[CountedLoop, CountedLoop]:
        """Two loops that do the same, of which the outer one has `outer` iterations, a divisor."""
        inner = self.trip // outer
        return CountedLoop(outer, tuple(inner * s for s in self.stride)), CountedLoop(inner, self.stride)


def visits_once(loops: Sequence[CountedLoop], rank: int) -> bool:
    """Whether no place is visited twice: by the strides where each loop goes along one dimension, else asked of isl."""
    for d in range(rank):
        reach = 1
        for loop in sorted((loop for loop in loops if loop.stride[d]), key=lambda loop: abs(loop.stride[d])):
            if abs(loop.stride[d]) < reach or sum(map(bool, loop.stride)) > 1:
                return bool(_map(loops, (0,) * rank).is_injective())
            reach += abs(loop.stride[d]) * (loop.trip - 1)
    return all(any(loop.stride) for loop in loops)


def _along(loop: CountedLoop, d: int) -> CountedLoop:
    return CountedLoop(loop.trip, (loop.stride[d],))


def first_missing(
    given: Sequence[CountedLoop], begin: Sequence[int], wanted: Sequence[CountedLoop], low: Sequence[int]
) -> tuple[int, ...] | None:
    """The first place that the loops `wanted` from `low` on visit and those of `given` from `begin` on do not.

    Boxes are compared by their ends; isl decides where what is given is none.
    """
    box = _box(given, begin)
    if box is not None:
        ends = [_ends(wanted, d, start) for d, start in enumerate(low)]
        if all(low <= first and last <= high for (low, high), (first, last) in zip(box, ends, strict=True)):
            return None
    missing = _map(wanted, low).range().subtract(_map(given, begin).range())
    if missing.is_empty():
        return None
    point = missing.lexmin().sample_point()
    return tuple(point.get_coordinate_val(isl.dim_type.set, d).to_python() for d in range(len(low)))


def _ends(loops: Sequence[CountedLoop], d: int, start: int) -> tuple[int, int]:
    """The least and the greatest subscript in a dimension."""
    moves = [loop.stride[d] * (loop.trip - 1) for loop in loops]
    return start + sum(min(0, move) for move in moves), start + sum(max(0, move) for move in moves)


def _box(loops: Sequence[CountedLoop], begin: Sequence[int]) -> list[tuple[int, int]] | None:
    """The ends of the box that loops visit without gaps; None if that is not plain from their strides."""
    for d in range(len(begin)):
        reach = 1
        for loop in sorted((loop for loop in loops if loop.stride[d]), key=lambda loop: abs(loop.stride[d])):
            if abs(loop.stride[d]) > reach or sum(map(bool, loop.stride)) > 1:
                return None
            reach += abs(loop.stride[d]) * (loop.trip - 1)
    return [_ends(loops, d, start) for d, start in enumerate(begin)]


def _map(loops: Sequence[CountedLoop], begin: Sequence[int]) -> isl.Map:
    """The place over the numbers of iterations."""
    names = [f"i{k}" for k in range(len(loops))]
    bounds = " and ".join(f"0 <= {name} < {loop.trip}" for name, loop in zip(names, loops, strict=True))
    places = ", ".join(_sum(low, [loop.stride[d] for loop in loops], names) for d, low in enumerate(begin))
    text = f"{{ [{', '.join(names)}] -> [{places}] : {bounds or 'true'} }}"
    return isl.Map.read_from_str(isl.DEFAULT_CONTEXT, text)


@dataclass(frozen=True)
class ITensor:
    """Tokens of shape `element`, in the order of loops with `trips` and `steps`, outermost first.

    `map` has a row for each dimension of the array: what the variable of each loop counts in the subscript at which
    a token begins; `offset` is that subscript in the first iteration. Raises ValueError if that is no such order.
    """

    element: tuple[int, ...]
    trips: tuple[int, ...]
    steps: tuple[int, ...]
    map: tuple[tuple[int, ...], ...]
    offset: tuple[int, ...] = ()
    kind: str = "f32"

    def __post_init__(self) -> None:
        if not self.offset:
            object.__setattr__(self, "offset", (0,) * len(self.element))
        if len(self.trips) != len(self.steps):
            raise ValueError(f"an itensor has a step for each trip count, got {self.trips} and {self.steps}")
        if not len(self.element) == len(self.map) == len(self.offset):
            raise ValueError(f"an element of {len(self.element)} dimensions needs a map to as many, got {self.map}")
        if any(len(row) != len(self.trips) for row in self.map):
            raise ValueError(f"each result of the map is over the {len(self.trips)} loops, got {self.map}")
        if any(n < 1 for n in (*self.element, *self.trips, *self.steps)):
            raise ValueError("extents, trip counts and steps of an itensor are at least 1")
        if any(low < 0 for low in self.lowest):
            raise ValueError(f"an itensor begins at subscript {self.lowest}, in front of the array")

    @classmethod
    def of(
        cls,
        element: Sequence[int],
        trips: Sequence[int],
        steps: Sequence[int],
        offsets: Sequence[int],
        kind: str = "f32",
    ) -> ITensor:
        """The order in which loops visit slices, of which that in dimension d begins at the variable of a loop.

        `offsets` are the numbers of these loops, one a dimension, counted from the outermost one.

        Source: StreamTensor, section 4.1: loops give the iteration space, sizes of slices the element, offsets the map.
        """
        rows = tuple(tuple(int(k == loop) for k in range(len(trips))) for loop in offsets)
        return cls(tuple(element), tuple(trips), tuple(steps), rows, (), kind)

    @property
    def tokens(self) -> int:
        """How many tokens pass."""
        return prod(self.trips)

    @property
    def count(self) -> int:
        """How many elements of the array pass."""
        return self.tokens * prod(self.element)

    @cached_property
    def loops(self) -> tuple[CountedLoop, ...]:
        """The loops with what they count in the subscripts."""
        strides = [tuple(row[k] * step for row in self.map) for k, step in enumerate(self.steps)]
        return tuple(CountedLoop(trip, stride) for trip, stride in zip(self.trips, strides, strict=True))

    @property
    def lowest(self) -> tuple[int, ...]:
        """The least subscript that is reached in each dimension."""
        return tuple(_ends(self.loops, d, low)[0] for d, low in enumerate(self.offset))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the least array that has all elements."""
        ends = [_ends(self.loops, d, low)[1] for d, low in enumerate(self.offset)]
        return tuple(last + size for last, size in zip(ends, self.element, strict=True))

    def places(self) -> Iterator[tuple[int, ...]]:
        """Where each token begins, in the order in which they pass."""
        for numbers in product(*map(range, self.trips)):
            moves = [[n * s for s in loop.stride] for n, loop in zip(numbers, self.loops, strict=True)]
            yield tuple(map(sum, zip(self.offset, *moves, strict=True)))

    @property
    def sliding(self) -> tuple[int, ...]:
        """The dimensions along which loops visit places again: windows overlap there."""
        loops = [[loop for loop in self.scalars.normal if loop.stride[d]] for d in range(self.rank)]
        return tuple(d for d, own in enumerate(loops) if not visits_once([_along(loop, d) for loop in own], 1))

    @property
    def rank(self) -> int:
        return len(self.element)

    @property
    def scalars(self) -> ITensor:
        """The same order with tokens of one element: those of a block pass in row-major order."""
        inner = [d for d, size in enumerate(self.element) if size > 1]
        rows = tuple((*row, *(int(d == n) for n in inner)) for d, row in enumerate(self.map))
        return replace(
            self,
            element=(1,) * self.rank,
            trips=(*self.trips, *(self.element[d] for d in inner)),
            steps=(*self.steps, *(1 for _ in inner)),
            map=rows,
        )

    def within(self, low: Sequence[int], end: Sequence[int]) -> ITensor:
        """The order of elements without those outside of the box from `low` to `end`, as far as fewer iterations do it.

        That is where loops go forward along one dimension, in blocks that do not overlap.
        """
        made = self.scalars
        trips, offset = list(made.trips), list(made.offset)
        for d in range(made.rank):
            own = [k for k, loop in enumerate(made.loops) if loop.stride[d]]
            own.sort(key=lambda k: -made.loops[k].stride[d])
            if any(made.loops[k].stride[d] < 0 or sum(map(bool, made.loops[k].stride)) > 1 for k in own):
                continue
            for at, k in enumerate(own):
                step = made.loops[k].stride[d]
                inner = sum(made.loops[j].stride[d] * (made.trips[j] - 1) for j in own[at + 1 :])
                first = max(0, low[d] - offset[d]) // step
                last = min(step * (trips[k] - 1) + inner, end[d] - 1 - offset[d]) // step
                last = min(last, trips[k] - 1)
                if inner >= step or first > last:
                    break
                trips[k], offset[d] = last - first + 1, offset[d] + first * step
                if first < last:
                    break
        return replace(made, trips=tuple(trips), offset=tuple(offset))

    @cached_property
    def normal(self) -> tuple[CountedLoop, ...]:
        """The loops over tokens with the fewest iterations: none has one only, and what goes on evenly is one loop.

        Two orders with tokens of one shape are the same if and only if they begin at one place and these are equal: the
        first step that differs from those before tells how long the innermost loop is, and so on outwards.
        """
        made: list[CountedLoop] = []
        for loop in self.loops:
            if made and made[-1].stride == tuple(loop.trip * s for s in loop.stride):
                made[-1] = CountedLoop(made[-1].trip * loop.trip, loop.stride)
            elif loop.trip > 1:
                made.append(loop)
        return tuple(made)

    def is_same_stream(self, other: ITensor) -> bool:
        """Whether tokens have one shape and type, and the n-th one is the same block on both sides."""
        mine, its = ((o.element, o.kind, o.offset, o.normal) for o in (self, other))
        return mine == its

    def is_same_order(self, other: ITensor) -> bool:
        """Whether the elements pass in one order, whatever the tokens are: a FIFO of elements needs no converter."""
        return self.scalars.is_same_stream(other.scalars)

    def obstacle(self, result: ITensor) -> str | None:
        """Why no converter can make the stream `result` of this one; None if one can."""
        if self.kind != result.kind:
            return f"the elements are {self.kind}, not {result.kind}"
        if self.rank != result.rank:
            return f"the array has {self.rank} dimensions, not {result.rank}"
        if not visits_once(self.scalars.normal, self.rank):
            return "it gives an element more than once"
        place = first_missing(self.scalars.normal, self.offset, result.scalars.normal, result.offset)
        return None if place is None else f"it does not give the element [{', '.join(map(str, place))}]"

    @property
    def places_by_number(self) -> isl.Map:
        """{ [n] -> place of the element that passes as the n-th one, from 0 }"""
        scalars = self.scalars
        loops = scalars.normal
        weights = [prod(inner.trip for inner in loops[k + 1 :]) for k in range(len(loops))]
        count = _map([CountedLoop(loop.trip, (w,)) for loop, w in zip(loops, weights, strict=True)], (0,))
        return count.reverse().apply_range(_map(loops, scalars.offset))

    def to_isl(self) -> str:
        """The place of a token over the numbers of iterations of all loops, in the notation of isl."""
        return str(_map(self.loops, self.offset))

    def __str__(self) -> str:
        names = [f"d{k}" for k in range(len(self.trips))]
        element = "".join(f"{size}x" for size in self.element)
        results = ", ".join(_sum(low, row, names) for low, row in zip(self.offset, self.map, strict=True))
        space = f"{list(self.trips)} * {list(self.steps)}"
        return f"!allo.itensor<{element}{self.kind}, {space}, ({', '.join(names)}) -> ({results})>"

    @classmethod
    def parse(cls, text: str) -> ITensor:
        """What prints as `text`, as the type of MLIR does. Raises ValueError with the part that is not understood."""
        found = _TYPE.fullmatch(text.strip())
        if found is None:
            raise ValueError(f"not an itensor: {text!r}; one is {_EXAMPLE}")
        element, kind, trips, steps, names, results = found.groups()
        variables = _listed(names)
        if variables != [f"d{k}" for k in range(len(variables))]:
            raise ValueError(f"the loops of an itensor are d0, d1, ..., got ({names})")
        forms = [_form(result, len(variables)) for result in _listed(results)]
        return cls(
            tuple(int(size) for size in element.split("x") if size),
            tuple(int(n) for n in _listed(trips)),
            tuple(int(n) for n in _listed(steps)),
            tuple(row for _, row in forms),
            tuple(low for low, _ in forms),
            kind,
        )


_EXAMPLE = "!allo.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>"
_NUMBERS = r"\[([\d,\s]*)\]"
_FORMS = r"\(([^()]*)\)"
_TYPE = re.compile(rf"!allo\.itensor<((?:\d+x)*)(.+?),\s*{_NUMBERS}\s*\*\s*{_NUMBERS},\s*{_FORMS}\s*->\s*{_FORMS}>")
_TERM = re.compile(r"([+-]?)(?:d(\d+)(?:\*(-?\d+))?|(\d+))")


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _form(text: str, loops: int) -> tuple[int, tuple[int, ...]]:
    """The constant and the coefficients of a sum such as `d0 * 2 - d1 + 3`."""
    compact, end = text.replace(" ", ""), 0
    constant, row = 0, [0] * loops
    for term in _TERM.finditer(compact):
        sign, loop, factor, number = term.groups()
        is_known = loop is None or int(loop) < loops
        if term.start() != end or (end and not sign) or not is_known:
            break
        end, unit = term.end(), -1 if sign == "-" else 1
        if loop is None:
            constant += unit * int(number)
        else:
            row[int(loop)] += unit * int(factor or 1)
    if end != len(compact) or not compact:
        raise ValueError(f"{text!r} is no sum of {', '.join(f'd{k}' for k in range(loops))} and numbers")
    return constant, tuple(row)


def _sum(constant: int, factors: Sequence[int], names: Sequence[str]) -> str:
    """A linear form as MLIR prints it, and isl reads it: `i0 * 2 - i1 + 3`."""
    made = ""
    for factor, name in zip(factors, names, strict=True):
        if factor:
            is_minus = factor < 0 and (made or factor == -1)
            size = -factor if is_minus else factor
            term = name if size == 1 else f"{name} * {size}"
            made += f" {'-' if is_minus else '+'} {term}" if made else f"-{term}" if is_minus else term
    if constant or not made:
        made += f" {'-' if constant < 0 else '+'} {abs(constant)}" if made else str(constant)
    return made
