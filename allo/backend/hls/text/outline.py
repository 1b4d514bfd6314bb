"""Outlined statements: loop nests of dataflow graphs as functions, for vendors whose graphs are calls."""

from __future__ import annotations

from mlir import ir

from ....ir.builder import Builder, string_attr
from ....ir.context import context
from ....ir.module import Module
from ....ir.names import unique_name
from ....ir.streams import is_stream_type
from ....ir.walk import argument_names, constant_bounds, entry_block, operations, string_of
from ...outlining import captured, signature_attributes

COUNTER = "allo.x_counter"  # of an argument that is the variable of a loop; whether it is never negative
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
                outline(function, [op], unique_name(f"{function.name.value}_{nest_name(op)}", taken), names)


def is_graph(function: ir.OpView) -> bool:
    """Whether the statements of a function are tasks: it is marked so, or it makes streams."""
    entry = entry_block(function)
    if entry is None:
        return False
    made = (result for op in entry.operations for result in op.operation.results)
    return "allo.dataflow" in function.operation.attributes or any(
        is_stream_type(value.type) and value.owner.operation.name != "affine.load" for value in made
    )


def nest_name(op: ir.Operation) -> str:
    """What the function of a nest is called after."""
    return string_of(op, "allo.nest") or string_of(op, "allo.name") or "task"


def outline(
    function: ir.OpView, statements: list[ir.Operation], symbol: str, names: dict[ir.Value, str]
) -> ir.Operation:
    """Make statements that follow each other a function in front of `function`; the call in their place.

    `names` are those of the arguments of `function`; no value that the statements make is used behind them.
    """
    last = statements[-1]
    inputs = captured(statements)
    taken: set[str] = set()
    labels = [unique_name(_label(value, names), taken) for value in inputs]
    builder = Builder(ir.InsertionPoint(function.operation), last.location)
    attributes = {"sym_name": string_attr(symbol), **signature_attributes([v.type for v in inputs], labels)}
    if inputs:
        attributes["arg_attrs"] = _marks(inputs, labels)
    made = builder.op("func.func", (), (), attributes, 1)
    block = made.regions[0].blocks.append(
        *(value.type for value in inputs), arg_locs=[last.location for _ in inputs]
    )
    callee = {"callee": ir.FlatSymbolRefAttr.get(symbol, context())}
    call = Builder.before(last).op("func.call", (), inputs, callee)
    builder.point = ir.InsertionPoint(block)
    end = builder.op("func.return")
    for op in statements:
        op.move_before(end)
    mapping = dict(zip(inputs, block.arguments, strict=True))
    for op in operations(block):
        for number, operand in enumerate(op.operands):
            if operand in mapping:
                op.operands[number] = mapping[operand]
    return call


def _marks(inputs: list[ir.Value], labels: list[str]) -> ir.ArrayAttr:
    """The attributes of arguments: their names, and which are variables of loops."""
    found = []
    for value, label in zip(inputs, labels, strict=True):
        mark: dict[str, ir.Attribute] = {"allo.name": string_attr(label)}
        if isinstance(value.owner, ir.Block) and value.owner.owner.operation.name == "affine.for":
            bounds = constant_bounds(value.owner.owner.operation)
            mark[COUNTER] = ir.BoolAttr.get(bounds is not None and bounds[0] >= 0, context())
        found.append(ir.DictAttr.get(mark, context()))
    return ir.ArrayAttr.get(found, context())


def _label(value: ir.Value, names: dict[ir.Value, str]) -> str:
    if not isinstance(value.owner, ir.Block):
        made_by = value.owner.operation
        return string_of(made_by, "allo.name") or ("result" if made_by.name == "func.call" else "arg")
    around = value.owner.owner.operation
    return names.get(value) or string_of(around, "allo.name") or "arg"
