"""Products in the addresses of hardware of our own: loops times the words of a row, once each in a function."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..layout import Banks, Division
from ..timing.control.tree import FunctionTree, Pipeline, Straight, nodes
from ..timing.problem.memory import ArrayMemory
from ..timing.problem.region import LoopBody, RegionNode

_LEAST = 9  # bits of a product that a DSP computes: that of `DSP_Y_MINWIDTH` of the recipe for Yosys


def address_products(function: FunctionTree) -> int:
    """How many products of a loop and a number, which is no power of two, the addresses of its memories have."""
    found: set[tuple[int, int]] = set()
    for part in nodes(function.root):
        if isinstance(part, Straight | Pipeline):
            region = part.region.graph.region
            unrolled = {loop.variable for loop in region.copy_loops}
            for node in region.nodes:
                found.update(pair for pair in _factors(region, node) if pair[0] not in unrolled)
    return len(found)


def _factors(region: LoopBody, node: RegionNode) -> Iterator[tuple[int, int]]:
    """The variables of an access with what they are multiplied by, where that takes a multiplier."""
    memory, access = node.memory, node.access
    if memory is None or access is None or memory.is_register or node.in_register or node.forwarded:
        return
    width = max(1, (memory.depth - 1).bit_length())
    for subscript, stride, banks in zip(access.subscripts, _strides(memory), memory.dims, strict=False):
        for variable, factor in subscript.terms:
            divided = factor // banks.factor if banks.factor and factor % banks.factor == 0 else factor
            if width >= _LEAST and stride and not _is_power_of_two(divided * stride):
                yield variable, abs(divided * stride)  # what is subtracted is the same product


def _strides(memory: ArrayMemory) -> list[int]:
    """The words from an element of a bank to the next one along each dimension; 0 along those that are all banks."""
    extents = [_extent(banks, extent) for banks, extent in zip(memory.dims, memory.shape, strict=False)]
    return [
        0 if banks.kind is Division.COMPLETE else math.prod(extents[n + 1 :]) for n, banks in enumerate(memory.dims)
    ]


def _extent(banks: Banks, extent: int) -> int:
    return 1 if banks.kind is Division.COMPLETE else -(-extent // max(1, banks.factor))


def _is_power_of_two(number: int) -> bool:
    return number != 0 and not abs(number) & (abs(number) - 1)
