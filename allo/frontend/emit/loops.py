"""Emitter of loops whose bounds or step are known at run time only."""

from __future__ import annotations

from mlir import ir

from ...ir.builder import Builder, index_type
from ..typing.nodes import Const, For
from .expressions import ExpressionEmitter


def dynamic_for(
    builder: Builder, values: ExpressionEmitter, loop: For, attributes: dict[str, ir.Attribute]
) -> tuple[ir.Block, ir.Value]:
    """An `scf.for` for `loop`: its body, and what stands for its variable there.

    `scf.for` goes up by a positive step, so every other loop counts its iterations from 0.
    """
    lower, upper = values.index(loop.lower), values.index(loop.upper)
    step = values.index(loop.step)
    values.place(loop.at)
    if isinstance(loop.step, Const) and loop.step.value > 0:
        block = builder.scf_for([lower, upper, step], attributes).regions[0].blocks[0]
        return block, block.arguments[0]
    count = _trips(builder, values, (lower, upper, step), loop.step)
    zero, one = values.integer(index_type(), 0), values.integer(index_type(), 1)
    block = builder.scf_for([zero, count, one], attributes).regions[0].blocks[0]
    outer, builder.point = builder.point, ir.InsertionPoint.at_block_terminator(block)
    offset = builder.value("arith.muli", index_type(), [block.arguments[0], step])
    variable = builder.value("arith.addi", index_type(), [lower, offset])
    builder.point = outer
    return block, variable


def _trips(
    builder: Builder, values: ExpressionEmitter, loop: tuple[ir.Value, ir.Value, ir.Value], known: object
) -> ir.Value:
    """How often a loop of (lower, upper, step) runs (not positive: never), whatever the sign of the step; 0: never."""

    def op(name: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        return builder.value(f"arith.{name}", index_type(), [lhs, rhs])

    lower, upper, step = loop
    one = values.integer(index_type(), 1)
    if isinstance(known, Const):
        distance, size = op("subi", lower, upper), values.integer(index_type(), -int(known.value))
    else:
        direction = op("minsi", op("maxsi", step, values.integer(index_type(), -1)), one)  # the sign of the step
        distance = op("muli", op("subi", upper, lower), direction)
        size = op("maxsi", op("muli", step, direction), one)
    return op("floordivsi", op("addi", distance, op("subi", size, one)), size)
