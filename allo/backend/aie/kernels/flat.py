"""Functions whose arrays are flat: subscripts are one address, so that kernels and moves may share any of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mlir import ir

from ....ir.access import access_map, is_load, is_store, subscripts
from ....ir.builder import Builder, affine_constant, index_type
from ....ir.context import context, unknown_location
from ....ir.walk import argument_names, entry_block, operations
from ...element_class import set_signature


def flatten_arrays(function: ir.OpView) -> None:
    """Let all arrays of a function, its parameters too, have one dimension, in place; those of calls are changed by
    their declarations."""
    entry = entry_block(function)
    assert entry is not None
    arrays = [value for value in entry.arguments if isinstance(value.type, ir.MemRefType)]
    arrays += [op.results[0] for op in operations(entry, "memref.alloc")]
    for array in arrays:
        kind = ir.MemRefType(array.type)
        if kind.rank == 1:
            continue
        shape = list(kind.shape)
        array.set_type(ir.MemRefType.get([prod(shape)], kind.element_type, loc=unknown_location()))
        for op in [use.owner.operation for use in array.uses]:
            if is_load(op) or is_store(op):
                _at_address(op, shape)
    set_signature(function.operation, argument_names(function))


def _at_address(op: ir.Operation, shape: Sequence[int]) -> None:
    weights = [prod(shape[d + 1 :]) for d in range(len(shape))]
    own = access_map(op)
    if own is not None and op.name.startswith("affine."):
        address = affine_constant(0)
        for result, weight in zip(own.results, weights, strict=True):
            address = address + result * weight
        flat = ir.AffineMap.get(own.n_dims, own.n_symbols, [address], context())
        op.attributes["map"] = ir.AffineMapAttr.get(flat)
        return
    builder = Builder.before(op)
    places = subscripts(op)
    total = builder.constant(index_type(), 0)
    for place, weight in zip(places, weights, strict=True):
        scaled = builder.value("arith.muli", index_type(), [place, builder.constant(index_type(), weight)])
        total = builder.value("arith.addi", index_type(), [total, scaled])
    kept = list(op.operands)[: len(op.operands) - len(places)]
    made = builder.op(op.name, [result.type for result in op.results], [*kept, total])
    for old, new in zip(op.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
