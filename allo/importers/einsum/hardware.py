"""Schedules of TECs for hardware: pipelines whose sums of a row of the primitive wait for no addition."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from ...customize import Partition, Schedule, customize
from ...customize.step.handles import Loop
from ...errors import ContractionError
from ...mapping.teir import DimType, ExecType, PrimFirst, PrimMain, Tec, TecDimension
from .kernel import TYPES_OF_KERNELS, checked_extents
from .loops import SUMS, LoopText, address, head, loop_names
from .plain import enter_loops, plain_kernel, product, write_first, write_last


def hardware_schedule(tec: Tec, extents: Sequence[int] | None = None, lanes: int = 1) -> Schedule:
    """The kernel of `tec` as pipelines of one step a cycle, for `build(target="vhls")` or `"rtl"`.

    A GEMM keeps the sums of a row of N, and makes `lanes` products at a time, for which the inputs and sums are
    divided into as many banks; `lanes` divides N, and sums of floats wait for no addition if N / lanes is at least
    its latency. Shared dimensions are loops as others are. Raises
    ContractionError for TECs that processors do not take, and for numbers of lanes that do not fit.
    """
    extents = checked_extents(tec, extents)
    seq = tec.with_dimensions([_as_loop(d) for d in tec.dimensions])
    if tec.prim_main not in (PrimMain.GEMM, PrimMain.BRGEMM):
        if lanes != 1:
            raise ContractionError(f"a TEC whose prim_main is {tec.prim_main} has one lane, got {lanes}")
        return _pipelined(customize(str(plain_kernel(seq, extents)), global_vars=TYPES_OF_KERNELS))
    columns = next(d for d in tec.primitive if d.type is DimType.N)
    if isinstance(lanes, bool) or not isinstance(lanes, int) or lanes < 1 or columns.size % lanes:
        hint = f"N is dimension '{columns.name}'"
        raise ContractionError(f"{lanes!r} lanes do not divide the {columns.size} columns of the primitive", hint=hint)
    text, rows = LoopText(), _RowLoops("row", "first", "column", "last")
    _write_rows(text, seq, columns, extents, rows)
    schedule = customize(str(text), global_vars=TYPES_OF_KERNELS)
    inner: Loop | str = rows.products
    if lanes > 1:
        inner, lane = schedule.split(rows.products, lanes)
        schedule.unroll(lane)
        for array in ("sums", "in1") if columns.strides[1] else ("sums",):
            schedule.partition(array, Partition.Cyclic, dim=1, factor=lanes)
    for loop in (inner, rows.first, rows.last):
        schedule.pipeline(loop)
    return _pipelined(schedule, but="main")


@dataclass(frozen=True, slots=True)
class _RowLoops:
    """The variables of the loops of a row."""

    row: str
    first: str
    products: str
    last: str


def _write_rows(
    text: LoopText, tec: Tec, columns: TecDimension, extents: Sequence[int], rows: _RowLoops
) -> None:
    """Sums of one row of the primitive at a time."""
    names = {name: f"{variable}_" for name, variable in loop_names(tec).items()}
    load = tec.prim_first is not PrimFirst.ZERO or any(d.type is DimType.K and d.size > 1 for d in tec.outer)
    row = next(d for d in tec.primitive if d.type is DimType.M)
    steps = [d for d in tec.primitive if d.type is DimType.K]
    with text.block(head(tec, extents)):
        if load:
            write_first(text, tec, names)
        with ExitStack() as stack:
            enter_loops(stack, text, tec.outer, names, "main")
            names[row.name] = rows.row
            stack.enter_context(text.loop(rows.row, row.size, None if tec.outer else "main"))
            text.line(f"sums: {SUMS[tec.data_type]}[{columns.size}]")
            with text.loop(rows.first, columns.size):
                at = address(tec.dimensions, 2, names | {columns.name: rows.first})
                text.line(f"sums[{rows.first}] = " + (f"out[{at}]" if load else "0.0"))
            with ExitStack() as inside:
                enter_loops(inside, text, steps, names, None)
                with text.loop(rows.products, columns.size):
                    text.line(f"sums[{rows.products}] += {product(tec, names | {columns.name: rows.products})}")
            with text.loop(rows.last, columns.size):
                at = address(tec.dimensions, 2, names | {columns.name: rows.last})
                text.line(f"out[{at}] = sums[{rows.last}]")
        write_last(text, tec, names)


def _as_loop(d: TecDimension) -> TecDimension:
    return d if d.execution is ExecType.PRIM else replace(d, execution=ExecType.SEQ)


def _pipelined(schedule: Schedule, but: str = "") -> Schedule:
    """Its nests with their innermost loops as pipelines."""
    for name, nest in schedule.get_loops().loops.items():
        if name != but:
            schedule.pipeline(list(nest)[-1])
    return schedule
