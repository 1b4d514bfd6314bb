"""Checks of a debug build on a CPU: a branch to the run-time library, which leaves the call."""

from __future__ import annotations

from mlir import ir

from ...ir.builder import Builder, string_attr, unit_attr
from ...ir.context import context
from ...ir.module import Module
from ...ir.processes import CHECK as IS_CHECK
from ...ir.walk import entry_block, operations
from ..checked import CHECK, MOST_VALUES, SITE, Checks, checks_of

_FAILED = "allo_check_failed"


def lower_checks(module: Module) -> Checks:
    """Replace the checks of `module` by branches, in place; what each number means."""
    checks = checks_of(module)
    if checks:
        number = ir.IntegerType.get_signless(64, context())
        signature = ir.FunctionType.get([number] * (1 + MOST_VALUES), [], context())
        attributes = {
            "sym_name": string_attr(_FAILED),
            "function_type": ir.TypeAttr.get(signature, context()),
            "sym_visibility": string_attr("private"),
        }
        Builder(ir.InsertionPoint(module.mlir.body)).op("func.func", (), (), attributes, 1)
        for function in module.functions():
            entry = entry_block(function)
            for op in operations(entry, CHECK) if entry is not None else ():
                _lower(op, number)
    return checks


def _lower(op: ir.Operation, number: ir.Type) -> None:
    builder = Builder.before(op)
    condition, *values = op.operands
    fails = builder.value("arith.xori", condition.type, [condition, builder.constant(condition.type, 1)])
    branch = builder.scf_if(fails, (), has_else=False)
    branch.attributes[IS_CHECK] = unit_attr()
    inner = Builder(ir.InsertionPoint.at_block_terminator(branch.regions[0].blocks[0]), op.location)
    site = inner.value("arith.constant", number, (), {"value": op.attributes[SITE]})
    told = [inner.value("arith.index_cast", number, [value]) for value in values]
    told += [inner.constant(number, 0)] * (MOST_VALUES - len(told))
    callee = ir.FlatSymbolRefAttr.get(_FAILED, context())
    inner.op("func.call", (), [site, *told], {"callee": callee})
    op.erase()
