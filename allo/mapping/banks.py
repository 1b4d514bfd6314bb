"""Addresses of the buffers of a core: what is read or moved at once is in different banks, where that fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from ..picture import aligned
from ..target import ProcessorArray, Tile, TileKind
from .fifos import ObjectFifos
from .memory import CoreBuffer, Gap, buffers_of_core, first_fit, packed, without
from .place import Placement

_TRIED = 1_500  # buffers that are put somewhere in the search for the fewest that share a bank
_BOTH_READ, _IN_TURN, _WRITTEN = 2, 2, 1  # how bad it is that two buffers share a bank


@dataclass(frozen=True, slots=True)
class PlacedBuffer:
    """A buffer from an address of its memory on, and the banks that it is in."""

    buffer: CoreBuffer
    address: int
    banks: range


@dataclass(frozen=True, slots=True)
class CoreMemory:
    """The memory of a core: addresses from its own beginning on, the stack at the bottom."""

    core: str
    tile: Tile
    stack: int
    bank_bytes: int
    buffers: tuple[PlacedBuffer, ...]

    def users(self, bank: int) -> dict[str, int]:
        """The bytes of a bank by what has them."""
        low, high = bank * self.bank_bytes, (bank + 1) * self.bank_bytes
        spans = [("stack", 0, self.stack)]
        spans += [(own.buffer.name, own.address, own.address + own.buffer.bytes) for own in self.buffers]
        found = {name: min(end, high) - max(begin, low) for name, begin, end in spans}
        return {name: size for name, size in found.items() if size > 0}

    @property
    def shared(self) -> tuple[tuple[str, str, int], ...]:
        """Pairs of buffers that are read, or moved, at once, in one bank."""
        pairs = ((a, b, set(a.banks) & set(b.banks)) for a, b in combinations(self.buffers, 2))
        return tuple(
            (a.buffer.name, b.buffer.name, min(banks)) for a, b, banks in pairs
            if banks and weight(a.buffer, b.buffer) > _WRITTEN
        )  # fmt: skip

    def __str__(self) -> str:
        rows = [("address", "bytes", "bank", "what"), ("0x0", f"{self.stack:,}", "0", "stack")]
        for own in sorted(self.buffers, key=lambda own: (own.address, own.buffer.bytes)):
            banks = f"{own.banks[0]}" if len(own.banks) < 2 else f"{own.banks[0]} to {own.banks[-1]}"
            rows.append((f"{own.address:#x}", f"{own.buffer.bytes:,}", banks, own.buffer.name))
        lines = [f"bank {bank} has '{one}' and '{other}', which are used at once" for one, other, bank in self.shared]
        return "\n".join([f"core '{self.core}' at {self.tile}", *aligned(rows), *lines])


def memories_of(placement: Placement, fifos: ObjectFifos, array: ProcessorArray) -> tuple[CoreMemory, ...]:
    """The memories of all cores, in their order. All buffers of each have to fit."""
    limits = array.tiles[TileKind.CORE]
    size = limits.memory // limits.banks
    known: dict[tuple[object, ...], tuple[int, ...]] = {}
    found = []
    for core, tile in zip(placement.mapping.cores, placement.tiles, strict=True):
        buffers = buffers_of_core(core, placement, fifos)
        pairs = {
            (a, b): cost for a, b in combinations(range(len(buffers)), 2) if (cost := weight(buffers[a], buffers[b]))
        }
        key = tuple(own.bytes for own in buffers), tuple(pairs.items())
        if key not in known:
            search = BankSearch(buffers, pairs, limits.stack, limits.memory, size, array.access)
            known[key] = search.addresses()
        placed = (
            PlacedBuffer(own, start, _banks(start, own.bytes, size))
            for own, start in zip(buffers, known[key], strict=True)
        )
        found.append(CoreMemory(core.name, tile, limits.stack, size, tuple(placed)))
    return tuple(found)


def weight(one: CoreBuffer, other: CoreBuffer) -> int:
    """How bad it is if two buffers share a bank: nothing if no task uses both, and they do not take turns."""
    if one.owner == other.owner:
        return _IN_TURN if one.in_turn else 0
    if one.reads & other.reads:
        return _BOTH_READ
    return _WRITTEN if (one.reads | one.writes) & (other.reads | other.writes) else 0


def _banks(start: int, bytes_: int, size: int) -> range:
    return range(start // size, (start + max(bytes_, 1) - 1) // size + 1)


@dataclass(slots=True)
class BankSearch:
    """Branch and bound over the banks of buffers, the largest first, up to so many steps; then what is best."""

    buffers: Sequence[CoreBuffer]
    pairs: dict[tuple[int, int], int]
    begin: int
    end: int
    size: int
    access: int
    steps: int = 0
    best: tuple[int, dict[int, int]] | None = None
    order: list[int] = field(default_factory=list)

    def addresses(self) -> tuple[int, ...]:
        """Where each buffer begins: one after the other if no way has been found to keep them within banks."""
        self.order = sorted(range(len(self.buffers)), key=lambda k: (-self.buffers[k].room, k))
        self._place(0, 0, ((self.begin, self.end),), {})
        found = packed(self.buffers, self.begin, self.access) if self.best is None else self.best[1]
        return tuple(found[k] for k in range(len(self.buffers)))

    def _place(self, depth: int, cost: int, gaps: tuple[Gap, ...], placed: dict[int, int]) -> None:
        """Put the next buffer somewhere, the best place first, and those behind it."""
        if self.best is not None and cost >= self.best[0]:
            return
        if depth == len(self.order):
            self.best = cost, dict(placed)
            return
        k = self.order[depth]
        for more, _, start in sorted(self._places(k, gaps, placed)):
            if self.steps >= _TRIED:
                return
            self.steps += 1
            placed[k] = start
            self._place(depth + 1, cost + more, without(gaps, start, self.buffers[k].room), placed)
            del placed[k]

    def _places(self, k: int, gaps: tuple[Gap, ...], placed: dict[int, int]) -> Iterator[tuple[int, int, int]]:
        """Addresses for a buffer in each bank, or over several if it fits in none; what they cost, and is free there.

        Of banks without any buffer, which are alike, the first one.
        """
        own, is_empty, starts = self.buffers[k], False, list[tuple[int, int]]()
        alignment = own.alignment(self.access)
        for bank in range(self.end // self.size):
            inside = _within(gaps, bank * self.size, (bank + 1) * self.size)
            free, start = sum(high - low for low, high in inside), first_fit(inside, own.room, alignment)
            if start is not None and not (is_empty and free == self.size):
                is_empty |= free == self.size
                starts.append((-free, start))
        if not starts:
            over = (first_fit(gaps, own.room, step) for step in (alignment, self.size))
            starts = [(0, start) for start in dict.fromkeys(over) if start is not None]
        for free, start in starts:
            yield self._cost(k, start, placed), free, start

    def _cost(self, k: int, start: int, placed: dict[int, int]) -> int:
        """What is added if a buffer is there: all pairs that share a bank."""
        banks = set(_banks(start, self.buffers[k].bytes, self.size))
        return sum(
            self.pairs.get((min(k, other), max(k, other)), 0) for other, at in placed.items()
            if not banks.isdisjoint(_banks(at, self.buffers[other].bytes, self.size))
        )  # fmt: skip


def _within(gaps: Sequence[Gap], low: int, high: int) -> list[Gap]:
    cut = ((max(begin, low), min(end, high)) for begin, end in gaps)
    return [gap for gap in cut if gap[0] < gap[1]]
