"""Typing rules of sharded arrays (Dato paper, Fig. 6): layouts of results, and the collectives that they still need."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from .sharding import Layout, Placement, Shape, Shard


class PartialResult(ValueError):
    """An operation that needs final values of what is still to be combined."""


class PartOfDimension(ValueError):
    """An operation that needs all of a dimension which is cut: of its operand, if there is one."""

    def __init__(self, message: str, dimension: int | None = None) -> None:
        super().__init__(message)
        self.dimension = dimension


@dataclass(frozen=True, slots=True, order=True)
class Pending:
    """The processing elements along `axis` of the mesh have parts of a result, to be combined by `operator`."""

    operator: str
    axis: int


@dataclass(frozen=True, slots=True)
class Own:
    """The processing elements along `axis` of the mesh each have values of their own, which `source` has made.

    These are functions of partial results: a product of the own columns of two matrices, say, as the scores of one head
    of attention. No collective makes them what the functions of the complete results would be.
    """

    axis: int
    source: Hashable


@dataclass(frozen=True, slots=True)
class ShardedArray:
    """An array over a mesh: its whole shape, its layout, what its values are still waiting for, and whose they are.

    Operations raise ValueError for shapes and layouts that do not fit: nothing is moved between processing elements
    silently.
    """

    shape: Shape
    layout: Layout
    mesh: Shape
    pending: frozenset[Pending] = frozenset()
    own: frozenset[Own] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "layout", self.layout.on(self.mesh))
        self.layout.local_shape(self.shape, self.mesh)

    @property
    def local_shape(self) -> Shape:
        """The shape of what each processing element has."""
        return self.layout.local_shape(self.shape, self.mesh)

    @property
    def waits(self) -> frozenset[Pending]:
        """What it waits for along axes with more than one processing element."""
        return frozenset(pending for pending in self.pending if self.mesh[pending.axis] > 1)

    @property
    def is_complete(self) -> bool:
        """Whether each processing element has final values, and all have the same of the same part."""
        return not self.waits and not self.own

    def made_own(self, source: Hashable) -> ShardedArray:
        """The array with what positions have as values of their own, which wait for nothing."""
        own = frozenset(Own(pending.axis, source) for pending in self.waits)
        return replace(self, pending=frozenset(), own=self.own | own)

    def is_cut(self, dimension: int) -> bool:
        """Whether processing elements have parts of a dimension, and not all of it as the only one along an axis."""
        placement = self.layout.placements[dimension]
        return isinstance(placement, Shard) and self.mesh[placement.axis] > 1

    def alone(self, axis: int, source: Hashable) -> ShardedArray:
        """The part of each position along `axis` as an array of its own."""
        cut = [isinstance(p, Shard) and p.axis == axis for p in self.layout.placements]
        parts = [self.mesh[axis] if is_cut else 1 for is_cut in cut]
        shape = tuple(extent // count for extent, count in zip(self.shape, parts, strict=True))
        placements = zip(cut, self.layout.placements, strict=True)
        layout = Layout([Layout.Replicate if is_cut else placement for is_cut, placement in placements])
        own = {Own(axis, source)} if self.mesh[axis] > 1 else set()
        return replace(self, shape=shape, layout=layout, own=self.own | own)

    def elementwise(self, other: ShardedArray) -> ShardedArray:
        """The result of an operation on the elements of both: sharded where one of them is."""
        if self.shape != other.shape or self.mesh != other.mesh:
            raise ValueError(f"arrays of shapes {self.shape} and {other.shape} have no elements in common places")
        pairs = zip(self.layout.placements, other.layout.placements, strict=True)
        layout = Layout([join(one, two) for one, two in pairs])
        return ShardedArray(self.shape, layout, self.mesh, self.pending | other.pending, self.own | other.own)

    def combined(self, other: ShardedArray, operator: str) -> ShardedArray:
        """The result of `operator` on the elements of both, where partial results mean what complete ones would.

        Fig. 6 lets operations have partial operands, whatever they compute. Only sums and differences of results that
        wait for the same sums, and products with what is the same along the axes that they wait for, may.
        """
        result = self.elementwise(other)
        waits = self.waits | other.waits
        if not waits:
            return result
        sums = all(pending.operator == "+" for pending in waits)
        if sums and operator in ("+", "-") and self.waits == other.waits:
            return result
        if sums and operator == "*" and not (self.waits and other.waits):
            factor = other if self.waits else self
            if not {pending.axis for pending in waits} & set(factor.layout.shard_axes(self.mesh)):
                return result
        raise PartialResult(f"'{operator}' of partial results is no part of the result: {_waiting(waits)}")

    def mapped(self, function: str, *whole: int) -> ShardedArray:
        """The result of a function of elements, or of `whole` dimensions, which needs final values of all of it."""
        if self.waits:
            raise PartialResult(f"{function} of a partial result is no part of the result: {_waiting(self.waits)}")
        for dimension in whole:
            placement = self.layout.placements[dimension]
            if isinstance(placement, Shard) and self.is_cut(dimension):
                raise PartOfDimension(
                    f"{function} needs all of dimension {dimension}, which is cut along axis {placement.axis}",
                    dimension,
                )
        return self

    def transposed(self) -> ShardedArray:
        """The array with its dimensions in the opposite order."""
        return replace(self, shape=self.shape[::-1], layout=Layout(self.layout.placements[::-1]))

    def in_more_dimensions(self, shape: Shape) -> ShardedArray:
        """The array as an operand of one of `shape`, which has further dimensions in front."""
        more = len(shape) - len(self.shape)
        placements = [Layout.Replicate] * more + list(self.layout.placements)
        return replace(self, shape=(*shape[:more], *self.shape), layout=Layout(placements))

    def reduce(self, operator: str, dimension: int) -> ShardedArray:
        """The reduction of one dimension: partial if it is sharded, final if it is replicated."""
        if not 0 <= dimension < len(self.shape):
            raise ValueError(f"an array of shape {self.shape} has no dimension {dimension}")
        placement = self.layout.placements[dimension]
        added = {Pending(operator, placement.axis)} if isinstance(placement, Shard) else set()
        rest = [p for d, p in enumerate(self.layout.placements) if d != dimension]
        shape = tuple(extent for d, extent in enumerate(self.shape) if d != dimension)
        return ShardedArray(shape, Layout(rest), self.mesh, self.pending | added, self.own)

    def matmul(self, other: ShardedArray) -> ShardedArray:
        """The product of matrices; the dimension that is summed up must lie in the same way on both sides."""
        fits = len(self.shape) == len(other.shape) == 2 and self.shape[1] == other.shape[0]
        if not fits or self.mesh != other.mesh:
            raise ValueError(f"matrices of shapes {self.shape} and {other.shape} have no product")
        (rows, inner), (same, columns) = self.layout.placements, other.layout.placements
        if inner != same:
            raise ValueError(unlike_sums(inner, same))
        added = {Pending("+", inner.axis)} if isinstance(inner, Shard) else set()
        shape = (self.shape[0], other.shape[1])
        pending = self.pending | other.pending | added
        return ShardedArray(shape, Layout([rows, columns]), self.mesh, pending, self.own | other.own)

    def allreduce(self, operator: str) -> ShardedArray:
        """The array after parts have been combined by `operator` along all axes that wait for it."""
        left = frozenset(pending for pending in self.pending if pending.operator != operator)
        if left == self.pending:
            raise ValueError(f"the array does not wait for '{operator}', but for {_waits(self.pending)}")
        return replace(self, pending=left)

    def all_gather(self, dimension: int) -> ShardedArray:
        """The array after all have got the parts of a dimension that is cut."""
        if not isinstance(self.layout.placements[dimension], Shard):
            raise ValueError(f"dimension {dimension} is not cut, so that nothing can be gathered")
        return self._placed(dimension, Layout.Replicate)

    def reduce_scatter(self, operator: str, axis: int, dimension: int) -> ShardedArray:
        """The array after parts have been combined along `axis`, along which a dimension is cut then."""
        if Pending(operator, axis) not in self.pending:
            waits = _waits(self.pending)
            raise ValueError(f"the array does not wait for '{operator}' along axis {axis}, but for {waits}")
        if isinstance(self.layout.placements[dimension], Shard):
            raise ValueError(f"dimension {dimension} is cut already")
        return replace(self._placed(dimension, Shard(axis)), pending=self.pending - {Pending(operator, axis)})

    def _placed(self, dimension: int, placement: Placement) -> ShardedArray:
        placements = list(self.layout.placements)
        placements[dimension] = placement
        return replace(self, layout=Layout(placements))

    def axes_of(self, operator: str) -> tuple[int, ...]:
        """The axes of the mesh along which `operator` combines parts."""
        return tuple(sorted(pending.axis for pending in self.pending if pending.operator == operator))


def _waits(pending: frozenset[Pending]) -> str:
    return ", ".join(sorted({p.operator for p in pending})) or "nothing"


def _waiting(pending: frozenset[Pending]) -> str:
    found = " and ".join(f"'{p.operator}' along axis {p.axis}" for p in sorted(pending))
    return f"positions have yet to combine it by {found}"


def unlike_sums(left: Placement, right: Placement) -> str:
    """What is wrong with a product whose sides are cut in two ways."""
    return f"the dimension that is summed up is {left!r} on the left and {right!r} on the right"


def join(one: Placement, two: Placement) -> Placement:
    """Where the elements of a dimension are that one side has here and the other there: sharded if one of them is."""
    if isinstance(one, Shard) and isinstance(two, Shard) and one != two:
        raise ValueError(f"one side is cut along axis {one.axis} of the mesh and the other along axis {two.axis}")
    return one if isinstance(one, Shard) else two


def replicated(shape: Sequence[int], mesh: Sequence[int]) -> ShardedArray:
    """An array of which each processing element has all: the layout of what says nothing about it."""
    return ShardedArray(tuple(shape), Layout.replicated(len(shape)), tuple(mesh))
