"""Banks that a tool makes of arrays unasked: of those that a function declares, where ports keep pipelines waiting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mlir import ir

from ...ir.access import accessed, base_of
from ...layout import NONE
from ...target import Fpga
from ...timing.pipeline import ScheduledRegion
from ...timing.problem.memory import ArrayMemory, divided
from ..advice.ports import fewest_banks, partitions


@dataclass(frozen=True, slots=True)
class DividedArray:
    """An array in other banks, as the steps that would say so."""

    memory: ArrayMemory
    steps: tuple[str, ...]


def divisions(done: Iterable[ScheduledRegion], target: Fpga, function: str) -> dict[ir.Value, DividedArray]:
    """Arrays whose ports bind pipelines, in the fewest banks that lead to the interval that is left without them.

    An array that is an argument, is given to a call, has a partition or is bound to a memory stays as it is.
    """
    found: dict[ir.Value, DividedArray] = {}
    for region in done:
        if region.interval == 1 or region.pressure is None:
            continue
        enough = max(1, region.recurrence.interval if region.recurrence is not None else 1)
        for accesses in region.accesses:
            pressure = accesses.pressure()
            nodes = [node for node in region.graph.region.nodes if node.label == accesses.label]
            array = base_of(accessed(nodes[0].op))
            if pressure is None or pressure.interval <= enough or not _is_free(array, accesses.memory):
                continue
            best = fewest_banks(region.graph.region, accesses.memory, nodes, enough, target.limits.banks)
            if best is not None and best[0] < pressure.interval:
                steps = partitions(f"{function}:{accesses.memory.name}", accesses.memory, best[1])
                found.setdefault(array, DividedArray(divided(accesses.memory, best[1], target), tuple(steps)))
    return found


def memories_of(found: Mapping[ir.Value, DividedArray]) -> dict[ir.Value, ArrayMemory]:
    """What the divided arrays are made of."""
    return {array: division.memory for array, division in found.items()}


def as_notes(function: str, found: Mapping[ir.Value, DividedArray]) -> list[str]:
    """What a report says of the divisions."""
    return [
        f"{function}: the tool divides '{division.memory.name}' unasked, as {'; '.join(division.steps)} would"
        for division in found.values()
    ]


def _is_free(array: ir.Value, memory: ArrayMemory) -> bool:
    if isinstance(array.owner, ir.Block) or array.owner.operation.name != "memref.alloc":
        return False
    if memory.bound or any(dim != NONE for dim in memory.dims):
        return False
    return not any(use.owner.operation.name == "func.call" for use in array.uses)
