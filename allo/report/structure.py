"""Structure of a schedule, `s.report()`: facts of its text, no estimates."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir

from ..customize.fifo.depths import fifo_kinds
from ..customize.fifo.sizes import FifoSizes
from ..ir.mlir_types import from_mlir
from ..ir.partitions import divisions_of, is_partitioned
from ..ir.recursion import reads_programs
from ..ir.streams import is_stream_type
from ..ir.types import TensorType
from ..ir.walk import annotations_of, buffers_of, loops_of
from ..layout import Banks, PartitionLayout
from ..picture import aligned, preformatted
from ..poly import Count, Trips, trips_of
from .meets import LayoutMeet, layout_meets
from .traffic import Traffic

if TYPE_CHECKING:
    from ..customize import Schedule

_PORTS_OF_A_BANK = 2  # a block RAM of the FPGAs of AMD and Intel has two


@dataclass(frozen=True, slots=True)
class LoopRow:
    """A loop: iterations each time it is reached, annotations, and bytes of arrays in one run of its function."""

    function: str
    nest: str
    name: str
    depth: int
    trips: Trips
    annotations: tuple[str, ...]
    bytes_read: Count
    bytes_written: Count


@dataclass(frozen=True, slots=True)
class BufferRow:
    """An array: `banks` by its partition, `ports` if each bank is a memory of two ports."""

    function: str
    name: str
    kind: str
    type: str
    bytes: int | None
    layout: str
    banks: int | None
    ports: int | None


@dataclass(frozen=True, slots=True)
class FifoRow:
    """A FIFO, or each of `count` in an array: its depth, the bits of an element, why `size_fifos` chose the depth."""

    name: str
    count: int
    depth: int
    bits: int
    reason: str


@dataclass(frozen=True, slots=True)
class StructureReport:
    """The loops, arrays and FIFOs of a schedule, and the layouts that serve several requests at once."""

    top: str
    loops: tuple[LoopRow, ...]
    buffers: tuple[BufferRow, ...]
    meets: tuple[LayoutMeet, ...] = ()
    fifos: tuple[FifoRow, ...] = ()

    def to_json(self) -> str:
        """The report as JSON; a count is `{"value": n, "exact": bool}`, trips are `{"mean", "least", "greatest"}`."""
        return json.dumps(dataclasses.asdict(self), indent=2, default=float)

    def __str__(self) -> str:
        loops = [("loop", "trips", "annotations", "bytes read", "bytes written")]
        for row in self.loops:
            name = f"{'  ' * row.depth}{row.name}" if row.depth else f"{row.function}:{row.nest}.{row.name}"
            marks = ", ".join(row.annotations) or "-"
            loops.append((name, str(row.trips), marks, str(row.bytes_read), str(row.bytes_written)))
        buffers = [("array", "kind", "type", "bytes", "layout", "banks", "ports")]
        for array in self.buffers:
            numbers = ("?" if n is None else str(n) for n in (array.bytes, array.banks, array.ports))
            size, banks, ports = numbers
            name = f"{array.function}:{array.name}"
            buffers.append((name, array.kind, array.type, size, array.layout, banks, ports))
        notes = "trips: each time the loop is reached; bytes: of arrays, in one run of the function; ports: 2 a bank"
        tables = [*aligned(loops), "", *aligned(buffers)]
        if self.fifos:
            fifos = [("FIFO", "count", "depth", "bits", "because")]
            for fifo in self.fifos:
                fifos.append((fifo.name, str(fifo.count), str(fifo.depth), str(fifo.bits), fifo.reason or "-"))
            tables += ["", *aligned(fifos)]
        met = ["", "partitions that meet in arrays joined by calls", *map(str, self.meets)] if self.meets else []
        return "\n".join([f"{self.top}: from the text of the program ({notes})", *tables, *met])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return preformatted(str(self))


@reads_programs
def structure_report(schedule: Schedule) -> StructureReport:
    """The facts of `schedule` as it is now."""
    module = schedule.ir
    traffic = Traffic(module)
    loops: list[LoopRow] = []
    buffers: list[BufferRow] = []
    for function in module.functions():
        name = function.name.value
        traffic.of_function(name)
        for view in loops_of(function):
            moved = traffic.loops[view.op]
            marks = tuple(annotations_of(view.op))
            depth, trips = len(view.chain) - 1, trips_of(view.op)
            loops.append(LoopRow(name, view.nest, view.name, depth, trips, marks, moved.read, moved.written))
        found = (_buffer(name, buffer, value) for buffer, value in buffers_of(function).items())
        buffers += [row for row in found if row is not None]
    return StructureReport(module.top, tuple(loops), tuple(buffers), layout_meets(schedule), tuple(_fifos(schedule)))


def _fifos(schedule: Schedule) -> Iterator[FifoRow]:
    """The FIFOs that the functions make, with the reason of the step that gave them their depth."""
    reasons = {
        (size.fifo, size.depth): f"{step.result.strategy}: {size.reason}"
        for step in schedule.steps
        if isinstance(step.result, FifoSizes)
        for size in step.result.fifos
    }
    for kind in fifo_kinds(schedule.ir):
        for made in kind.fifos:
            name = str(made.fifo)
            yield FifoRow(name, made.count, kind.depth, kind.bits, reasons.get((name, kind.depth), ""))


def _buffer(function: str, name: str, value: ir.Value) -> BufferRow | None:
    array = isinstance(value.type, ir.MemRefType) and not is_stream_type(value.type)
    tensor = from_mlir(value.type) if array else None
    if not isinstance(tensor, TensorType) or not tensor.shape:
        return None
    argument = isinstance(value.owner, ir.Block)
    constant = not argument and value.owner.name == "memref.get_global"
    kind = "argument" if argument else "constant" if constant else "local"
    static = all(isinstance(extent, int) for extent in tensor.shape)
    size = -(-math.prod(tensor.shape) * tensor.element.bits // 8) if static else None
    divisions = Banks.read(divisions_of(value.type))
    layout = ", ".join(map(str, divisions)) if is_partitioned(value.type) else "none"
    banks = PartitionLayout.of(tensor.shape, divisions).banks if static else None
    return BufferRow(
        function, name, kind, repr(tensor), size, layout, banks, None if banks is None else banks * _PORTS_OF_A_BANK
    )
