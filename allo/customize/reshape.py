"""reshape: see the elements of an array, in the order in which they lie in memory, as an array of another shape."""

from __future__ import annotations

import math

from mlir import ir

from ..errors import ScheduleError
from ..ir.access import accessed, is_load, stored
from ..ir.builder import Builder
from ..ir.dense import reshaped
from ..ir.module import Module
from ..ir.partitions import divisions_of
from ..layout import LARGEST, Banks, IndexMap, PartitionLayout, reshaping, separated
from .array.subscripts import AccessOperation, expressions
from .array.whole_array import whole_array
from .nest.rewrite import compose_affine
from .partition import partition_notes
from .step.handles import Buffer
from .step.primitive import primitive
from .step.resolve import buffer_note, find_buffer


@primitive(reshapes=True)
def reshape(module: Module, buffer: Buffer, shape: tuple[int, ...]) -> None:
    """Give `buffer` another shape of as many elements, in row-major order; all subscripts are rewritten.

        A: T[M, 4 * N]                A: T[M, N, 4]
        for i in range(M):            for i in range(M):
            S(A[i, j])         ->         S(A[i, j // 4, j % 4])

    An argument has the new shape for callers in the module and for those in Python; an array that is passed to or
    returned from functions has it in all of them, and a constant wherever it is used.
    A partition stays: elements of one bank are in one bank of the new shape (32 elements, cyclic 4, are 8 x 4 whose
    second dimension is complete). Where that is no partition of the new shape, it gets the one with the fewest banks
    that has elements of different banks in different ones (16 elements, cyclic 3, are 4 x 4, cyclic 3 in both).
    Refused: a shape of another number of elements, a scalar, an array that goes to a function without a body, extents
    known at run time only, such a search among more than 4194304 elements. Source: Allo's primitive of this name; the
    order of the elements is that of `numpy.reshape`.
    """
    value = find_buffer(module, buffer)
    memref = ir.MemRefType(value.type)
    note = buffer_note(buffer, value)
    if memref.rank == 0:
        raise ScheduleError(f"'{buffer.name}' is a scalar and has no shape", notes=[note])
    if not memref.has_static_shape:
        raise ScheduleError(
            f"'{buffer.name}' has an extent that is known at run time only",
            hint="declare the argument with all extents",
            notes=[note],
        )
    if not shape or any(extent < 1 for extent in shape):
        raise ScheduleError(f"a shape is one or more extents of at least 1, got {list(shape)}", notes=[note])
    if math.prod(shape) != math.prod(memref.shape):
        raise ScheduleError(
            f"'{buffer.name}' of shape {list(memref.shape)} has {math.prod(memref.shape)} elements, "
            f"and shape {list(shape)} has {math.prod(shape)}",
            notes=[note],
        )
    array = whole_array(module, value, f"'{buffer.name}' cannot be reshaped")
    change = reshaping(memref.shape, shape)
    layout = _layout(module, buffer, value, change)

    formulas = expressions(change)
    for op in array.accesses:
        access, builder = AccessOperation(op), Builder.before(op)
        place = access.place(builder, formulas)
        if is_load(op):
            # The type of the array changes below, together with that of all its uses.
            op.results[0].replace_all_uses_with(place.load(builder, accessed(op)))
        else:
            place.store(builder, stored(op), accessed(op))
        op.erase()
    array.retype(module, shape, layout.dims)
    for constant in array.constants:
        if "initial_value" in constant.attributes:
            constant.attributes["initial_value"] = reshaped(constant.attributes["initial_value"], shape)
    compose_affine(module.functions())


def _layout(module: Module, buffer: Buffer, value: ir.Value, change: IndexMap) -> PartitionLayout:
    """The partition of the new shape: the same banks, or the fewest that keep their elements apart."""
    memref, shape = ir.MemRefType(value.type), change.new
    before = PartitionLayout.of(tuple(memref.shape), Banks.read(divisions_of(memref)))
    layout = before.seen(change)
    if layout is None and math.prod(shape) <= LARGEST:
        layout = separated(before, shape)
    if layout is None:
        raise ScheduleError(
            f"'{buffer.name}' is partitioned, {before}, no partition of shape {list(shape)} has the same banks, "
            "and it has too many elements to find one that keeps them apart",
            hint="reshape first, then partition",
            notes=[buffer_note(buffer, value), *partition_notes(module, value)],
        )
    return layout
