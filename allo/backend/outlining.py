"""Outlined statements: functions of them, with their signatures and the values that they take."""

from __future__ import annotations

from mlir import ir

from ..ir.builder import Builder, string_attr
from ..ir.context import context
from ..ir.names import unique_name
from ..ir.walk import constant_bounds, operations, string_of

COUNTER = "allo.x_counter"  # of an argument that is the variable of a loop; whether it is never negative


def signature_attributes(kinds: list[ir.Type], names: list[str]) -> dict[str, ir.Attribute]:
    """The attributes of a function without results that takes arguments of these types and names."""
    found: dict[str, ir.Attribute] = {
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(kinds, [], context()), context())
    }
    if names:
        marks = [ir.DictAttr.get({"allo.name": string_attr(name)}, context()) for name in names]
        found["arg_attrs"] = ir.ArrayAttr.get(marks, context())
    return found


def captured(statements: list[ir.Operation]) -> list[ir.Value]:
    """The values that statements use and do not make; constants are copied in front of them."""
    inner = [i for op in statements for r in op.regions for b in r.blocks for i in operations(b)]
    everything = [*statements, *inner]
    made = {result for op in everything for result in op.results}
    made |= {a for op in everything for r in op.regions for b in r.blocks for a in b.arguments}
    found: dict[ir.Value, None] = {}
    for op in everything:
        for number, operand in enumerate(op.operands):
            if operand in made:
                continue
            if not isinstance(operand.owner, ir.Block) and operand.owner.operation.name == "arith.constant":
                copy = operand.owner.operation.clone(ir.InsertionPoint(statements[0]))
                statements.insert(0, copy)
                op.operands[number] = copy.results[0]
                made.add(copy.results[0])
            else:
                found[operand] = None
    return list(found)


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
