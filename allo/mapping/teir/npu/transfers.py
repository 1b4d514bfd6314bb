"""Transfers between main memory and an array: descriptors of four dimensions, their numbers, and who waits for whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from ....errors import ContractionError
from ..values import TENSORS, DimType, ExecType, PrimFirst, Tec, TecDimension
from .rules import NpuArray

FIRST = 3  # the number of the tensor of first values
NAMES = (*TENSORS, "first values")


@dataclass(frozen=True, slots=True)
class NpuTransfer:
    """One `npu_dma_memcpy_nd`: elements `offset + sum(index * stride)`, the last dimension fastest.

    `tensor` is 0, 1 or 2, or 3 for first values of the output. `rows` are those of the array whose tiles an output
    transfer has; `descriptor` is its number at the shim, `step` the iteration of the unrolled loops that it is of.
    """

    tensor: int
    column: int
    rows: tuple[int, ...]
    offset: int
    sizes: tuple[int, int, int, int]
    strides: tuple[int, int, int, int]
    descriptor: int = -1
    step: int = -1

    @property
    def path(self) -> int:
        """The tensor whose channel is used: first values come as tiles of in1 do."""
        return 1 if self.tensor == FIRST else self.tensor

    @property
    def tiles(self) -> int:
        """How many tiles are moved."""
        return self.sizes[0] * self.sizes[1]

    def __str__(self) -> str:
        what = f"{NAMES[self.tensor]} of column {self.column}"
        return f"transfer {what} bd={self.descriptor} offset={self.offset} sizes={self.sizes} strides={self.strides}"


@dataclass(frozen=True, slots=True)
class NpuWait:
    """One `dma_wait` for the oldest output transfer of some rows in a column that none has waited for."""

    column: int
    rows: tuple[int, ...]

    def __str__(self) -> str:
        return f"wait for out of column {self.column}, rows {', '.join(map(str, self.rows))}"


@dataclass(frozen=True, slots=True)
class Distribution:
    """A dimension over the rows or columns of an array: position p has every `parts`-th index, from p on."""

    dimension: TecDimension | None
    parts: int

    @classmethod
    def of(cls, dimension: TecDimension | None, most: int) -> Distribution:
        """Over as many parts as there are, or indices."""
        return cls(dimension, min(most, 1 if dimension is None else dimension.size))

    def count(self, position: int) -> int:
        """How many indices a position has."""
        return 1 if self.dimension is None else len(range(position, self.dimension.size, self.parts))

    @property
    def most(self) -> int:
        """The largest count: that of position 0."""
        return self.count(0)

    def groups(self) -> list[tuple[int, ...]]:
        """The positions with one more index than the others, and the others."""
        more = tuple(p for p in range(self.parts) if self.count(p) == self.most)
        return [group for group in (more, tuple(range(len(more), self.parts))) if group]


@dataclass(frozen=True, slots=True)
class NpuLoops:
    """The npu loops of a TEC: which are distributed, which a descriptor has, which are unrolled."""

    tec: Tec
    array: NpuArray

    @property
    def npu(self) -> tuple[TecDimension, ...]:
        """All of them, the outermost first."""
        return tuple(d for d in self.tec.dimensions if d.execution is ExecType.NPU)

    @property
    def rows(self) -> Distribution:
        """The last dimension of type M, over the rows."""
        return Distribution.of(next((d for d in reversed(self.npu) if d.type is DimType.M), None), self.array.rows)

    @property
    def columns(self) -> Distribution:
        """The last dimension of type N, over the columns."""
        return Distribution.of(next((d for d in reversed(self.npu) if d.type is DimType.N), None), self.array.columns)

    @property
    def has_first(self) -> bool:
        """Whether tiles of the output have first values that come from main memory."""
        return self.tec.prim_first is not PrimFirst.ZERO

    @property
    def covered(self) -> tuple[TecDimension, ...]:
        """The last two, of which one may be in the output: its descriptors have the rows of the array too.

        First values stand between the tiles of in1 of two tiles of the output: then only dimensions of type K.
        """
        last = tuple(d for d in self.npu[-2:] if d.type is DimType.K or not self.has_first)
        return last if sum(d.type is not DimType.K for d in last) < 2 else last[1:]

    @property
    def unrolled(self) -> tuple[TecDimension, ...]:
        """The others: each of their iterations has transfers of its own."""
        return self.npu[: len(self.npu) - len(self.covered)]

    def trips(self, d: TecDimension) -> int:
        """Iterations of a loop on the core that has most of them."""
        if d is self.rows.dimension:
            return self.rows.most
        return self.columns.most if d is self.columns.dimension else d.size


def transfers_of(loops: NpuLoops) -> Iterator[list[NpuTransfer]]:
    """The transfers of each iteration of the unrolled loops of the output, in their order, without numbers."""
    steps = [d for d in loops.unrolled if d.type is DimType.K]
    tiles = [d for d in loops.unrolled if d.type is not DimType.K]
    for index in product(*(range(loops.trips(d)) for d in tiles)):
        at = dict(zip((d.name for d in tiles), index, strict=True))
        made: list[NpuTransfer | None] = []
        for column in range(max(loops.rows.parts, loops.columns.parts)):
            if loops.has_first and column < loops.columns.parts:
                made.append(_first(loops, at, column))
            for inner in product(*(range(d.size) for d in steps)):
                now = at | dict(zip((d.name for d in steps), inner, strict=True))
                for tensor, parts in ((0, loops.rows), (1, loops.columns)):
                    if column < parts.parts:
                        made.append(_input(loops, now, tensor, column, parts))
            if column < loops.columns.parts:
                made += [_output(loops, at, column, rows) for rows in loops.rows.groups()]
        found = [transfer for transfer in made if transfer is not None]
        for transfer in found:
            _check(transfer, loops.array)
        yield found


def _offset(loops: NpuLoops, at: dict[str, int], tensor: int, row: int, column: int) -> int | None:
    """The first element of a tile; None if the position has no such index."""
    total = 0
    for parts, position in ((loops.rows, row), (loops.columns, column)):
        d = parts.dimension
        if d is not None and d.strides[tensor]:
            index = parts.parts * at.get(d.name, 0) + position
            if index >= d.size:
                return None
            total += index * d.strides[tensor]
    own = (loops.rows.dimension, loops.columns.dimension)
    steps = (d for d in loops.unrolled if d not in own and d.strides[tensor])
    return total + sum(at[d.name] * d.strides[tensor] for d in steps)


def _input(
    loops: NpuLoops, at: dict[str, int], tensor: int, column: int, parts: Distribution
) -> NpuTransfer | None:
    """Tiles of an input that the shim of a column reads: those of the row, or the column, of the same number."""
    offset = _offset(loops, at, tensor, column if tensor == 0 else 0, column if tensor == 1 else 0)
    if offset is None:
        return None
    outer = []
    for d in loops.covered:
        if d is parts.dimension:
            outer.append((parts.count(column), d.strides[tensor] * parts.parts))
        else:
            outer.append((loops.trips(d), d.strides[tensor]))
    return _transfer(tensor, column, (), offset, outer, _inner(loops, tensor))


def _first(loops: NpuLoops, at: dict[str, int], column: int) -> NpuTransfer | None:
    """First values of a tile of the output for each row of a column that has one."""
    offset = _offset(loops, at, 2, 0, column)
    if offset is None:
        return None
    d, parts = loops.rows.dimension, loops.rows.parts
    active = parts if d is None else len(range(parts * at[d.name], min(parts * (at[d.name] + 1), d.size)))
    rows = [(active, d.strides[2] if d is not None else 0)]
    return _transfer(FIRST, column, (), offset, rows, _inner(loops, 2))


def _inner(loops: NpuLoops, tensor: int) -> list[tuple[int, int]]:
    """The two dimensions of a tile, that of the unit stride last."""
    prim = [d for d in loops.tec.primitive if d.strides[tensor]]
    return [(d.size, d.strides[tensor]) for d in sorted(prim, key=lambda d: -d.strides[tensor])]


def _output(loops: NpuLoops, at: dict[str, int], column: int, rows: tuple[int, ...]) -> NpuTransfer | None:
    """Tiles that the shim of a column writes, from rows of the array that make as many."""
    offset = _offset(loops, at, 2, rows[0], column)
    if offset is None:
        return None
    outer = []
    for d in loops.covered:
        if d is loops.rows.dimension:
            outer.append((loops.rows.count(rows[0]), d.strides[2] * loops.rows.parts))
        elif d is loops.columns.dimension:
            outer.append((loops.columns.count(column), d.strides[2] * loops.columns.parts))
        elif d.type is not DimType.K:
            outer.append((d.size, d.strides[2]))
    row = loops.rows.dimension
    outer.append((len(rows), row.strides[2] if row is not None else 0))
    if any(size == 0 for size, _ in outer):
        return None
    return _transfer(2, column, rows, offset, outer, _inner(loops, 2))


def _transfer(
    tensor: int, column: int, rows: tuple[int, ...], offset: int,
    outer: Sequence[tuple[int, int]], inner: Sequence[tuple[int, int]],
) -> NpuTransfer:  # fmt: skip
    """The descriptor; what is sent again (stride 0) is its first dimension, for no other can have that stride."""
    loops = [pair for pair in outer if pair[0] > 1]
    missing = [(1, 0)] * (2 - len(loops))
    whole = [*loops, *missing] if loops and loops[0][1] == 0 else [*missing, *loops]
    sizes, strides = zip(*whole, *inner, strict=True)
    return NpuTransfer(tensor, column, rows, offset, sizes, strides)


def _check(transfer: NpuTransfer, array: NpuArray) -> None:
    """Raises ContractionError for a descriptor that the engine of a shim does not have."""
    what = f"{NAMES[transfer.tensor]} in column {transfer.column}"
    if transfer.sizes[0] > array.repeat:
        message = f"{what} repeats {transfer.sizes[0]} times: a descriptor does {array.repeat}"
        raise ContractionError(message, hint="split the last npu dimension of the output, and unroll its outer part")
    for size, stride in zip(transfer.sizes, transfer.strides, strict=True):
        if stride // 2 > array.stride_words and size > 1:
            message = f"{what} steps over {stride} elements: a descriptor reaches {2 * array.stride_words}"
            raise ContractionError(message, hint="lay the tensor out so that tiles lie behind each other")
    words = (*transfer.sizes[1:3], transfer.sizes[3] // 2)
    if max(words) > array.wrap:
        raise ContractionError(f"{what} wraps after {max(words)} steps: a descriptor counts to {array.wrap}")


def numbered(steps: Sequence[list[NpuTransfer]], array: NpuArray) -> Iterator[NpuTransfer | NpuWait]:
    """The run-time sequence: transfers with numbers of descriptors, and waits before a number is used again.

    Descriptors of a shim are two groups, each for some iterations of the unrolled loops: when those of one are
    under way, the other is waited for, through all unrolled loops without a break between them.
    """
    most = max(sum(t.column == c for t in step) for step in steps for c in {t.column for t in step})
    if most > array.descriptors:
        raise ContractionError(f"an iteration needs {most} descriptors, and a shim has {array.descriptors}")
    queued = max(max(Counter((t.column, t.path, t.rows) for t in step).values()) for step in steps)
    if queued > array.outstanding:
        message = f"an iteration has {queued} transfers for one channel, and {array.outstanding} can wait there"
        raise ContractionError(message, hint="fuse npu dimensions of type K, or make the outer ones smaller")
    group = max(1, min(array.descriptors // 2 // most, array.outstanding // 2 // queued))
    if 2 * group * most > array.descriptors or 2 * group * queued > array.outstanding:
        group, rounds = 1, 1
    else:
        rounds = 2
    waiting: list[list[NpuTransfer]] = []
    for number, step in enumerate(steps):
        if len(waiting) == rounds * group:
            for old in waiting[:group]:
                yield from (NpuWait(t.column, t.rows) for t in old if t.tensor == 2)
            del waiting[:group]
        first = number % (rounds * group) * most
        used: dict[int, int] = {}
        for transfer in step:
            used[transfer.column] = used.get(transfer.column, -1) + 1
            yield replace(transfer, descriptor=first + used[transfer.column], step=number)
        waiting.append(step)
    for old in waiting:
        yield from (NpuWait(t.column, t.rows) for t in old if t.tensor == 2)
