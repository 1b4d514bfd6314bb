"""Buffers in the memory of a core: objects of FIFOs, streams that stay there, arrays of tasks; where they fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .circles import turns_of
from .fifos import ArrayFifo, ObjectFifos, StreamFifo
from .place import Placement
from .steps import MappedCore

_WORD = 4  # bytes
_ROOMS = 2  # of an access: tried before the last buffer, for smaller ones
_COUNTS = 8  # bytes: how many elements of a stream within a core have been put and taken

type Gap = tuple[int, int]  # addresses that are free, from one to before the other


@dataclass(frozen=True, slots=True)
class CoreBuffer:
    """Bytes in the memory of a core: object `number` of the FIFO `owner`, or an array of that name.

    Nodes read it, write it, or both. With `in_turn`, the next object of the FIFO is moved, or used by another core,
    while one is used. `part` is what a report counts it for.
    """

    owner: str
    number: int
    bytes: int
    part: str
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    in_turn: bool = False

    @property
    def name(self) -> str:
        """As reports have it: objects that take turns have numbers."""
        return f"{self.owner}[{self.number}]" if self.in_turn else self.owner

    @property
    def room(self) -> int:
        """The bytes that it takes: whole words."""
        return -(-self.bytes // _WORD) * _WORD

    def alignment(self, access: int) -> int:
        """Multiples of what may be accessed at once, of `access` bytes at most, are where it may begin."""
        return min(access, 1 << (max(self.room, _WORD) - 1).bit_length())


@dataclass(frozen=True, slots=True)
class CoreEnds:
    """FIFOs of a core: those that DMA engines fill and empty, and those that it shares in its own memory."""

    into: tuple[ArrayFifo | StreamFifo, ...]
    out: tuple[ArrayFifo | StreamFifo, ...]
    shared: tuple[StreamFifo, ...]

    @classmethod
    def of(cls, core: str, fifos: ObjectFifos) -> CoreEnds:
        """The FIFOs with objects in the memory of a core."""
        into = (own for own in fifos.streams if own.consumer == core and not own.shared)
        out = (own for own in fifos.streams if own.producer == core and not own.shared)
        return cls(
            (*fifos.arrays_of(core, True), *into), (*fifos.arrays_of(core, False), *out),
            tuple(own for own in fifos.streams if own.memory == core),
        )  # fmt: skip

    @property
    def held(self) -> tuple[ArrayFifo | StreamFifo, ...]:
        """All of them."""
        return *self.into, *self.out, *self.shared


def buffers_of_core(core: MappedCore, placement: Placement, fifos: ObjectFifos) -> tuple[CoreBuffer, ...]:
    """What is in the memory of a core beside its stack."""
    ends = CoreEnds.of(core.name, fifos)
    streams = {stream.name: stream for stream in placement.mapping.graph.streams}
    found: list[CoreBuffer] = []
    for fifo in ends.held:
        if isinstance(fifo, ArrayFifo):
            slot = fifo.slot_of(core.name)
            nodes = frozenset(node for node, _ in slot.uses) if slot is not None else frozenset[str]()
            uses = (nodes, frozenset[str]()) if fifo.to_core else (frozenset[str](), nodes)
            name = fifo.name
        else:
            name, own = fifo.stream.name, [streams[name] for name in fifo.names]
            gets, puts = frozenset(one.consumer for one in own), frozenset(one.producer for one in own)
            uses = (frozenset() if fifo in ends.out else gets, frozenset() if fifo in ends.into else puts)
        found += [CoreBuffer(name, k, fifo.bytes, f"'{name}'", *uses, fifo.depth > 1) for k in range(fifo.depth)]
    inner = {own.place: own for own in fifos.internal if own.core == core.name}
    for place, last in inner.items():
        own = [one.stream for one in fifos.internal if (one.core, one.place) == (core.name, place)]
        gets, puts = frozenset(one.consumer for one in own), frozenset(one.producer for one in own)
        found.append(CoreBuffer(place, 0, last.bytes, f"'{place}'", gets, puts))
        found.append(CoreBuffer(f"counts of {place}", 0, _COUNTS, f"'{place}'"))
    return *found, *_arrays(core, placement)


def _arrays(core: MappedCore, placement: Placement) -> Iterator[CoreBuffer]:
    """Arrays that tasks make: one for those of one kind that are not used at once."""
    sizes: dict[tuple[str, str], int] = {}
    users: dict[tuple[str, str], set[str]] = {}
    for turn in turns_of(placement.mapping.graph, core.nodes):
        for node in turn:
            for name, size in node.arrays:
                key = name, node.name if len(turn) > 1 else ""
                sizes[key] = size
                users.setdefault(key, set()).add(node.name)
    for (name, alone), size in sizes.items():
        nodes = frozenset(users[name, alone])
        label = f"array {name}" + (f" of {alone}" if alone else "")
        yield CoreBuffer(label, 0, size, "arrays that tasks make", nodes, nodes)


def first_fit(gaps: Sequence[Gap], size: int, alignment: int) -> int | None:
    """The lowest address in gaps, which are in order, at which so many bytes fit."""
    starts = ((-(-low // alignment) * alignment, high) for low, high in gaps)
    return next((start for start, high in starts if start + size <= high), None)


def without(gaps: Sequence[Gap], start: int, size: int) -> tuple[Gap, ...]:
    """The gaps that are left when so many bytes from an address on are taken."""
    left: list[Gap] = []
    for low, high in gaps:
        if start + size <= low or start >= high:
            left.append((low, high))
            continue
        left += [gap for gap in ((low, start), (start + size, high)) if gap[0] < gap[1]]
    return tuple(left)


def packed(buffers: Sequence[CoreBuffer], begin: int, access: int) -> dict[int, int]:
    """The address of each buffer, by its number, from `begin`, a multiple of `access`, on: the lowest end that can be.

    Those that begin at multiples of `access` come first, and others fill what is left between them, the largest ones
    first, or last. Which of the first is the last matters, and whether there is room for others before it or behind it:
    each kind is tried, with up to all others before it.
    """
    steps = [own.alignment(access) for own in buffers]
    waste = [-own.room % step for own, step in zip(buffers, steps, strict=True)]
    order = sorted(range(len(buffers)), key=lambda k: (-steps[k], waste[k], k))
    large, small = [k for k in order if steps[k] == access], [k for k in order if steps[k] < access]
    most = -(-sum(steps[k] for k in small) // access)
    rooms = dict.fromkeys((*range(min(most, _ROOMS) + 1), most))
    lasts = {waste[k]: k for k in large}
    orders = [[*(k for k in large if k != last), last] for last in lasts.values()] or [[]]
    tried = (
        _in_order(buffers, own, others, (begin, more * access), access)
        for own in orders for more in rooms for others in (small, small[::-1])
    )  # fmt: skip
    return min(tried, key=lambda found: _end(buffers, found, begin))


def _in_order(
    buffers: Sequence[CoreBuffer], large: Sequence[int], small: Sequence[int], room: tuple[int, int], access: int
) -> dict[int, int]:
    """The large ones from an address on, so many bytes before the last, and small ones at the lowest that are free."""
    at, more = room
    gaps: tuple[Gap, ...] = ((at, at + more + access + sum(own.room + access for own in buffers)),)
    found: dict[int, int] = {}
    for k in large:
        found[k] = at if k != large[-1] else at + more
        gaps = without(gaps, found[k], buffers[k].room)
        at += -(-buffers[k].room // access) * access
    for k in small:
        start = first_fit(gaps, buffers[k].room, buffers[k].alignment(access))
        assert start is not None  # the last gap has room for all
        found[k] = start
        gaps = without(gaps, start, buffers[k].room)
    return found


def _end(buffers: Sequence[CoreBuffer], found: dict[int, int], begin: int) -> int:
    return max((start + buffers[k].room for k, start in found.items()), default=begin)


def end_of(buffers: Sequence[CoreBuffer], begin: int, access: int) -> int:
    """The address behind all buffers: no order of theirs has a lower one."""
    return _end(buffers, packed(buffers, begin, access), begin)
