"""Placement of operations on ports and units: the earliest cycles with room for all copies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..target import Operator
from .problem.ports import Counts
from .problem.problem import Operation, PortUse, Problem, SharedMemory, Table
from .reservations import Reservations, Reserved, Units

type Mask = np.ndarray[tuple[Any, ...], np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True, eq=False)
class PortAccess:
    """An access of a memory: its elements, counted from 0, and those that are its own: read first, or written last."""

    memory: int
    use: PortUse
    local: Table  # the element of each copy
    elements: Counts  # their numbers in the memory
    classes: Counts  # of banks, of each element
    own: Mask
    counts: Counts  # of own elements in each class
    givers: tuple[int, ...]  # operations behind which it comes, since they share elements

    def alone(self) -> PortAccess:
        """The same access, which shares nothing: all elements are its own."""
        counts = np.bincount(self.classes, minlength=self.use.classes)
        return replace(self, own=np.ones_like(self.own), counts=counts, givers=())


def accesses_of_memories(problem: Problem) -> dict[int, PortAccess]:
    """The accesses of a problem, by operation."""
    found: dict[int, PortAccess] = {}
    for number, memory in enumerate(problem.memories):
        of_kind = {kind: [n for n in memory.uses if problem.operations[n].kind == kind] for kind in ("read", "write")}
        found |= _of_kind(number, memory, of_kind["read"], is_read=True)
        found |= _of_kind(number, memory, of_kind["write"][::-1], is_read=False)
    return found


def _of_kind(
    number: int, memory: SharedMemory, operations: list[int], *, is_read: bool
) -> dict[int, PortAccess]:
    """Accesses of one kind; elements belong to the first operation that touches them, with nothing in between."""
    found: dict[int, PortAccess] = {}
    touched: Counts = np.zeros(0, np.int64)  # the elements of all accesses so far
    by: Counts = np.zeros(0, np.int64)  # which of `operations` touches each
    for place, index in enumerate(operations):
        use = memory.uses[index]
        elements, first, same = np.unique(use.elements.reshape(-1), return_index=True, return_inverse=True)
        is_near = by >= 0
        if index in memory.between:
            is_later = np.asarray(operations)[by] > memory.between[index]
            is_near = is_later == is_read
        own = ~np.isin(elements, touched[is_near])
        classes = np.broadcast_to(use.places, use.elements.shape).reshape(-1)[first]
        counts = np.bincount(classes[own], minlength=use.classes)
        others = [] if own.all() else np.unique(by[is_near & np.isin(touched, elements)]).tolist()
        sharing = tuple(operations[other] for other in others)
        found[index] = PortAccess(
            number, use, same.reshape(use.elements.shape), elements, classes, own, counts, sharing
        )
        fetched = elements[own] if is_read else elements  # a read that shares is as old as the one that fetches
        touched = np.concatenate([touched, fetched])
        by = np.concatenate([by, np.full(len(fetched), place)])
    return found


@dataclass(slots=True)
class Places:
    """The reservations of all ports and units, and what each operation holds of them."""

    problem: Problem
    interval: int | None
    accesses: dict[int, PortAccess]
    limits: Mapping[Operator, int]  # of units; what is not in it has none
    ports: list[Reservations] = field(init=False)
    units: dict[Operator, Units] = field(init=False)
    held: dict[int, list[tuple[Reservations, Reserved]]] = field(default_factory=dict)
    when: dict[int, Counts] = field(default_factory=dict)  # the cycles of the elements of an access

    def __post_init__(self) -> None:
        self.ports = [Reservations(m.ports, m.banks, self.interval) for m in self.problem.memories]
        self.units = {operator: Units(n, self.interval) for operator, n in self.limits.items()}

    def place(self, index: int, ready: Table) -> Table | None:
        """When copies start that may do so from `ready` on, in ps; None if there is no room."""
        operation = self.problem.operations[index]
        self.held[index] = []
        if index in self.accesses:
            found = self._on_ports(index, operation, ready)
        elif operation.unit is not None and operation.unit in self.units:
            return on_units(self.problem, self.units[operation.unit], index, ready)
        else:
            return ready
        if found is None:
            self.release(index)
        return None if found is None else alike(found)

    def release(self, index: int) -> None:
        """Give back what an operation holds."""
        unit = self.problem.operations[index].unit
        if unit is not None and unit in self.units:
            self.units[unit].remove(index)
        for table, reserved in self.held.pop(index, ()):
            table.remove(reserved)

    def shares_too_early(self, first: int, second: int) -> bool:
        """Whether a read comes before the one that fetches its element."""
        one, other = self.accesses[first], self.accesses[second]
        _, mine, theirs = np.intersect1d(one.elements, other.elements, return_indices=True)
        return bool((self.when[first][mine] > self.when[second][theirs]).any())

    def _reserve(
        self, index: int, table: Reservations, counts: Counts, spread: Counts, cycles: Counts, is_read: bool
    ) -> Reserved | None:
        found = table.place(counts, spread, cycles, is_read=is_read)
        if found is not None:
            self.held[index].append((table, found))
        return found

    # -- ports -----------------------------------------------------------------------------------------

    def _on_ports(self, index: int, operation: Operation, ready: Table) -> Table | None:
        access, period, is_read = self.accesses[index], self.problem.period, operation.kind == "read"
        table, spread = self.ports[access.memory], access.use.spread
        cycles = -(-ready // period) if is_read else ready // period
        if cycles.size == 1 and access.own.all():
            found = self._reserve(index, table, access.counts[None], spread, cycles.reshape(-1), is_read)
            if found is None:
                return None
            if len(found.cycles) == 1:
                self.when[index] = np.repeat(found.cycles, len(access.elements))
                whole: Table = np.maximum(ready, found.cycles[0] * period)
                return whole
            when: Counts = np.zeros(len(access.elements), np.int64)
            when[np.argsort(access.classes, kind="stable")] = found.each()
            local, own_cycles = access.local, np.broadcast_to(cycles, access.local.shape)
        else:
            shape = np.broadcast_shapes(access.local.shape, cycles.shape)
            local, own_cycles = np.broadcast_to(access.local, shape), np.broadcast_to(cycles, shape)
            placed = self._one_by_one(index, access, local, own_cycles, is_read)
            if placed is None:
                return None
            when = placed
        self.when[index] = when
        taken = when[local]
        if not is_read and len(access.elements) < local.size:  # of copies that write one element the last one does
            last = np.zeros(len(access.elements), np.int64)
            flat = own_cycles.reshape(-1).copy()
            order = np.argsort(flat, kind="stable")
            last[local.reshape(-1)[order]] = order
            flat[last] = when
            taken = flat.reshape(local.shape)
        starts: Table = np.maximum(ready, np.maximum(taken, own_cycles) * period)
        return starts

    def _one_by_one(self, index: int, access: PortAccess, local: Table, cycles: Table, is_read: bool) -> Counts | None:
        """The cycle of each element, for copies that are ready at different times or share elements with others."""
        table, spread = self.ports[access.memory], access.use.spread
        flat = local.reshape(-1)
        wanted = np.full(len(access.elements), (1 << 60) if is_read else 0, np.int64)
        (np.minimum if is_read else np.maximum).at(wanted, flat, cycles.reshape(-1))
        when = wanted.copy()
        for giver in access.givers if is_read else ():
            other = self.accesses[giver]
            _, mine, theirs = np.intersect1d(access.elements, other.elements, True, return_indices=True)
            when[mine] = np.maximum(when[mine], self.when[giver][theirs])
        own = np.flatnonzero(access.own)
        if own.size:
            cycles, group = np.unique(wanted[own], return_inverse=True)
            counts = np.zeros((len(cycles), access.use.classes), np.int64)
            np.add.at(counts, (group, access.classes[own]), 1)
            found = self._reserve(index, table, counts, spread, cycles, is_read)
            if found is None:
                return None
            when[own[np.lexsort((wanted[own], access.classes[own]))]] = found.each()
        return when


def on_units(problem: Problem, units: Units, index: int, ready: Table) -> Table:
    """When copies start that may do so from `ready` on, in ps, with one unit for each that starts in a cycle."""
    operation, period = problem.operations[index], problem.period
    cycles = ready // period
    each = problem.copies(index) // cycles.size
    if cycles.size == 1:
        taken = units.place(index, [(int(cycles.reshape(-1)[0]), each)])
        if len(taken) == 1:
            return np.maximum(ready, taken[0][0] * period)
        order = np.arange(each)
    else:
        values, counts = np.unique(cycles, return_counts=True)
        wanted = list(zip(values.tolist(), (counts * each).tolist(), strict=True))
        taken = units.place(index, wanted)
        if taken == wanted:
            return ready
    full = [problem.trips[n] if n in operation.loops else 1 for n in range(ready.ndim)]
    ready = np.broadcast_to(ready, full)
    if cycles.size > 1:
        order = np.argsort(ready.reshape(-1) // period, kind="stable")
    when = np.zeros(order.size, np.int64)
    when[order] = np.repeat([cycle for cycle, _ in taken], [count for _, count in taken])
    return alike(np.maximum(ready, when.reshape(full) * period))


def alike(table: Table, axes: Iterable[int] | None = None) -> Table:
    """The table with one entry along each axis in which all are equal."""
    for axis in range(table.ndim) if axes is None else axes:
        if table.shape[axis] > 1:
            first = table.take([0], axis=axis)
            if (table == first).all():
                table = first
    return table
