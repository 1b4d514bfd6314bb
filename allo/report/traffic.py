"""Decides how many bytes the loops of a function move between arrays and the datapath, from the text of the program."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ..ir.access import accessed, callee_name, is_load, is_store
from ..ir.mlir_types import from_mlir
from ..ir.module import Module
from ..ir.streams import is_stream_type
from ..ir.types import TensorType
from ..ir.walk import LOOP_OPERATIONS, entry_block
from ..poly import max_trip_count, trip_count


@dataclass(frozen=True, slots=True)
class Count:
    """A number that is exact, or a bound from above; `value` is None where not even a bound is known."""

    value: int | None
    exact: bool = True

    def __add__(self, other: Count) -> Count:
        if self.value is None or other.value is None:
            return Count(None, False)
        return Count(self.value + other.value, self.exact and other.exact)

    def __mul__(self, other: Count) -> Count:
        if (self.value == 0 and self.exact) or (other.value == 0 and other.exact):
            return Count(0)
        if self.value is None or other.value is None:
            return Count(None, False)
        return Count(self.value * other.value, self.exact and other.exact)

    def __str__(self) -> str:
        if self.value is None:
            return "?"
        return f"{self.value}" if self.exact else f"<= {self.value}"


@dataclass(frozen=True, slots=True)
class Moved:
    """Bytes read from and written to arrays; scalar variables do not count."""

    read: Count = Count(0)
    written: Count = Count(0)

    def __add__(self, other: Moved) -> Moved:
        return Moved(self.read + other.read, self.written + other.written)

    def times(self, count: Count) -> Moved:
        return Moved(self.read * count, self.written * count)

    @property
    def total(self) -> Count:
        """Both together."""
        return self.read + self.written


def trips_of(loop: ir.Operation) -> Count:
    """How often the body runs each time the loop is reached."""
    if loop.name == "scf.while":
        return Count(None, False)
    exact = trip_count(loop)
    return Count(exact) if exact is not None else Count(max_trip_count(loop), False)


class Traffic:
    """The bytes of each loop for one run of its function."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.loops: dict[ir.Operation, Moved] = {}
        self.trips: dict[ir.Operation, Count] = {}
        self._functions: dict[str, Moved] = {}

    def of_function(self, name: str) -> Moved:
        """The bytes that one run of a function moves; fills `loops` for it."""
        if name not in self._functions:
            entry = entry_block(self.module.function(name))
            self._functions[name] = Moved() if entry is None else self._block(entry, Count(1))
        return self._functions[name]

    def _block(self, block: ir.Block, runs: Count) -> Moved:
        moved = Moved()
        for view in block.operations:
            moved += self._operation(view.operation, runs)
        return moved

    def _operation(self, op: ir.Operation, runs: Count) -> Moved:
        if op.name in LOOP_OPERATIONS:
            self.trips[op] = trips_of(op)
            inner = runs * self.trips[op]
            self.loops[op] = self._regions(op, inner)
            return self.loops[op]
        if is_load(op):
            return Moved(read=_bytes_of(accessed(op)) * runs)
        if is_store(op):
            return Moved(written=_bytes_of(accessed(op)) * runs)
        if op.name == "func.call":
            return self.of_function(callee_name(op)).times(runs)
        if op.name in ("affine.if", "scf.if"):
            return self._regions(op, runs * Count(1, False))
        return self._regions(op, runs)

    def _regions(self, op: ir.Operation, runs: Count) -> Moved:
        moved = Moved()
        for region in op.regions:
            for block in region.blocks:
                moved += self._block(block, runs)
        return moved


def _bytes_of(memref: ir.Value) -> Count:
    """The bytes of one element of an array; a scalar variable is a register, a stream a FIFO."""
    if is_stream_type(memref.type):
        return Count(0)
    tensor = from_mlir(memref.type)
    assert isinstance(tensor, TensorType)
    return Count(-(-tensor.element.bits // 8)) if tensor.shape else Count(0)
