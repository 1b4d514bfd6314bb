"""Contractions on an array of compute tiles: transfers, layouts of tiles, and the loops of each core.

Source: Steinert (2025), sections 5.1, 5.3 and 5.4. Tiles of in0 go to rows and tiles of in1 to columns of the array;
those of the output are joined along columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from ....errors import ContractionError
from ..values import DimType, Tec
from .rules import XDNA_ARRAY, NpuArray, check_npu
from .transfers import NpuLoops, NpuTransfer, NpuWait, numbered, transfers_of


@dataclass(frozen=True, slots=True)
class CoreEvent:
    """What a core does next: `zero` a tile, `multiply` two that arrive, `send` one, or `drop` of an input."""

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

        For inputs it is applied when a memory tile sends (to `mkrs`, `knst`), for the output too (from `mnrt`): the
        order of a transposed tile is another one of the same four dimensions.
        """
        m, n, k = (d.size for d in self.tec.primitive)
        first, second, a, b = ((m, k, 4, 8), (k, n, 8, 4), (m, n, 4, 4))[tensor]
        one, two = ((0, 2), (2, 1), (0, 1))[tensor]
        dimensions = self.tec.primitive
        if dimensions[one].strides[tensor] >= dimensions[two].strides[tensor]:
            step, unit = second, 1
        else:
            step, unit = 1, first
        if tensor == 2:
            blocks = ((first // a, second // b, a, b), (a * b * (second // b), a * b, b, 1))
            sizes, strides = blocks
            order = (0, 2, 1, 3) if unit == 1 else (1, 3, 0, 2)
            return TileLayout(tuple(sizes[p] for p in order), tuple(strides[p] for p in order))
        return TileLayout((first // a, second // b, a, b), (a * step, b * unit, step, unit))

    def core(self, row: int, column: int) -> Iterator[CoreEvent]:
        """What the core of a position does, in order. One that has fewer tiles drops what others still need."""
        yield from self.core_loop(row, column).events()

    def core_loop(self, row: int, column: int) -> CoreLoop:
        """The same as nested loops, of one that is run once."""
        return CoreLoop(1, self._nest(0, row, column))

    def _nest(self, depth: int, row: int, column: int) -> tuple[CoreEvent | CoreLoop, ...]:
        npu = self.loops.npu
        if depth == len(npu) or npu[depth].type is DimType.K:
            steps = prod(d.size for d in npu[depth:])
            return CoreEvent("zero"), CoreEvent("multiply", count=steps), CoreEvent("send")
        d, rows, columns = npu[depth], self.loops.rows, self.loops.columns
        position = row if d is rows.dimension else column
        parts = rows if d is rows.dimension else columns if d is columns.dimension else None
        own = d.size if parts is None else parts.count(position)
        loop = CoreLoop(own, self._nest(depth + 1, row, column))
        if parts is None or own == parts.most:
            return (loop,)
        other = 1 if parts is rows else 0
        inside = prod(self._arrives(e, other, row, column) for e in npu[depth + 1 :])
        return loop, CoreEvent("drop", other, inside * (parts.most - own))

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
                own = [prod(t.sizes) for t in self.transfers if t.tensor == tensor and t.column == column]
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
