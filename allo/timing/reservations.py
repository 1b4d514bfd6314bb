"""Reservation tables of arrays and operators: how often banks and units are used in each cycle of an interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from .problem.memory import Ports
from .problem.ports import Counts

_ANY_NUMBER = 1 << 40  # of accesses in a cycle, where there is no limit


@dataclass(frozen=True, slots=True, eq=False)
class Reserved:
    """How many accesses of each class of banks take place in which cycles, and what that takes of the table."""

    cycles: Counts
    taken: Counts
    spread: Counts
    is_read: bool

    def each(self) -> Counts:
        """The cycles of all accesses, class by class."""
        return np.repeat(np.tile(self.cycles, self.taken.shape[1]), self.taken.T.reshape(-1))


class Reservations:
    """The ports of `banks` banks over the cycles of an interval; None: over all cycles."""

    def __init__(self, ports: Ports, banks: int, interval: int | None) -> None:
        self.ports = ports
        self.interval = interval
        self.reads: Counts = np.zeros((0, banks), np.int64)
        self.writes = self.reads.copy()

    def place(self, wanted: Counts, spread: Counts, cycle: int, *, is_read: bool = True) -> Reserved | None:
        """Reserve so many accesses of each class of banks from `cycle` on; None if an interval has no room for them.

        `spread` is the class of each bank: an access takes a port of all banks of its class. Each class takes what it
        can as early as it can. Cycles are looked at many at once: as many as the accesses would take without others,
        then twice as many.
        """
        left = wanted
        cycles: list[Counts] = []
        rows: list[Counts] = []
        passed, many = 0, self._fewest(wanted, is_read)
        while left.any():
            if self.interval is not None:
                if passed == self.interval:
                    return None
                many = min(many, self.interval - passed)
            now = cycle + passed + np.arange(many)
            slots = self._slots(now)
            free = _least(self._free(slots, is_read), spread, len(wanted))
            taken = np.clip(left - (np.cumsum(free, axis=0) - free), 0, free)
            used = taken.any(axis=1)
            cycles.append(now[used])
            rows.append(taken[used])
            left = left - taken.sum(axis=0)
            passed, many = passed + many, 2 * many
        if not cycles:
            return Reserved(np.zeros(0, np.int64), np.zeros((0, len(wanted)), np.int64), spread, is_read)
        found = Reserved(np.concatenate(cycles), np.concatenate(rows), spread, is_read)
        self._add(found, 1)
        return found

    def remove(self, reserved: Reserved) -> None:
        """Give back what was reserved."""
        self._add(reserved, -1)

    def _add(self, reserved: Reserved, sign: int) -> None:
        slots = self._slots(reserved.cycles)
        np.add.at(self.reads if reserved.is_read else self.writes, slots, sign * reserved.taken[:, reserved.spread])

    def _fewest(self, wanted: Counts, is_read: bool) -> int:
        """The cycles that accesses take if there are no others."""
        limits = [n for n in (self.ports.total, self._own(is_read)) if n is not None]
        return max(1, -(-int(wanted.max()) // min(limits))) if limits else 1

    def _own(self, is_read: bool) -> int | None:
        return self.ports.reads if is_read else self.ports.writes

    def _slots(self, cycles: Counts) -> Counts:
        """The rows of cycles, which are there then."""
        slots = cycles if self.interval is None else cycles % self.interval
        missing = int(slots.max(initial=-1)) + 1 - len(self.reads)
        if missing > 0:
            more = np.zeros((max(missing, len(self.reads)), self.reads.shape[1]), np.int64)
            self.reads, self.writes = (np.concatenate([table, more]) for table in (self.reads, self.writes))
        return slots

    def _free(self, slots: Counts, is_read: bool) -> Counts:
        """How many accesses of a kind each bank can still take in these cycles."""
        reads, writes = self.reads[slots], self.writes[slots]
        own, limit = (reads, self._own(True)) if is_read else (writes, self._own(False))
        found = np.full_like(own, _ANY_NUMBER) if limit is None else limit - own
        found = found if self.ports.total is None else np.minimum(found, self.ports.total - reads - writes)
        return np.maximum(found, 0)


def _least(free: Counts, spread: Counts, classes: int) -> Counts:
    """What all banks of a class have left."""
    if classes == free.shape[1]:
        return free
    if classes == 1:
        return free.min(axis=1, keepdims=True)
    found = np.full((classes, len(free)), _ANY_NUMBER, np.int64)
    np.minimum.at(found, spread, free.T)
    return found.T


@dataclass(slots=True)
class Units:
    """The units of an operator over the cycles of an interval; None: over all cycles."""

    limit: int
    interval: int | None
    used: Counter[int] = field(default_factory=Counter)
    held: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # by operation, cycles and copies

    def place(self, index: int, wanted: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Reserve units for copies of an operation from their cycles on, in order; the cycles that they get."""
        taken: list[tuple[int, int]] = []
        now = 0
        for cycle, count in wanted:
            now = max(now, cycle)
            while count:
                slot = now if self.interval is None else now % self.interval
                free = min(count, self.limit - self.used[slot])
                if free > 0:
                    self.used[slot] += free
                    count -= free
                    if taken and taken[-1][0] == now:
                        taken[-1] = (now, taken[-1][1] + free)
                    else:
                        taken.append((now, free))
                now += 1 if count else 0
        self.held[index] = taken
        return taken

    def remove(self, index: int) -> None:
        """Give back what an operation holds."""
        for cycle, count in self.held.pop(index, ()):
            self.used[cycle if self.interval is None else cycle % self.interval] -= count
