"""reshape: see the elements of an array, in the order in which they lie in memory, as an array of another shape."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from mlir import ir

from ..errors import ScheduleError
from ..ir.access import accessed, is_load, stored
from ..ir.builder import Builder, affine_constant, affine_dim
from ..ir.context import context, unknown_location
from ..ir.module import Module
from .handles import Buffer
from .loop_rewrite import compose_affine
from .partition import partition_notes
from .primitive import primitive
from .resolve import buffer_note, find_buffer
from .subscripts import AccessOperation
from .whole_array import whole_array


@primitive
def reshape(module: Module, buffer: Buffer, shape: tuple[int, ...]) -> None:
    """Give `buffer` another shape of as many elements, in row-major order; all subscripts are rewritten.

        A: T[M, 4 * N]                A: T[M, N, 4]
        for i in range(M):            for i in range(M):
            S(A[i, j])         ->         S(A[i, j // 4, j % 4])

    An argument has the new shape for callers in the module and for those in Python; an array that is passed to or
    returned from functions has it in all of them, and a constant wherever it is used.
    Refused: a shape of another number of elements, a scalar, an array that is partitioned already, one that goes
    to a function without a body, extents known at run time only. Source: Allo's primitive of this name; the order
    of the elements is that of `numpy.reshape`.
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
    if array.is_partitioned:
        raise ScheduleError(
            f"'{buffer.name}' is partitioned, and its banks have no meaning in another shape",
            hint="reshape first, then partition",
            notes=[note, *partition_notes(module, value)],
        )

    formulas = subscripts_of(memref.shape, shape)
    for op in array.accesses:
        access, builder = AccessOperation(op), Builder.before(op)
        place = access.place(builder, formulas)
        if is_load(op):
            # The type of the array changes below, together with that of all its uses.
            op.results[0].replace_all_uses_with(place.load(builder, accessed(op)))
        else:
            place.store(builder, stored(op), accessed(op))
        op.erase()
    array.retype(module, lambda old: _of_shape(old, shape))
    for constant in array.constants:
        if "initial_value" in constant.attributes:
            constant.attributes["initial_value"] = _reshaped(constant.attributes["initial_value"], shape)
    compose_affine(module.functions())


def _of_shape(old: ir.MemRefType, shape: Sequence[int]) -> ir.MemRefType:
    return ir.MemRefType.get(shape, old.element_type, None, old.memory_space, unknown_location())


def subscripts_of(old: Sequence[int], new: Sequence[int]) -> list[ir.AffineExpr]:
    """The subscripts in shape `new` of the element that has subscripts d0, d1, ... in shape `old`.

    Dimensions are treated in the smallest groups of equal products; inside of a group each new subscript is put
    together from digits of the old ones where the extents divide each other, else from the linear position.
    """
    results: list[ir.AffineExpr] = []
    first, second = 0, 0
    while first < len(old) or second < len(new):
        left, right = min(first + 1, len(old)), min(second + 1, len(new))
        while (a := math.prod(old[first:left])) != (b := math.prod(new[second:right])):
            if a < b:
                left += 1
            else:
                right += 1
        results += _of_group(old[first:left], new[second:right], first)
        first, second = left, right
    return results


def _strides(shape: Sequence[int]) -> list[int]:
    return [math.prod(shape[dimension + 1 :]) for dimension in range(len(shape))]


def _of_group(old: Sequence[int], new: Sequence[int], first: int) -> list[ir.AffineExpr]:
    """The new subscripts of a group whose old dimensions are `first`, `first + 1`, ..."""
    inner, outer = _strides(old), _strides(new)
    made: list[ir.AffineExpr] = []
    for extent, stride in zip(new, outer, strict=True):
        result: ir.AffineExpr = affine_constant(0)
        for position, (size, step) in enumerate(zip(old, inner, strict=True)):
            low, high = max(step, stride), min(step * size, stride * extent)
            if low >= high:
                continue
            if low % step or low % stride or high % low or (step * size) % high:
                return _linear(old, new, first)
            digit: ir.AffineExpr = affine_dim(first + position)
            if low > step:
                digit = ir.AffineExpr.get_floor_div(digit, affine_constant(low // step))
            if high < step * size:
                digit = ir.AffineExpr.get_mod(digit, affine_constant(high // low))
            result = result + digit * (low // stride)
        made.append(result)
    return made


def _linear(old: Sequence[int], new: Sequence[int], first: int) -> list[ir.AffineExpr]:
    position: ir.AffineExpr = affine_constant(0)
    for dimension, stride in enumerate(_strides(old)):
        position = position + affine_dim(first + dimension) * stride
    made = []
    for dimension, (extent, stride) in enumerate(zip(new, _strides(new), strict=True)):
        digit = ir.AffineExpr.get_floor_div(position, affine_constant(stride))
        made.append(digit if dimension == 0 else ir.AffineExpr.get_mod(digit, affine_constant(extent)))
    return made


def _reshaped(attribute: ir.Attribute, shape: Sequence[int]) -> ir.Attribute:
    """The same elements in another shape. Long ones are printed as one string of bytes, and equal ones once."""
    element = ir.ShapedType(ir.DenseElementsAttr(attribute).type).element_type
    text = str(attribute)
    body = text[text.index("<") + 1 : text.rindex("> : ")]
    if body.startswith("["):
        numbers = re.findall(r"[^\[\], ]+", body)
        for extent in reversed(shape):
            numbers = [f"[{', '.join(numbers[k : k + extent])}]" for k in range(0, len(numbers), extent)]
        (body,) = numbers
    made = ir.RankedTensorType.get(shape, element, None, unknown_location())
    return ir.Attribute.parse(f"dense<{body}> : {made}", context())
