"""Reservation table of an array: how often each bank is read and written in each cycle of an interval."""

from __future__ import annotations

import numpy as np

from ..errors import InternalError
from .problem.memory import Ports
from .problem.ports import Counts

_ANY_NUMBER = 1 << 40  # of accesses in a cycle, where there is no limit


class Reservations:
    """The ports of `banks` banks over the cycles of an interval."""

    def __init__(self, ports: Ports, banks: int, interval: int) -> None:
        self.ports = ports
        self.interval = interval
        self.reads: Counts = np.zeros((0, banks), np.int64)
        self.writes = self.reads.copy()

    def place(self, wanted: Counts, cycle: int, *, is_read: bool) -> tuple[int, int]:
        """Reserve so many accesses of each bank from `cycle` on; the cycles of the first and of the last one.

        Each bank takes what it can as early as it can. Cycles are looked at many at once: as many as the accesses
        would take without others, then twice as many.
        """
        left = wanted
        first, last, passed = -1, cycle, 0
        many = self._fewest(wanted, is_read)
        while left.any():
            if passed == self.interval:
                raise InternalError(f"{self.interval} cycles have no ports for all accesses of an array")
            many = min(many, self.interval - passed)
            slots = (cycle + passed + np.arange(many)) % self.interval
            self._grow(int(slots.max()) + 1)
            free = self._free(slots, is_read)
            taken = np.clip(left - (np.cumsum(free, axis=0) - free), 0, free)
            own = self.reads if is_read else self.writes
            own[slots] += taken
            used = np.flatnonzero(taken.any(axis=1))
            if len(used):
                first = cycle + passed + int(used[0]) if first < 0 else first
                last = cycle + passed + int(used[-1])
            left = left - taken.sum(axis=0)
            passed, many = passed + many, 2 * many
        return max(first, cycle), last

    def _fewest(self, wanted: Counts, is_read: bool) -> int:
        """The cycles that accesses take if there are no others."""
        limits = [n for n in (self.ports.total, self._own(is_read)) if n is not None]
        return max(1, -(-int(wanted.max()) // min(limits))) if limits else 1

    def _own(self, is_read: bool) -> int | None:
        return self.ports.reads if is_read else self.ports.writes

    def _grow(self, rows: int) -> None:
        missing = rows - len(self.reads)
        if missing > 0:
            more = np.zeros((max(missing, len(self.reads)), self.reads.shape[1]), np.int64)
            self.reads, self.writes = (np.concatenate([table, more]) for table in (self.reads, self.writes))

    def _free(self, slots: Counts, is_read: bool) -> Counts:
        """How many accesses of a kind each bank can still take in these cycles."""
        reads, writes = self.reads[slots], self.writes[slots]
        own, limit = (reads, self._own(True)) if is_read else (writes, self._own(False))
        found = np.full_like(own, _ANY_NUMBER) if limit is None else limit - own
        return found if self.ports.total is None else np.minimum(found, self.ports.total - reads - writes)
