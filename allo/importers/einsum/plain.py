"""Kernels of TECs as plain loops: what a contraction means, and how it runs where no product of matrices is in it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from ...mapping.teir import ExecType, PrimFirst, PrimLast, Tec, TecDimension
from .loops import SUMS, LoopText, address, head, loop_names

FIRST = {PrimFirst.ZERO: "0.0", PrimFirst.RELU: "max(out[{at}], 0.0)", PrimFirst.COPY: "init[{at}]"}


def plain_kernel(tec: Tec, extents: Sequence[int]) -> LoopText:
    """All loops of `tec` around one statement; dimensions of primitives are loops too."""
    text, names = LoopText(), loop_names(tec)
    with text.block(head(tec, extents)):
        is_sum = tec.prim_first is not PrimFirst.ZERO or any(not d.strides[2] for d in tec.dimensions if d.size > 1)
        if is_sum:
            write_first(text, tec, names)
        with ExitStack() as stack:
            enter_loops(stack, text, tec.dimensions, names, "main")
            at = address(tec.dimensions, 2, names)
            text.line(f"out[{at}] {'+=' if is_sum else '='} {product(tec, names)}")
        write_last(text, tec, names)
    if tec.dimensions[0].execution is ExecType.SHARED:
        text.parallel.append(f"main.{names[tec.dimensions[0].name]}")
    return text


def product(tec: Tec, names: dict[str, str]) -> str:
    """What is added to an element of the output."""
    sums, reads = SUMS[tec.data_type], [f"in0[{address(tec.dimensions, 0, names)}]"]
    if not tec.is_unary:
        reads.append(f"in1[{address(tec.dimensions, 1, names)}]")
    if tec.data_type == "bfloat_16":
        reads = [f"{sums}({read})" for read in reads]
    return " * ".join(reads)


def write_first(text: LoopText, tec: Tec, names: dict[str, str]) -> None:
    """The nest that gives the output its first values."""
    if tec.prim_first is not PrimFirst.NONE:
        _over_output(text, tec, names, "first", FIRST[tec.prim_first])


def write_last(text: LoopText, tec: Tec, names: dict[str, str]) -> None:
    """The nest behind the last product."""
    if tec.prim_last is PrimLast.RELU:
        _over_output(text, tec, names, "last", "max(out[{at}], 0.0)")


def _over_output(text: LoopText, tec: Tec, names: dict[str, str], nest: str, value: str) -> None:
    """A nest over the output in the order of memory."""
    dimensions = sorted((d for d in tec.dimensions if d.strides[2]), key=lambda d: -d.strides[2])
    with ExitStack() as stack:
        enter_loops(stack, text, dimensions, names, nest)
        at = address(dimensions, 2, names)
        text.line(f"out[{at}] = {value.format(at=at)}")


def enter_loops(
    stack: ExitStack, text: LoopText, dimensions: Sequence[TecDimension], names: dict[str, str], nest: str | None
) -> None:
    """Open one loop a dimension; the outermost has the name of the nest."""
    for number, d in enumerate(dimensions):
        stack.enter_context(text.loop(names[d.name], d.size, nest if number == 0 else None))
