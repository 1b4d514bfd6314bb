"""Schedules of TECs: kernels on flat arrays that do what a TEC says, in the way it says."""

from __future__ import annotations

from collections.abc import Sequence

from ...customize import Schedule, customize
from ...errors import ContractionError
from ...ir.types import bfloat16, float32, float64
from ...mapping.teir import PROCESSOR, PrimMain, Processor, Tec, TecCost
from .gemm import gemm_kernel
from .loops import LoopText
from .plain import plain_kernel

TYPES_OF_KERNELS = {"float32": float32, "float64": float64, "bfloat16": bfloat16}


def kernel_text(tec: Tec, extents: Sequence[int] | None = None, processor: Processor | None = None) -> LoopText:
    """The kernel of `tec`, `contraction(in0, in1, out)`, on flat arrays of `extents` elements.

    Raises ContractionError for a TEC that processors do not take, or arrays that end before its last element.
    """
    extents = checked_extents(tec, extents)
    if tec.prim_main in (PrimMain.GEMM, PrimMain.BRGEMM):
        return gemm_kernel(TecCost(tec, processor or Processor()), extents)
    return plain_kernel(tec, extents)


def checked_extents(tec: Tec, extents: Sequence[int] | None) -> tuple[int, ...]:
    """The elements of the three tensors: what is given, else what the TEC uses.

    Raises ContractionError for a TEC that processors do not take, arrays that end before its last element, and
    those that a subscript of 32 bits does not reach.
    """
    PROCESSOR.check(tec)
    found = tuple(tec.extent(k) for k in range(3)) if extents is None else tuple(extents)
    if len(found) != 3:
        raise ContractionError(f"extents are three numbers of elements, of in0, in1 and out, got {len(found)}")
    for k, (name, extent) in enumerate(zip(("in0", "in1", "out"), found, strict=True)):
        if extent < tec.extent(k) and not (k == 1 and tec.is_unary):
            raise ContractionError(f"the TEC uses {tec.extent(k)} elements of {name}, which has {extent}")
    for what, number in (("a tensor", max(found)), ("a dimension", max(tec.dim_sizes))):
        if number >= 1 << 31:
            raise ContractionError(f"{what} of the TEC has {number} elements: subscripts have 32 bits")
    return found


def tec_schedule(tec: Tec, extents: Sequence[int] | None = None, processor: Processor | None = None) -> Schedule:
    """The schedule of that kernel, in which its loops are marked: vectors, unrolled, shared by threads."""
    text = kernel_text(tec, extents, processor)
    schedule = customize(str(text), global_vars=TYPES_OF_KERNELS)
    for loop in text.unrolled:
        schedule.unroll(loop)
    for loop in text.parallel:
        schedule.parallel(loop)
    return schedule


def plain_schedule(tec: Tec, extents: Sequence[int] | None = None) -> Schedule:
    """What `tec` means: the schedule, without steps, of loops around one statement."""
    return customize(str(plain_kernel(tec, checked_extents(tec, extents))), global_vars=TYPES_OF_KERNELS)
