"""Addresses of buffers in the memories of cores, checked on the plan: one by one, without what has chosen them."""

from __future__ import annotations

from ...errors import TargetError
from ...mapping import ArrayPlan, CoreMemory, buffers_of_core
from ...target import TileKind


def check_memories(plan: ArrayPlan) -> None:
    """Raises TargetError for buffers without an address, or with one that others, the stack or accesses forbid."""
    limits = plan.array.tiles[TileKind.CORE]
    for core in plan.mapping.cores:
        memory = plan.memory(core.name)
        placed = [own.buffer for own in memory.buffers]
        for buffer in buffers_of_core(core, plan.placement, plan.fifos):
            if buffer not in placed:
                raise TargetError(f"'{buffer.name}' has no address in the memory of core '{core.name}'")
        _check_addresses(memory, limits.stack, limits.memory, plan.array.access)


def _check_addresses(memory: CoreMemory, stack: int, size: int, access: int) -> None:
    where = f"of core '{memory.core}' at {memory.tile}"
    end, before = stack, "the stack"
    for own in sorted(memory.buffers, key=lambda own: own.address):
        name, last = own.buffer.name, own.address + own.buffer.bytes
        if own.address < end:
            raise TargetError(f"'{name}' {where} begins at {own.address:#x}, and {before} ends at {end:#x}")
        if last > size:
            raise TargetError(f"'{name}' {where} ends at {last:#x}, and the memory at {size:#x}")
        if own.address % own.buffer.alignment(access):
            raise TargetError(
                f"'{name}' {where} begins at {own.address:#x}, and accesses of "
                f"{own.buffer.alignment(access)} bytes at multiples of that"
            )
        banks = range(own.address // memory.bank_bytes, (max(last, own.address + 1) - 1) // memory.bank_bytes + 1)
        if own.banks != banks:
            raise TargetError(f"'{name}' {where} is in bank {banks[0]}, and its plan says bank {own.banks[0]}")
        end, before = last, f"'{name}'"
