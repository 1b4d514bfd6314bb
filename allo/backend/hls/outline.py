"""Decides how the loop nests of a dataflow graph become functions, for vendors whose graphs are made of calls."""

from __future__ import annotations

from mlir import ir

from ...ir.builder import Builder, string_attr
from ...ir.context import context
from ...ir.module import Module
from ...ir.names import unique_name
from ...ir.streams import is_stream_type
from ...ir.walk import argument_names, entry_block, operations, string_of
from ..instantiate import captured, signature_attributes

_LOOPS = ("affine.for", "scf.for", "scf.while", "affine.if", "scf.if")


def outline_tasks(module: Module) -> None:
    """Make each nest of a function that is a dataflow graph a function of its own, in place.

    The function of nest `last` of `chain` is called `chain_last`; it takes what the nest uses.
    """
    for function in list(module.functions()):
        entry = entry_block(function)
        if entry is None or not is_graph(function):
            continue
        names = dict(zip(entry.arguments, argument_names(function), strict=True))
        taken = set(module.names())
        for view in list(entry.operations):
            op = view.operation
            if op.name in _LOOPS and not len(op.results):
                nest = string_of(op, "allo.nest") or string_of(op, "allo.name") or "task"
                _outline(function, op, unique_name(f"{function.name.value}_{nest}", taken), names)


def is_graph(function: ir.OpView) -> bool:
    """Whether the statements of a function are tasks: it is marked so, or it makes streams."""
    entry = entry_block(function)
    if entry is None:
        return False
    made = (result for op in entry.operations for result in op.operation.results)
    return "allo.dataflow" in function.operation.attributes or any(
        is_stream_type(value.type) and value.owner.operation.name != "affine.load" for value in made
    )


def _outline(function: ir.OpView, nest: ir.Operation, symbol: str, names: dict[ir.Value, str]) -> None:
    """The function of a nest, in front of the one that it is taken from, and its call."""
    statements = [nest]
    inputs = captured(statements)
    taken: set[str] = set()
    labels = [unique_name(_label(value, names), taken) for value in inputs]
    builder = Builder(ir.InsertionPoint(function.operation), nest.location)
    attributes = {"sym_name": string_attr(symbol), **signature_attributes([v.type for v in inputs], labels)}
    made = builder.op("func.func", (), (), attributes, 1)
    block = made.regions[0].blocks.append(
        *(value.type for value in inputs), arg_locs=[nest.location for _ in inputs]
    )
    call = Builder.before(nest)
    call.op("func.call", (), inputs, {"callee": ir.FlatSymbolRefAttr.get(symbol, context())})
    builder.point = ir.InsertionPoint(block)
    end = builder.op("func.return")
    for op in statements:
        op.move_before(end)
    mapping = dict(zip(inputs, block.arguments, strict=True))
    for op in operations(block):
        for number, operand in enumerate(op.operands):
            if operand in mapping:
                op.operands[number] = mapping[operand]


def _label(value: ir.Value, names: dict[ir.Value, str]) -> str:
    if isinstance(value.owner, ir.Block):
        return names.get(value, "arg")
    return string_of(value.owner.operation, "allo.name") or "arg"
