"""Arrays of processors: a grid of tiles, their memories, DMA engines and descriptors, and what one core computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from .description import Target


class TileKind(StrEnum):
    """What a tile is for: computing, shared memory, or the way to memory beside the chip."""

    CORE = "core"
    MEMORY = "memory"
    SHIM = "shim"


@dataclass(frozen=True, slots=True)
class DmaLimits:
    """What the DMA engine of a tile can do: channels by direction, descriptors, and the fields of one of them.

    `inputs` are channels from a stream to memory. A descriptor walks `dimensions` and an iteration; `wrap` bounds the
    extents of the two innermost, `step` strides, `length` what one transfer moves, in words of four bytes.
    """

    inputs: int
    outputs: int
    descriptors: int
    locks: int
    dimensions: int
    wrap: int
    step: int
    iterations: int
    length: int


@dataclass(frozen=True, slots=True)
class TileLimits:
    """A kind of tile: bytes of memory, those that the stack takes, bytes of program, and its DMA engine."""

    memory: int
    stack: int
    program: int
    dma: DmaLimits


@dataclass(frozen=True, slots=True)
class NativeProduct:
    """Products of matrices that are one instruction: their shapes m x k x n, multiply-accumulates a cycle of a core."""

    rate: int
    shapes: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class ArrayTiming:
    """What takes time: bytes a cycle of channels and of the loads and stores of a core, whose vector instructions work
    on `vector` bytes.

    `branch` cycles are of a loop with a loop inside, `call` of a kernel, `block` of each block of results of a product
    of matrices, beside an instruction for each native product.
    """

    stream: int
    load: int
    store: int
    vector: int
    branch: int
    call: int
    block: int


@dataclass(frozen=True, slots=True, repr=False)
class ProcessorArray(Target):
    """An array of processors with memories of their own.

    A shim tile and a memory tile are at the foot of each column, `core_rows` cores above them. A call takes at most
    `buffers` arrays; `queue` transfers of a shim channel wait or run at once.
    """

    columns: int
    core_rows: int
    buffers: int
    queue: int
    clocks: Mapping[str, float]
    tiles: Mapping[TileKind, TileLimits]
    products: Mapping[str, NativeProduct]
    timing: ArrayTiming

    @property
    def cores(self) -> int:
        """How many cores there are."""
        return self.columns * self.core_rows

    @property
    def first_core_row(self) -> int:
        """The row of the lowest core, above the shim tile and the memory tile."""
        return 2
