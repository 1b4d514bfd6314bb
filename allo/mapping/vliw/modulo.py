"""Modulo schedules of GEMM kernels: one iteration of the M-N loop begins every `interval` instructions.

The vector unit is what a kernel is bound by, so products come first, evenly; loads are placed as late as what waits
for them and stores as early as what they wait for allows, on slots and banks that are free in all iterations. So
registers are taken for as short as can be. Source: Rau, "Iterative modulo scheduling" (1996), without its backtracking,
which one saturated unit leaves no need for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product

from ...errors import ContractionError
from .bounds import bounds_of
from .machine import IssueSlot
from .operations import LOADS, GemmShape, TileOperation, iteration, product_orders

_VECTOR = (IssueSlot.VECTOR,)
_LOADS_FIRST = (("load C", "load B", "load A"), ("load B", "load A", "load C"), ("load A", "load B", "load C"))

type Placed = dict[TileOperation, tuple[int, IssueSlot]]


@dataclass(frozen=True, slots=True)
class KernelSchedule:
    """When, in an iteration, each operation is issued, and on which slot. Times of loads ahead are negative.

    `vectors` are the x registers of blocks of in0 and in1.
    """

    shape: GemmShape
    interval: int
    order: str
    placed: Placed
    vectors: dict[TileOperation, int]

    @property
    def first(self) -> int:
        """The time of the first operation."""
        return min(time for time, _ in self.placed.values())

    @property
    def span(self) -> int:
        """Instructions from the first operation of an iteration to its last."""
        return max(time for time, _ in self.placed.values()) - self.first + 1


@dataclass(slots=True)
class _Reservations:
    """Slots and banks that are taken, modulo the interval."""

    shape: GemmShape
    interval: int
    taken: set[tuple[int, str]] = field(default_factory=set)

    def take(self, time: int, slots: Iterable[IssueSlot], tensor: int | None) -> IssueSlot | None:
        """A free slot at a time at which the banks of a tensor are free too, now taken; None if there is none."""
        at = time % self.interval
        banks = [f"bank {bank}" for bank in self.shape.banks(tensor)] if tensor is not None else []
        if any((at, bank) in self.taken for bank in banks):
            return None
        for slot in slots:
            if (at, slot.value) not in self.taken:
                self.taken |= {(at, slot.value), *((at, bank) for bank in banks)}
                return slot
        return None


def schedule_of(shape: GemmShape) -> KernelSchedule:
    """The schedule with the least interval that registers, slots and banks allow.

    Raises ContractionError if there is none up to twice the bound.
    """
    least = bounds_of(shape).interval
    for interval in range(least, 2 * least + 1):
        found = []
        for (name, order), loads in product(product_orders(shape).items(), _LOADS_FIRST):
            placed = _placed(shape, interval, iteration(shape, order), loads)
            vectors = None if placed is None else _vectors(shape, interval, placed)
            if placed is not None and vectors is not None:
                found.append(KernelSchedule(shape, interval, name, placed, vectors))
        if found:
            return min(found, key=lambda schedule: schedule.span)
    raise ContractionError(f"no schedule of {shape.m} x {shape.k} x {shape.n} with an interval up to {2 * least}")


def _placed(
    shape: GemmShape, interval: int, operations: dict[str, list[TileOperation]], loads: tuple[str, ...]
) -> Placed | None:
    """Times and slots of all operations, or None if some find no place; `loads` are placed in this order."""
    machine = shape.machine
    found: Placed = {}
    free = _Reservations(shape, interval)
    products = operations["multiply"]
    for number, operation in enumerate(products):
        if not _place(found, free, operation, range(number * interval // len(products), interval), _VECTOR):
            return None
    for store in operations["store C"]:
        last = found[TileOperation("multiply", shape.steps - 1, store.row, store.column)][0]
        earliest = last + machine.multiply
        if not _place(found, free, store, range(earliest, earliest + interval), (IssueSlot.STORE,)):
            return None
    for kind in loads:
        after = None
        for load in reversed(operations[kind]):
            times = _when(found, shape, interval, load)
            if after is not None:  # one pointer leads to all of them, and those of the next iteration come behind
                last = found[operations[kind][-1]][0]
                times = range(min(times.start, after - 1), max(times.stop, last - interval), -1)
            if not _place(found, free, load, times, LOADS if load.tensor != 2 else LOADS[1:]):
                return None
            after = None if kind == "load C" else found[load][0]  # C has no order: its pointer stays
    return found


def _when(found: Placed, shape: GemmShape, interval: int, load: TileOperation) -> range:
    """The times at which a block, or half of one, can be loaded, the latest first."""
    machine = shape.machine
    if load.kind == "load C":
        latest = found[TileOperation("multiply", 0, load.row, load.column)][0] - machine.load_converted
        stored = found[TileOperation("store C", row=load.row, column=load.column)][0]
        # it arrives behind the store of the iteration before
        return range(latest, stored - interval - machine.load_converted, -1)
    latest = min(found[use][0] for use in users(load)) - machine.load
    return range(latest, latest - interval, -1)


def _place(
    found: Placed, free: _Reservations, operation: TileOperation, times: range, slots: tuple[IssueSlot, ...]
) -> bool:
    for time in times:
        slot = free.take(time, slots, operation.tensor)
        if slot is not None:
            found[operation] = (time, slot)
            return True
    return False


def users(load: TileOperation) -> list[TileOperation]:
    """The products that a block of in0 or in1 is in."""
    if load.kind == "load A":
        return [TileOperation("multiply", load.step, load.row, c) for c in range(4)]
    return [TileOperation("multiply", load.step, r, load.column) for r in range(4)]


def block_of(load: TileOperation) -> TileOperation:
    """The block that a load has half of, as its first load."""
    return TileOperation(load.kind, load.step, load.row, load.column)


def _vectors(shape: GemmShape, interval: int, placed: Placed) -> dict[TileOperation, int] | None:
    """Registers of blocks of the inputs, from when a half arrives to the last product; None if there are too few."""
    lives: dict[TileOperation, tuple[int, int]] = {}
    for load, (time, _) in placed.items():
        if load.kind in ("load A", "load B"):
            block, arrives = block_of(load), time + shape.machine.load
            last = max(placed[use][0] for use in users(load))
            lives[block] = (min(arrives, lives.get(block, (arrives, 0))[0]), last)
    busy: list[set[int]] = [set() for _ in range(shape.machine.vectors)]
    found: dict[TileOperation, int] = {}
    for block, (start, end) in sorted(lives.items(), key=lambda item: item[1]):
        cycles = {time % interval for time in range(start, end + 1)}
        register = next((k for k, taken in enumerate(busy) if not taken & cycles), None)
        if register is None or end - start + 1 > interval:
            return None
        busy[register] |= cycles
        found[block] = register
    return found
