"""Decides which arguments need not be brought on chip, because the kernel only writes them, and all of them."""

from __future__ import annotations

from mlir import ir


def is_overwritten(argument: ir.Value) -> bool:
    """Whether every use of the array is a store, and one of them stores each element in any case.

    That one is in loops over the whole extent of each dimension, and under no condition. An array for which this is
    not seen is read, which is never wrong.
    """
    if not isinstance(argument.type, ir.MemRefType) or not argument.type.has_static_shape:
        return False
    users = [use.owner.operation for use in argument.uses]
    if any(
        user.name not in ("affine.store", "memref.store") or user.operands[0] == argument for user in users
    ):
        return False
    return any(user.name == "affine.store" and _covers(user, argument) for user in users)


def _covers(store: ir.Operation, argument: ir.Value) -> bool:
    shape = ir.MemRefType(argument.type).shape
    affine_map = ir.AffineMapAttr(store.attributes["map"]).value
    subscripts = list(store.operands)[2:]
    if not shape or affine_map != ir.AffineMap.get_identity(len(shape), argument.context):
        return False
    bounds = _loops_around(store, argument)
    if bounds is None:
        return False
    found = [bounds.get(subscript) for subscript in subscripts]
    return len(set(subscripts)) == len(shape) and found == [(0, extent) for extent in shape]


def _loops_around(store: ir.Operation, argument: ir.Value) -> dict[ir.Value, tuple[int, int]] | None:
    """The variables of the loops around a store with their bounds; None if it may not run for all their values."""
    bounds = {}
    parent = store.parent.operation
    while parent != argument.owner.owner.operation:
        if parent.name != "affine.for":
            return None
        constant = [
            _constant(ir.AffineMapAttr(parent.attributes[name]).value)
            for name in ("lowerBoundMap", "upperBoundMap")
        ]
        step = ir.IntegerAttr(parent.attributes["step"]).value
        low, high = constant
        if low is None or high is None or low >= high:
            return None
        if step == 1:
            bounds[parent.regions[0].blocks[0].arguments[0]] = (low, high)
        parent = parent.parent.operation
    return bounds


def _constant(affine_map: ir.AffineMap) -> int | None:
    results = affine_map.results
    is_constant = len(results) == 1 and isinstance(results[0], ir.AffineConstantExpr)
    return int(results[0].value) if is_constant else None
