"""Parts of arrays as values: FIFOs of an array of them, registers, which are variables for a callee, and banks."""

from __future__ import annotations

from collections.abc import Sequence
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


def bank_dimensions(kind: ir.MemRefType) -> tuple[int, ...]:
    """The dimensions of an array that are partitioned completely."""
    return tuple(number for number, (name, _) in enumerate(divisions_of(kind)) if name == "complete")


@cache
def register_type(element: ir.Type) -> ir.MemRefType:
    """The type of one element, wherever in an array it lies."""
    return _part_type((), (), element, _DYNAMIC)


@cache
def bank_type(kind: ir.MemRefType, dimensions: tuple[int, ...]) -> ir.MemRefType:
    """The type of a part of an array at fixed places of some dimensions, whichever these are."""
    shape, strides = _kept(kind, dimensions)
    return _part_type(shape, strides, kind.element_type, _DYNAMIC)


def part_of(builder: Builder, array: ir.Value, place: tuple[int, ...], dimensions: tuple[int, ...]) -> ir.Value:
    """The FIFO, register or bank at a place of an array, in these dimensions of it."""
    kind = ir.MemRefType(array.type)
    if is_stream_type(kind):
        return builder.affine_load(array, _fixed(place), [])
    extents = kind.shape
    strides = _strides(extents)
    offset = sum(strides[dimension] * number for dimension, number in zip(dimensions, place, strict=True))
    at = dict(zip(dimensions, place, strict=True))
    shape, kept = _kept(kind, dimensions)
    attributes = {
        "static_offsets": _numbers(tuple(at.get(k, 0) for k in range(len(extents)))),
        "static_sizes": _numbers(tuple(1 if k in at else extent for k, extent in enumerate(extents))),
        "static_strides": _numbers((1,) * len(extents)),
        "operandSegmentSizes": segments_attr((1, 0, 0, 0)),
    }
    fixed = _part_type(shape, kept, kind.element_type, offset)
    view = builder.value("memref.subview", fixed, [array], attributes)
    return builder.value("memref.cast", bank_type(kind, dimensions), [view])


@cache
def _fixed(place: tuple[int, ...]) -> ir.AffineMap:
    return ir.AffineMap.get(0, 0, [affine_constant(k) for k in place], context())


def _part_type(shape: Sequence[int], strides: Sequence[int], element: ir.Type, offset: int) -> ir.MemRefType:
    layout = ir.StridedLayoutAttr.get(offset, list(strides), context())
    return ir.MemRefType.get(list(shape), element, layout, loc=unknown_location())


def _kept(kind: ir.MemRefType, dimensions: Sequence[int]) -> tuple[list[int], list[int]]:
    """The extents and strides of all other dimensions."""
    extents = kind.shape
    kept = [k for k in range(len(extents)) if k not in dimensions]
    strides = _strides(extents)
    return [extents[k] for k in kept], [strides[k] for k in kept]


def _strides(shape: Sequence[int]) -> list[int]:
    """By dimension, how far apart neighbours lie in an array that is stored row by row."""
    found = [1]
    for extent in reversed(shape[1:]):
        found.insert(0, found[0] * extent)
    return found[: len(shape)]


@cache
def _numbers(values: tuple[int, ...]) -> ir.Attribute:
    return ir.DenseI64ArrayAttr.get(list(values), context())


def fixed_place(view: ir.Operation) -> tuple[int, ...] | None:
    """The place in its operand of a subview or cast that is one element, as `part_of` makes them; None for others."""
    kind = view.results[0].type
    if not isinstance(kind, ir.MemRefType) or kind.rank:
        return None
    place = tuple(ir.DenseI64ArrayAttr(view.attributes["static_offsets"])) if view.name == "memref.subview" else ()
    return None if _DYNAMIC in place else place


def register_place(value: ir.Value) -> tuple[int, ...] | None:
    """The place of a register in its array, if a value is a look at one as `part_of` makes them."""
    while not isinstance(owner := value.owner, ir.Block) and is_view(view := owner.operation):
        if view.name == "memref.subview" and (place := fixed_place(view)):
            return place
        value = view.operands[0]
    return None


def bank_place(value: ir.Value) -> tuple[int, ...] | None:
    """The first element of a bank, if a value is a look at one as `part_of` makes them."""
    while not isinstance(value.owner, ir.Block) and is_view(value.owner.operation):
        view = value.owner.operation
        value = view.operands[0]
        if view.name != "memref.subview" or len(view.operands) > 1:
            continue
        kind = ir.MemRefType(value.type)
        dimensions = bank_dimensions(kind)
        sizes = [1 if k in dimensions else extent for k, extent in enumerate(kind.shape)]
        steps = list(ir.DenseI64ArrayAttr(view.attributes["static_strides"]))
        if list(ir.DenseI64ArrayAttr(view.attributes["static_sizes"])) != sizes or set(steps) != {1}:
            return None
        place = tuple(ir.DenseI64ArrayAttr(view.attributes["static_offsets"]))
        return place if _DYNAMIC not in place else None
    return None
