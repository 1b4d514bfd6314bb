"""Partitions of arrays in their types, `#allo.partition<[cyclic 4, none]>`: reader and writer of the attribute."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from .context import context, unknown_location

type Division = tuple[str, int]  # none, cyclic, block or complete, with the factor of a cyclic or block one


def is_partitioned(kind: ir.Type) -> bool:
    """Whether a type is that of an array with a partition."""
    return isinstance(kind, ir.MemRefType) and isinstance(ir.MemRefType(kind).layout, allo_d.PartitionAttr)


def divisions_of(kind: ir.Type) -> tuple[Division, ...]:
    """The division of each dimension of an array."""
    memref = ir.MemRefType(kind)
    return tuple(memref.layout.dims) if is_partitioned(kind) else (("none", 0),) * int(memref.rank)


def with_divisions(kind: ir.Type, divisions: Sequence[Division]) -> ir.MemRefType:
    """The type of the same array with a partition."""
    return _with_layout(kind, allo_d.PartitionAttr.get(list(divisions), context()))


def in_one_piece(kind: ir.Type) -> ir.Type:
    """The type of the same array without a partition; other types stay."""
    return _with_layout(kind, None) if is_partitioned(kind) else kind


def _with_layout(kind: ir.Type, layout: ir.Attribute | None) -> ir.MemRefType:
    memref = ir.MemRefType(kind)
    return ir.MemRefType.get(memref.shape, memref.element_type, layout, memref.memory_space, unknown_location())
