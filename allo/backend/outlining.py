"""Functions of statements: their signatures, and the values that they take."""

from __future__ import annotations

from mlir import ir

from ..ir.builder import string_attr
from ..ir.context import context
from ..ir.walk import operations


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
