"""Object FIFOs of a mapped program: parts of arguments on their way to and from cores, and streams between cores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from math import prod

from ..layout import Walk
from .circles import is_one_queue, turns_of
from .graph import ArrayPart, PartAccess, PartUse, VirtualGraph, VirtualNode, VirtualStream
from .place import Placement
from .steps import MappedCore, Mapping


@dataclass(frozen=True, slots=True)
class Slot:
    """Parameters of the tasks of a core that one FIFO brings, or takes away, one object after the other.

    `uses` are nodes with the number of a parameter, in the order in which they run.
    """

    core: str
    uses: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class ArrayFifo:
    """Parts of arguments, one object each, to cores (several: all get the same) or from one core.

    A `resident` FIFO has one object for all shots: a core holds it from the first to the last. Of a `passing` one,
    nodes that take turns hold an object each only while they use it. `near` and `at_core` are the walks over an object
    of the DMA engines of a memory tile and of cores, where these are not row by row.
    """

    name: str
    objects: tuple[ArrayPart, ...]
    to_core: bool
    slots: tuple[Slot, ...]
    resident: bool
    depth: int
    passing: bool = False
    near: Walk | None = None
    at_core: Walk | None = None

    @property
    def element(self) -> str:
        """The type of elements."""
        return self.objects[0].argument.element

    @property
    def extents(self) -> tuple[int, ...]:
        """The shape of an object: a single dimension if not all have the same."""
        first = self.objects[0].object_extents
        return first if all(own.object_extents == first for own in self.objects) else (prod(first),)

    @property
    def length(self) -> int:
        """The elements of an object."""
        return prod(self.extents)

    @property
    def bytes(self) -> int:
        """The bytes of an object."""
        return self.objects[0].bytes

    @property
    def cores(self) -> tuple[str, ...]:
        """The cores at its end."""
        return tuple(slot.core for slot in self.slots)

    def slot_of(self, core: str) -> Slot | None:
        """What a core uses of it."""
        return next((slot for slot in self.slots if slot.core == core), None)


@dataclass(frozen=True, slots=True)
class StreamFifo:
    """A stream between two cores, or several that follow one another.

    It is in the memory of the core `memory`, which both see; if that is None, DMA engines move it from one to the
    other. `names` are those of the streams; `stream` has the name of the first one, and the elements of all.
    """

    stream: VirtualStream
    producer: str
    consumer: str
    memory: str | None
    names: tuple[str, ...]

    @property
    def shared(self) -> bool:
        """Whether both cores see the memory that it is in."""
        return self.memory is not None

    @property
    def depth(self) -> int:
        """How many objects it holds."""
        return max(self.stream.depth // self.stream.block, 1)

    @property
    def bytes(self) -> int:
        """The bytes of an object."""
        return self.stream.block * self.stream.bits // 8


@dataclass(frozen=True, slots=True)
class CoreStream:
    """A stream that stays on one core, in the array `place` there, of `length` elements: all that passes through, or
    what it holds at most if its ends take turns."""

    stream: VirtualStream
    core: str
    place: str
    length: int

    @property
    def bytes(self) -> int:
        """The bytes of the array."""
        return self.length * self.stream.bits // 8


@dataclass(frozen=True, slots=True)
class ObjectFifos:
    """All FIFOs of a program; `internal` are the streams that stay on a core."""

    arrays: tuple[ArrayFifo, ...]
    streams: tuple[StreamFifo, ...]
    internal: tuple[CoreStream, ...]

    def arrays_of(self, core: str, to_core: bool) -> list[ArrayFifo]:
        """The FIFOs with parts of arguments for a core, or from it."""
        return [fifo for fifo in self.arrays if fifo.to_core == to_core and core in fifo.cores]


class Merging(Enum):
    """What comes to a core, or leaves it, through one FIFO: fewer take fewer DMA channels, and are shared less."""

    PARAMETER = 1  # what one parameter of one task stands for
    ARGUMENT = 2  # parts of one argument, whatever task uses them
    LENGTH = 3  # all objects of one element type and as many elements


class Ahead(Enum):
    """Which objects have room for one more, so that it is moved while a core works on those before it."""

    ALL = (True, True)  # to cores, from cores
    INPUTS = (True, False)
    NONE = (False, False)


def fifos_of(
    placement: Placement,
    merging: Merging = Merging.PARAMETER,
    ahead: Ahead = Ahead.ALL,
    *,
    joined: bool = False,
    roomy: bool = False,
) -> ObjectFifos:
    """The FIFOs of a placed program.

    Cores that use the same parts in the same order share a FIFO. Objects come in the order in which they are used.
    With `joined`, streams from one core to another are one FIFO if tasks at both ends use them in the same order. What
    is `roomy` has room for all that joined streams hold, and for what is in a stream when tasks take turns.
    """
    mapping = placement.mapping
    wanted: dict[tuple[bool, tuple[ArrayPart, ...], bool], list[Slot]] = {}
    for core in mapping.cores:
        for to_core in (True, False):
            for slot, parts in _slots(core, to_core, merging):
                resident = len(parts) > 1 and len(set(parts)) == 1 and len({p for _, p in slot.uses}) == 1
                key = (to_core, parts[:1] if resident else parts, resident)
                wanted.setdefault(key, []).append(slot)
    names: dict[str, int] = {}
    arrays = []
    for (to_core, parts, resident), slots in _unlike_cores(wanted):
        label = parts[0].argument.name + ("" if to_core else "_out")
        number = names[label] = names.get(label, -1) + 1
        passing = not resident and merging is not Merging.LENGTH and all(_is_passing(mapping, slot) for slot in slots)
        held = max(_held(mapping, slot, passing) for slot in slots)
        depth = 1 if len(parts) == 1 else held + ahead.value[0 if to_core else 1]
        arrays.append(ArrayFifo(f"{label}_{number}", parts, to_core, tuple(slots), resident, depth, passing))
    return ObjectFifos(tuple(arrays), tuple(_streams(placement, joined, roomy)), tuple(_internal(mapping)))


def _unlike_cores(
    wanted: dict[tuple[bool, tuple[ArrayPart, ...], bool], list[Slot]],
) -> Iterator[tuple[tuple[bool, tuple[ArrayPart, ...], bool], list[Slot]]]:
    """FIFOs with at most one slot a core: two tasks of a core that read the same get it twice."""
    for key, slots in wanted.items():
        rest = slots
        while rest:
            chosen = {slot.core: slot for slot in reversed(rest)}
            own = [slot for slot in rest if chosen[slot.core] is slot]
            yield key, own
            rest = [slot for slot in rest if chosen[slot.core] is not slot]


def _held(mapping: Mapping, slot: Slot, passing: bool) -> int:
    """How many objects one node holds at once, or nodes that take turns, unless these are `passing`."""
    used = Counter(node for node, _ in slot.uses)
    turns = turns_of(mapping.graph, mapping.core_of(slot.uses[0][0]).nodes)
    return max(1 if passing and len(turn) > 1 else sum(used[node.name] for node in turn) for turn in turns)


def _is_passing(mapping: Mapping, slot: Slot) -> bool:
    """Whether there are nodes that take turns, and each is done with its object before the next one needs its own."""
    spans = {use: span for circle in mapping.graph.circles for use, span in circle.spans.items()}
    turns = turns_of(mapping.graph, mapping.core_of(slot.uses[0][0]).nodes)
    names = [{node.name for node in turn} for turn in turns if len(turn) > 1]
    inside = [[use for use in slot.uses if use[0] in turn] for turn in names]
    both = {
        (node.name, use.parameter)
        for turn in turns for node in turn for use in node.parts if use.access is PartAccess.BOTH
    }  # fmt: skip
    if not any(inside) or any(use not in spans or use in both for own in inside for use in own):
        return False
    return all(spans[one][1] < spans[two][0] for own in inside for one, two in pairwise(own))


def _slots(core: MappedCore, to_core: bool, merging: Merging) -> Iterator[tuple[Slot, tuple[ArrayPart, ...]]]:
    """What a core gets, or gives, by the FIFO."""
    found: dict[object, list[tuple[VirtualNode, PartUse]]] = {}
    for node in core.nodes:
        of_argument: Counter[str] = Counter()
        for use in node.parts:
            if use.access is PartAccess.BOTH or (use.access is PartAccess.IN) == to_core:
                element, extents, name = use.part.argument.element, use.part.object_extents, use.part.argument.name
                lane: object = (element, prod(extents))
                if merging is not Merging.LENGTH:
                    lane = (name, element, extents, use.part.order)
                if merging is Merging.PARAMETER:  # functions of one task have other numbers where streams are left out
                    lane = (node.task, of_argument[name], lane)
                    of_argument[name] += 1
                found.setdefault(lane, []).append((node, use))
    for uses in found.values():
        slot = Slot(core.name, tuple((node.name, use.parameter) for node, use in uses))
        yield slot, tuple(use.part for _, use in uses)


def _streams(placement: Placement, joined: bool, roomy: bool) -> Iterator[StreamFifo]:
    mapping = placement.mapping
    homes = {name: number for number, circle in enumerate(mapping.graph.circles) for name in circle.nodes}
    most = {name: held for circle in mapping.graph.circles for name, held in circle.held.items()}
    found: dict[object, list[VirtualStream]] = {}
    for stream in mapping.graph.streams:
        producer, consumer = mapping.core_of(stream.producer), mapping.core_of(stream.consumer)
        if producer is not consumer:
            circle = homes.get(stream.producer, -1)
            inside = circle if circle == homes.get(stream.consumer) else None
            alike = producer.name, consumer.name, stream.element, stream.block, inside
            found.setdefault(alike if joined else stream.name, []).append(stream)
    for streams in found.values():
        ordered = sorted(streams, key=lambda stream: _place(mapping, stream.producer))
        in_turn, in_circle = _follow(mapping, ordered), _is_one_queue(mapping.graph, streams)
        for own in [ordered] if in_turn or in_circle else [[stream] for stream in streams]:
            source, sink = mapping.core_of(own[0].producer).name, mapping.core_of(own[0].consumer).name
            cores = {placement.tile(core): core for core in (source, sink)}
            tile = placement.array.shared_memory(*cores)
            memory = None if tile is None else cores[tile]
            depths = [max(stream.depth, stream.block, most.get(stream.name, 0) if roomy else 0) for stream in own]
            depth = max(depths) if in_turn and not roomy else sum(depths)
            tokens = sum(stream.tokens for stream in own)
            names = tuple(stream.name for stream in own)
            yield StreamFifo(replace(own[0], depth=depth, tokens=tokens), source, sink, memory, names)


def _follow(mapping: Mapping, streams: Sequence[VirtualStream]) -> bool:
    """Whether all of each stream is moved before any of the next one, at both ends."""
    ends = [(_place(mapping, own.producer), _place(mapping, own.consumer)) for own in streams]
    return all(one[0] < two[0] and one[1] < two[1] for one, two in pairwise(ends))


def _is_one_queue(graph: VirtualGraph, streams: Sequence[VirtualStream]) -> bool:
    """Whether nodes of a circle, which take turns, get from streams in the order in which they put into them.

    A block that is an array is held while others of its FIFO would be taken.
    """
    names = {stream.name for stream in streams}
    circle = next((own for own in graph.circles if streams[0].producer in own.nodes), None)
    nodes = {node for stream in streams for node in (stream.producer, stream.consumer)}
    if len(streams) == 1 or circle is None or not nodes.issubset(circle.nodes):
        return False
    ends = [end for node in nodes for end in graph.node(node).ends if end.stream in names]
    return all(end.over is None for end in ends) and is_one_queue(circle, names)


def _place(mapping: Mapping, node: str) -> int:
    """The turn of a node on its core."""
    turns = turns_of(mapping.graph, mapping.core_of(node).nodes)
    return next(number for number, turn in enumerate(turns) if any(own.name == node for own in turn))


def _internal(mapping: Mapping) -> Iterator[CoreStream]:
    """Streams within cores, each with its array: one for streams of one length that are not in use at once."""
    most = {name: held for circle in mapping.graph.circles for name, held in circle.held.items()}
    for core in mapping.cores:
        order = {node.name: number for number, node in enumerate(core.nodes)}
        own = [stream for stream in mapping.graph.streams if stream.producer in order and stream.consumer in order]
        last: dict[str, VirtualStream] = {}  # that has been in an array, which has the name of the first one
        for stream in sorted(own, key=lambda stream: order[stream.producer]):
            if stream.name in most:
                yield CoreStream(stream, core.name, stream.name, max(most[stream.name], 1))
                continue
            free = (
                place for place, before in last.items()
                if (before.element, before.tokens) == (stream.element, stream.tokens)
                and (order[before.consumer] < order[stream.producer] or _may_overwrite(mapping.graph, stream, before))
            )  # fmt: skip
            place = next(free, stream.name)
            last[place] = stream
            yield CoreStream(stream, core.name, place, max(stream.tokens, 1))


def _may_overwrite(graph: VirtualGraph, stream: VirtualStream, before: VirtualStream) -> bool:
    """Whether the producer of a stream gets another one, in whose memory it may put its own block."""
    node = graph.node(stream.producer)
    put, get = (next((end for end in node.ends if end.stream == own.name), None) for own in (stream, before))
    return put is not None and get is not None and put.over is not None and get.parameter in put.over
