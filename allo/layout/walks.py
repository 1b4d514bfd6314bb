"""Walks over memory: the addresses that a DMA descriptor visits, as an offset, extents and strides, outermost first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod


@dataclass(frozen=True, slots=True)
class Walk:
    """The addresses `offset + sum(i * stride)`, in the order of loops over `extents`; (offset, sizes, strides) in Dato.

    Walks that visit the same addresses in the same order have the same `normal` form.
    """

    offset: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.extents) != len(self.strides) or any(extent < 1 for extent in self.extents):
            raise ValueError(f"a walk has a stride for each extent, and extents of at least 1: {self}")

    def __len__(self) -> int:
        return prod(self.extents)

    def addresses(self) -> Iterator[int]:
        """All addresses, one after the other."""
        for place in product(*map(range, self.extents)):
            yield self.offset + sum(i * stride for i, stride in zip(place, self.strides, strict=True))

    @property
    def normal(self) -> Walk:
        """The same walk with the fewest loops: none has one iteration, and what goes on evenly is one."""
        made: list[tuple[int, int]] = []
        for extent, stride in zip(self.extents, self.strides, strict=True):
            if extent == 1:
                continue
            if made and made[-1][1] == extent * stride:
                made[-1] = (made[-1][0] * extent, stride)
            else:
                made.append((extent, stride))
        return Walk(self.offset, tuple(extent for extent, _ in made), tuple(stride for _, stride in made))

    def is_contiguous(self) -> bool:
        """Whether each address follows the one before it."""
        return self.normal.strides in ((), (1,))

    def split(self, dimension: int, inner: int) -> Walk:
        """The same walk with one loop in two, of which the inner one has `inner` iterations, a divisor."""
        extent, stride = self.extents[dimension], self.strides[dimension]
        if extent % inner:
            raise ValueError(f"{inner} does not divide the extent {extent}")
        extents = (*self.extents[:dimension], extent // inner, inner, *self.extents[dimension + 1 :])
        return Walk(
            self.offset, extents, (*self.strides[:dimension], stride * inner, stride, *self.strides[dimension + 1 :])
        )

    def to_isl(self) -> str:
        """The map from places in the walk's loops to addresses, in the notation of isl."""
        names = [f"i{k}" for k in range(len(self.extents))]
        bounds = " and ".join(f"0 <= {name} < {extent}" for name, extent in zip(names, self.extents, strict=True))
        terms = [str(self.offset), *(f"{stride}*{name}" for name, stride in zip(names, self.strides, strict=True))]
        return f"{{ [{', '.join(names)}] -> [{' + '.join(terms)}] : {bounds or 'true'} }}"


def in_step(*walks: Walk) -> tuple[Walk, ...]:
    """Walks over the same extents with the fewest loops that are the same for all of them."""
    extents: list[int] = []
    strides: list[tuple[int, ...]] = []
    for extent, *own in zip(walks[0].extents, *(walk.strides for walk in walks), strict=True):
        if extent == 1:
            continue
        if strides and strides[-1] == tuple(extent * stride for stride in own):
            extents[-1], strides[-1] = extents[-1] * extent, tuple(own)
        else:
            extents.append(extent)
            strides.append(tuple(own))
    rows = list(zip(*strides, strict=True)) or [()] * len(walks)
    return tuple(Walk(walk.offset, tuple(extents), row) for walk, row in zip(walks, rows, strict=True))


def part_of(
    shape: Sequence[int], low: Sequence[int], extents: Sequence[int], steps: Sequence[int] = ()
) -> Walk:
    """The walk over a part of a row-major array, from its element `low` on, by `steps` (1 if there are none)."""
    strides = [prod(shape[k + 1 :]) for k in range(len(shape))]
    offset = sum(a * s for a, s in zip(low, strides, strict=True))
    walked = [a * s for a, s in zip(steps, strides, strict=True)] if steps else strides
    return Walk(offset, tuple(extents), tuple(walked)).normal


def in_turn(walks: Sequence[Walk]) -> list[Walk]:
    """Walks one after the other as the fewest walks: those that are alike, at evenly growing offsets, are one."""
    made: list[list[Walk]] = []
    for walk in (walk.normal for walk in walks):
        run = made[-1] if made else []
        like = bool(run) and (run[0].extents, run[0].strides) == (walk.extents, walk.strides)
        step = walk.offset - run[-1].offset if like else -1
        if like and step > 0 and (len(run) == 1 or step == run[1].offset - run[0].offset):
            run.append(walk)
        else:
            made.append([walk])
    return [_stacked(run) for run in made]


def _stacked(run: Sequence[Walk]) -> Walk:
    first = run[0]
    if len(run) == 1:
        return first
    step = run[1].offset - first.offset
    return Walk(first.offset, (len(run), *first.extents), (step, *first.strides))
