"""Streams of a program as errors tell of them: names, depths, the lines of both ends, and what hung."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ..errors import AlloError, DataflowError, Location, Note, ToolError
from .access import callee_name, is_at_stream, is_end, looks, puts_side
from .builder import string_attr
from .module import Module
from .processes import is_region
from .walk import buffer_location, entry_block, location_of, operations, string_of

# of what makes a stream: how many elements a block has that is put as a whole; how many a word holds
BLOCK, PACKED = "allo.block", "allo.packed"
STREAM_NUMBER = "allo.x_stream"  # of what makes a stream: the place of its facts, by which simulations tell of it
_ASKED = ("asked_by_writer", "asked_by_reader")  # in reports


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


@dataclass(frozen=True, slots=True)
class Waiting:
    """A FIFO at which something waits for ever: the stream, which of an array, and what has passed so far.

    `depth` is what it holds, or what would do.
    """

    stream: StreamFacts
    index: int | None
    depth: int
    puts: int
    gets: int

    @property
    def name(self) -> str:
        return self.stream.element(self.index)


@dataclass(frozen=True, slots=True)
class Hang:
    """Why a program never ends: the FIFO that was `full` first, the depths that it `needs`, what stays `empty`.

    Or one is `asked` again and again, by the end that puts if `asks_for_room`, and nothing passes through any.
    """

    full: Waiting | None
    needs: tuple[Waiting, ...]
    empty: Waiting | None
    asked: Waiting | None = None
    asks_for_room: bool = False

    def error(self) -> DataflowError:
        """The error that tells of it."""
        waiting = self.full or self.asked or self.empty
        assert waiting is not None
        stream = waiting.stream
        so_far = f"{_values(stream.elements(waiting.puts))} been put and {stream.elements(waiting.gets)} taken"
        if waiting is self.asked:
            message = f"stream '{waiting.name}' is asked again and again, and nothing moves in any stream: {so_far}"
            at = stream.put_asks if self.asks_for_room else stream.get_asks
            hint = "end the loop that asks when nothing comes any more, or put what it waits for"
        elif self.full is None:
            message = f"stream '{waiting.name}' is empty, and nothing will be put into it any more: {so_far}"
            at, hint = stream.gets, "put as many elements into it as are taken out"
        else:
            depth = stream.shown(waiting.depth)
            message = (
                f"stream '{waiting.name}' of depth {depth} is full, and what would take elements out waits "
                f"too, or has ended: {so_far}"
            )
            at, hint = stream.puts, self._remedy(stream)
        notes = [Note(f"'{stream.name}' is made here", stream.made)] if stream.made else []
        notes += [Note(f"elements are put into '{stream.name}' here", place) for place in stream.puts]
        notes += [Note(f"elements are taken out of '{stream.name}' here", place) for place in stream.gets]
        asks = [p for p in (*stream.put_asks, *stream.get_asks) if p not in (*stream.puts, *stream.gets)]
        notes += [Note(f"'{stream.name}' is asked here what is in it", place) for place in asks]
        return DataflowError(message, at=at[0] if at else stream.made, hint=hint, notes=notes)

    def _remedy(self, stream: StreamFacts) -> str:
        needs: dict[str, int] = {}
        for need in self.needs:
            needs[need.stream.name] = max(need.stream.shown(need.depth), needs.get(need.stream.name, 0))
        listed = " and ".join(f"{depth} for '{name}'" for name, depth in needs.items())
        if self.asked is not None:
            return (
                f"no depth is enough: with more room, '{self.asked.name}' is asked again and again after "
                f"{self.asked.puts} puts, and nothing moves"
            )
        if self.empty is not None:
            return (
                f"no depth is enough: with more room, '{self.empty.name}' stays empty after "
                f"{self.empty.puts} puts; put as many elements into streams as are taken out"
            )
        if len(needs) == 1:
            listed = f"the least depth that does is {next(iter(needs.values()))}"
        else:
            listed = f"depths that do are {listed}"
        if stream.sequence is None:
            return listed
        return f"{listed}; or let both ends run at the same time: s.dataflow({stream.sequence!r})"


def _values(count: int) -> str:
    return "1 element has" if count == 1 else f"{count} elements have"


def hang_error(report: str, streams: Sequence[StreamFacts]) -> AlloError:
    """The error for what the scheduler of a simulation says: lines of kind, stream, depth, puts, gets.

    A stream is the number of its facts in `streams`, and for an element of an array a blank and its place.
    """
    if "memory\n" in report:
        return ToolError("there is no memory for the stacks of so many processes", hint="run fewer at the same time")
    found: dict[str, list[Waiting]] = {"full": [], "needs": [], "empty": [], **{kind: [] for kind in _ASKED}}
    for line in report.splitlines():
        kind, label, depth, puts, gets = line.split("\t")
        number, _, index = label.partition(" ")
        stream = streams[int(number)]
        waiting = Waiting(stream, int(index) if index else None, int(depth), int(puts), int(gets))
        found[kind].append(waiting)
    full, empty, of_writer, of_reader = (next(iter(found[kind]), None) for kind in ("full", "empty", *_ASKED))
    return Hang(full, tuple(found["needs"]), empty, of_writer or of_reader, of_writer is not None).error()


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
        puts, gets, _sequence(made), put_asks, get_asks, _unit(made),
    )  # fmt: skip


def unit_of(block: int, packed: int) -> Fraction:
    """The `unit` of streams whose blocks have so many elements, or that pack so many."""
    return Fraction(packed, block)


def _unit(made: ir.Operation) -> Fraction:
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
