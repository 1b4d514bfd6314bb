"""Parts of arguments that tasks are declared to have: what bounds accesses at places which only a run knows."""

from __future__ import annotations

from collections.abc import Mapping

from mlir import ir

from ...ir.access import callee_name
from ...ir.argument_parts import DeclaredPart, declared_parts
from ...ir.elements import element_nests
from ...ir.module import Module
from ...ir.walk import entry_block, operations

type TaskParts = Mapping[tuple[str, int], DeclaredPart]  # by the nest of a task, and the number of the argument


def parts_of_tasks(module: Module) -> TaskParts:
    """The parts of arguments of a region that its tasks have; none of arrays that a task is given twice."""
    top = module.function(module.top)
    entry = entry_block(top)
    assert entry is not None
    found: dict[tuple[str, int], DeclaredPart | None] = {}
    for nest in element_nests(top):
        for call in operations(nest.outermost.body, "func.call"):
            parts = declared_parts(module.function(callee_name(call)))
            for number, operand in enumerate(call.operands):
                if operand.owner == entry:
                    key = nest.outermost.nest, ir.BlockArgument(operand).arg_number
                    found[key] = None if key in found else parts.get(number)
    return {key: part for key, part in found.items() if part is not None}
