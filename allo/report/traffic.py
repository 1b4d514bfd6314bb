"""Bytes that the loops of a function move between arrays and the datapath, and what they compute, from its text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mlir import ir

from ..ir.access import accessed, callee_name, is_load, is_store
from ..ir.mlir_types import from_mlir
from ..ir.module import Module
from ..ir.streams import is_stream_type
from ..ir.types import TensorType
from ..ir.walk import LOOP_OPERATIONS, entry_block, statements
from ..poly import Count, runs_of

NONE = Count(0)
_COMPUTES = re.compile(r"arith\.(add|sub|mul|div|rem|max|min|ceildiv|floordiv)|math\.")


@dataclass(frozen=True, slots=True)
class Moved:
    """Bytes read from and written to arrays, where scalar variables do not count, and operations on data.

    Operations are sums, products, quotients, extrema and functions such as `exp`; not those on subscripts.
    """

    read: Count = NONE
    written: Count = NONE
    operations: Count = NONE

    def __add__(self, other: Moved) -> Moved:
        operations = self.operations + other.operations
        return Moved(self.read + other.read, self.written + other.written, operations)

    def times(self, count: Count) -> Moved:
        return Moved(self.read * count, self.written * count, self.operations * count)

    @property
    def total(self) -> Count:
        """Both together."""
        return self.read + self.written


class Traffic:
    """The bytes of each loop for one run of its function."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.loops: dict[ir.Operation, Moved] = {}
        self._functions: dict[str, Moved] = {}

    def of_function(self, name: str) -> Moved:
        """The bytes that one run of a function moves; fills `loops` for it."""
        if name not in self._functions:
            entry = entry_block(self.module.function(name))
            self._functions[name] = Moved() if entry is None else self._block(entry)
        return self._functions[name]

    def _block(self, block: ir.Block) -> Moved:
        runs = runs_of(block)
        moved = Moved()
        for op in statements(block):
            if is_load(op):
                moved += Moved(read=_bytes_of(accessed(op)) * runs)
            elif is_store(op):
                moved += Moved(written=_bytes_of(accessed(op)) * runs)
            elif _COMPUTES.match(op.name) and not isinstance(op.results[0].type, ir.IndexType):
                moved += Moved(operations=Count(1) * runs)
            elif op.name == "func.call":
                moved += self.of_function(callee_name(op)).times(runs)
            else:
                inside = sum((self._block(b) for region in op.regions for b in region.blocks), Moved())
                moved += inside
                if op.name in LOOP_OPERATIONS:
                    self.loops[op] = inside
        return moved


def _bytes_of(memref: ir.Value) -> Count:
    """The bytes of one element of an array; a scalar variable is a register, a stream a FIFO."""
    if is_stream_type(memref.type):
        return Count(0)
    tensor = from_mlir(memref.type)
    assert isinstance(tensor, TensorType)
    return Count(-(-tensor.element.bits // 8)) if tensor.shape else Count(0)
