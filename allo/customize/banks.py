"""The banks of an array, as its type says them."""

from __future__ import annotations

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ..layout import NONE, Banks, Division


def layout_of(memref: ir.MemRefType) -> tuple[Banks, ...]:
    """The division of each dimension that a type says."""
    layout = memref.layout
    rank: int = memref.rank
    if isinstance(layout, allo_d.PartitionAttr):
        return tuple(Banks(Division(kind), factor) for kind, factor in layout.dims)
    return (NONE,) * rank
