"""Line buffers: converters in front of windows that overlap, with the least rows of the array that all of them need.

The outer loops of the result slide along those of the source. When the source has gone so far that a window is
complete, the result takes it. Source: StreamTensor, section 5.2.1, whose Algorithm 1 keeps the whole array here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from .itensor import CountedLoop, ITensor
from .walks import Walk, in_step


@dataclass(frozen=True, slots=True)
class Slide:
    """A loop of `trip` iterations of the source, and `windows` of the result along it, one every `step` iterations.

    The first window is complete in iteration `first`; a window reaches back over `reach` iterations.
    """

    trip: int
    windows: int
    step: int
    first: int
    reach: int


@dataclass(frozen=True, slots=True)
class LineBuffer:
    """What holds the last `rows` iterations of the slide number `rolling`, and all that slides inside of it have given.

    An element is at [row mod rows, place in the row]. `fill` are the places that the loops of the source inside of all
    slides visit, `strides` what each slide adds to them; `drain` are the places that the result takes of a window,
    from the place of its first element on, and `back` the rows, counted from the first one, over the same extents.
    """

    source: ITensor
    slides: tuple[Slide, ...]
    rolling: int
    strides: tuple[int, ...]
    fill: Walk
    drain: Walk
    back: Walk
    width: int

    @property
    def rows(self) -> int:
        return self.slides[self.rolling].reach + 1 if self.slides else 1

    @property
    def buffered(self) -> int:
        """The elements that it holds."""
        return self.rows * self.width

    @property
    def rounds(self) -> int:
        """How many windows pass."""
        return prod(slide.windows for slide in self.slides)

    def __str__(self) -> str:
        return f"{self.rows} rows of {self.width}"


def line_buffer(source: ITensor, result: ITensor) -> LineBuffer | None:
    """The line buffer between two streams, the first of which has all elements of the second, each once.

    None where the loops of both do not slide along each other, or where nothing overlaps or is left out.
    """
    one, two = list(source.scalars.normal), list(result.scalars.normal)
    low = tuple(b - a for a, b in zip(source.offset, result.offset, strict=True))
    axes = _axes(one)
    if axes is None:
        return None
    count = 0
    while count < min(len(one), len(two)) and _slides(one[count], axes[count], two[count]):
        count += 1
    for slid in range(count, 0, -1):
        made = _made(source, one, two, axes, slid, low)
        if made is not None:
            return made
    return None


def _axes(loops: Sequence[CountedLoop]) -> list[int] | None:
    """The dimension that each loop goes along, forward, if each has its own."""
    found = []
    for loop in loops:
        along = [d for d, step in enumerate(loop.stride) if step]
        if len(along) != 1 or loop.stride[along[0]] < 0 or along[0] in found:
            return None
        found.append(along[0])
    return found


def _slides(given: CountedLoop, axis: int, taken: CountedLoop) -> bool:
    """Whether a loop of the result goes along the dimension of one of the source, and no other one."""
    along = [d for d, step in enumerate(taken.stride) if step]
    return along == [axis] and taken.stride[axis] > 0 and taken.stride[axis] % given.stride[axis] == 0


def _made(
    source: ITensor,
    one: Sequence[CountedLoop],
    two: Sequence[CountedLoop],
    axes: Sequence[int],
    count: int,
    low: Sequence[int],
) -> LineBuffer | None:
    """The line buffer of so many slides."""
    units = [loop.stride[axis] for loop, axis in zip(one, axes, strict=True)]
    inside = two[count:]
    steps = [[loop.stride[axis] for axis in axes] for loop in inside]
    if any(low[axis] % unit for axis, unit in zip(axes, units, strict=True)):
        return None
    if any(step % unit or step < 0 for row in steps for step, unit in zip(row, units, strict=True)):
        return None
    moves = [[step // unit for step, unit in zip(row, units, strict=True)] for row in steps]
    begin = [low[axis] // unit for axis, unit in zip(axes, units, strict=True)]
    slides = []
    for k in range(count):
        reach = sum(row[k] * (loop.trip - 1) for row, loop in zip(moves, inside, strict=True))
        step = two[k].stride[axes[k]] // units[k]
        slides.append(Slide(one[k].trip, two[k].trip, step, begin[k] + reach, reach))
    if not any(slide.reach or slide.step > 1 or slide.trip != slide.windows for slide in slides):
        return None
    rolling = next((k for k, slide in enumerate(slides) if slide.reach), count - 1)
    weights = [0] * (rolling + 1) + [prod(loop.trip for loop in one[k + 1 :]) for k in range(rolling + 1, len(one))]
    width = prod(loop.trip for loop in one[rolling + 1 :])
    extents = tuple(loop.trip for loop in inside)
    places = tuple(sum(w * n for w, n in zip(weights, row, strict=True)) for row in moves)
    start = sum(w * n for w, n in zip(weights[count:], begin[count:], strict=True))
    drain, back = in_step(Walk(start, extents, places), Walk(0, extents, tuple(row[rolling] for row in moves)))
    return LineBuffer(
        source,
        tuple(slides),
        rolling,
        tuple(weights[:count]),
        Walk(0, tuple(loop.trip for loop in one[count:]), tuple(weights[count:])),
        drain,
        back,
        width,
    )
