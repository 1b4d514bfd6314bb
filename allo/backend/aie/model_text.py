"""Text of the processes of the array model: DMA engines, memory tiles and the sequence of a call.

A FIFO of `depth` objects is a stream of elements, which has room for `depth` objects, and a stream of credits: the two
locks of an object FIFO. Who sends an object takes a credit before it; who is done with one gives a credit back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from ...errors import InternalError
from ...layout import Walk
from ...mapping import ArrayFifo, CallArray, ShimTransfer

CREDIT = "i8"


@dataclass(frozen=True, slots=True)
class ModelChannel:
    """A stream of the model."""

    name: str
    element: str
    depth: int
    keeps: bool = False  # elements at its end, as credits do

    @property
    def kind(self) -> str:
        """Its type."""
        return f"!allo.stream<{self.element}, {self.depth}>"


@dataclass(frozen=True, slots=True)
class Pool:
    """The objects of a FIFO in the memory of one tile: elements that have come, and credits for free places."""

    data: ModelChannel
    credits: ModelChannel

    @classmethod
    def of(cls, name: str, element: str, length: int, depth: int) -> Pool:
        """The pool of `depth` objects of `length` elements."""
        credits = ModelChannel(f"{name} free", CREDIT, depth, keeps=True)
        return cls(ModelChannel(name, element, depth * length), credits)


@dataclass(slots=True)
class ModelProcess:
    """A function of the model while it is written: it takes streams and arguments of the call by name."""

    symbol: str
    parameters: dict[str, str] = field(default_factory=dict)  # name -> type
    lines: list[str] = field(default_factory=list)
    count: int = 0
    keeping: set[str] = field(default_factory=set)  # streams that have elements at their end

    def takes(self, channel: ModelChannel) -> str:
        """The value of a stream."""
        if channel.keeps:
            self.keeping.add(channel.name)
        return self.array(channel.name, channel.kind)

    def array(self, name: str, kind: str) -> str:
        """The value of an array of the call."""
        self.parameters.setdefault(name, kind)
        return f"%arg{list(self.parameters).index(name)}"

    def fresh(self) -> str:
        """A name for a value."""
        self.count += 1
        return f"%v{self.count}"

    def get(self, channel: ModelChannel) -> str:
        """Take an element; its value."""
        value = self.fresh()
        self.lines.append(f"{value} = allo.stream_get {self.takes(channel)} : {channel.kind}")
        return value

    def put(self, channel: ModelChannel, value: str) -> None:
        """Put an element."""
        self.lines.append(f"allo.stream_put {self.takes(channel)}, {value} : {channel.kind}")

    def give(self, channel: ModelChannel, times: int = 1) -> None:
        """Put credits."""
        for _ in range(times):
            value = self.fresh()
            self.lines.append(f"{value} = arith.constant 1 : {CREDIT}")
            self.put(channel, value)

    def loops(self, extents: Sequence[int]) -> list[str]:
        """Open loops over extents; their variables."""
        variables = [self.fresh() for _ in extents]
        for variable, extent in zip(variables, extents, strict=True):
            self.lines.append(f"affine.for {variable} = 0 to {extent} {{")
        return variables

    def end(self, loops: Sequence[str]) -> None:
        """Close loops."""
        self.lines += ["}"] * len(loops)

    def move(self, source: ModelChannel, sinks: Sequence[ModelChannel], count: int) -> None:
        """Move elements from one stream into others, each into all before the next one."""
        loops = self.loops([count])
        value = self.get(source)
        for sink in sinks:
            self.put(sink, value)
        self.end(loops)

    @property
    def declaration(self) -> str:
        """The function without its body."""
        return f"func.func private @{self.symbol}({', '.join(self.parameters.values())})"

    def __str__(self) -> str:
        listed = ", ".join(f"%arg{k}: {kind}" for k, kind in enumerate(self.parameters.values()))
        body = "\n".join(f"  {line}" for line in self.lines)
        return f"func.func @{self.symbol}({listed}) {{\n{body}\n  return\n}}"


def element_of(argument: CallArray, walk: Walk, variables: Sequence[str]) -> str:
    """The subscripts of the element of an argument that a walk is at."""
    plain = _without_carries(argument, walk, variables)
    if plain is not None:
        return ", ".join(plain)
    terms = [str(walk.offset)]
    terms += [f"{v} * {stride}" for v, stride in zip(variables, walk.strides, strict=True)]
    address = " + ".join(terms)
    digits = []
    for d, extent in enumerate(argument.shape):
        below = prod(argument.shape[d + 1 :])
        digit = f"({address})" + (f" floordiv {below}" if below > 1 else "")
        digits.append(f"({digit}) mod {extent}" if d else digit)
    return ", ".join(digits)


def _without_carries(argument: CallArray, walk: Walk, variables: Sequence[str]) -> list[str] | None:
    """Subscripts as sums, where each loop moves one of them and none leaves its dimension; None if that is not so."""
    shape = argument.shape
    below = [prod(shape[d + 1 :]) for d in range(len(shape))]
    first = [walk.offset // below[d] % shape[d] for d in range(len(shape))]
    terms = [[str(low)] for low in first]
    last = list(first)
    for variable, extent, stride in zip(variables, walk.extents, walk.strides, strict=True):
        d = next((d for d in range(len(shape)) if stride >= below[d]), len(shape) - 1)
        if stride % below[d]:
            return None
        terms[d].append(f"{variable} * {stride // below[d]}")
        last[d] += (extent - 1) * (stride // below[d])
    inside = all(high < extent for high, extent in zip(last, shape, strict=True))
    return [" + ".join(own) for own in terms] if inside else None


def by_rows(argument: CallArray, walk: Walk) -> Walk:
    """The walk with loops that go on from row to row in two, where rows begin and end with them."""
    reach = [prod(argument.shape[d:]) for d in range(1, len(argument.shape))]
    for length in reach:
        for k, (extent, stride) in enumerate(zip(walk.extents, walk.strides, strict=True)):
            inner, odd = divmod(length, stride)
            if stride < length < extent * stride and not odd and extent % inner == 0:
                walk = walk.split(k, inner)
                break
    return walk


def to_array(text: ModelProcess, transfers: Sequence[ShimTransfer], kinds: Mapping[str, str], queue: ModelChannel,
             tokens: ModelChannel, sinks: Sequence[Pool], length: int) -> None:  # fmt: skip
    """A channel that reads memory: it sends objects of `length` elements, as they come out of its transfers."""
    sent = 0
    for transfer in transfers:
        text.get(queue)
        walk, count = by_objects(by_rows(transfer.argument, transfer.walk), length)
        loops = text.loops(walk.extents[:count])
        if sent == 0:
            for sink in sinks:
                text.get(sink.credits)
        more = text.loops(walk.extents[count:])
        place = element_of(transfer.argument, walk, [*loops, *more])
        value = text.fresh()
        name, kind = transfer.argument.name, kinds[transfer.argument.name]
        text.lines.append(f"{value} = affine.load {text.array(name, kind)}[{place}] : {kind}")
        for sink in sinks:
            text.put(sink.data, value)
        text.end([*loops, *more])
        sent = (sent + len(walk)) % length
        if transfer.token:
            text.give(tokens)


def from_array(text: ModelProcess, transfers: Sequence[ShimTransfer], kinds: Mapping[str, str], queue: ModelChannel,
               tokens: ModelChannel, source: Pool, length: int) -> None:  # fmt: skip
    """A channel that writes memory: it takes objects and gives a credit for each that has gone."""
    text.give(source.credits, source.credits.depth)
    taken = 0
    for transfer in transfers:
        text.get(queue)
        walk, count = by_objects(by_rows(transfer.argument, transfer.walk), length)
        loops = text.loops(walk.extents[:count])
        more = text.loops(walk.extents[count:])
        value = text.get(source.data)
        place = element_of(transfer.argument, walk, [*loops, *more])
        name, kind = transfer.argument.name, kinds[transfer.argument.name]
        text.lines.append(f"affine.store {value}, {text.array(name, kind)}[{place}] : {kind}")
        text.end(more)
        taken = (taken + len(walk)) % length
        if taken == 0:
            text.give(source.credits)
        text.end(loops)
        text.give(tokens)


def by_objects(walk: Walk, length: int) -> tuple[Walk, int]:
    """A walk over whole objects, or over a part of one, and how many of its loops are over objects."""
    if len(walk) <= length:
        return walk, 0
    inner = 1
    for k in reversed(range(len(walk.extents))):
        if inner * walk.extents[k] >= length:
            rest, odd = divmod(length, inner)
            if odd or walk.extents[k] % rest:
                break
            return (walk, k + 1 - (rest > 1)) if rest in (1, walk.extents[k]) else (walk.split(k, rest), k + 1)
        inner *= walk.extents[k]
    raise InternalError(f"objects of {length} elements are not what the loops {walk.extents} move")


def distribute(text: ModelProcess, source: Pool, fifos: Sequence[tuple[ArrayFifo, Pool]], rounds: int) -> None:
    """The channel by which a memory tile gets objects, in parts for several FIFOs."""
    text.give(source.credits, source.credits.depth)
    loops = text.loops([rounds])
    for fifo, pool in fifos:
        text.get(pool.credits)
        text.move(source.data, [pool.data], fifo.length)
    text.give(source.credits)
    text.end(loops)


def pass_on(text: ModelProcess, source: Pool, sinks: Sequence[Pool], length: int, rounds: int,
            read: Walk | None = None, written: Walk | None = None) -> None:  # fmt: skip
    """A channel by which a memory tile, or a core, sends objects on, read or written in the order of a walk."""
    text.give(source.credits, source.credits.depth)
    loops = text.loops([rounds])
    for sink in sinks:
        text.get(sink.credits)
    if read is None and written is None:
        text.move(source.data, [sink.data for sink in sinks], length)
    else:
        _reorder(text, source.data, [sink.data for sink in sinks], length, read, written)
    text.give(source.credits)
    text.end(loops)


def _reorder(text: ModelProcess, source: ModelChannel, sinks: Sequence[ModelChannel], length: int,
             read: Walk | None, written: Walk | None) -> None:  # fmt: skip
    """Move an object by way of memory: written there by one walk, and read by another, or as it lies."""
    rows = Walk(0, (length,), (1,))
    kind, memory = f"memref<{length}x{source.element}>", text.fresh()
    text.lines.append(f"{memory} = memref.alloc() : {kind}")
    for walk, is_written in ((written or rows, True), (read or rows, False)):
        loops = text.loops(walk.extents)
        place = " + ".join(f"{v} * {stride}" for v, stride in zip(loops, walk.strides, strict=True))
        if is_written:
            value = text.get(source)
            text.lines.append(f"affine.store {value}, {memory}[{place}] : {kind}")
        else:
            value = text.fresh()
            text.lines.append(f"{value} = affine.load {memory}[{place}] : {kind}")
            for sink in sinks:
                text.put(sink, value)
        text.end(loops)


def join(text: ModelProcess, fifos: Sequence[tuple[ArrayFifo, Pool]], sink: Pool, rounds: int) -> None:
    """The channel by which a memory tile sends objects that several FIFOs have brought parts of."""
    for _, pool in fifos:
        text.give(pool.credits, pool.credits.depth)
    loops = text.loops([rounds])
    text.get(sink.credits)
    for fifo, pool in fifos:
        text.move(pool.data, [sink.data], fifo.length)
        text.give(pool.credits)
    text.end(loops)
