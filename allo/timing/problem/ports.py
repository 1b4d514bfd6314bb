"""Accesses of one iteration on each bank of an array, counted by arithmetic on residues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ...layout import Banks, Division
from .banks import told_apart
from .memory import ArrayMemory, Ports
from .region import LoopBody, RegionNode

_MOST_COPIES = 1 << 17  # above this many copies all are taken to be in one bank

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

    def __str__(self) -> str:
        parts = [f"{n} {word}{'' if n == 1 else 's'}" for n, word in self._parts()]
        ports = self.ports.total if self.ports.total is not None else 1
        plural = "" if ports == 1 else "s"
        return f"{' and '.join(parts)} of bank {self.bank} of {self.array}, {ports} port{plural}"

    def _parts(self) -> list[tuple[int, str]]:
        return [(n, word) for n, word in ((self.reads, "read"), (self.writes, "write")) if n]


@dataclass(frozen=True, slots=True)
class Accesses:
    """The accesses of one array in an iteration: for each node, how many of its copies need which bank."""

    memory: ArrayMemory
    label: str
    shape: tuple[int, ...]  # banks that can be told apart, for each dimension
    counts: dict[int, Counts]  # by node
    reads: Counts
    writes: Counts

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
            int(interval[bank]), self.label,
        )  # fmt: skip

    def merged(self) -> Accesses:
        """The same with one bank in place of all that are accessed alike: they have the same schedule."""
        rows = np.stack([*self.counts.values(), self.reads, self.writes])
        kept = rows[:, :1] if (rows == rows[:, :1]).all() else np.unique(rows, axis=1)
        counts = dict(zip(self.counts, kept, strict=False))
        return replace(self, shape=(kept.shape[1],), counts=counts, reads=kept[-2], writes=kept[-1])


def intervals(ports: Ports, reads: Counts, writes: Counts) -> Counts | None:
    """The cycles that the accesses of each bank take; None if there are no limits."""
    limits = [(ports.total, reads + writes), (ports.reads, reads), (ports.writes, writes)]
    demands = [-(-counts // limit) for limit, counts in limits if limit is not None]
    return np.max(demands, axis=0) if demands else None


def accesses_of(
    region: LoopBody, nodes: Sequence[RegionNode], layout: tuple[Banks, ...] | None = None
) -> Accesses | None:
    """The accesses of one array; `layout` replaces its partition. None if no access needs a port."""
    wanted = [n for n in nodes if n.memory is not None and not n.in_register and not n.forwarded]
    if not wanted:
        return None
    memory = wanted[0].memory
    assert memory is not None
    if memory.ports == Ports(None) and layout is None:
        return None
    dims = memory.dims if layout is None else layout
    shape = tuple(banks.count(extent) for banks, extent in zip(dims, memory.shape, strict=True))
    counts: dict[int, Counts] = {}
    totals = {kind: np.zeros(max(1, prod(shape)), np.int64) for kind in ("read", "write")}
    seen: dict[tuple[object, ...], list[Counts]] = {}
    for node in wanted:
        counts[node.index] = _banks_of(region, node, dims, memory.shape, shape, seen)
        totals[node.kind] += counts[node.index]
    return Accesses(memory, wanted[0].label, shape, counts, totals["read"], totals["write"])


def _banks_of(
    region: LoopBody,
    node: RegionNode,
    dims: tuple[Banks, ...],
    extents: tuple[int, ...],
    shape: tuple[int, ...],
    seen: dict[tuple[object, ...], list[Counts]],
) -> Counts:
    """How many elements that no access before has fetched the copies of a node touch in each bank."""
    size = max(1, prod(shape))
    known = {n for form in node.forms if form is not None for n, _ in form.copies}
    used = sorted(known if None not in node.forms else node.copies)
    trips = [region.copy_loops[n].trip for n in used]
    if prod(trips) > _MOST_COPIES:
        return np.full(size, region.count(node.copies), np.int64)
    signature = (node.kind, tuple(form and (form.time, form.other) for form in node.forms))
    fresh = _fresh(_offsets(node, used, trips), seen.setdefault(signature, []))
    classes = [
        told_apart(region.space, form, banks, extent) if form is not None else 1
        for form, banks, extent in zip(node.forms, dims, extents, strict=True)
    ]
    place = np.zeros(len(fresh), np.int64)
    for dimension, (banks, number) in enumerate(zip(dims, classes, strict=True)):
        own = fresh[:, dimension]
        if banks.kind is Division.BLOCK:
            own = np.clip(own // banks.run(extents[dimension]), 0, number - 1)
        place = place * number + own % number
    found = np.bincount(place, minlength=max(1, prod(classes))).reshape(classes)
    return np.tile(found, [whole // part for whole, part in zip(shape, classes, strict=True)]).reshape(size)


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
    return np.stack(rows, axis=1) if rows else np.zeros((1, 0), np.int64)


def _fresh(offsets: Counts, seen: list[Counts]) -> Counts:
    """The different rows that are not yet in `seen`, which gets them."""
    before = sum(map(len, seen))
    rows = np.concatenate([*seen, offsets])
    if not len(rows):
        return offsets
    low, extents = rows.min(axis=0), np.ptp(rows, axis=0) + 1
    if prod(map(int, extents)) < 1 << 62:  # numbers are compared faster than rows
        keys = np.zeros(len(rows), np.int64)
        for column, extent in enumerate(extents):
            keys = keys * extent + (rows[:, column] - low[column])
        _, first = np.unique(keys, return_index=True)
    else:
        _, first = np.unique(rows, axis=0, return_index=True)
    fresh: Counts = rows[first[first >= before]]
    seen.append(fresh)
    return fresh
