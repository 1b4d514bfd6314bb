"""Reservation tables of arrays and operators: how often banks and units are used in each cycle of an interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from .problem.memory import Ports
from .problem.ports import Counts

_ANY_NUMBER = 1 << 32  # of accesses in a cycle, where there is no limit
_MANY_INTERVALS = 8  # of which each would take a round of operations on arrays


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

    def place(self, wanted: Counts, spread: Counts, cycles: Counts, *, is_read: bool = True) -> Reserved | None:
        """Reserve a row of accesses of each class of banks from each of some rising `cycles` on.

        `spread` is the class of each bank: an access takes a port of all banks of its class. Each class takes what it
        can as early as it can; None if an interval from the last row on has no room for all. Cycles are looked at many
        at once: as many as the accesses would take without others, then twice as many; or, where rows come over many
        intervals, class by class.
        """
        now, last = int(cycles[0]), int(cycles[-1])
        if self.interval is not None and last - now >= _MANY_INTERVALS * self.interval:
            return self._in_turn(wanted, spread, cycles, self.interval, is_read=is_read)
        many = last - now + self._fewest(wanted.sum(axis=0), is_read)
        left = np.zeros(wanted.shape[1], np.int64)
        found: list[tuple[Counts, Counts]] = []
        while now <= last or left.any():
            if self.interval is not None:
                if now - last >= self.interval:
                    self._undo(found, spread, is_read)
                    return None
                many = min(many, self.interval)
            window = now + np.arange(many)
            arriving = np.zeros((many, len(left)), np.int64)
            inside = (cycles >= now) & (cycles < now + many)
            arriving[cycles[inside] - now] = wanted[inside]
            arriving[0] += left
            taken = _served(arriving, _least(self._free(self._slots(window), is_read), spread, len(left)))
            used = taken.any(axis=1)
            found.append((window[used], taken[used]))
            self._add(window[used], taken[used], spread, is_read)
            left = arriving.sum(axis=0) - taken.sum(axis=0)
            now, many = now + many, 2 * many
        rows = np.concatenate([taken for _, taken in found])
        return Reserved(np.concatenate([used for used, _ in found]), rows, spread, is_read)

    def _in_turn(
        self, wanted: Counts, spread: Counts, cycles: Counts, interval: int, *, is_read: bool
    ) -> Reserved | None:
        """What `place` does: no two classes take the same ports, so that each can go from cycle to cycle by itself."""
        slots = self._slots(np.arange(interval))
        room = _least(self._free(slots, is_read), spread, wanted.shape[1]).T
        served: list[tuple[int, int, int]] = []  # a cycle, a class, how many
        for number in np.flatnonzero(wanted.any(axis=0)).tolist():
            coming = np.flatnonzero(wanted[:, number])
            rows = zip(cycles[coming].tolist(), wanted[coming, number].tolist(), strict=True)
            taken = _one_class(room[number].tolist(), rows, int(cycles[-1]) + interval)
            if taken is None:
                return None
            served += ((cycle, number, count) for cycle, count in taken)
        when, classes, counts = np.array(served, np.int64).reshape(-1, 3).T
        used, row = np.unique(when, return_inverse=True)
        found = np.zeros((len(used), wanted.shape[1]), np.int64)
        found[row, classes] = counts
        self._add(used, found, spread, is_read)
        return Reserved(used, found, spread, is_read)

    def _undo(self, found: Iterable[tuple[Counts, Counts]], spread: Counts, is_read: bool) -> None:
        for cycles, taken in found:
            self._add(cycles, -taken, spread, is_read)

    def remove(self, reserved: Reserved) -> None:
        """Give back what was reserved."""
        self._add(reserved.cycles, -reserved.taken, reserved.spread, reserved.is_read)

    def _add(self, cycles: Counts, taken: Counts, spread: Counts, is_read: bool) -> None:
        slots = self._slots(cycles)
        np.add.at(self.reads if is_read else self.writes, slots, taken[:, spread])

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


def _served(arriving: Counts, free: Counts) -> Counts:
    """What is served in each cycle if each class takes what it can: what waits goes on to the next cycle."""
    come = np.concatenate([np.zeros((1, free.shape[1]), np.int64), np.cumsum(arriving, axis=0)])
    room = np.concatenate([np.zeros((1, free.shape[1]), np.int64), np.cumsum(free, axis=0)])
    served = room + np.minimum.accumulate(come - room, axis=0)
    found: Counts = np.diff(served, axis=0)
    return found


def _one_class(room: list[int], rows: Iterable[tuple[int, int]], end: int) -> list[tuple[int, int]] | None:
    """How many accesses of a class are served in which cycles, of rows of them from some rising cycles on.

    `room` is what each cycle of an interval can take, and is used up; None if some are left in cycle `end`.
    """
    interval, now, left = len(room), 0, 0
    taken: list[tuple[int, int]] = []
    for cycle, count in (*rows, (end, 0)):
        while left and now < cycle:
            served = min(left, room[now % interval])
            if served:
                room[now % interval] -= served
                left -= served
                taken.append((now, served))
            now += 1
        now, left = max(now, cycle), left + count
    return None if left else taken


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
