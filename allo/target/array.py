"""Arrays of processors: a grid of tiles, their memories, DMA engines and descriptors, and what one core computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from .array_switch import Cascade, StreamSwitch, Tile, TileSide
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
    """A kind of tile: bytes of memory in so many banks, those that the stack takes, bytes of program, its DMA engine,
    its stream switch.

    `own` is the address at which a core has its memory, `beside` those of the memories of cores on other sides of it.
    `far` DMA channels in each sense reach the memories of the tiles of this kind in the east and west.
    """

    memory: int
    banks: int
    stack: int
    program: int
    dma: DmaLimits
    switch: StreamSwitch
    own: int | None
    beside: Mapping[TileSide, int]
    far: int


@dataclass(frozen=True, slots=True)
class NativeProduct:
    """Products of matrices that are one instruction: their shapes m x k x n, multiply-accumulates a cycle of a core."""

    rate: int
    shapes: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class ArrayTiming:
    """What takes time: bytes a cycle of channels and of the loads and stores of a core, whose vector instructions work
    on `vector` bytes.

    A stream takes `hop` cycles through a switch. `branch` cycles are of a loop with a loop inside, `call` of a kernel,
    `block` of each block of results of a product of matrices, beside an instruction for each native product.
    """

    stream: int
    load: int
    store: int
    vector: int
    hop: int
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
    cascade: Cascade | None

    @property
    def cores(self) -> int:
        """How many cores there are."""
        return self.columns * self.core_rows

    @property
    def access(self) -> int:
        """How many bytes of its memory a core stores at once, as it does with each of its loads."""
        return self.timing.store

    @property
    def first_core_row(self) -> int:
        """The row of the lowest core, above the shim tile and the memory tile."""
        return 2

    @property
    def core_tiles(self) -> tuple[Tile, ...]:
        """The tiles with cores, column by column."""
        rows = range(self.first_core_row, self.first_core_row + self.core_rows)
        return tuple(Tile(column, row) for column in range(self.columns) for row in rows)

    def has(self, tile: Tile) -> bool:
        """Whether there is such a tile."""
        return 0 <= tile.column < self.columns and 0 <= tile.row < self.first_core_row + self.core_rows

    def kind(self, tile: Tile) -> TileKind:
        """What a tile is for."""
        return (TileKind.SHIM, TileKind.MEMORY)[tile.row] if tile.row < self.first_core_row else TileKind.CORE

    def ports(self, tile: Tile, side: TileSide) -> int:
        """How many streams go from a tile to its neighbour on a side; none where there is no neighbour."""
        return self.tiles[self.kind(tile)].switch.outputs.at(side) if self.has(tile.toward(side)) else 0

    def sees(self, core: Tile, memory: Tile) -> bool:
        """Whether the core of a tile loads from and stores to the memory of another one, or its own."""
        if core == memory:
            return True
        beside = self.tiles[TileKind.CORE].beside
        return self.kind(memory) is TileKind.CORE and any(core.toward(side) == memory for side in beside)

    def shared_memory(self, producer: Tile, consumer: Tile) -> Tile | None:
        """The tile whose memory two cores see, that of the producer if it can be; None if DMA engines are needed."""
        return next(
            (own for own in (producer, consumer) if self.sees(producer, own) and self.sees(consumer, own)), None
        )

    def cascades(self, producer: Tile, consumer: Tile) -> bool:
        """Whether the cascade of one core ends in another."""
        cores = self.kind(producer) is self.kind(consumer) is TileKind.CORE
        sides = () if self.cascade is None or not cores else self.cascade.outputs
        return any(producer.toward(side) == consumer for side in sides)
