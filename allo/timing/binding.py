"""Binding of a schedule: the unit and the port of each copy, in the order of operations and copies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from .problem.ports import Counts
from .problem.problem import PortUse, Problem, SharedMemory, Table


def bound_units[Unit](
    problem: Problem, cycles: Sequence[Table], interval: int | None, wanted: Sequence[Unit | None]
) -> tuple[tuple[Table | None, ...], Counter[Unit]]:
    """The first unit of each entry of a table, whose copies take as many in a row; how many units there are.

    `wanted` says of each operation which units it takes one of, None: none that others share. A unit takes operands in
    each cycle of the interval, so that there are as many as start in one of these cycles.
    """
    taken: dict[Unit, Counter[int]] = {}
    found: list[Table | None] = []
    for index, (unit, table) in enumerate(zip(wanted, cycles, strict=True)):
        if unit is None:
            found.append(None)
            continue
        own = taken.setdefault(unit, Counter())
        each = problem.copies(index) // table.size
        slots = (table if interval is None else table % interval).reshape(-1)
        units = np.zeros(slots.size, np.int64)
        for slot, count in zip(*np.unique(slots, return_counts=True), strict=True):
            units[slots == slot] = own[int(slot)] + each * np.arange(count)
            own[int(slot)] += each * int(count)
        found.append(units.reshape(table.shape))
    return tuple(found), Counter({unit: max(slots.values()) for unit, slots in taken.items()})


def bound_ports(problem: Problem, cycles: Sequence[Table], interval: int | None) -> tuple[Table | None, ...]:
    """The port of each copy of an access, in the first of its banks; -1 where another access has the value."""
    found: list[Table | None] = [None] * len(problem.operations)
    for memory in problem.memories:
        tables = {kind: _Taken(memory.banks, interval) for kind in ("read", "write")}
        if memory.ports.reads is None and memory.ports.writes is None:
            tables["write"] = tables["read"]  # any port does either
        behind = {"read": 0, "write": memory.ports.reads or 0}
        for kind in tables:
            owners = _owners(problem, memory, cycles, kind)
            for index in sorted(owners, key=lambda n: (memory.uses[n].classes, n)):
                use = memory.uses[index]
                when, local, own = owners[index]
                ports = np.full(len(when), -1)
                ports[own] = behind[kind] + tables[kind].numbered(use, *_first(use, local, len(when), own), when[own])
                found[index] = ports[local]
    return tuple(found)


class _Taken:
    """How many ports of each bank are taken in each cycle of an interval."""

    def __init__(self, banks: int, interval: int | None) -> None:
        self.interval = interval
        self.table: Counts = np.zeros((0, banks), np.int64)

    def numbered(self, use: PortUse, classes: Counts, cycles: Counts) -> Counts:
        """The next ports, for accesses of these classes of banks in these cycles."""
        slots = cycles if self.interval is None else cycles % self.interval
        missing = int(slots.max(initial=-1)) + 1 - len(self.table)
        if missing > 0:
            more = np.zeros((max(missing, len(self.table)), self.table.shape[1]), np.int64)
            self.table = np.concatenate([self.table, more])
        _, first_banks = np.unique(use.spread, return_index=True)
        keys = slots * use.classes + classes
        order = np.argsort(keys, kind="stable")
        rank = np.zeros(len(keys), np.int64)
        if len(keys):
            starts = np.flatnonzero(np.diff(keys[order], prepend=keys[order][0] - 1))
            rank[order] = np.arange(len(keys)) - np.repeat(starts, np.diff(starts, append=len(keys)))
        found: Counts = self.table[slots, first_banks[classes]] + rank
        counts = np.zeros((len(self.table), use.classes), np.int64)
        np.add.at(counts, (slots, classes), 1)
        self.table = self.table + counts[:, use.spread]
        return found


def _first(use: PortUse, local: Table, count: int, own: Counts) -> tuple[Counts]:
    """The class of banks of each own element."""
    classes = np.zeros(count, np.int64)
    classes[local.reshape(-1)] = np.broadcast_to(use.places, local.shape).reshape(-1)
    return (classes[own],)


def _owners(
    problem: Problem, memory: SharedMemory, cycles: Sequence[Table], kind: str
) -> dict[int, tuple[Counts, Table, Counts]]:
    """The elements of accesses: when each takes a port, those of each copy, and which are not those of others."""
    found: dict[int, tuple[Counts, Table, Counts]] = {}
    seen: Counts = np.zeros(0, np.int64)
    indices = [n for n in memory.uses if problem.operations[n].kind == kind]
    for index in indices if kind == "read" else indices[::-1]:
        use = memory.uses[index]
        shape = np.broadcast_shapes(use.elements.shape, cycles[index].shape)
        elements, same = np.unique(use.elements.reshape(-1), return_inverse=True)
        local = np.broadcast_to(same.reshape(use.elements.shape), shape)
        when = np.full(len(elements), (1 << 60) if kind == "read" else -1, np.int64)
        choose = np.minimum if kind == "read" else np.maximum
        choose.at(when, local.reshape(-1), np.broadcast_to(cycles[index], shape).reshape(-1))
        own = np.flatnonzero(~np.isin(elements, seen))
        seen = np.concatenate([seen, elements[own]])
        found[index] = (when, local, own)
    return found
