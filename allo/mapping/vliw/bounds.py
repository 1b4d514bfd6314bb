"""Bounds on the cycles of a GEMM kernel: by slots, by banks, by what an accumulator waits for, by its beginning."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from .operations import GemmShape


@dataclass(frozen=True, slots=True)
class KernelBounds:
    """Cycles that one iteration takes at least, by what asks for them, and all of the kernel."""

    vector_slot: int
    load_slots: int
    convert_slot: int
    store_slot: int
    banks: int
    recurrence: int
    total: int

    @property
    def interval(self) -> int:
        """The least interval between two iterations."""
        slots = max(self.vector_slot, self.load_slots, self.convert_slot, self.store_slot)
        return max(slots, self.banks, self.recurrence)

    def __str__(self) -> str:
        return (
            f"interval >= {self.interval}: vector {self.vector_slot}, loads {self.load_slots}, conversions"
            f" {self.convert_slot}, stores {self.store_slot}, banks {self.banks}, recurrence {self.recurrence};"
            f" kernel >= {self.total} cycles"
        )


def bounds_of(shape: GemmShape) -> KernelBounds:
    """The bounds of a shape in its place in memory; a bank serves one access a cycle."""
    machine, steps = shape.machine, shape.steps
    inputs = 8 * steps  # halves of blocks, of each input
    moves = (inputs, inputs, 32)
    banks = max(
        sum(moves[k] for k in range(3) if shape.banks(k) == frozenset({bank})) for bank in range(machine.banks)
    )
    # load, a chain of products, store; the next load may be on its way while the store reads
    recurrence = machine.load_converted + machine.multiply * steps - machine.load_converted + 1
    interval = max(16 * steps, ceil((2 * inputs + 16) / 2), banks, recurrence)
    begin = 1 + machine.load  # two halves of a block of each input, one instruction apart
    total = begin + (shape.iterations - 1) * interval + 16 * steps + machine.multiply
    return KernelBounds(16 * steps, inputs + 8, 16, 16, banks, recurrence, total)
