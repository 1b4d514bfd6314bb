"""Tiles that cores hold in a run without data: whether each segment runs once, in order, with all that it reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from ...errors import VerificationError
from ...mapping.tiles.choices import TileMapping, footprint, loads_of, nest_of
from ...mapping.tiles.program import Indices, TileBox, TileNode, TileProgram, TileSegment

type Core = tuple[int, ...]
type Place = tuple[int, ...]
type Ran = tuple[int, Indices]  # a segment, and the indices of all levels


class HeldTiles:
    """What holds of a mapped program for any data, tried for all of its instances (`tile.TilePlan.verify`).

    Programs are proven to be independent, and the tile that a segment reads or writes covers what its statements do;
    so a plan computes what the kernel does if each program runs on one core without another one in between, its
    segments once and in their order, each with its tiles in buffers, and if each result is stored behind its segment.
    Raises VerificationError for what does not hold.
    """

    def __init__(self, program: TileProgram, mapping: TileMapping) -> None:
        self.program = program
        self.segments = {segment.number: segment for segment, _ in program.segments}
        self.held: dict[tuple[Core, TileBox], Counter[Place]] = {}
        self.ran: dict[Indices, list[Ran]] = {}
        self.cores: dict[Core, Indices] = {}  # the program that each core runs
        self.left: dict[Core, list[tuple[TileBox, Place]]] = {}  # what each core has computed and not stored
        self.room: Counter[TileBox] = Counter()
        for load, choice in zip(loads_of(program), mapping.loads, strict=True):
            nest = nest_of(mapping.space_time, load.loops)
            self.room[load.box] += footprint(load.box, nest, choice.level) * choice.buffers

    def arrived(self, core: Core, box: TileBox, place: Sequence[int]) -> None:
        """A tile is in a buffer of the core."""
        places = self.held.setdefault((core, box), Counter())
        places[tuple(place)] += 1
        if places.total() * box.bytes > self.room[box] and (used := _elements(box, places)) > self.room[box]:
            room = f"has {self.room[box]} for them"
            self._refuse(f"core {list(core)} holds {used} bytes of {self._text(box)}, and {room}")

    def released(self, core: Core, box: TileBox, place: Sequence[int]) -> None:
        """The buffer of a tile is free."""
        places = self.held.get((core, box), Counter())
        if not places[tuple(place)]:
            self._refuse(f"core {list(core)} frees {self._text(box)} at {list(place)}, which it does not hold")
        places[tuple(place)] -= 1
        if not places[tuple(place)]:
            del places[tuple(place)]

    def compute(self, core: Core, segment: int, indices: Sequence[int]) -> None:
        """The core runs a segment."""
        known, at = self.segments[segment], tuple(indices)
        program = at[: len(self.program.grid)]
        for box in known.loads:
            place = box.at(at)
            if box.bytes_at(place) and not self.held.get((core, box), Counter())[place]:
                self._refuse(f"core {list(core)} does not hold {self._text(box)} at {list(place)}", at)
        if self.left.get(core):
            self._refuse(f"core {list(core)} has not stored {self._text(self.left[core][0][0])}", at)
        if program in self.ran and self.cores.get(core) != program:
            self._refuse(f"core {list(core)} goes on with a program that another one has begun, or it has left", at)
        self.cores[core] = program
        self.ran.setdefault(program, []).append((segment, at))
        self.left[core] = [(box, place) for box in known.stores if box.bytes_at(place := box.at(at))]

    def stored(self, core: Core, box: TileBox, place: Sequence[int]) -> None:
        """A tile of results goes to the memory beside the chip."""
        wanted = box, tuple(place)
        if wanted not in self.left.get(core, ()):
            self._refuse(f"core {list(core)} stores {self._text(box)} at {list(place)}, which it has not computed")
        self.left[core].remove(wanted)

    def demand_all(self) -> None:
        """Refuse a run in which a segment did not run, or results were not stored."""
        for program in product(*map(range, self.program.grid)):
            indices = [*program, *([0] * (len(self.program.names) - len(program)))]
            if self.ran.get(program, []) != list(_expected(self.program.body, indices)):
                self._refuse("segments are missing, or do not run in order", program)
        for core, stores in self.left.items():
            if stores:
                self._refuse(f"core {list(core)} has not stored {self._text(stores[0][0])}")

    def _text(self, box: TileBox) -> str:
        return box.text(self.program.names)

    def _refuse(self, reason: str, indices: Sequence[int] = ()) -> None:
        named = zip(self.program.names, indices, strict=False)
        where = ", ".join(f"{name} = {value}" for name, value in named)
        raise VerificationError(
            f"the plan is wrong: {reason}" + (f", where {where}" if where else ""),
            hint="please report it: plans do not change results",
        )


def _expected(nodes: Sequence[TileNode], indices: Sequence[int]) -> Iterator[Ran]:
    """The segments of one program in the order of the kernel; levels that do not stand around one are 0."""
    for node in nodes:
        if isinstance(node, TileSegment):
            yield node.number, tuple(indices)
            continue
        for value in node.values(indices):
            inner = list(indices)
            inner[node.level] = value
            yield from _expected(node.body, inner)


def _elements(box: TileBox, places: Counter[Place]) -> int:
    """The bytes of tiles that may overlap; those of several buffers count once each."""
    whole = np.zeros(box.array.shape, np.int32)
    for place, times in places.items():
        part = whole[box.part(place)]
        np.maximum(part, times, out=part)
    return int(whole.sum()) * box.array.element_bytes
