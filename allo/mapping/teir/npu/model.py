"""Model of an array that runs the program of a contraction: descriptors, layouts, streams, joins, cores, waits."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ....errors import ContractionError
from ..values import ExecType, PrimFirst
from .program import NpuProgram, TileLayout
from .transfers import NpuTransfer, NpuWait

Array = NDArray[Any]
_BF16 = np.dtype(ml_dtypes.bfloat16)


def run_on_array(program: NpuProgram, in0: Array, in1: Array, out: Array, init: Array | None = None) -> None:
    """Run a program on flat arrays of bfloat16; `out` gets its values.

    `init` are the first values of the output if `prim_first` is `copy`. Sums of one call of the kernel are float32,
    and rounded at its end, as those of section 4 of the thesis are, whose tile of the output is bfloat16. Raises
    ContractionError where the hardware would wait for ever or lose a transfer, and for arrays that do not fit.
    """
    copies = program.tec.prim_first is PrimFirst.COPY
    if copies != (init is not None):
        raise ContractionError(f"prim_first is {program.tec.prim_first}: init is {'needed' if copies else 'not used'}")
    first = out if init is None else init
    for name, array, k in (("in0", in0, 0), ("in1", in1, 1), ("out", out, 2), ("init", first, 2)):
        least = program.tec.extent(k)
        fits = isinstance(array, np.ndarray) and array.dtype == _BF16 and array.ndim == 1 and array.size >= least
        if not fits:
            raise ContractionError(f"{name} is a flat bfloat16 array of {least} elements at least")
    seq = [d for d in program.tec.dimensions if d.execution is ExecType.SEQ]
    for index in product(*(range(d.size) for d in seq)):
        starts = [sum(i * d.strides[k] for i, d in zip(index, seq, strict=True)) for k in range(3)]
        own = (in0[starts[0] :], in1[starts[1] :], out[starts[2] :], first[starts[2] :])
        _Call(program, own).run()


class _Call:
    def __init__(self, program: NpuProgram, arrays: tuple[Array, Array, Array, Array]) -> None:
        self.program, self.arrays = program, arrays
        self.inputs: dict[tuple[int, int], list[Array]] = {}
        self.outputs: dict[tuple[int, int], list[Array]] = {}

    def run(self) -> None:
        """What is read, computed, and written; the order of the sequence has been checked before."""
        self._check_sequence()
        for transfer in self.program.transfers:
            if transfer.tensor != 2:
                self.inputs.setdefault((transfer.path, transfer.column), []).extend(self._read(transfer))
        loops = self.program.loops
        for row, column in product(range(loops.rows.parts), range(loops.columns.parts)):
            self._core(row, column)
        for transfer in self.program.transfers:
            if transfer.tensor == 2:
                self._write(transfer)
        left = [key for key, tiles in self.outputs.items() if tiles]
        if left:
            raise ContractionError(f"cores {left} have tiles that no transfer takes: the array would wait for ever")

    def _check_sequence(self) -> None:
        """Descriptors that are under way are not written again, and no queue has too many transfers.

        Transfers of inputs are over when all outputs of their step are, for which they are needed.
        """
        busy: dict[tuple[int, int], NpuTransfer] = {}
        queues: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for item in self.program.sequence:
            if isinstance(item, NpuWait):
                queue = queues.get((item.column, item.rows), [])
                if not queue:
                    raise ContractionError(f"the array would {item} for ever: none is under way")
                step = queue.pop(0)
                if not any(step in queue for queue in queues.values()):
                    busy = {key: held for key, held in busy.items() if held.step != step}
                continue
            key = (item.column, item.descriptor)
            if not 0 <= item.descriptor < self.program.array.descriptors:
                there = f"there are {self.program.array.descriptors}, from 0 on"
                raise ContractionError(f"column {item.column} has no descriptor {item.descriptor}: {there}")
            if key in busy:
                raise ContractionError(f"descriptor {item.descriptor} of column {item.column} is under way")
            busy[key] = item
            queued = sum(held.column == item.column and held.path == item.path < 2 for held in busy.values())
            if queued > self.program.array.outstanding:
                raise ContractionError(f"more than {self.program.array.outstanding} transfers wait on a channel")
            if item.tensor == 2:
                queue = queues.setdefault((item.column, item.rows), [])
                queue.append(item.step)
                if len(queue) > self.program.array.outstanding:
                    raise ContractionError(f"more than {self.program.array.outstanding} transfers wait on a channel")
        if any(queues.values()):
            raise ContractionError("the sequence ends before all transfers have")

    def _read(self, transfer: NpuTransfer) -> list[Array]:
        """Tiles in the order of the stream, in blocks of the vector unit."""
        data = self._view(transfer).reshape(-1, transfer.sizes[2] * transfer.sizes[3])
        layout = self.program.layout(transfer.path)
        return [turned_tile(tile, layout) for tile in data]

    def _view(self, transfer: NpuTransfer) -> Array:
        array = self.arrays[transfer.tensor]
        last = transfer.offset + sum((n - 1) * s for n, s in zip(transfer.sizes, transfer.strides, strict=True))
        if last >= array.size:
            raise ContractionError(f"{transfer} leaves its tensor, which has {array.size} elements")
        return as_strided(array[transfer.offset :], transfer.sizes, [2 * stride for stride in transfer.strides])

    def _core(self, row: int, column: int) -> None:
        """The loops of one core on what is sent to its row and column."""
        m, n, k = (d.size for d in self.program.tec.primitive)
        turned, s = self.program.turned, self.program.step
        streams = (self.inputs.get((0, row), []), self.inputs.get((1, column), []))
        at = [0, 0]
        total = np.zeros((m // 4, n // 4, 4, 4), np.float32)
        for event in self.program.core(row, column):
            if event.kind == "zero":
                total = np.zeros_like(total)
            elif event.kind == "first":
                total = self._first(_next(streams[1], at, 1, (row, column)))
            elif event.kind == "relu":
                total = np.maximum(total, 0)
            elif event.kind == "send":
                blocks = total.swapaxes(2, 3) if turned[2] else total
                self.outputs.setdefault((row, column), []).append(blocks.astype(_BF16).reshape(-1))
            elif event.kind == "drop":
                at[event.tensor] += event.count
            else:
                for _ in range(event.count):
                    a, b = (_next(streams[t], at, t, (row, column)) for t in (0, 1))
                    left = _blocks(a, (m // 4, k // s, 4, s), turned[0])
                    right = _blocks(b, (k // s, n // 4, s, 4), turned[1])
                    total = total + np.einsum("mkrs,knst->mnrt", left, right, optimize=True)
                    total = total.astype(_BF16).astype(np.float32)
        if [len(stream) for stream in streams] != at:
            message = f"core ({row}, {column}) takes {at} tiles of in0 and in1, and is sent {[len(s) for s in streams]}"
            raise ContractionError(message)

    def _first(self, tile: Array) -> Array:
        """First values, which came in the blocks of a tile of in1, as blocks of the output."""
        m, n, _ = (d.size for d in self.program.tec.primitive)
        high = self.program.step // 4
        blocks = tile.astype(np.float32).reshape(m // 4 // high, n // 4, high, 4, 4).swapaxes(1, 2)
        blocks = blocks.reshape(m // 4, n // 4, 4, 4)
        return np.maximum(blocks, 0) if self.program.tec.prim_first is PrimFirst.RELU else blocks

    def _write(self, transfer: NpuTransfer) -> None:
        """Tiles of some rows of a column, joined, to memory."""
        view = self._view(transfer)
        turns = transfer.tiles // len(transfer.rows)
        layout, tiles = self.program.layout(2), []
        for _ in range(turns):
            for row in transfer.rows:
                waiting = self.outputs.get((row, transfer.column), [])
                if not waiting:
                    raise ContractionError(f"{transfer} waits for a tile of row {row} for ever")
                tiles.append(turned_tile(waiting.pop(0), layout))
        view[...] = np.stack(tiles).reshape(transfer.sizes)


def _next(stream: list[Array], at: list[int], tensor: int, core: tuple[int, int]) -> Array:
    """The next tile that comes to a core."""
    if at[tensor] >= len(stream):
        raise ContractionError(f"core {core} waits for a tile for ever")
    at[tensor] += 1
    return stream[at[tensor] - 1]


def _blocks(tile: Array, shape: tuple[int, int, int, int], turned: bool) -> Array:
    """The blocks of a tile, as the vector unit takes them."""
    rows, columns, r, s = shape
    blocks = tile.reshape(rows, columns, s, r).swapaxes(2, 3) if turned else tile.reshape(shape)
    return blocks.astype(np.float32)


def turned_tile(tile: Array, layout: TileLayout) -> Array:
    """The elements of a tile in the order in which an engine of a memory tile sends them."""
    view: Array = as_strided(tile, layout.sizes, [stride * tile.itemsize for stride in layout.strides])
    return view.reshape(-1).copy()
