"""The virtual mapping graph (Dato paper, section 4.1): a node for each position of a task, an edge for each stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import prod

from ..errors import Location, Note
from ..layout import ArrayMove, Walk, part_of


class PartAccess(StrEnum):
    """What a task does with a part of an argument: it reads it, overwrites all of it, or both."""

    IN = "in"
    OUT = "out"
    BOTH = "in and out"


@dataclass(frozen=True, slots=True)
class CallArray:
    """An array that the program is called with."""

    name: str
    element: str  # the type of its elements as MLIR writes it
    bits: int
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ArrayPart:
    """The box of an argument, from the element `low` on, that a task uses: by `steps`, all 1 if there are none.

    With an `order`, a move from the rows of the box, its object is flat, and has its elements in that order; `visited`
    is the walk over the argument that a transfer does then.
    """

    argument: CallArray
    low: tuple[int, ...]
    extents: tuple[int, ...]
    order: ArrayMove | None = None
    visited: Walk | None = None
    steps: tuple[int, ...] = ()

    @property
    def object_extents(self) -> tuple[int, ...]:
        """The shape of its object."""
        return self.extents if self.order is None else (prod(self.extents),)

    @property
    def walk(self) -> Walk:
        """Its addresses, in elements, row by row, or as a transfer visits them."""
        return self.visited or part_of(self.argument.shape, self.low, self.extents, self.steps)

    @property
    def bytes(self) -> int:
        """How much memory it takes."""
        return prod(self.extents) * self.argument.bits // 8

    def meets(self, other: ArrayPart) -> bool:
        """Whether both have an element in common."""
        if self.argument != other.argument:
            return False
        return all(_meet(a, b) for a, b in zip(self.places, other.places, strict=True))

    @property
    def places(self) -> tuple[range, ...]:
        """The subscripts of its elements, in each dimension."""
        boxes = zip(self.low, self.extents, self.steps or (1,) * len(self.low), strict=True)
        return tuple(range(a, a + (n - 1) * step + 1, step) for a, n, step in boxes)

    def __str__(self) -> str:
        slices = (f"{own[0]}:{own[-1] + 1}" + (f":{own.step}" if own.step > 1 else "") for own in self.places)
        return f"{self.argument.name}[{', '.join(slices)}]"


@dataclass(frozen=True, slots=True)
class PartUse:
    """The part of an argument that parameter number `parameter` of a task stands for."""

    parameter: int
    part: ArrayPart
    access: PartAccess


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """The end of a stream that parameter number `parameter` of a task stands for.

    If it is one block, as an array, `over` are parameters with blocks that may be in the same memory before."""

    parameter: int
    stream: str
    puts: bool
    over: frozenset[int] | None


@dataclass(frozen=True, slots=True)
class VirtualNode:
    """A task at a position. Nodes with one `function` do the same on parts and streams of their own.

    `arrays` are those that it makes: places in the memory of a core, and bytes. Nodes of one core share places.
    """

    name: str
    task: str
    position: tuple[int, ...]
    function: str
    parts: tuple[PartUse, ...]
    ends: tuple[StreamEnd, ...]
    arrays: tuple[tuple[str, int], ...]
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class VirtualStream:
    """A stream from one node to another: `tokens` elements of `bits` bits, in blocks of `block`; `depth` elements."""

    name: str
    element: str
    bits: int
    block: int
    depth: int
    tokens: int
    producer: str
    consumer: str

    @property
    def bytes(self) -> int:
        """What passes through in one run."""
        return self.tokens * self.bits // 8


@dataclass(frozen=True, slots=True)
class StreamMoves:
    """What one statement takes out of streams, and what it puts into streams then: elements, by stream."""

    gets: tuple[tuple[str, int], ...]
    puts: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class RepeatedMoves:
    """Moves of each iteration of a loop, in their order; it leaves streams with as many elements as they had."""

    moves: tuple[StreamMoves | RepeatedMoves, ...]


@dataclass(frozen=True, slots=True)
class StreamCircle:
    """Nodes that pass streams in a circle, which take turns on one core, iteration by iteration.

    `held` are the elements that each stream between them has at most then; `spans` the first and the last statement of
    that order that uses a part of an argument, by node and parameter; `moves` are those of that order. An `obstacle` is
    why there is no such order, with the lines where they wait.
    """

    nodes: tuple[str, ...]
    held: Mapping[str, int] = field(default_factory=dict, hash=False)
    spans: Mapping[tuple[str, int], tuple[int, int]] = field(default_factory=dict, hash=False)
    moves: tuple[StreamMoves | RepeatedMoves, ...] = field(default=(), hash=False)
    obstacle: str = ""
    waits: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class VirtualGraph:
    """All positions of the tasks of a region, with the streams between them and the arguments that they use.

    `idle` are the names of positions that have nothing to do, which are no nodes.
    """

    arguments: tuple[CallArray, ...]
    nodes: tuple[VirtualNode, ...]
    streams: tuple[VirtualStream, ...]
    idle: tuple[str, ...] = ()
    circles: tuple[StreamCircle, ...] = ()
    _nodes: dict[str, VirtualNode] = field(init=False, repr=False, compare=False)
    _puts: dict[str, list[VirtualStream]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        puts: dict[str, list[VirtualStream]] = {}
        for stream in self.streams:
            puts.setdefault(stream.producer, []).append(stream)
        object.__setattr__(self, "_nodes", {node.name: node for node in self.nodes})
        object.__setattr__(self, "_puts", puts)

    def node(self, name: str) -> VirtualNode:
        """The node of that name."""
        return self._nodes[name]

    def puts_of(self, node: str) -> Sequence[VirtualStream]:
        """The streams that a node puts into."""
        return self._puts.get(node, ())

    def stream(self, name: str) -> VirtualStream:
        """The stream of that name."""
        return next(stream for stream in self.streams if stream.name == name)

    def orders(self) -> set[tuple[str, int]]:
        """The parameters, by function and number, whose objects are in an order of their own."""
        return {
            (node.function, use.parameter)
            for node in self.nodes for use in node.parts
            if use.part.order is not None and not use.part.order.is_identity
        }  # fmt: skip

    def classes(self) -> dict[str, tuple[str, ...]]:
        """The nodes that do the same, by the function that they run."""
        found: dict[str, list[str]] = {}
        for node in self.nodes:
            found.setdefault(node.function, []).append(node.name)
        return {function: tuple(names) for function, names in found.items()}

    def __str__(self) -> str:
        lines = []
        for names in self.classes().values():
            node = self.node(names[0])
            uses = ", ".join(f"{use.part} {use.access}" for use in node.parts)
            more = f" and {len(names) - 1} like it" if len(names) > 1 else ""
            lines.append(f"{node.name}{more}: {uses or 'no argument'}")
        lines += [_edge(stream) for stream in self.streams]
        return "\n".join(lines)


def _edge(stream: VirtualStream) -> str:
    count = f"{stream.tokens:,} x {stream.element}, {stream.bytes:,} bytes"
    return f"{stream.producer} -> {stream.consumer}: {stream.name}, {count}"


def _meet(one: range, other: range) -> bool:
    """Whether two ranges have a number in common."""
    if one[-1] < other[0] or other[-1] < one[0]:
        return False
    if one.step == other.step == 1:
        return True
    few, many = sorted((one, other), key=len)
    return any(number in many for number in few)


def overlapping(uses: Sequence[tuple[VirtualNode, PartUse]]) -> tuple[VirtualNode, VirtualNode, PartUse] | None:
    """Two nodes of which one writes, through the use given, what the other uses too."""
    of_array: dict[str, list[tuple[VirtualNode, PartUse]]] = {}
    for node, use in uses:
        of_array.setdefault(use.part.argument.name, []).append((node, use))
    for writer, use in uses:
        if use.access is PartAccess.IN:
            continue
        for other, also in of_array[use.part.argument.name]:
            if other.name != writer.name and use.part.meets(also.part):
                return writer, other, use
            if other.name == writer.name and also.parameter != use.parameter and use.part.meets(also.part):
                return writer, other, use
    return None
