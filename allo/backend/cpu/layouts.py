"""Partitions on a CPU, where an array lies in one piece: dropped where passes of MLIR would lose them."""

from __future__ import annotations

from mlir import ir

from ...ir.context import context
from ...ir.function_arrays import function_arrays, retype
from ...ir.module import Module
from ...ir.partitions import in_one_piece, is_partitioned
from ...ir.walk import statements


def drop_partitions(module: Module) -> None:
    """Drop all partitions of a module in which a function returns a partitioned array.

    The pass that turns results into arguments makes buffers without a layout for them; all other arrays keep theirs
    until their types are lowered.
    """
    signatures = (ir.TypeAttr(f.operation.attributes["function_type"]).value for f in module.functions())
    if not any(is_partitioned(result) for signature in signatures for result in signature.results):
        return
    for op in statements(module.mlir.body):
        if op.name == "func.func":
            found = function_arrays(op)
            types = {k: in_one_piece(array.type) for k, array in enumerate(found.arrays) if is_partitioned(array.type)}
            if types:
                retype(op.opview, found, types)
        elif op.name == "memref.global" and is_partitioned(kind := ir.TypeAttr(op.attributes["type"]).value):
            op.attributes["type"] = ir.TypeAttr.get(in_one_piece(kind), context())
