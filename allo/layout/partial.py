"""Typing rules of sharded arrays (Dato paper, Fig. 6): layouts of results, and the collectives that they still need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .sharding import Layout, Placement, Shape, Shard


@dataclass(frozen=True, slots=True, order=True)
class Pending:
    """The processing elements along `axis` of the mesh have parts of a result, to be combined by `operator`."""

    operator: str
    axis: int


@dataclass(frozen=True, slots=True)
class ShardedArray:
    """An array over a mesh: its whole shape, its layout, and what its values are still waiting for.

    Operations raise ValueError for shapes and layouts that do not fit: nothing is moved between processing elements
    silently.
    """

    shape: Shape
    layout: Layout
    mesh: Shape
    pending: frozenset[Pending] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "layout", self.layout.on(self.mesh))
        self.layout.local_shape(self.shape, self.mesh)

    @property
    def local_shape(self) -> Shape:
        """The shape of what each processing element has."""
        return self.layout.local_shape(self.shape, self.mesh)

    @property
    def is_complete(self) -> bool:
        """Whether each processing element has final values."""
        return not self.pending

    def elementwise(self, other: ShardedArray) -> ShardedArray:
        """The result of an operation on the elements of both: sharded where one of them is."""
        if self.shape != other.shape or self.mesh != other.mesh:
            raise ValueError(f"arrays of shapes {self.shape} and {other.shape} have no elements in common places")
        pairs = zip(self.layout.placements, other.layout.placements, strict=True)
        layout = Layout([join(one, two) for one, two in pairs])
        return ShardedArray(self.shape, layout, self.mesh, self.pending | other.pending)

    def reduce(self, operator: str, dimension: int) -> ShardedArray:
        """The reduction of one dimension: partial if it is sharded, final if it is replicated."""
        if not 0 <= dimension < len(self.shape):
            raise ValueError(f"an array of shape {self.shape} has no dimension {dimension}")
        placement = self.layout.placements[dimension]
        added = {Pending(operator, placement.axis)} if isinstance(placement, Shard) else set()
        rest = [p for d, p in enumerate(self.layout.placements) if d != dimension]
        shape = tuple(extent for d, extent in enumerate(self.shape) if d != dimension)
        return ShardedArray(shape, Layout(rest), self.mesh, self.pending | added)

    def matmul(self, other: ShardedArray) -> ShardedArray:
        """The product of matrices; the dimension that is summed up must lie in the same way on both sides."""
        fits = len(self.shape) == len(other.shape) == 2 and self.shape[1] == other.shape[0]
        if not fits or self.mesh != other.mesh:
            raise ValueError(f"matrices of shapes {self.shape} and {other.shape} have no product")
        (rows, inner), (same, columns) = self.layout.placements, other.layout.placements
        if inner != same:
            raise ValueError(f"the dimension that is summed up is {inner!r} on the left and {same!r} on the right")
        added = {Pending("+", inner.axis)} if isinstance(inner, Shard) else set()
        shape = (self.shape[0], other.shape[1])
        return ShardedArray(shape, Layout([rows, columns]), self.mesh, self.pending | other.pending | added)

    def allreduce(self, operator: str) -> ShardedArray:
        """The array after parts have been combined by `operator` along all axes that wait for it."""
        left = frozenset(pending for pending in self.pending if pending.operator != operator)
        if left == self.pending:
            waits = ", ".join(sorted({pending.operator for pending in self.pending})) or "nothing"
            raise ValueError(f"the array does not wait for '{operator}', but for {waits}")
        return replace(self, pending=left)

    def axes_of(self, operator: str) -> tuple[int, ...]:
        """The axes of the mesh along which `operator` combines parts."""
        return tuple(sorted(pending.axis for pending in self.pending if pending.operator == operator))


def join(one: Placement, two: Placement) -> Placement:
    """Where the elements of a dimension are that one side has here and the other there: sharded if one of them is."""
    if isinstance(one, Shard) and isinstance(two, Shard) and one != two:
        raise ValueError(f"one side is cut along axis {one.axis} of the mesh and the other along axis {two.axis}")
    return one if isinstance(one, Shard) else two


def replicated(shape: Sequence[int], mesh: Sequence[int]) -> ShardedArray:
    """An array of which each processing element has all: the layout of what says nothing about it."""
    return ShardedArray(tuple(shape), Layout.replicated(len(shape)), tuple(mesh))
