"""separate: give some positions of a task a function of their own."""

from __future__ import annotations

import math
from itertools import product

from mlir import ir

from ..errors import ScheduleError
from ..ir.access import callee_name
from ..ir.builder import Builder, affine_constant, affine_dim, string_attr
from ..ir.context import context
from ..ir.module import Module
from ..ir.walk import operations, statements
from ..poly.formula import compile_set, evaluate, satisfies
from .function.positions import Box, Grid, Positions, split_positions
from .step.handles import Function
from .step.primitive import primitive
from .step.record import Decided

_MOST = 10_000  # positions at which a condition is looked at


@primitive
def separate(module: Module, task: Function, positions: str) -> Decided[Function]:
    """Let some positions of `task` call a function of their own, that later steps can change for them alone.

        for i, j in grid(2, 2):          for i, j in grid(2, 2):
            gemm(i, j)             ->        if i == 0: 'gemm[0, :]'(i, j)
                                             else: gemm(i, j)

    `positions` are a number or a slice for each dimension of the grid: `"0, 1"`, `"0, :"`, `"1:3, 2"`. Returns the
    handle of the function, which is called after them, `gemm[0, :]`; `gemm` is that of the positions that are left.
    Steps on `"gemm[0, :]:k"` do it by themselves. Always legal. Positions that have a function of their own can be
    separated further. Refused: what is no task with positions, positions outside of its grid or of several functions.
    Source: Dato paper, section 4 (virtual mapping: which positions are alike).
    """
    if not isinstance(positions, str):
        raise ScheduleError(f"positions must be a text such as '0, 1' or '0, :', got {positions!r}")
    named = split_positions(task.name)
    found = Positions(module, named[0] if named and named[0] in module else task.name)
    box = found.grid.box(positions)
    call, is_alone = found.holder(box)
    if is_alone:
        raise ScheduleError(
            f"the positions '{found.grid.name(box)}' are all that '{callee_name(call)}' has",
            hint=f"name it '{callee_name(call)}'",
        )
    name = found.grid.name(box)
    holder = module.function(callee_name(call)).operation
    copy = holder.clone(ir.InsertionPoint(holder))
    copy.attributes["sym_name"] = string_attr(name)
    copy.move_after(holder)
    _decide(copy, box)
    _branch(found.grid, call, box, name)
    return Decided({"task": Function(found.grid.task), "positions": found.grid.places(box)}, Function(name))


def _decide(function: ir.Operation, box: Box) -> None:
    """Leave out what no position does, so that `"gemm[0, 1]:k"` is the loop that it has."""
    entry = function.regions[0].blocks[0]
    axes = dict(zip(entry.arguments, box, strict=False))
    for op in operations(entry, "affine.if"):
        places = [axes.get(operand) for operand in op.operands]
        if len(op.results) or None in places or math.prod(len(place or ()) for place in places) > _MOST:
            continue
        formula, equalities = compile_set(op.attributes["condition"])
        held = {satisfies(evaluate(formula, position), equalities) for position in product(*filter(None, places))}
        if len(held) == 1 and None not in formula.results:
            chosen = op.regions[0 if held.pop() else 1]
            for inner in statements(chosen.blocks[0])[:-1] if len(chosen.blocks) else ():
                inner.move_before(op)
            op.erase()


def _branch(grid: Grid, call: ir.Operation, box: Box, name: str) -> None:
    """Call the function `name` at some positions."""
    constraints: list[ir.AffineExpr] = []
    operands: list[ir.Value] = []
    equalities: list[bool] = []
    for loop, wanted, values in zip(grid.loops, box, grid.values, strict=True):
        if loop is None or wanted == values:
            continue
        place = affine_dim(len(operands))
        operands.append(loop.regions[0].blocks[0].arguments[0])
        first, last = affine_constant(-wanted.start), affine_constant(wanted.stop - 1)
        given = [place + first] if len(wanted) == 1 else [place + first, last - place]
        constraints += given
        equalities += [len(wanted) == 1] * len(given)
    condition = ir.IntegerSet.get(len(operands), 0, constraints, equalities, context())
    branch = Builder.before(call).affine_if(condition, operands, has_else=True)
    own, others = (region.blocks[0].operations[0].operation for region in branch.regions)
    special = call.clone(ir.InsertionPoint(own))
    special.attributes["callee"] = ir.FlatSymbolRefAttr.get(name, context())
    call.move_before(others)
