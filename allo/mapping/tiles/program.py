"""Tile programs as values: a grid of programs, loops in each of them, the tiles that move, the work on a core."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from ...ir.types import AlloType

type Indices = tuple[int, ...]  # of all levels: those of the grid, then those of loops, outer before inner


@dataclass(frozen=True, slots=True)
class LevelForm:
    """`constant + sum(coefficient * level)`; levels are numbers."""

    constant: int
    terms: tuple[tuple[int, int], ...] = ()

    def at(self, indices: Sequence[int]) -> int:
        """The value where the levels have these indices."""
        return self.constant + sum(coefficient * indices[level] for level, coefficient in self.terms)

    @property
    def levels(self) -> frozenset[int]:
        """The levels that it depends on."""
        return frozenset(level for level, _ in self.terms)

    def between(self, ends: Mapping[int, tuple[int, int]]) -> tuple[int, int]:
        """Between which values it is where each level is between two values."""
        sides = [sorted(coefficient * end for end in ends[level]) for level, coefficient in self.terms]
        return self.constant + sum(low for low, _ in sides), self.constant + sum(high for _, high in sides)

    def text(self, names: Sequence[str]) -> str:
        """As in a kernel, `16*m + 3`."""
        parts = [names[level] if c == 1 else f"{c}*{names[level]}" for level, c in self.terms]
        return " + ".join([*parts, *([str(self.constant)] if self.constant or not parts else [])])


@dataclass(frozen=True, slots=True)
class TileArray:
    """An array in the memory beside the chip; `number` is that of the argument."""

    name: str
    number: int
    shape: tuple[int, ...]
    element: AlloType
    element_bytes: int

    @property
    def bytes(self) -> int:
        """Its size."""
        return prod(self.shape) * self.element_bytes


@dataclass(frozen=True, slots=True)
class TileBox:
    """A part of an array whose place depends on levels: in each dimension `lower <= e < lower + size`."""

    array: TileArray
    lower: tuple[LevelForm, ...]
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """The bytes of the part."""
        return prod(self.shape) * self.array.element_bytes

    @property
    def levels(self) -> frozenset[int]:
        """The levels that its place depends on."""
        return frozenset(level for form in self.lower for level in form.levels)

    def at(self, indices: Sequence[int]) -> tuple[int, ...]:
        """Where the part begins for these indices of the levels, which may be outside of the array."""
        return tuple(form.at(indices) for form in self.lower)

    def part(self, place: Sequence[int]) -> tuple[slice, ...]:
        """What the array has of the part that begins at a place."""
        sides = zip(place, self.shape, self.array.shape, strict=True)
        return tuple(slice(max(start, 0), max(min(start + size, extent), 0)) for start, size, extent in sides)

    def bytes_at(self, place: Sequence[int]) -> int:
        """The bytes that the array has of the part that begins at a place."""
        sizes: list[int] = [max(side.stop - side.start, 0) for side in self.part(place)]
        return prod(sizes) * self.array.element_bytes

    def hull(self, spans: dict[int, int]) -> int:
        """The bytes of the box around all parts that these levels lead to, whose values are so far apart at most."""
        sizes = []
        for form, size, whole in zip(self.lower, self.shape, self.array.shape, strict=True):
            moved = sum(abs(c) * spans[level] for level, c in form.terms if level in spans)
            sizes.append(min(size + moved, whole))
        return prod(sizes) * self.array.element_bytes

    def text(self, names: Sequence[str]) -> str:
        """As in a kernel, `A[16*m:+16, 0:+32]`."""
        parts = (f"{form.text(names)}:+{size}" for form, size in zip(self.lower, self.shape, strict=True))
        return f"{self.array.name}[{', '.join(parts)}]"


@dataclass(frozen=True, slots=True)
class TileWork:
    """What a core computes: products of matrices (m, k, n, how many), operations on so many elements each, scalar ones.

    `elementary` are those of `elements` that compute an elementary function; counts are means where levels decide.
    """

    products: tuple[tuple[int, int, int, int], ...] = ()
    elements: tuple[int, ...] = ()
    elementary: tuple[int, ...] = ()
    scalars: int = 0


@dataclass(frozen=True, slots=True)
class TileSegment:
    """Statements of one body that are not cut by a loop over tiles: tiles that they read and write, and their work."""

    number: int
    loads: tuple[TileBox, ...]
    stores: tuple[TileBox, ...]
    work: TileWork


@dataclass(frozen=True, slots=True)
class TileLoop:
    """A loop of one core, one body after the other; `most` are its iterations at most, `mean` those of all programs.

    Its variable goes from `lower` in steps of `step` to below `upper`.
    """

    level: int
    name: str
    lower: LevelForm
    upper: LevelForm
    step: int
    most: int
    mean: float
    body: tuple[TileNode, ...]

    def values(self, indices: Sequence[int]) -> range:
        """What its variable is where the levels around have these indices."""
        return range(self.lower.at(indices), self.upper.at(indices), self.step)


type TileNode = TileSegment | TileLoop


@dataclass(frozen=True)
class TileProgram:
    """A grid of programs that may run in any order. `local` are the bytes of a core's own arrays, without loaded tiles.

    Levels 0, 1, ... are the dimensions of `grid`; those of loops follow.
    """

    name: str
    arrays: tuple[TileArray, ...]
    grid: tuple[int, ...]
    names: tuple[str, ...]  # of all levels
    body: tuple[TileNode, ...]
    local: int

    @cached_property
    def segments(self) -> tuple[tuple[TileSegment, tuple[TileLoop, ...]], ...]:
        """All segments with the loops around them, in the order of the text."""
        return tuple(_segments(self.body, ()))

    def left_out(self, box: TileBox, loops: Sequence[TileLoop]) -> int | None:
        """How many elements at the end of a dimension no tile reaches, if they are fewer than one has; None if none."""
        ends = {level: (0, extent - 1) for level, extent in enumerate(self.grid)}
        for loop in loops:
            low, high = loop.lower.between(ends)[0], loop.upper.between(ends)[1] - 1
            ends[loop.level] = low, low + (high - low) // loop.step * loop.step
        for form, size, extent in zip(box.lower, box.shape, box.array.shape, strict=True):
            left = extent - size - form.between(ends)[1]
            if form.terms and 0 < left < size:
                return left
        return None

    @property
    def operations(self) -> float:
        """The multiplications and additions of all products of matrices."""
        total = 0.0
        for segment, loops in self.segments:
            times = prod(loop.mean for loop in loops) * prod(self.grid)
            total += times * sum(2 * m * k * n * count for m, k, n, count in segment.work.products)
        return total

    def __str__(self) -> str:
        lines = [f"{self.name}: programs {' x '.join(map(str, self.grid))} ({', '.join(self.names[: len(self.grid)])})"]
        lines += _lines(self.body, self.names, "  ")
        return "\n".join(lines)


def _segments(
    body: Sequence[TileNode], around: tuple[TileLoop, ...]
) -> Iterator[tuple[TileSegment, tuple[TileLoop, ...]]]:
    for node in body:
        if isinstance(node, TileLoop):
            yield from _segments(node.body, (*around, node))
        else:
            yield node, around


def _lines(body: Sequence[TileNode], names: Sequence[str], indent: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, TileLoop):
            step = f", {node.step}" if node.step > 1 else ""
            yield f"{indent}for {node.name} in range({node.lower.text(names)}, {node.upper.text(names)}{step}):"
            yield from _lines(node.body, names, f"{indent}  ")
            continue
        yield from (f"{indent}load {box.text(names)}: {box.bytes} bytes" for box in node.loads)
        work = [f"{m}x{k}x{n} product" + (f" x {count}" if count > 1 else "") for m, k, n, count in node.work.products]
        if node.work.elements:
            work.append(f"{sum(node.work.elements)} operations of elements")
        if node.work.elementary:
            work.append(f"{sum(node.work.elementary)} elementary functions")
        work += [f"{node.work.scalars} scalar operations"] if node.work.scalars else []
        yield from (f"{indent}compute {', '.join(work)}" for _ in work[:1])
        yield from (f"{indent}store {box.text(names)}: {box.bytes} bytes" for box in node.stores)
