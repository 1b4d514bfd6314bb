"""Statements of a core on whole tiles: what segments of a tile program become for Tensix cores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ...errors import TargetError
from ...ir.walk import location_of
from ...mapping.tiles.program import LevelForm, TileBox

TILE = 32  # rows and columns of a tile
ROW, COL = "row", "col"
FORMATS = {"float32": "Float32", "bfloat16": "Float16_b", "int32": "Int32"}  # of elements, as TT-Metalium calls them


@dataclass(eq=False)
class ElementLoop:
    """A loop over elements, from 0 on."""

    name: str
    extent: int


@dataclass(eq=False)
class CoreTiles:
    """An array of a core. `axes` says for each of its dimensions whether it goes down or across tiles.

    What comes from, or goes to, the memory beside the chip has a `box`; with `by_rows`, it begins elsewhere than at a
    multiple of 32, and rows of its array are pages.
    """

    name: str
    extents: tuple[int, ...]
    element: str
    axes: tuple[str, ...] | None = None
    box: TileBox | None = None
    stored: bool = False
    by_rows: bool = False
    op: Any = field(default=None, repr=False)

    def tiles(self, axis: str) -> int:
        """How many tiles there are down or across."""
        assert self.axes is not None
        return next((-(-n // TILE) for n, mine in zip(self.extents, self.axes, strict=True) if mine == axis), 1)

    def has(self, axis: str) -> bool:
        """Whether it has a dimension that goes down, or across."""
        return self.axes is not None and axis in self.axes

    @property
    def count(self) -> int:
        """Its tiles."""
        return self.tiles(ROW) * self.tiles(COL)

    @property
    def tile_bytes(self) -> int:
        """The bytes of one of its tiles."""
        return TILE * TILE * (2 if self.element == "bfloat16" else 4)

    @property
    def is_whole(self) -> bool:
        """Whether its elements are integers."""
        return self.element == "int32"


@dataclass(frozen=True, slots=True)
class Everywhere:
    """The same number everywhere."""

    value: float


@dataclass(frozen=True, slots=True)
class Read:
    """Elements of an array; `loops` are its subscripts."""

    held: CoreTiles
    loops: tuple[ElementLoop, ...]


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation on elements: `exp`, `add`, `max`, ..."""

    name: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MaskRow:
    """`levels + sum(coefficient * loop) >= 0`."""

    levels: LevelForm
    loops: tuple[tuple[ElementLoop, int], ...]


@dataclass(frozen=True, slots=True)
class Masked:
    """`value` where all rows of one of the alternatives hold, else `other`."""

    alternatives: tuple[tuple[MaskRow, ...], ...]
    value: Expression
    other: Expression


@dataclass(frozen=True, slots=True)
class Chosen:
    """`value` where `condition`, which is 1 or 0, holds, else `other`."""

    condition: Expression
    value: Expression
    other: Expression


type Expression = Everywhere | Read | Apply | Masked | Chosen


@dataclass(eq=False)
class ElementStatement:
    """`target[where] = value` for all values of `loops`."""

    target: CoreTiles
    where: tuple[ElementLoop, ...]
    value: Expression
    loops: tuple[ElementLoop, ...]
    op: Any = field(repr=False)


@dataclass(eq=False)
class TileAssign:
    """`target = value`, tile by tile; `axes` says for loops whether they go down or across."""

    target: CoreTiles
    value: Expression
    axes: dict[ElementLoop, str]
    op: Any = field(repr=False)


@dataclass(eq=False)
class TileReduce:
    """`target = target op value`, in which `value` is reduced along `axis`."""

    target: CoreTiles
    name: str
    value: CoreTiles
    axis: str
    op: Any = field(repr=False)


@dataclass(eq=False)
class TileProduct:
    """`target = target + left @ right`, or `left @ right.T`; without the first term if `fresh`."""

    target: CoreTiles
    left: CoreTiles
    right: CoreTiles
    transposed: bool
    fresh: bool
    op: Any = field(repr=False)


type TileStatement = TileAssign | TileReduce | TileProduct


def reads_of(value: Expression) -> Iterator[Read]:
    """All reads of an expression."""
    match value:
        case Read():
            yield value
        case Apply():
            for operand in value.operands:
                yield from reads_of(operand)
        case Masked():
            yield from reads_of(value.value)
            yield from reads_of(value.other)
        case Chosen():
            for part in (value.condition, value.value, value.other):
                yield from reads_of(part)


def masks_in(value: Expression) -> Iterator[Masked]:
    """All masks of an expression."""
    match value:
        case Apply():
            for operand in value.operands:
                yield from masks_in(operand)
        case Masked():
            yield value
            yield from masks_in(value.value)
            yield from masks_in(value.other)
        case Chosen():
            for part in (value.condition, value.value, value.other):
                yield from masks_in(part)


def held_in(statement: TileStatement) -> tuple[CoreTiles, ...]:
    """The arrays that a statement reads, without what it adds to."""
    match statement:
        case TileAssign():
            return tuple(read.held for read in reads_of(statement.value))
        case TileReduce():
            return (statement.value, statement.target)
        case TileProduct():
            both = (statement.left, statement.right)
            return both if statement.fresh else (*both, statement.target)


def refusal(message: str, op: Any, hint: str) -> TargetError:
    """The error of something that Tensix cores do not do, with its place in the kernel."""
    return TargetError(message, at=location_of(op) if op is not None else None, hint=hint)
