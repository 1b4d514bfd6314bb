"""Decides that arrays lie in one piece on a CPU: partitions are dropped where passes of MLIR would lose them."""

from __future__ import annotations

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ...ir.array_graph import ArrayGraph, set_type
from ...ir.context import unknown_location
from ...ir.module import Module


def drop_partitions(module: Module) -> None:
    """Drop all partitions of a module in which a function returns a partitioned array.

    The pass that turns results into arguments makes buffers without a layout for them; all other arrays keep theirs
    until their types are lowered.
    """
    signatures = (ir.TypeAttr(f.operation.attributes["function_type"]).value for f in module.functions())
    if not any(_is_partitioned(result) for signature in signatures for result in signature.results):
        return
    graph = ArrayGraph(module)
    for node in graph.nodes:
        if _is_partitioned(node.type):
            memref = ir.MemRefType(node.type)
            plain = ir.MemRefType.get(
                memref.shape, memref.element_type, None, memref.memory_space, unknown_location()
            )
            set_type(node, plain)
    graph.write_signatures(module.names())


def _is_partitioned(kind: ir.Type) -> bool:
    return isinstance(kind, ir.MemRefType) and isinstance(ir.MemRefType(kind).layout, allo_d.PartitionAttr)
