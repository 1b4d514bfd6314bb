"""Schedules of TECs for hardware whose primitive is a systolic array: a core for each element of its output."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from math import prod

from ...customize import Schedule, customize
from ...errors import ContractionError
from ...mapping.teir import DataType, DimType, Tec, TecDimension
from .kernel import TYPES_OF_KERNELS, checked_extents
from .loops import SUMS, LoopText, address, head, loop_names
from .plain import enter_loops, write_first, write_last

_MOST = 64  # elements of an array


def systolic_schedule(tec: Tec, extents: Sequence[int] | None = None) -> Schedule:
    """The kernel of a GEMM or BRGEMM `tec` for `build(target="vhls")` and `"rtl"`: an array of M x N cores.

    Blocks of the inputs are loaded, rows of in0 and columns of in1 go from core to core, and each core sums the
    products of its element of the output: one a cycle where an addition takes one, else one in its latency. Shared
    dimensions are loops as others are. Raises ContractionError for TECs that processors do not take, that have no such
    primitive, or more than 64 elements in it. Source: Fig. 5 of the Allo paper.
    """
    extents = checked_extents(tec, extents)
    if len(tec.primitive) < 3:
        message = f"a systolic array is the primitive of a GEMM or BRGEMM, and prim_main is {tec.prim_main}"
        raise ContractionError(message)
    tile = _SystolicTile(tec)
    if tile.m.size * tile.n.size > _MOST:
        message = f"the primitive has {tile.m.size} x {tile.n.size} elements, and an array {_MOST} at most"
        raise ContractionError(message, hint="split a prim dimension")
    schedule = customize(tile.text(extents), global_vars=TYPES_OF_KERNELS)
    for nest in ("load_in0", "load_in1", "load_out", "store_out", "first", "last"):
        if nest in schedule.get_loops().loops:
            schedule.pipeline(list(schedule.get_loops().loops[nest])[-1])
    rows, columns = (schedule.buffer_at(f"array:{name}", "array:PE.j") for name in "AB")
    cores = schedule.unfold("array:PE", axes=[0, 1])
    for name, dim in (("C", 0), ("A", 1), ("B", 2)):
        schedule.partition(f"array:{name}", dim=dim)
    schedule.relay(rows, cores, axis=1, depth=tile.m.size + 1)
    schedule.relay(columns, cores, axis=0, depth=tile.n.size + 1)
    schedule.pipeline("array:PE.k")
    schedule.dataflow("array")
    return schedule


class _SystolicTile:
    """The text of an array and of the loops around it; K of a BRGEMM is one dimension of the blocks."""

    def __init__(self, tec: Tec) -> None:
        self.tec, self.sums = tec, SUMS[tec.data_type]
        self.m = next(d for d in tec.primitive if d.type is DimType.M)
        self.n = next(d for d in tec.primitive if d.type is DimType.N)
        self.steps = [d for d in tec.primitive if d.type is DimType.K]
        self.k = prod(d.size for d in self.steps)
        self.names = {name: f"{variable}_" for name, variable in loop_names(tec).items()}

    def text(self, extents: Sequence[int]) -> str:
        """Both functions."""
        m, n, k, sums, text = self.m.size, self.n.size, self.k, self.sums, LoopText()
        with ExitStack() as stack:
            given = f"A: {sums}[{m}, {k}], B: {sums}[{k}, {n}], C: {sums}[{m}, {n}]"
            stack.enter_context(text.block(f"def array({given}):"))
            stack.enter_context(text.loop("i", m, "PE"))
            stack.enter_context(text.loop("j", n))
            text.line(f"total: {sums} = C[i, j]")
            with text.loop("k", k):
                text.line("total += A[i, k] * B[k, j]")
            text.line("C[i, j] = total")
        load = self.tec.prim_first != "zero" or any(d.type is DimType.K and d.size > 1 for d in self.tec.outer)
        with text.block(head(self.tec, extents)):
            if load:
                write_first(text, self.tec, self.names)
            with ExitStack() as stack:
                enter_loops(stack, text, self.tec.outer, self.names, "main")
                text.line(f"A: {sums}[{m}, {k}]")
                text.line(f"B: {sums}[{k}, {n}]")
                text.line(f"C: {sums}[{m}, {n}]")
                self.copy(text, "load_in0", [self.m, *self.steps], "A[{m}, {k}] = {in0}")
                self.copy(text, "load_in1", [*self.steps, self.n], "B[{k}, {n}] = {in1}")
                self.copy(text, "load_out", [self.m, self.n], "C[{m}, {n}] = " + ("{out}" if load else "0.0"))
                text.line("array(A, B, C)")
                self.copy(text, "store_out", [self.m, self.n], "{out} = C[{m}, {n}]")
            write_last(text, self.tec, self.names)
        return str(text)

    def copy(self, text: LoopText, nest: str, dimensions: Sequence[TecDimension], line: str) -> None:
        """A nest over a block of a tensor."""
        with ExitStack() as stack:
            enter_loops(stack, text, dimensions, self.names, nest)
            places = [address(self.tec.dimensions, t, self.names) for t in range(3)]
            in0, in1, out = (f"{name}[{at}]" for name, at in zip(("in0", "in1", "out"), places, strict=True))
            if self.tec.data_type is DataType.BF16:
                in0, in1 = f"{self.sums}({in0})", f"{self.sums}({in1})"
            step = " + ".join(f"{self.k // self.steps[0].size} * {self.names[d.name]}" for d in self.steps[:-1])
            step = " + ".join(part for part in (step, self.names[self.steps[-1].name]) if part)
            at = {"m": self.names[self.m.name], "n": self.names[self.n.name], "k": step}
            text.line(line.format(in0=in0, in1=in1, out=out, **at))
