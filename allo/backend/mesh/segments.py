"""Functions of the segments of a tile program: machine code of what a core does between transfers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from mlir import ir

from ...ir.arrays import form_dtype
from ...ir.builder import index_type, string_attr
from ...ir.context import unknown_location
from ...ir.mlir_types import scalar_from_mlir
from ...ir.module import Module
from ...ir.walk import argument_names, entry_block, operations, statements
from ..cpu import LLVMModule
from ..element_class import set_signature
from ..outlining import captured
from .reading import ReadProgram

type Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class SharedLocal:
    """An array of a core that several segments use."""

    shape: tuple[int, ...]
    dtype: Any


@dataclass(frozen=True, slots=True)
class SegmentCode:
    """A segment as a function of the arrays of the kernel, the core's own arrays, and the indices of levels."""

    run: LLVMModule
    levels: tuple[int, ...]
    locals: tuple[int, ...]

    def __call__(self, arrays: Sequence[Array], local: Sequence[Array], indices: Sequence[int]) -> None:
        self.run(*arrays, *(local[number] for number in self.locals), *(int(indices[level]) for level in self.levels))


@dataclass(frozen=True, slots=True)
class SegmentCodes:
    """The segments of a program that compute, by number, and the arrays that they share in a core."""

    segments: tuple[SegmentCode | None, ...]
    locals: tuple[SharedLocal, ...]


def segment_codes(read: ReadProgram) -> SegmentCodes:
    """Machine code for all segments of a program."""
    everything = operations(_entry(read.module, read.function))
    number_of = {op: number for number, op in enumerate(everything)}
    segment_of: dict[ir.Operation, int] = {}
    for segment, run in enumerate(read.segments):
        for op in run:
            segment_of |= dict.fromkeys(_with_inner(op), segment)
    shared = [
        op
        for op in everything
        if op.name == "memref.alloc" and len({segment_of[use.owner.operation] for use in op.results[0].uses}) > 1
    ]
    locals_ = []
    for op in shared:
        kind = ir.MemRefType(op.results[0].type)
        locals_.append(SharedLocal(tuple(kind.shape), form_dtype(scalar_from_mlir(kind.element_type))))
    loops = [number_of[read.loops[level]] for level in sorted(read.loops)]
    codes = []
    for run in read.segments:
        wanted = [number_of[op] for op in run if op not in shared]
        codes.append(_outlined(read, wanted, [number_of[op] for op in shared], loops))
    return SegmentCodes(tuple(codes), tuple(locals_))


def fresh_locals(code: SegmentCodes) -> list[Array]:
    """The arrays of one core."""
    return [np.zeros(local.shape, local.dtype) for local in code.locals]


def _entry(module: Module, name: str) -> ir.Block:
    entry = entry_block(module.function(name))
    assert entry is not None
    return entry


def _with_inner(op: ir.Operation) -> list[ir.Operation]:
    return [op, *(inner for region in op.regions for block in region.blocks for inner in operations(block))]


def _outlined(
    read: ReadProgram, wanted: Sequence[int], shared: Sequence[int], loops: Sequence[int]
) -> SegmentCode | None:
    """The statements with these numbers as the whole body of the function; None if there are none."""
    if not wanted:
        return None
    module = read.module.clone()
    function = module.function(read.function).operation
    block = _entry(module, read.function)
    everything = operations(block)
    keep = [everything[number] for number in wanted]
    allocations = [everything[number] for number in shared]
    variables = [everything[number].regions[0].blocks[0].arguments[0] for number in loops]
    end = statements(block)[-1]
    outside = captured(list(keep))
    # Constants that the statements use were copied in front of the first of them.
    inside = statements(keep[0].block)
    first = inside.index(keep[0])
    constants: list[ir.Operation] = []
    while first and inside[first - 1].name == "arith.constant" and inside[first - 1] not in keep:
        first -= 1
        constants.insert(0, inside[first])
    names = argument_names(module.function(read.function))
    levels, locals_ = [], []
    for number, op in enumerate(allocations):
        if op.results[0] in outside:
            argument = block.add_argument(op.results[0].type, unknown_location())
            op.results[0].replace_all_uses_with(argument)
            names.append(f"local_{number}")
            locals_.append(number)
    for level, value in enumerate(variables):
        if value in outside:
            argument = block.add_argument(index_type(), unknown_location())
            value.replace_all_uses_with(argument)
            names.append(f"level_{level}")
            levels.append(level)
    for op in (*constants, *keep):
        op.move_before(end)
    tables = [op for op in operations(block, "memref.get_global") if op not in keep]  # constant arrays
    for op in reversed(tables):
        op.move_before(statements(block)[0])
    kept = {*constants, *keep, *tables, end}
    for op in reversed(statements(block)):
        if op not in kept:
            op.erase()
    set_signature(function, names)
    function.attributes["sym_name"] = string_attr(read.function)
    return SegmentCode(LLVMModule(module), tuple(levels), tuple(locals_))


def view_bytes(read: ReadProgram, cores: int) -> int:
    """The bytes that the views of all cores on all arrays take on this machine."""
    return cores * sum(prod(array.shape) * array.element_bytes for array in read.program.arrays)
