"""Memories that arrays are given, as `place_arrays` returns them: a place each with its reason, and what is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...picture import aligned, preformatted


@dataclass(frozen=True, slots=True)
class ArrayPlace:
    """Where an array is: `count` blocks of a memory, of 18 Kb for BRAM and 288 Kb for URAM, or LUTs of LUTRAM."""

    array: str
    bits: int
    banks: int
    resource: str
    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Places of arrays, the largest first, and what the chip has of each memory."""

    target: str
    places: tuple[ArrayPlace, ...]
    available: Mapping[str, int]

    @property
    def used(self) -> dict[str, int]:
        """How much of each memory is taken."""
        return {name: sum(p.count for p in self.places if p.resource == name) for name in self.available}

    def __str__(self) -> str:
        totals = ", ".join(f"{self.used[name]:,} of {count:,} {name}" for name, count in self.available.items())
        rows = [("array", "bits", "banks", "memory", "count", "because")]
        rows += [(p.array, f"{p.bits:,}", str(p.banks), p.resource, f"{p.count:,}", p.reason) for p in self.places]
        return "\n".join([f"arrays on {self.target}: {totals}", *aligned(rows)])

    def _repr_html_(self) -> str:
        return preformatted(str(self))
