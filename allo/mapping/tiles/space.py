"""Space-time mappings of programs on a mesh: which core runs which one in which wave (TL, section 2.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import prod

from .program import TileProgram

type Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SpaceTime:
    """Where and when the programs of a grid run.

    `tilings` has for each dimension of the grid the dimensions of the cores that it is spread over, in the order of
    tiling: neighbours along the first run neighbouring programs. `waves` are the dimensions of the grid that are left
    with several waves, outermost loop first.
    """

    grid: Shape
    shape: Shape
    tilings: tuple[tuple[int, ...], ...]
    waves: tuple[int, ...]

    def across(self, dim: int) -> int:
        """How many programs of a dimension of the grid run at once."""
        return prod(self.shape[axis] for axis in self.tilings[dim])

    def wave_count(self, dim: int) -> int:
        """The waves of a dimension of the grid."""
        return -(-self.grid[dim] // self.across(dim))

    def dim_of(self, axis: int) -> int | None:
        """The dimension of the grid that is spread over a dimension of the cores."""
        return next((dim for dim, axes in enumerate(self.tilings) if axis in axes), None)

    def active(self, axis: int) -> int:
        """How many positions along a dimension of the cores have a program in the first wave."""
        dim = self.dim_of(axis)
        if dim is None:
            return 1
        axes = self.tilings[dim]
        before = prod(self.shape[other] for other in axes[: axes.index(axis)])
        return min(self.shape[axis], -(-self.grid[dim] // before))

    @property
    def active_cores(self) -> int:
        """How many cores have a program in the first wave."""
        return prod(min(self.across(dim), extent) for dim, extent in enumerate(self.grid))

    @property
    def utilisation(self) -> float:
        """The share of cores and waves that have a program."""
        slots = prod(self.shape) * prod(self.wave_count(dim) for dim in range(len(self.grid)))
        return prod(self.grid) / slots

    def program(self, core: Sequence[int], wave: Sequence[int]) -> Shape | None:
        """The program that a core runs in a wave (an index for each dimension of the grid); None if it has none."""
        found = []
        for dim, axes in enumerate(self.tilings):
            index, scale = 0, 1
            for axis in axes:
                index += core[axis] * scale
                scale *= self.shape[axis]
            index += wave[dim] * scale
            if index >= self.grid[dim]:
                return None
            found.append(index)
        if any(core[axis] for axis in range(len(self.shape)) if self.dim_of(axis) is None):
            return None
        return tuple(found)

    def text(self, names: Sequence[str], dims: Sequence[str]) -> str:
        """`m over x, y; waves n` with the names of both sides."""
        spread = (f"{names[d]} over {', '.join(dims[a] for a in axes)}" for d, axes in enumerate(self.tilings) if axes)
        waves = ", ".join(f"{names[d]} in {self.wave_count(d)}" for d in self.waves)
        return "; ".join([*spread, f"waves: {waves or 'one'}"])


def space_times(program: TileProgram, shape: Shape) -> Iterator[SpaceTime]:
    """All space-time mappings: each dimension of the cores goes to one of the grid, in each order of tilings, with each
    order of the waves that are left."""
    for tilings in spreadings(len(program.grid), len(shape)):
        first = SpaceTime(program.grid, shape, tilings, ())
        left = [dim for dim in range(len(program.grid)) if first.wave_count(dim) > 1]
        for waves in permutations(left):
            yield SpaceTime(program.grid, shape, tilings, waves)


def spreadings(dims: int, axes: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """The ways to give each of `axes` dimensions of cores to one of `dims` of a grid, in all orders of tiling."""
    for owners in product(range(dims), repeat=axes):
        groups = [tuple(axis for axis in range(axes) if owners[axis] == dim) for dim in range(dims)]
        yield from product(*(permutations(group) for group in groups))


def mean_active(space_time: SpaceTime, axes: int = 0) -> float:
    """How many cores have a program on the mean of all waves, of those in the box around the cores of the first wave.

    `axes`, a number with these bits: how many lines of cores along these dimensions have one.
    """
    share = 1.0
    for dim, extent in enumerate(space_time.grid):
        begins, scale = [0], 1
        for axis in space_time.tilings[dim]:
            if not axes >> axis & 1:
                begins = [begin + k * scale for begin in begins for k in range(space_time.active(axis))]
            scale *= space_time.shape[axis]
        waves = space_time.wave_count(dim)
        found = [sum(begin < left for begin in begins) for left in (extent, extent - (waves - 1) * scale)]
        share *= ((waves - 1) * found[0] + found[1]) / (waves * len(begins))
    return share
