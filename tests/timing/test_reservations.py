"""Ports that are reserved many cycles at once are those that are reserved cycle by cycle."""

from __future__ import annotations

import numpy as np
import pytest

from allo.errors import InternalError
from allo.timing.problem.memory import Ports
from allo.timing.reservations import Reservations

TWO, ONE_EACH, MANY_READS, SERIAL = Ports(2), Ports(2, 1, 1), Ports(None, None, 1), Ports(1)


def placed(
    ports: Ports, used: dict[int, np.ndarray], wanted: np.ndarray, cycle: int, interval: int, kind: int
) -> tuple[int, int]:
    """Cycle by cycle: each bank takes what its ports leave. `used` are reads and writes of each cycle."""
    left, cycles = wanted.copy(), []
    for now in range(cycle, cycle + interval):
        taken = used.setdefault(now % interval, np.zeros((2, len(wanted)), np.int64))
        free = np.full(len(wanted), 1 << 20)
        if (limit := (ports.reads, ports.writes)[kind]) is not None:
            free = limit - taken[kind]
        if ports.total is not None:
            free = np.minimum(free, ports.total - taken.sum(axis=0))
        own = np.minimum(left, free)
        taken[kind] += own
        left = left - own
        cycles += [now] if own.any() else []
    assert not left.any()
    return cycles[0], cycles[-1]


@pytest.mark.parametrize("ports", [TWO, ONE_EACH, MANY_READS, SERIAL])
def test_as_cycle_by_cycle(ports: Ports) -> None:
    random = np.random.default_rng(7)
    for _ in range(40):
        interval, banks = int(random.integers(40, 60)), int(random.integers(1, 5))
        table, used = Reservations(ports, banks, interval), dict[int, np.ndarray]()
        for _ in range(6):
            kind, cycle = int(random.integers(2)), int(random.integers(100))
            wanted = random.integers(0, 7, banks)
            wanted[0] += 1
            expected = placed(ports, used, wanted, cycle, interval, kind)
            assert table.place(wanted, cycle, is_read=kind == 0) == expected


def test_no_limit() -> None:
    table = Reservations(Ports(None), 1, 4)
    assert table.place(np.array([100]), 7, is_read=True) == (7, 7)


def test_more_than_fits_is_not_forgotten() -> None:
    with pytest.raises(InternalError, match="3 cycles have no ports"):
        Reservations(TWO, 1, 3).place(np.array([7]), 0, is_read=False)
