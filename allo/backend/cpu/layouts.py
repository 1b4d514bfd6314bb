"""Partitions on a CPU, where an array lies in one piece: dropped where passes of MLIR would lose them."""

from __future__ import annotations

from mlir import ir

from ...ir.array_graph import ArrayGraph
from ...ir.module import Module
from ...ir.partitions import in_one_piece, is_partitioned


def drop_partitions(module: Module) -> None:
    """Drop all partitions of a module in which a function returns a partitioned array.

    The pass that turns results into arguments makes buffers without a layout for them; all other arrays keep theirs
    until their types are lowered.
    """
    signatures = (ir.TypeAttr(f.operation.attributes["function_type"]).value for f in module.functions())
    if not any(is_partitioned(result) for signature in signatures for result in signature.results):
        return
    graph = ArrayGraph(module)
    graph.retype({k: in_one_piece(node.type) for k, node in enumerate(graph.nodes) if is_partitioned(node.type)})
