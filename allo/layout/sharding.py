"""Layouts of arrays over a mesh of processing elements (Dato paper, section 3.4): which part of an array each one has.

Each dimension of an array is replicated, or cut into as many parts as an axis of the mesh is long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import ClassVar

type Shape = tuple[int, ...]

_LABELS = re.compile(r"(R|S\d*)+")


@dataclass(frozen=True, slots=True)
class Shard:
    """A dimension that is cut along `axis` of the mesh, counted from the first, or below 0 from the last."""

    axis: int

    def __repr__(self) -> str:
        return f"Shard({self.axis})"


@dataclass(frozen=True, slots=True)
class _Replicated:
    """A dimension of which each processing element has all."""

    def __repr__(self) -> str:
        return "Replicate"


type Placement = Shard | _Replicated


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Layout:
    """What happens to each dimension of an array: `Layout([S(0), R])` with `S = Layout.Shard, R = Layout.Replicate`.

    As text it is one letter a dimension, `Layout("S1R")`: the number behind S counts axes of the mesh from the last,
    so that on a mesh [P0, P1] the dimensions of "S1S0" are cut into P0 and P1 parts (Dato paper, Fig. 7). Letters
    without numbers take the axes in their order, from the first: "SR" on a mesh [P0] is cut into P0 parts.
    Raises ValueError for other texts, TypeError for other values.
    """

    Shard: ClassVar[type[Shard]] = Shard
    Replicate: ClassVar[_Replicated] = _Replicated()

    placements: tuple[Placement, ...]

    def __init__(self, placements: str | Sequence[Placement]) -> None:
        if not isinstance(placements, str | list | tuple):
            raise TypeError(f"a layout is a text or a list with one entry a dimension, got {placements!r}")
        made = _read(placements) if isinstance(placements, str) else tuple(placements)
        for placement in made:
            if not isinstance(placement, Shard | _Replicated):
                raise TypeError(f"a dimension is Layout.Shard(axis) or Layout.Replicate, got {placement!r}")
            if isinstance(placement, Shard) and type(placement.axis) is not int:
                raise TypeError(f"Layout.Shard takes the number of an axis of the mesh, got {placement.axis!r}")
        object.__setattr__(self, "placements", made)

    @classmethod
    def replicated(cls, rank: int) -> Layout:
        """The layout of an array of which each processing element has all."""
        return cls([cls.Replicate] * rank)

    def __repr__(self) -> str:
        if self._counts_from_last:
            return f'Layout("{"".join(f"S{-1 - p.axis}" if isinstance(p, Shard) else "R" for p in self.placements)}")'
        return f"Layout([{', '.join(map(repr, self.placements))}])"

    @property
    def _counts_from_last(self) -> bool:
        axes = [p.axis for p in self.placements if isinstance(p, Shard)]
        return bool(axes) and max(axes) < 0

    def _name(self, axis: int) -> str:
        return f"S{-1 - axis}" if self._counts_from_last else f"axis {axis}"

    def _names(self, rank: int) -> list[str]:
        """The axes of a mesh as this layout calls them, from the first to the last."""
        return [f"S{rank - 1 - k}" if self._counts_from_last else str(k) for k in range(rank)]

    def on(self, mesh: Sequence[int]) -> Layout:
        """This layout with axes of `mesh` counted from the first.

        Raises ValueError for an axis that the mesh has not, and for one along which two dimensions are cut: nobody
        would have the parts off the diagonal.
        """
        rank = len(mesh)
        found: list[Placement] = []
        used: set[int] = set()
        for placement in self.placements:
            if isinstance(placement, Shard):
                if not -rank <= placement.axis < rank:
                    known = f"{_text(mesh)}, whose axes are {', '.join(self._names(rank))}"
                    raise ValueError(f"{self!r} needs {self._name(placement.axis)} of the mesh {known}")
                placement = Shard(placement.axis % rank)
                if placement.axis in used:
                    raise ValueError(f"{self!r} cuts two dimensions along axis {placement.axis} of the mesh")
                used.add(placement.axis)
            found.append(placement)
        return Layout(found)

    def parts(self, mesh: Sequence[int]) -> Shape:
        """Into how many parts each dimension is cut."""
        return tuple(mesh[p.axis] if isinstance(p, Shard) else 1 for p in self.on(mesh).placements)

    def local_shape(self, shape: Sequence[int], mesh: Sequence[int]) -> Shape:
        """The shape of the part that each processing element has.

        Raises ValueError if the array has another rank, or if a dimension does not divide into equal parts.
        """
        if len(shape) != len(self.placements):
            raise ValueError(f"{self!r} is of arrays with {len(self.placements)} dimensions, not of {_text(shape)}")
        parts = self.parts(mesh)
        for dimension, (extent, count) in enumerate(zip(shape, parts, strict=True)):
            if extent % count:
                raise ValueError(f"dimension {dimension} of {_text(shape)} does not divide into {count} equal parts")
        return tuple(extent // count for extent, count in zip(shape, parts, strict=True))

    def tile(self, mesh: Sequence[int], position: Sequence[int]) -> Shape:
        """Which part of each dimension the processing element at `position` has."""
        placements = self.on(mesh).placements
        return tuple(position[p.axis] if isinstance(p, Shard) else 0 for p in placements)

    def slices(self, shape: Sequence[int], mesh: Sequence[int], position: Sequence[int]) -> tuple[slice, ...]:
        """The part of an array that the processing element at `position` has."""
        local = self.local_shape(shape, mesh)
        tile = self.tile(mesh, position)
        return tuple(slice(t * extent, (t + 1) * extent) for t, extent in zip(tile, local, strict=True))

    def get_placement(self, mesh: Sequence[int]) -> dict[Shape, list[Shape]]:
        """The processing elements that have each part, which is named by its place among the parts."""
        found: dict[Shape, list[Shape]] = {tile: [] for tile in product(*map(range, self.parts(mesh)))}
        for position in positions(mesh):
            found[self.tile(mesh, position)].append(position)
        return found

    def shard_axes(self, mesh: Sequence[int]) -> tuple[int, ...]:
        """The axes along which dimensions are cut, in their order."""
        return tuple(p.axis for p in self.on(mesh).placements if isinstance(p, Shard))

    def copies(self, mesh: Sequence[int]) -> int:
        """How many processing elements have the same part."""
        return prod(mesh) // prod(self.parts(mesh))


def positions(mesh: Sequence[int]) -> Iterator[Shape]:
    """The places of a mesh, the last axis fastest."""
    return product(*map(range, mesh))


def _read(text: str) -> tuple[Placement, ...]:
    if not _LABELS.fullmatch(text):
        raise ValueError(f'a layout is written with R and S, such as "S1R" or "RS0", got {text!r}')
    labels = re.findall(r"R|S\d*", text)
    plain = labels.count("S")
    if plain and plain != sum(label[0] == "S" for label in labels):
        raise ValueError(f"give each S of {text!r} the number of an axis, or none")
    found: list[Placement] = []
    for label in labels:
        if label == "R":
            found.append(Layout.Replicate)
        elif label == "S":
            found.append(Shard(sum(isinstance(p, Shard) for p in found)))
        else:
            found.append(Shard(-1 - int(label[1:])))
    return tuple(found)


def _text(shape: Sequence[int]) -> str:
    return f"[{', '.join(map(str, shape))}]"
