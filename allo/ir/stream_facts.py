"""Streams of a program as errors tell of them: names, depths, the lines of both ends."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ..errors import Location
from .access import callee_name, is_at_stream, is_end, looks, puts_side
from .builder import string_attr
from .module import Module
from .processes import is_region
from .walk import buffer_location, entry_block, location_of, operations, string_of

# of what makes a stream: how many elements a block has that is put as a whole; how many a word holds
BLOCK, PACKED = "allo.block", "allo.packed"
STREAM_NUMBER = "allo.x_stream"  # of what makes a stream: the place of its facts, by which simulations tell of it


@dataclass(frozen=True, slots=True)
class StreamFacts:
    """What makes a stream, or an array of streams of these extents, and where elements go in and out.

    `sequence` is the function around it if that runs its statements one after the other; at `put_asks` the end that
    puts asks whether there is room, or tries, and at `get_asks` the other end.

    `unit` is what of the depth that users say one place of the FIFO is: a part of a block, or several packed elements.
    """

    name: str
    extents: tuple[int, ...]
    depth: int
    made: Location | None
    puts: tuple[Location, ...]
    gets: tuple[Location, ...]
    sequence: str | None
    put_asks: tuple[Location, ...] = ()
    get_asks: tuple[Location, ...] = ()
    unit: Fraction = Fraction(1)

    def shown(self, depth: int) -> int:
        """The depth of a FIFO as users say it."""
        return ceil(depth * self.unit)

    def elements(self, count: int) -> int:
        """How many elements so many puts or gets move."""
        return int(count * max(self.unit, Fraction(1)))

    def element(self, index: int | None) -> str:
        """The name of the stream, with its subscripts if it is an element of an array."""
        subscripts: list[str] = []
        for extent in reversed(self.extents):
            index, place = divmod(index or 0, extent)
            subscripts.insert(0, str(place))
        return f"{self.name}[{', '.join(subscripts)}]" if subscripts else self.name


def number_streams(module: Module) -> tuple[StreamFacts, ...]:
    """Give each stream that `module` makes a number; what is known of them, by number."""
    made = [op for function in module.functions() for op in made_streams(function)]
    for number, op in enumerate(made):
        op.attributes[STREAM_NUMBER] = string_attr(str(number))
    return tuple(facts_of(module, op) for op in made)


def made_streams(function: ir.OpView) -> list[ir.Operation]:
    """The operations of a function that make streams and arrays of streams."""
    entry = entry_block(function)
    found = []
    for op in operations(entry, "allo.stream_create", "memref.alloc") if entry is not None else ():
        kind = op.results[0].type
        if isinstance(kind.element_type if op.name == "memref.alloc" else kind, allo_d.StreamType):
            found.append(op)
    return found


def facts_of(module: Module, made: ir.Operation) -> StreamFacts:
    """What is known of the stream, or array of streams, that an operation makes."""
    kind = made.results[0].type
    extents: tuple[int, ...] = ()
    if isinstance(kind, ir.MemRefType):
        extents, kind = tuple(kind.shape), kind.element_type
    places: dict[str, list[Location]] = {"puts": [], "gets": [], "put_asks": [], "get_asks": []}
    _find_ends(module, made.results[0], places)
    puts, gets, put_asks, get_asks = (tuple(dict.fromkeys(found)) for found in places.values())
    name = string_of(made, "allo.name") or "stream"
    return StreamFacts(
        name, extents, allo_d.StreamType(kind).depth, buffer_location(made.results[0]),
        puts, gets, _sequence(made), put_asks, get_asks, unit_of_made(made),
    )  # fmt: skip


def unit_of(block: int, packed: int) -> Fraction:
    """The `unit` of streams whose blocks have so many elements, or that pack so many."""
    return Fraction(packed, block)


def unit_of_made(made: ir.Operation) -> Fraction:
    """The `unit` of a stream, or of an array of streams, that an operation makes."""
    block, packed = (
        int(ir.IntegerAttr(made.attributes[name]).value) if name in made.attributes else 1 for name in (BLOCK, PACKED)
    )
    return unit_of(block, packed)


def _sequence(made: ir.Operation) -> str | None:
    """What `dataflow` would have to make a region: the function around, unless the block is one."""
    if is_region(made.block):
        return None
    op = made
    while op.name != "func.func":
        assert op.parent is not None
        op = op.parent.operation
    return str(ir.StringAttr(op.attributes["sym_name"]).value)


def _find_ends(module: Module, value: ir.Value, places: dict[str, list[Location]]) -> None:
    for use in value.uses:
        op = use.owner.operation
        place = location_of(op)
        if is_at_stream(op) and place is not None:
            end = "put" if puts_side(op) else "get"
            places[f"{end}s"] += [] if looks(op) else [place]
            places[f"{end}_asks"] += [] if is_end(op) else [place]
        elif op.name in ("affine.load", "memref.load"):
            _find_ends(module, op.results[0], places)
        elif op.name == "func.call":
            entry = entry_block(module.function(callee_name(op)))
            if entry is not None:
                _find_ends(module, entry.arguments[use.operand_number], places)
