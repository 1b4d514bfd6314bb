"""Circular buffers of a core, pages of arrays in the memory beside the chip, and the limits that both must keep."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import TargetError
from ...mapping.tiles.choices import PlacedLoad, stores_of
from ...mapping.tiles.program import LevelForm, TileArray, TileBox
from ...target import CoreMesh
from .lowering import LoweredProgram
from .nest import NestText
from .statements import ROW, TILE, CoreTiles, TileAssign, TileReduce, masks_in, refusal

BUFFERS, SEMAPHORES, ARGUMENTS = 32, 16, 341
KERNELS_AND_SEMAPHORES = 106496  # bytes of L1 that are not for circular buffers: assumed, generously
_TREE = 15  # arguments of a load that is delivered by other cores


@dataclass(frozen=True, slots=True)
class CircularBuffer:
    """A circular buffer: its number, its name in kernels, the form of its tiles, and its pages."""

    number: int
    name: str
    element: str
    pages: int

    @property
    def tile_bytes(self) -> int:
        """The bytes of a page, which is one tile."""
        return TILE * TILE * (2 if self.element == "bfloat16" else 4)

    @property
    def bytes(self) -> int:
        """Its size."""
        return self.pages * self.tile_bytes


@dataclass(frozen=True, slots=True)
class PagedArray:
    """An array as tiles, one a page: `leading` x `rows` x `columns` tiles. `down`: a vector that goes down tiles.

    With `by_rows`, a page is a row of elements, of which there are `rows` x `columns`.
    """

    array: TileArray
    leading: tuple[int, ...]
    rows: int
    columns: int
    element: str
    down: bool
    written: bool
    by_rows: bool

    @property
    def element_bytes(self) -> int:
        """The bytes of an element."""
        return 2 if self.element == "bfloat16" else 4

    @property
    def page_bytes(self) -> int:
        """The bytes of a page."""
        return (self.columns if self.by_rows else TILE * TILE) * self.element_bytes


class CoreBuffers:
    """All buffers of a plan. Raises TargetError for what does not fit the hardware, before any text is written."""

    def __init__(self, lowered: LoweredProgram, nest: NestText, mesh: CoreMesh) -> None:
        self.lowered, self.nest = lowered, nest
        self.made: list[CircularBuffer] = []
        self.of: dict[CoreTiles, CircularBuffer] = {}
        self.slots: dict[CoreTiles, tuple[PlacedLoad, str]] = {}
        self._loads(nest)
        self.paged = self._arrays()
        self.stores: dict[tuple[int, TileBox], CoreTiles] = {}
        for number, (box, segment, _) in enumerate(stores_of(nest.program)):
            held = lowered.boxes[segment.number, box, True]
            self.stores[segment.number, box] = held
            self._add(held, held.count * nest.mapping.stores[number])
        for held in lowered.own:
            self._add(held, held.count)
        statements = [s for segment in lowered.segments for s in segment]
        self.scaler: CircularBuffer | None = None
        self.row_numbers: CircularBuffer | None = None
        self.column_numbers: CircularBuffer | None = None
        if any(isinstance(s, TileReduce) for s in statements):
            self.scaler = self._extra("ones", "bfloat16")
        if any(True for s in statements if isinstance(s, TileAssign) for _ in masks_in(s.value)):
            self.row_numbers = self._extra("row_numbers", "float32")
            self.column_numbers = self._extra("column_numbers", "float32")
        self.room = next(memory.size for memory in mesh.memories if memory.name == "l1") - KERNELS_AND_SEMAPHORES
        self._demand()

    def _loads(self, nest: NestText) -> None:
        for load in nest.loads:
            held = self.lowered.boxes[load.segment.number, load.box, False]
            buffers = nest.mapping.loads[load.number].buffers
            self.slots[held] = load, nest.slot(load)
            self._add(held, held.count * nest.slots(load) * buffers)

    def of_load(self, load: PlacedLoad) -> CoreTiles:
        """The array that a load brings."""
        return self.lowered.boxes[load.segment.number, load.box, False]

    def _add(self, held: CoreTiles, pages: int) -> CircularBuffer:
        self.of[held] = self._extra(held.name, held.element, pages)
        return self.of[held]

    def _extra(self, name: str, element: str, pages: int = 1) -> CircularBuffer:
        name = "".join(c if c.isalnum() else "_" for c in name)
        taken = {buffer.name for buffer in self.made}
        unique = next(n for k in range(len(taken) + 1) if (n := f"cb_{name}_{k}" if k else f"cb_{name}") not in taken)
        made = CircularBuffer(len(self.made), unique, element, pages)
        self.made.append(made)
        return made

    def _arrays(self) -> dict[int, PagedArray]:
        """The arrays by number, as large as all tiles of them together."""
        reach: dict[int, list[int]] = {}
        known: dict[int, list[CoreTiles]] = {}
        for (_, box, _), held in self.lowered.boxes.items():
            known.setdefault(box.array.number, []).append(held)
            most = reach.setdefault(box.array.number, list(box.array.shape))
            for dim, (form, size) in enumerate(zip(box.lower, box.shape, strict=True)):
                low, high = form.between(self.nest.ends)
                if low < 0:
                    raise refusal(
                        f"{box.text(self.nest.program.names)} begins {-low} elements in front of the array",
                        held.op,
                        "pad the array, so that tiles begin inside of it",
                    )
                most[dim] = max(most[dim], high + size)
        return {number: self._paged(users, reach[number]) for number, users in known.items()}

    def _paged(self, users: list[CoreTiles], most: list[int]) -> PagedArray:
        box = users[0].box
        assert box is not None
        ways = {held.axes for held in users if len(box.array.shape) == 1 and held.axes}
        if len(ways) > 1:
            hint = "pass it twice, once for each use"
            raise refusal(f"'{box.array.name}' goes down tiles and across tiles", users[0].op, hint)
        down = ways == {(ROW,)}
        by_rows = any(held.by_rows for held in users)
        tiles = [-(-extent // TILE) for extent in most[-2:]]
        if by_rows:
            tiles = [most[-2], tiles[-1] * TILE]
        rows, columns = tiles if len(tiles) == 2 else (tiles[0], 1) if down else (1, tiles[0])
        written = any(held.stored for held in users)
        return PagedArray(box.array, tuple(most[:-2]), rows, columns, users[0].element, down, written, by_rows)

    def page(self, held: CoreTiles) -> str:
        """The number of the first page of a tile of an array, as text: that of its first row, where rows are pages."""
        box = held.box
        assert box is not None
        paged, text = self.paged[box.array.number], ""
        *leading, last = box.lower
        sides: list[tuple[str, int]] = []
        if len(box.lower) > 1:
            *leading, row = leading
            sides = [(self.nest.form(form), n) for form, n in zip(leading, paged.leading, strict=True)]
            sides.append((self.nest.form(row) if paged.by_rows else self._tile(row), paged.rows))
        elif paged.down:
            return self._tile(last)
        if not paged.by_rows:
            sides.append((self._tile(last), paged.columns))
        for index, extent in sides:
            text = index if text in ("", "0") else f"({text}) * {extent}" + (f" + {index}" if index != "0" else "")
        return text

    def column(self, held: CoreTiles) -> str:
        """The first column of a tile of an array, as text."""
        assert held.box is not None
        return self.nest.form(held.box.lower[-1])

    def _tile(self, form: LevelForm) -> str:
        terms = tuple((level, c // TILE) for level, c in form.terms)
        return self.nest.form(LevelForm(form.constant // TILE, terms))

    def row_step(self, held: CoreTiles) -> int:
        """How many pages there are from one row of tiles to the next."""
        assert held.box is not None
        return self.paged[held.box.array.number].columns

    def _demand(self) -> None:
        """Refuse what Tensix cores have no room for."""
        name = self.nest.program.name
        listed = "\n".join(f"    {b.pages} x {b.tile_bytes} bytes of '{b.name.removeprefix('cb_')}'" for b in self.made)
        if len(self.made) > BUFFERS:
            raise TargetError(
                f"'{name}' needs {len(self.made)} circular buffers, and a core has {BUFFERS}:\n{listed}",
                hint="use fewer arrays in a program, or split it in two kernels",
            )
        used = sum(buffer.bytes for buffer in self.made)
        if used > self.room:
            raise TargetError(
                f"the circular buffers of '{name}' take {used} bytes of a core, which has {self.room}:\n{listed}",
                hint="issue loads inside of more loops, with one buffer, or make blocks smaller",
            )
        delivered = sum(bool(shared) for shared in self.nest.shared)
        if 2 * delivered > SEMAPHORES:
            raise TargetError(
                f"'{name}' has {delivered} loads that cores pass on, which need {2 * delivered} semaphores; "
                f"a core has {SEMAPHORES}",
                hint='deliver some of them "per core"',
            )
        arguments = 2 + sum(not paged.written for paged in self.paged.values()) + _TREE * delivered
        if arguments > ARGUMENTS:
            raise TargetError(
                f"the reader of '{name}' takes {arguments} arguments, and a kernel has {ARGUMENTS} at most",
                hint="pass fewer arrays, or deliver them \"per core\"",
            )
