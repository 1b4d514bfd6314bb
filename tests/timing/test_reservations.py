"""Ports that are reserved many cycles at once are those that are reserved cycle by cycle."""

from __future__ import annotations

import numpy as np
import pytest

from allo.timing import reservations
from allo.timing.problem.memory import Ports
from allo.timing.reservations import Reservations, Units

TWO, ONE_EACH, MANY_READS, SERIAL = Ports(2), Ports(2, 1, 1), Ports(None, None, 1), Ports(1)
ONE_BANK = np.zeros(1, np.int64)


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
            reserved = table.place(wanted[None], np.arange(banks), np.array([cycle]), is_read=kind == 0)
            assert reserved is not None
            assert (reserved.cycles[0], reserved.cycles[-1]) == expected
            assert (reserved.taken.sum(axis=0) == wanted).all()


@pytest.mark.parametrize("ports", [TWO, ONE_EACH, MANY_READS, SERIAL])
def test_rows_over_many_intervals(ports: Ports, monkeypatch: pytest.MonkeyPatch) -> None:
    """Class by class there is the same room, and the same is taken, as for all of them in cycle after cycle."""
    random = np.random.default_rng(8)
    failed = 0
    for _ in range(150):
        interval, banks = int(random.integers(1, 6)), int(random.integers(1, 7))
        classes = int(random.integers(1, banks + 1))
        spread = np.concatenate([np.arange(classes), random.integers(0, classes, banks - classes)])
        tables = [Reservations(ports, banks, interval) for _ in range(2)]
        for _ in range(3):
            cycles = np.sort(random.choice(40, int(random.integers(1, 5)), replace=False))
            wanted, is_read = random.integers(0, 3, (len(cycles), classes)), bool(random.integers(2))
            found = []
            for table, many in zip(tables, (1 << 30, 0), strict=True):
                monkeypatch.setattr(reservations, "_MANY_INTERVALS", many)
                found.append(table.place(wanted, spread, cycles, is_read=is_read))
            one, other = found
            if one is None or other is None:
                assert one is other
                failed += 1
                break
            assert one.each().tolist() == other.each().tolist()
            for kind in ("reads", "writes"):
                padded = np.zeros((2, interval, banks), np.int64)
                for k, table in enumerate(tables):
                    rows = getattr(table, kind)[:interval]
                    padded[k, : len(rows)] = rows
                assert (padded[0] == padded[1]).all()
    assert 10 < failed < 140


def test_no_limit() -> None:
    reserved = Reservations(Ports(None), 1, 4).place(np.array([[100]]), ONE_BANK, np.array([7]))
    assert reserved is not None and reserved.each().tolist() == [7] * 100


def test_more_than_fits_is_refused() -> None:
    assert Reservations(TWO, 1, 3).place(np.array([[7]]), ONE_BANK, np.array([0]), is_read=False) is None


def test_an_access_that_moves_between_banks_takes_a_port_of_each() -> None:
    table = Reservations(SERIAL, 4, 3)
    assert table.place(np.array([[1, 0, 0, 0]]), np.arange(4), np.array([0])) is not None
    moving = table.place(np.array([[1]]), np.zeros(4, np.int64), np.array([0]))
    assert moving is not None and moving.cycles.tolist() == [1]
    other = table.place(np.array([[0, 0, 0, 2]]), np.arange(4), np.array([0]))
    assert other is not None and other.each().tolist() == [0, 2]


def test_what_is_removed_can_be_reserved_again() -> None:
    table = Reservations(SERIAL, 1, 2)
    first = table.place(np.array([[2]]), ONE_BANK, np.array([0]))
    assert first is not None and table.place(np.array([[1]]), ONE_BANK, np.array([0])) is None
    table.remove(first)
    assert table.place(np.array([[2]]), ONE_BANK, np.array([1])) is not None


def test_units_take_copies_in_turn() -> None:
    units = Units(2, 3)
    assert units.place(0, [(4, 3), (5, 1)]) == [(4, 2), (5, 2)]
    assert units.place(1, [(1, 2)]) == [(3, 2)]
    units.remove(0)
    assert units.place(2, [(1, 2)]) == [(1, 2)]
