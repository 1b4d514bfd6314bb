"""Copies of arrays that several processes of a dataflow region read: one for each, made by a process before them."""

from __future__ import annotations

from mlir import ir

from ....ir.access import callee_name
from ....ir.builder import Builder, i32_attr, string_attr
from ....ir.context import context
from ....ir.module import Module
from ....ir.names import unique_name
from ....ir.processes import region_blocks
from ....ir.walk import argument_names, entry_block, statements
from ...outlining import outline
from .sharing import SharingChecks, name_of_array


def give_copies(module: Module, vendor: str) -> None:
    """Let processes of regions that read one array read copies of it, in place; processes are calls.

    Tools let an array have one process that reads it. A process `copy_A` in front of the first reads the array once,
    and writes an array for each; it waits for what the first would wait for. What `read_by_several` leaves out stays
    as it is, for `SharingChecks` to refuse.
    """
    checks, taken = SharingChecks(module, vendor), set(module.names())
    for function in list(module.functions()):
        for block in list(region_blocks(function)):
            for array, readers in checks.read_by_several(block):
                _copy(function, array, readers, taken)


def _copy(function: ir.OpView, array: ir.Value, readers: list[ir.Operation], taken: set[str]) -> None:
    entry = entry_block(function)
    assert entry is not None
    name = name_of_array(function, array)
    owns = []
    for reader in readers:
        own = _alloc(readers[0], array, f"{name}_{callee_name(reader)}")
        for number, operand in enumerate(reader.operands):
            if operand == array:
                reader.operands[number] = own
        owns.append(own)
    symbol = unique_name(f"{function.name.value}_copy_{name}", taken)
    taken.add(symbol)
    nest = _nest(readers[0], array, owns)
    outline(function, [nest], symbol, dict(zip(entry.arguments, argument_names(function), strict=True)))


def _alloc(before: ir.Operation, array: ir.Value, name: str) -> ir.Value:
    return Builder.before(before).alloc(ir.MemRefType(array.type), name)


def _nest(before: ir.Operation, array: ir.Value, owns: list[ir.Value]) -> ir.Operation:
    """Loops that copy all elements to each of `owns`, an element a cycle."""
    shape = ir.MemRefType(array.type).shape
    builder, loops = Builder.before(before), list[ir.Operation]()
    for axis, extent in enumerate(shape):
        lower, upper = (ir.AffineMap.get_constant(value, context()) for value in (0, extent))
        attributes: dict[str, ir.Attribute] = {"allo.name": string_attr(f"i{axis}")}
        if axis == 0:
            attributes["allo.nest"] = string_attr("copy")
        if axis == len(shape) - 1:
            attributes["allo.pipeline"] = i32_attr(1)
        loops.append(builder.affine_for((lower, ()), (upper, ()), 1, attributes))
        builder.point = ir.InsertionPoint(statements(loops[-1].regions[0].blocks[0])[-1])
    places = [loop.regions[0].blocks[0].arguments[0] for loop in loops]
    identity = ir.AffineMap.get_identity(len(shape), context())
    value = builder.affine_load(array, identity, places)
    for own in owns:
        builder.affine_store(value, own, identity, places)
    return loops[0]
