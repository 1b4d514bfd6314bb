"""Resources of a function: units, memories, registers, and what callees add."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

from mlir import ir

from ..customize.fifo.depths import bits_of as element_bits
from ..customize.fifo.depths import depth_of
from ..ir.streams import is_stream_type
from ..ir.walk import entry_block, operations, string_of
from ..target import Fpga, Operator
from ..timing.control.span import Span
from ..timing.problem.memory import ArrayMemory
from .report.result import Resources

MAKERS = ("allo.stream_create", "memref.alloc", "memref.get_global")  # operations that make FIFOs or arrays


def own_resources(
    span: Span,
    function: ir.OpView,
    memory_of: dict[ir.Value, ArrayMemory],
    target: Fpga,
    loops: int,
    products: int = 0,
) -> Resources:
    """What an instance of a function takes without its callees; `products`: the DSPs of its addresses."""
    size = target.control.size
    found = unit_resources(span.units, target)
    found += Resources(
        dsp=products,
        lut=size.function_lut + loops * size.loop_lut,
        ff=size.function_ff + loops * size.loop_ff + round(size.register_ff * span.register_bits),
    )
    entry = entry_block(function)
    assert entry is not None
    is_region = "allo.dataflow" in function.operation.attributes
    for op in operations(entry, *MAKERS):
        found += made_resources(op, memory_of, target, is_channel=is_region and op.block == entry)
    return found


def made_resources(
    op: ir.Operation, memory_of: dict[ir.Value, ArrayMemory], target: Fpga, *, is_channel: bool
) -> Resources:
    """What the FIFOs or the array take that one of `MAKERS` makes; twice as much if stages pass it on."""
    if op.name == "allo.stream_create" or (op.name == "memref.alloc" and is_stream_type(op.results[0].type)):
        kind = op.results[0].type
        count = math.prod(kind.shape) if isinstance(kind, ir.MemRefType) else 1
        return fifo_resources(element_bits(kind), depth_of(kind), target).times(count)
    memory = memory_of[op.results[0]]
    is_doubled = is_channel and op.name == "memref.alloc" and not memory.is_register
    return array_resources(memory).times(2 if is_doubled else 1)


def unit_resources(units: Counter[Operator], target: Fpga) -> Resources:
    """What units take, with the multiplexers before those that are shared."""
    found = Resources()
    for operator, count in units.items():
        found += Resources(dsp=operator.dsp, lut=operator.lut, ff=operator.ff).times(count)
        if operator.latency:
            found += Resources(lut=target.control.size.choice_lut).times(count)
    return found


def array_resources(memory: ArrayMemory) -> Resources:
    """What an array takes."""
    bits = math.prod(memory.shape) * memory.width
    match memory.kind.name:
        case "REGISTER":
            return Resources(ff=bits)
        case "URAM":
            return Resources(uram=memory.blocks())
        case "BRAM":
            return Resources(bram18=memory.blocks())
        case _:  # a LUT holds 64 bits, and the output has a register
            lut = memory.banks * memory.width * -(-memory.depth // 64)
            return Resources(lut=lut, ff=memory.banks * memory.width)


def fifo_resources(width: int, depth: int, target: Fpga) -> Resources:
    """A FIFO is made of shift registers if it is small, else of BRAM."""
    if width * depth <= target.lutram_up_to:
        return Resources(lut=width * -(-depth // 32) + 20, ff=width + 10)
    return Resources(bram18=target.memories["FIFO"].blocks(width, depth), lut=40, ff=width + 20)


def array_name(op: ir.Operation) -> str:
    """The name of an array that an operation makes."""
    return string_of(op, "allo.name") or "array"


def beyond(used: Resources, available: Resources, target: Fpga) -> list[str]:
    """What the device has not enough of."""
    taken = target.limits.platform_dsp
    beside = available.dsp - taken
    if beside < used.dsp <= available.dsp:
        platform = f"of which the platform of the card takes {taken:,}"
        return [
            f"does not fit: {used.dsp:,} DSPs, {target.name} has {available.dsp:,}, {platform}",
            *beyond(replace(used, dsp=0), available, target),
        ]
    names = (("DSPs", "dsp"), ("blocks of BRAM", "bram18"), ("blocks of URAM", "uram"), ("LUTs", "lut"), ("FFs", "ff"))
    return [
        f"does not fit: {getattr(used, key):,} {name}, {target.name} has {getattr(available, key):,}"
        for name, key in names
        if getattr(used, key) > getattr(available, key)
    ]
