"""Accesses of one iteration on each bank of an array, counted by arithmetic on residues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from ...ir.access import looks
from ...layout import Banks, Division
from .banks import told_apart
from .memory import ArrayMemory, Ports
from .problem import PortUse
from .region import LoopBody, RegionNode
from .stream_order import turns

_MOST_COPIES = 1 << 17  # above this many copies all are taken to be in one bank
_FAR = 1 << 40  # between the numbers of elements with different forms

type Counts = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class Pressure:
    """What an iteration demands of the bank of an array that it uses most."""

    array: str
    bank: str
    reads: int
    writes: int
    ports: Ports
    interval: int
    label: str
    is_fifo: bool = False

    def __str__(self) -> str:
        if self.is_fifo:
            puts = self.writes >= self.reads
            return f"{max(self.reads, self.writes)} {'puts into' if puts else 'gets from'} {self.array}, one a cycle"
        parts = [f"{n} {word}{'' if n == 1 else 's'}" for n, word in self._parts()]
        ports = self.ports.total if self.ports.total is not None else 1
        plural = "" if ports == 1 else "s"
        return f"{' and '.join(parts)} of bank {self.bank} of {self.array}, {ports} port{plural}"

    def _parts(self) -> list[tuple[int, str]]:
        return [(n, word) for n, word in ((self.reads, "read"), (self.writes, "write")) if n]


@dataclass(frozen=True, slots=True)
class Accesses:
    """The accesses of one array in an iteration: for each node, how many of its copies need which bank.

    `uses` say which copy needs which.
    """

    memory: ArrayMemory
    label: str
    shape: tuple[int, ...]  # banks that can be told apart, for each dimension
    counts: dict[int, Counts]  # by node
    reads: Counts
    writes: Counts
    uses: dict[int, PortUse]

    def pressure(self) -> Pressure | None:
        """The demand on the most used bank; None if there are no limits."""
        interval = intervals(self.memory.ports, self.reads, self.writes)
        if interval is None:
            return None
        bank = int(np.argmax(interval))
        place = np.unravel_index(bank, self.shape) if self.shape else ()
        wanted = [str(int(p)) for p, n in zip(place, self.shape, strict=True) if n > 1] or ["0"]
        text = wanted[0] if len(wanted) == 1 else f"({', '.join(wanted)})"
        return Pressure(
            self.memory.name, text, int(self.reads[bank]), int(self.writes[bank]), self.memory.ports,
            int(interval[bank]), self.label, self.memory.kind.name == "FIFO",
        )  # fmt: skip


def intervals(ports: Ports, reads: Counts, writes: Counts) -> Counts | None:
    """The cycles that the accesses of each bank take; None if there are no limits."""
    limits = [(ports.total, reads + writes), (ports.reads, reads), (ports.writes, writes)]
    demands = [-(-counts // limit) for limit, counts in limits if limit is not None]
    return np.max(demands, axis=0) if demands else None


def accesses_of(
    region: LoopBody, nodes: Sequence[RegionNode], layout: tuple[Banks, ...] | None = None
) -> Accesses | None:
    """The accesses of one array; `layout` replaces its partition. None if no access needs a port.

    The element that comes next is seen while it is taken, so that a look needs none.
    """
    wanted = [n for n in nodes if n.memory is not None and not (n.in_register or n.forwarded or looks(n.op))]
    if not wanted:
        return None
    memory = wanted[0].memory
    assert memory is not None
    if memory.ports == Ports(None) and layout is None:
        return None
    dims = memory.dims if layout is None else layout
    shape = tuple(banks.count(extent) for banks, extent in zip(dims, memory.shape, strict=True))
    counts: dict[int, Counts] = {}
    uses: dict[int, PortUse] = {}
    totals = {kind: np.zeros(max(1, prod(shape)), np.int64) for kind in ("read", "write")}
    seen: dict[tuple[object, ...], _Elements] = {}
    turn_of = {node.index: turn[0].index for group in turns(wanted) for turn in group for node in turn}
    for node in wanted:
        use, fresh = _use_of(region, node, dims, memory.shape, shape, seen, turn_of.get(node.index))
        uses[node.index] = use
        own = np.bincount(use.places.reshape(-1)[fresh], minlength=use.classes)
        counts[node.index] = own[use.spread]
        totals[node.kind] += counts[node.index]
    return Accesses(memory, wanted[0].label, shape, counts, totals["read"], totals["write"], uses)


@dataclass(slots=True)
class _Elements:
    """Elements that were touched so far with one form of subscripts: a row each; their numbers begin at `first`."""

    first: int
    rows: list[Counts] = field(default_factory=list)


def _use_of(
    region: LoopBody,
    node: RegionNode,
    dims: tuple[Banks, ...],
    extents: tuple[int, ...],
    shape: tuple[int, ...],
    seen: dict[tuple[object, ...], _Elements],
    turn: int | None,
) -> tuple[PortUse, Counts]:
    """Which bank each copy of a node needs, and the copies whose element no access before has fetched.

    What is put and got in a `turn` is another element in each copy, and one for all puts and gets of the turn.
    """
    known = {n for form in node.forms if form is not None for n, _ in form.copies}
    used = sorted(known if None not in node.forms and turn is None else node.copies)
    trips = [region.copy_loops[n].trip for n in used]
    axes = [loop.trip if n in used else 1 for n, loop in enumerate(region.copy_loops)]
    size = max(1, prod(shape))
    if prod(trips) > _MOST_COPIES:
        used = sorted(node.copies)
        axes = [loop.trip if n in used else 1 for n, loop in enumerate(region.copy_loops)]
        numbers = np.arange(prod(axes), dtype=np.int64).reshape(axes)
        everywhere = PortUse(numbers + len(seen) * _FAR, np.zeros(axes, np.int64), np.zeros(size, np.int64), 1)
        seen[node.index,] = _Elements(len(seen) * _FAR)
        return everywhere, np.arange(prod(axes))
    offsets = _offsets(node, used, trips)
    signature = (node.kind, turn, tuple(form and (form.time, form.other) for form in node.forms))
    elements = offsets if turn is None else np.arange(len(offsets), dtype=np.int64)[:, None]
    numbers, fresh = _numbered(elements, seen.setdefault(signature, _Elements(len(seen) * _FAR)))
    classes = [
        told_apart(region.space, form, banks, extent) if form is not None else 1
        for form, banks, extent in zip(node.forms, dims, extents, strict=True)
    ]
    place = np.zeros(len(offsets), np.int64)
    for dimension, (banks, number) in enumerate(zip(dims, classes, strict=True)):
        own = offsets[:, dimension]
        if banks.kind is Division.BLOCK:
            own = np.clip(own // banks.run(extents[dimension]), 0, number - 1)
        place = place * number + own % number
    every = np.arange(max(1, prod(classes)), dtype=np.int64).reshape(classes)
    spread = np.tile(every, [whole // part for whole, part in zip(shape, classes, strict=True)]).reshape(size)
    return PortUse(numbers.reshape(axes), place.reshape(axes), spread, every.size), fresh


def _offsets(node: RegionNode, used: list[int], trips: list[int]) -> Counts:
    """The elements that the copies touch, but for what is the same for all: one row a copy.

    A subscript that is not known is another one for each copy.
    """
    grids = np.indices(trips).reshape(len(trips), -1) if trips else np.zeros((0, 1), np.int64)
    rows = []
    for form in node.forms:
        if form is None:
            rows.append(np.arange(grids.shape[1]) + node.index * _MOST_COPIES)
            continue
        row = np.full(grids.shape[1], form.constant, np.int64)
        for number, c in form.copies:
            row = row + c * grids[used.index(number)]
        rows.append(row)
    return np.stack(rows, axis=1) if rows else np.zeros((grids.shape[1], 0), np.int64)


def _numbered(offsets: Counts, seen: _Elements) -> tuple[Counts, Counts]:
    """The number of each row, equal ones for equal rows, and the first places of rows not yet `seen`."""
    before = sum(map(len, seen.rows))
    rows = np.concatenate([*seen.rows, offsets])
    seen.rows.append(offsets)
    if not rows.shape[1]:
        return np.full(len(offsets), seen.first), np.zeros(0 if before else 1, np.int64)
    low, extents = rows.min(axis=0), np.ptp(rows, axis=0) + 1
    if prod(map(int, extents)) < 1 << 62:  # numbers are compared faster than rows
        keys = np.zeros(len(rows), np.int64)
        for column, extent in enumerate(extents):
            keys = keys * extent + (rows[:, column] - low[column])
        _, first, same = np.unique(keys, return_index=True, return_inverse=True)
    else:
        _, first, same = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    numbers: Counts = first[same.reshape(-1)][before:] + seen.first
    fresh: Counts = np.sort(first[first >= before]) - before
    return numbers, fresh
