"""Memories of a chip for arrays: LUTRAM for small ones, BRAM and URAM for others, as evenly as there is of them.

Source: StreamTensor, section 5.3: memory allocation, by size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlir import ir

from ..customize.fifo.memories import ArrayPlace, MemoryPlan
from ..customize.step.handles import Buffer
from ..errors import TargetError
from ..ir.module import Module
from ..ir.processes import is_region
from ..ir.streams import is_stream_type
from ..ir.walk import entry_block, statement_of
from ..target import Fpga, load_target
from ..timing.problem.memory import ArrayMemory, array_memory

_BLOCKS = ("URAM", "BRAM")


@dataclass(frozen=True, slots=True)
class ChipArray:
    """An array on the chip: `copies` of it, two for a channel between stages; `is_constant`: with values from the
    start, which a URAM cannot have."""

    memory: ArrayMemory
    copies: int = 1
    is_constant: bool = False

    @property
    def bits(self) -> int:
        return math.prod(self.memory.shape) * self.memory.width * self.copies


def memories_of(module: Module, target: str) -> MemoryPlan:
    """Places for all arrays that the functions of a module make, each function counted once.

    Raises TargetError for a target that is no FPGA, and where the chip has no room.
    """
    device = load_target(target)
    if not isinstance(device, Fpga):
        raise TargetError(f"memories are those of FPGAs, and target '{device.name}' is none", hint="take u280")
    return memory_plan(chip_arrays(module, device), device)


def chip_arrays(module: Module, target: Fpga) -> list[ChipArray]:
    """The arrays that functions make; those between stages of a dataflow region are there twice."""
    found = []
    for function in module.names():
        entry = entry_block(module.function(function))
        for name, value in module.buffers(function).items():
            is_made = entry is not None and not isinstance(value.owner, ir.Block)
            if not is_made or is_stream_type(value.type) or ir.MemRefType(value.type).rank == 0:
                continue
            op = value.owner.operation
            if op.name in ("memref.alloc", "memref.get_global"):
                memory = array_memory(value, str(Buffer(function, name)), target)
                is_channel = op.name == "memref.alloc" and op.block == entry and is_region(op.block)
                copies = 2 if is_channel and len(_statements(value)) > 1 else 1
                found.append(ChipArray(memory, copies, op.name == "memref.get_global"))
    return found


def _statements(value: ir.Value) -> set[ir.Operation]:
    return {statement_of(use.owner.operation) for use in value.uses}


def memory_plan(arrays: Sequence[ChipArray], target: Fpga) -> MemoryPlan:
    """Places for all arrays that are no registers. Raises TargetError where the chip has no room for one.

    What a user has bound stays. Of what is larger than LUTRAM is meant for, each goes, the largest first, to the memory
    of which it takes the smaller part of what is left; to LUTs if no block is.
    """
    device = target.device
    available = {"URAM": device.uram, "BRAM": device.bram18, "LUTRAM": device.lut}
    available = {name: count for name, count in available.items() if name in target.memories}
    left, places = dict(available), []
    order = sorted(arrays, key=lambda array: (not array.memory.bound, -array.bits, array.memory.name))
    for array in order:
        if array.memory.is_register:
            continue
        costs = {name: _cost(array, name, target) for name in available}
        resource, reason = _chosen(array, costs, left, target)
        left[resource] -= costs[resource]
        places.append(
            ArrayPlace(array.memory.name, array.bits, array.memory.banks, resource, costs[resource], reason)
        )
    return MemoryPlan(target.name, tuple(places), available)


def _cost(array: ChipArray, resource: str, target: Fpga) -> int:
    memory = array.memory
    if resource in _BLOCKS:
        return array.copies * memory.banks * target.memories[resource].blocks(memory.width, memory.depth)
    return array.copies * memory.banks * memory.width * -(-memory.depth // 64)  # a LUT holds 64 bits


def _chosen(
    array: ChipArray, costs: Mapping[str, int], left: Mapping[str, int], target: Fpga
) -> tuple[str, str]:
    memory = array.memory
    if memory.bound and memory.kind.name in costs:
        return memory.kind.name, "bound"
    fitting = [name for name in costs if costs[name] <= left[name]]
    per_bank = memory.depth * memory.width
    if per_bank <= target.lutram_up_to and "LUTRAM" in fitting:
        return "LUTRAM", f"{per_bank:,} bits a bank, at most {target.lutram_up_to:,}"
    blocks = [name for name in _BLOCKS if name in fitting and not (name == "URAM" and array.is_constant)]
    if blocks:
        best = min(blocks, key=lambda name: costs[name] / left[name])
        parts = ", ".join(f"{costs[name]:,} of {left[name]:,} {name} left" for name in blocks)
        return best, f"constant; {parts}" if array.is_constant else parts
    if "LUTRAM" in fitting:
        return "LUTRAM", "no blocks are left"
    needs = ", ".join(f"{costs[name]:,} {name} of {left[name]:,} left" for name in costs)
    raise TargetError(
        f"'{memory.name}' has no room on {target.name}: it would take {needs}",
        hint="let arrays stream (fuse_streams), or make parts of them (buffer_at)",
    )
