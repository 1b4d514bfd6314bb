"""Single elements of arrays as values: FIFOs of an array of them, and registers, which are variables for a callee."""

from __future__ import annotations

from functools import cache

from mlir import ir

from .access import is_view
from .builder import Builder, affine_constant, segments_attr
from .context import context, unknown_location
from .partitions import divisions_of, is_partitioned
from .streams import is_stream_type

_DYNAMIC = -(1 << 63)


def are_registers(kind: ir.MemRefType) -> bool:
    """Whether each element of an array is a bank of its own."""
    return is_partitioned(kind) and all(name == "complete" for name, _ in divisions_of(kind))


@cache
def register_type(element: ir.Type) -> ir.MemRefType:
    """The type of one element, wherever in an array it lies."""
    return ir.MemRefType.get([], element, ir.StridedLayoutAttr.get(_DYNAMIC, [], context()), loc=unknown_location())


def part_of(builder: Builder, array: ir.Value, place: tuple[int, ...]) -> ir.Value:
    """The FIFO or register at a place of an array."""
    kind = ir.MemRefType(array.type)
    if is_stream_type(kind):
        return builder.affine_load(array, ir.AffineMap.get(0, 0, [affine_constant(k) for k in place], context()), [])
    offset = 0
    for subscript, extent in zip(place, kind.shape, strict=True):
        offset = offset * extent + subscript
    layout = ir.StridedLayoutAttr.get(offset, [], context())
    fixed = ir.MemRefType.get([], kind.element_type, layout, loc=unknown_location())
    ones = ir.DenseI64ArrayAttr.get([1] * len(place), context())
    attributes = {
        "static_offsets": ir.DenseI64ArrayAttr.get(list(place), context()),
        "static_sizes": ones,
        "static_strides": ones,
        "operandSegmentSizes": segments_attr((1, 0, 0, 0)),
    }
    view = builder.value("memref.subview", fixed, [array], attributes)
    return builder.value("memref.cast", register_type(kind.element_type), [view])


def fixed_place(view: ir.Operation) -> tuple[int, ...] | None:
    """The place in its operand of a subview or cast that is one element, as `part_of` makes them; None for others."""
    kind = view.results[0].type
    if not isinstance(kind, ir.MemRefType) or kind.rank:
        return None
    place = tuple(ir.DenseI64ArrayAttr(view.attributes["static_offsets"])) if view.name == "memref.subview" else ()
    return None if _DYNAMIC in place else place


def register_place(value: ir.Value) -> tuple[int, ...] | None:
    """The place of a register in its array, if a value is a look at one as `part_of` makes them."""
    while not isinstance(value.owner, ir.Block) and is_view(value.owner.operation):
        place = fixed_place(value.owner.operation)
        if place:
            return place
        value = value.owner.operation.operands[0]
    return None
