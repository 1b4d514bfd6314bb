"""Contractions on an array of compute tiles: transfers, layouts of tiles, and the loops of each core.

Source: Steinert (2025), sections 5.1, 5.3 and 5.4. Tiles of in0 go to rows and tiles of in1 to columns of the array;
those of the output are joined along columns. First values of the output, which the thesis has no way for, come in the
place of tiles of in1: those of all rows of a column, of which each core takes its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from ....errors import ContractionError
from ..values import DimType, PrimLast, Tec
from .rules import XDNA_ARRAY, NpuArray, check_npu, turned_of
from .transfers import NpuLoops, NpuTransfer, NpuWait, numbered, transfers_of


@dataclass(frozen=True, slots=True)
class CoreEvent:
    """What a core does next with its tile of the output, or with tiles that arrive.

    `zero` it, take its `first` values from the next tile of in1, `multiply` two that arrive and add the product, `relu`
    it, `send` it; `drop` tiles of an input.
    """

    kind: str
    tensor: int = -1
    count: int = 1


@dataclass(frozen=True, slots=True)
class CoreLoop:
    """What a core does `trips` times."""

    trips: int
    body: tuple[CoreEvent | CoreLoop, ...]

    def events(self) -> Iterator[CoreEvent]:
        """All of it, in order."""
        for _ in range(self.trips):
            for part in self.body:
                if isinstance(part, CoreLoop):
                    yield from part.events()
                else:
                    yield part


@dataclass(frozen=True, slots=True)
class TileLayout:
    """How an engine of a memory tile turns a tile: sizes and strides in elements, the last fastest."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NpuProgram:
    """The program of one call; dimensions that are `seq` are loops around calls, on parts of the tensors."""

    tec: Tec
    array: NpuArray
    loops: NpuLoops
    sequence: tuple[NpuTransfer | NpuWait, ...]

    @property
    def transfers(self) -> tuple[NpuTransfer, ...]:
        """All transfers in the order of the sequence."""
        return tuple(item for item in self.sequence if isinstance(item, NpuTransfer))

    def layout(self, tensor: int) -> TileLayout:
        """Between the order in which a tile is in main memory and the blocks of the vector unit.

        For inputs it is applied when a memory tile sends (to `mkrs`, `knst`), for the output too (from `mnrt`). Tiles
        that are turned keep their blocks turned (`mksr`, `knts`, `mntr`): engines move words of two elements, and
        cannot take such blocks apart; the kernel turns them.
        """
        m, n, k = (d.size for d in self.tec.primitive)
        s = self.step
        first, second, a, b = ((m, k, 4, s), (k, n, s, 4), (m, n, 4, 4))[tensor]
        turned = self.turned[tensor]
        if tensor == 2:
            row = 16 * (n // 4)
            if turned:
                return TileLayout((n // 4, 4, m // 4, 4), (16, 4, row, 1))
            return TileLayout((m // 4, 4, n // 4, 4), (row, 4, 16, 1))
        if turned:
            return TileLayout((first // a, second // b, b, a), (a, b * first, first, 1))
        return TileLayout((first // a, second // b, a, b), (a * second, b, second, 1))

    @property
    def step(self) -> int:
        """How much of K a block has: 8, or 4 where 8 does not divide K; the kernel makes one of two then."""
        return 4 if self.tec.primitive[2].size % 8 else 8

    @property
    def least_cycles(self) -> int:
        """Cycles that the vector unit takes for a call of the kernel at least: a product of blocks in each."""
        m, n, k = (d.size for d in self.tec.primitive)
        return m // 4 * (n // 4) * -(-k // 8)

    @property
    def turned(self) -> tuple[bool, bool, bool]:
        """Whether tiles of in0, in1 and the output are transposed: M, K, or M is the dimension of unit stride."""
        return turned_of(self.tec)

    def core(self, row: int, column: int) -> Iterator[CoreEvent]:
        """What the core of a position does, in order. One that has fewer tiles drops what others still need."""
        yield from self.core_loop(row, column).events()

    def core_loop(self, row: int, column: int) -> CoreLoop:
        """The same as nested loops, of one that is run once."""
        return CoreLoop(1, self._nest(0, row, column, self.loops.rows.parts))

    def _nest(self, depth: int, row: int, column: int, active: int) -> tuple[CoreEvent | CoreLoop, ...]:
        """The loops from a depth on; `active` rows have a tile in this iteration of those outside."""
        npu = self.loops.npu
        if depth == len(npu) or npu[depth].type is DimType.K:
            return self._tile(row, active, prod(d.size for d in npu[depth:]))
        d, rows, columns = npu[depth], self.loops.rows, self.loops.columns
        position = row if d is rows.dimension else column
        parts = rows if d is rows.dimension else columns if d is columns.dimension else None
        own = d.size if parts is None else parts.count(position)
        last = len(rows.groups()[0])  # rows that have a tile in the last iteration
        if d is rows.dimension and own == rows.most and last < rows.parts and self.loops.has_first:
            whole, end = (self._nest(depth + 1, row, column, n) for n in (rows.parts, last))
            return CoreLoop(own - 1, whole), CoreLoop(1, end)
        loop = CoreLoop(own, self._nest(depth + 1, row, column, active))
        if parts is None or own == parts.most:
            return (loop,)
        other = 1 if parts is rows else 0
        inner = npu[depth + 1 :]
        tiles = prod(self._arrives(e, other, row, column) for e in inner if e.type is not DimType.K)
        steps = prod(e.size for e in inner if e.type is DimType.K)
        steps += last if self.loops.has_first and other == 1 else 0
        return loop, CoreEvent("drop", other, tiles * steps * (parts.most - own))

    def _tile(self, row: int, active: int, steps: int) -> tuple[CoreEvent, ...]:
        """One tile of the output: its first values, which come for all rows of a column, its sums, its end."""
        first = [CoreEvent("zero")]
        if self.loops.has_first:
            around = (CoreEvent("drop", 1, count) for count in (row, active - row - 1))
            first = [next(around), CoreEvent("first"), next(around)]
        last = [CoreEvent("relu")] if self.tec.prim_last is PrimLast.RELU else []
        events = (*first, CoreEvent("multiply", count=steps), *last, CoreEvent("send"))
        return tuple(event for event in events if event.count)

    def _arrives(self, d: object, tensor: int, row: int, column: int) -> int:
        """How often tiles of an input come to a position in one loop."""
        rows, columns = self.loops.rows, self.loops.columns
        if d is rows.dimension:
            return rows.count(row) if tensor == 0 else rows.most
        if d is columns.dimension:
            return columns.count(column) if tensor == 1 else columns.most
        return next(e.size for e in self.loops.npu if e is d)

    @property
    def calls(self) -> int:
        """How often the kernel runs on the core that has most to do."""
        return prod(self.loops.trips(d) for d in self.loops.npu)

    def cycles(self, kernel: int) -> dict[str, int]:
        """Cycles of a call at least, by what asks for them, if the primitive takes `kernel`: an estimate.

        Cores compute; a stream brings four bytes a cycle to each row and column, and takes as many from each column.
        """
        moved = {0: 0, 1: 0, 2: 0}
        for column in range(max(self.loops.rows.parts, self.loops.columns.parts)):
            for tensor in moved:
                own = [prod(t.sizes) for t in self.transfers if t.path == tensor and t.column == column]
                moved[tensor] = max(moved[tensor], sum(own) * self.tec.data_type.bytes // 4)
        return {"cores": self.calls * kernel, "in0": moved[0], "in1": moved[1], "out": moved[2]}

    def __str__(self) -> str:
        return "\n".join(map(str, self.sequence))


def npu_program(tec: Tec, array: NpuArray = XDNA_ARRAY) -> NpuProgram:
    """The program of a TEC. Raises ContractionError for what Fig. 6 or the engines of the array do not have."""
    check_npu(tec, array)
    loops = NpuLoops(tec, array)
    if loops.rows.parts > array.columns:
        raise ContractionError(f"{loops.rows.parts} rows get tiles of in0 from {array.columns} columns: too few")
    steps = list(transfers_of(loops))
    return NpuProgram(tec, array, loops, tuple(numbered(steps, array)))
