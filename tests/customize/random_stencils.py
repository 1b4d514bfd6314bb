"""Random stencils and convolutions as Python source: one to three dimensions, strides, lower bounds, padding."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

HEADER = "from allo.ir.types import int32\n\n\n"
LOOPS = ("i", "j", "k")


@dataclass(frozen=True)
class Counter:
    """A loop with its first and last value."""

    name: str
    text: str
    first: int
    last: int


@dataclass(frozen=True)
class Subscript:
    """An affine subscript of one dimension, with the least and the greatest value it takes."""

    text: str
    least: int
    greatest: int


def counter(draw: st.DrawFn, name: str, extents: tuple[int, int]) -> Counter:
    lower, step = draw(st.integers(-1, 3)), draw(st.sampled_from([1, 1, 1, 1, 1, 2]))
    trips = draw(st.integers(*extents))
    return Counter(
        name, f"range({lower}, {lower + step * (trips - 1) + 1}, {step})", lower, lower + step * (trips - 1)
    )


def subscript(draw: st.DrawFn, loop: Counter, extra: Counter | None, stride: int) -> Subscript:
    """`stride * loop + offset`, mostly with the loop of the window that belongs to the dimension."""
    offset = draw(st.sampled_from([0, 0, 0, 0, 1, 1, 2, -1]))
    ends = sorted((stride * loop.first + offset, stride * loop.last + offset))
    text = f"{stride} * {loop.name} + {offset}"
    if extra is not None and draw(st.integers(0, 9)):
        ends = [ends[0] + extra.first, ends[1] + extra.last]
        text += f" + {extra.name}"
    return Subscript(text, ends[0], ends[1])


@st.composite
def stencils(draw: st.DrawFn) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """The text of a kernel with one nest that reads `A` and writes `B`, and the names of its loops."""
    outer = [counter(draw, name, (2, 6)) for name in LOOPS[: draw(st.integers(1, 3))]]
    inner = [counter(draw, name, (2, 4)) for name in ("r", "c")[: draw(st.sampled_from([0, 1, 2, 2, 2]))]]
    along = draw(st.permutations(outer))[: draw(st.sampled_from([len(outer), len(outer), 1]))]
    windows = [draw(st.sampled_from([*inner, *inner, None])) for _ in along]
    strides = [draw(st.sampled_from([1, 1, 1, 1, 2, -1])) for _ in along]
    dimensions = list(zip(along, windows, strides, strict=True))
    reads = [
        [subscript(draw, *dimension) for dimension in dimensions] for _ in range(draw(st.integers(1, 5)))
    ]
    least = [min(read[d].least for read in reads) for d in range(len(along))]
    greatest = [max(read[d].greatest for read in reads) for d in range(len(along))]
    # With padding the array ends where the window still moves, and conditions guard the reads.
    padding = [draw(st.sampled_from([0, 0, 0, 1, 2])) for _ in along]
    extents = [max(1, g - lo + 1 - 2 * p) for g, lo, p in zip(greatest, least, padding, strict=True)]
    shape = ", ".join(map(str, extents))
    result = ", ".join(str(loop.last + 2) for loop in outer)
    lines = [f"def kernel(A: int32[{shape}], B: int32[{result}]):"]
    indent = "    "
    for loop in [*outer, *inner]:
        lines.append(f"{indent}for {loop.name} in {loop.text}:")
        indent += "    "
    target = f"B[{', '.join(f'{loop.name} + 1' for loop in outer)}]"
    for number, read in enumerate(reads):
        places = [f"{s.text} - {lo + p}" for s, lo, p in zip(read, least, padding, strict=True)]
        tests = [
            f"{place} >= 0 and {place} < {extent}"
            for place, extent, p in zip(places, extents, padding, strict=True)
            if p
        ]
        line = f"{target} = {target} * 3 + {number + 1} * A[{', '.join(places)}]"
        lines.extend(
            [f"{indent}if {' and '.join(tests)}:", f"{indent}    {line}"] if tests else [f"{indent}{line}"]
        )
    names = (tuple(loop.name for loop in [*outer, *inner]),)
    return HEADER + "\n".join(lines) + "\n", names
