"""What the checker finds in schedules that were changed, and that it agrees with a reading of all copies one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import allo
import polybench
from allo.ir.types import float32, int32
from allo.timing.check import violations
from allo.timing.schedule import StaticSchedule
from tests.estimate.random_kernels import random_kernel
from tests.seeds import sweep

from .enumerated import broken
from .regions import schedules


def sums(A: float32[64], B: float32[16], C: float32[16]):
    for i in range(16):
        B[i] = A[4 * i] * 2.0 + A[4 * i + 1] * 3.0 + A[4 * i + 2] * 5.0 + A[4 * i + 3] + C[i]
        C[i] = 1.0


def lanes(A: float32[64], B: float32[64], C: float32[64]):
    for i in range(8):
        for u in range(8):
            C[8 * i + u] += A[8 * i + u] * B[8 * i + u]


def total(A: int32[64], S: int32[8]):
    for i in range(8):
        for u in range(6):
            S[i] += A[8 * i + u]


def chain(A: float32[64], S: float32[8]):
    for i in range(8):
        for u in range(5):
            S[i] += A[8 * i + u] * 2.0


def kept(A: float32[64], B: float32[64], C: float32[64]):
    """All copies store one value in B, where the first has read another one than the rest reads."""
    for i in range(5):
        for _u in range(4):
            for _v in range(2):
                if i < 3:
                    A[3 * i + 3] = A[3 * i + 1] + B[3 * i + 1]
            B[3 * i + 1] = A[3 * i + 4]


def indirect(A: int32[64], B: int32[64], C: int32[64]):
    """Logic in front of reads, which begin with a cycle."""
    for i in range(32):
        C[i] = B[A[i] + 3] + B[A[i] * 2 + 1]


def twice(A: float32[64], B: float32[64], C: float32[64]):
    """Elements that are written twice take a port once, with what is written last."""
    for i in range(8):
        for u in range(4):
            B[8 * i + u] = A[8 * i + u] * 2.0
        for u in range(4):
            C[8 * i + u] = B[8 * i + u] + 1.0
        for u in range(4):
            B[8 * i + u + 1] = A[8 * i + u] * 3.0


def schedule(kernel: object) -> StaticSchedule:
    s = allo.customize(kernel)  # type: ignore[arg-type]
    s.pipeline("i")
    return schedules(s)[0].schedule


KERNELS = [sums, lanes, total, chain, kept]


@pytest.mark.parametrize("kernel", [*KERNELS, indirect, twice])
def test_schedules_are_right(kernel: object) -> None:
    assert not violations(schedule(kernel))


def test_copies_take_units_in_the_order_in_which_they_are_ready() -> None:
    """Three copies read each of two banks, two of them at once: three multipliers do for six products in two cycles."""

    def banks(A: float32[8, 6], B: float32[8, 6]):
        for i in range(8):
            for u in range(6):
                B[i, u] = A[i, u] * 3.0

    s = allo.customize(banks)
    s.pipeline("i")
    s.partition("A", partition_type=allo.Partition.Block, dim=2, factor=2)
    s.partition("B", dim=2)
    (found,) = schedules(s)
    assert found.schedule.interval == 2
    assert [count for unit, count in found.schedule.needed.items() if unit.name == "mul_f32"] == [3]


@pytest.mark.parametrize("kernel", KERNELS)
def test_nothing_can_start_a_cycle_earlier(kernel: object) -> None:
    """Each operation waits for a value, for a port or for a unit, or starts in cycle 0."""
    found = schedule(kernel)
    for index, table in enumerate(found.cycles):
        earlier = replace(found, cycles=(*found.cycles[:index], table - 1, *found.cycles[index + 1 :]))
        assert violations(earlier)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_shorter_interval_needs_more(kernel: object) -> None:
    found = schedule(kernel)
    assert found.interval is not None and found.interval > 1
    assert violations(replace(found, interval=found.interval - 1))


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_depth_is_that_of_the_last_operation(kernel: object) -> None:
    found = schedule(kernel)
    assert any("the depth is" in text for text in violations(replace(found, depth=found.depth - 1)))


def test_two_operations_on_one_unit() -> None:
    found = schedule(sums)
    names = [operation.name for operation in found.problem.operations]
    muls = [n for n, name in enumerate(names) if name == "mul"]
    one, other = muls[0], muls[1]
    slots = [int(found.cycles[n][()]) % (found.interval or 1) for n in (one, other)]
    moved = list(found.cycles)
    moved[other] = moved[other] + (slots[0] - slots[1]) % (found.interval or 1)
    units = list(found.units)
    units[other] = units[one]
    texts = violations(replace(found, cycles=tuple(moved), units=tuple(units)))
    assert any("share unit" in text for text in texts)
    units[one] = np.array(7)
    assert any("runs on unit 7, and there are" in text for text in violations(replace(found, units=tuple(units))))


def test_another_port() -> None:
    found = schedule(sums)
    ports = [None if table is None else np.zeros_like(table) for table in found.ports]
    texts = violations(replace(found, ports=tuple(ports)))
    assert any("shares port 0 of bank 0 of A in cycle" in text for text in texts)
    more = [None if table is None else table + 2 for table in found.ports]
    assert any("takes port" in text for text in violations(replace(found, ports=tuple(more))))
    assert any("has no port" in text for text in violations(replace(found, ports=(None,) * len(ports))))


def test_reads_in_one_cycle() -> None:
    found = schedule(sums)
    operations = found.problem.operations
    at_once = [np.minimum(t, 0) if o.kind == "read" else t for t, o in zip(found.cycles, operations, strict=True)]
    assert "bank 0 of A has 4 accesses in cycle 0" in violations(replace(found, cycles=tuple(at_once)))


def test_logic_of_a_cycle() -> None:
    def logic(A: int32[64], B: int32[64]):
        for i in range(64):
            B[i] = A[i] + B[i] + A[63 - i] + B[63 - i] + i

    found = schedule(logic)
    operations = found.problem.operations
    flat = [np.full_like(t, 1 if o.kind != "read" else 0) for t, o in zip(found.cycles, operations, strict=True)]
    texts = violations(replace(found, cycles=tuple(flat)))
    assert any("the logic up to it takes longer than a cycle" in text for text in texts)


def test_a_table_of_the_wrong_form() -> None:
    found = schedule(lanes)
    texts = violations(replace(found, cycles=(np.zeros(3), *found.cycles[1:])))
    assert "has no cycle for each of its copies" in texts[0]
    assert violations(replace(found, interval=0)) == ["the interval is 0"]


@pytest.mark.parametrize("kernel", KERNELS)
def test_all_copies_one_by_one(kernel: object) -> None:
    assert broken(schedule(kernel)) == []


@sweep(12)
def test_random_kernels_one_by_one(seed: int) -> None:
    """Of schedules and of schedules that were spoiled: what one reading finds, the other finds too."""
    made = random_kernel(seed)
    s = allo.customize(made.function)
    s.pipeline("i")
    for done in schedules(s):
        found = done.schedule
        if sum(map(found.problem.copies, range(len(found.cycles)))) > 150:
            continue
        assert broken(found) == []
        spoil = np.random.default_rng(seed)
        for index in range(len(found.cycles)):
            cycles = list(found.cycles)
            cycles[index] = np.maximum(cycles[index] - int(spoil.integers(1, 4)), 0)
            spoiled = replace(found, cycles=tuple(cycles))
            if broken(spoiled):
                assert violations(spoiled)


def test_polybench_one_by_one() -> None:
    for name in ("atax", "mvt", "trisolv", "jacobi_1d"):
        for done in schedules(allo.customize(polybench.load(name).kernel("MINI")), auto_pipeline=True):
            assert broken(done.schedule) == []
