"""Tiles of an array and what joins them: ports of stream switches by direction, memories of neighbours, cascades."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class TileSide(StrEnum):
    """A side of a tile; rows are counted from the south, columns from the west."""

    NORTH = "north"
    EAST = "east"
    SOUTH = "south"
    WEST = "west"

    @property
    def opposite(self) -> TileSide:
        """The side that a neighbour on this side has towards the tile."""
        return _OPPOSITE[self]


_OPPOSITE = {
    TileSide.NORTH: TileSide.SOUTH, TileSide.EAST: TileSide.WEST,
    TileSide.SOUTH: TileSide.NORTH, TileSide.WEST: TileSide.EAST,
}  # fmt: skip
_STEPS = {TileSide.NORTH: (0, 1), TileSide.EAST: (1, 0), TileSide.SOUTH: (0, -1), TileSide.WEST: (-1, 0)}


@dataclass(frozen=True, slots=True, order=True)
class Tile:
    """A tile by its column and row."""

    column: int
    row: int

    def toward(self, side: TileSide) -> Tile:
        """The tile on that side; it may be outside of an array."""
        column, row = _STEPS[side]
        return Tile(self.column + column, self.row + row)

    def distance(self, other: Tile) -> int:
        """How many steps to a neighbour it is away."""
        return abs(self.column - other.column) + abs(self.row - other.row)

    def __str__(self) -> str:
        return f"({self.column}, {self.row})"


@dataclass(frozen=True, slots=True)
class SwitchPorts:
    """Ports of a stream switch in one sense, each for a stream of its own: by side, and those within the tile.

    Channels of the DMA engine have a port each besides (those of a shim tile at its south, behind a multiplexer).
    """

    north: int
    east: int
    south: int
    west: int
    core: int
    fifo: int
    trace: int

    def at(self, side: TileSide) -> int:
        """How many there are on a side."""
        return {
            TileSide.NORTH: self.north, TileSide.EAST: self.east, TileSide.SOUTH: self.south,
            TileSide.WEST: self.west,
        }[side]  # fmt: skip


@dataclass(frozen=True, slots=True)
class StreamSwitch:
    """The stream switch of a tile: each input port feeds one output port or, as a broadcast, several.

    With `keeps_channel`, what passes through leaves by the channel of the number by which it came.
    """

    inputs: SwitchPorts
    outputs: SwitchPorts
    keeps_channel: bool


@dataclass(frozen=True, slots=True)
class Cascade:
    """Wires of `bits` from the core on one of the sides `inputs` to that on one of the sides `outputs`."""

    bits: int
    inputs: tuple[TileSide, ...]
    outputs: tuple[TileSide, ...]
