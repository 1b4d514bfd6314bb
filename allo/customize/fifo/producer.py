"""Producers that sum up what they write, made to write each element once: in a copy of a part, or at their end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlir import ir

from ...errors import ScheduleError
from ...ir.builder import Builder, affine_dim, constant_map_attr, string_attr
from ...ir.context import context
from ...ir.module import Module
from ...ir.names import unique_name
from ...ir.walk import LoopView, buffers_of, induction_variable, loops_of, operations, statements
from ...poly import extract
from ..array.copy_part import copy_part
from ..array.first_constant import take_constant
from ..function.calls import function_around
from ..nest.absorb import absorb, absorbed_by
from ..nest.rewrite import compose_affine
from ..step.handles import Buffer, Loop
from ..step.resolve import find_buffer, find_loop
from .stages import Stage, stages_inside


@dataclass(frozen=True, slots=True)
class Drained:
    """The array that goes to the consumer, written by a nest of its own."""

    buffer: Buffer
    value: ir.Value


def with_first_values(stages: Sequence[Stage]) -> bool:
    """Let the nests that sum up begin with the first values that statements before them give; whether one did."""
    found = False
    for stage in stages:
        if stage.callee is None and stage.writes and not stage.reads:
            nest = absorbed_by(stage.op, statements(stage.op.block)[:-1])
            if nest is not None and any(other.op == nest and other.writes for other in stages):
                found |= absorb(function_around(stage.op), stage.op, nest)
    return found


def summed_in_copy(module: Module, producer: Stage, is_fine: Callable[[Module], bool]) -> bool:
    """Let a producer, or the nest of it that sums up, work on a copy of what one iteration of a loop touches.

    It is the innermost loop for which `is_fine` holds of the module then; without one nothing changes.
    """
    summing = [stage for stage in stages_inside(producer) if stage.writes]
    if len(summing) != 1:
        return False
    (inner,) = summing
    function = function_around(inner.op)
    views = [view for view in loops_of(function) if view.op == inner.op]
    for loop in reversed(_loops_around_all(function, views, inner)):
        handle = Loop(function.name.value, loop.nest, loop.name)
        array = Buffer(function.name.value, inner.writes[0].buffer.name)
        trial = module.clone()
        if _copied(trial, array, handle) and is_fine(trial):
            return _copied(module, array, handle)
    return False


def _loops_around_all(function: ir.OpView, roots: Sequence[LoopView], stage: Stage) -> list[LoopView]:
    """The loops of a nest that are around all its accesses of the array, outermost first."""
    found = list(roots)
    views = loops_of(function)
    ops = [access.op for access in (*stage.writes, *stage.reads)]
    while found:
        inside = [v for v in views if v.parent is not None and v.parent.op == found[-1].op]
        deeper = [v for v in inside if all(_is_inside(op, v.op) for op in ops)]
        if not deeper:
            break
        found.append(deeper[0])
    return [view for view in found if view.op.name == "affine.for"]


def _is_inside(op: ir.Operation, outer: ir.Operation) -> bool:
    while op != outer:
        if op.parent is None:
            return False
        op = op.parent.operation
    return True


def _copied(module: Module, array: Buffer, handle: Loop) -> bool:
    """Whether a copy of what an iteration of the loop touches could be made."""
    function, view = module.function(handle.function), find_loop(module, handle)
    try:
        part = copy_part(function, extract(function, view.chain[0].op), array, find_buffer(module, array), view)
    except ScheduleError:
        return False
    for load in part.loaded:
        take_constant(function, load, view)
    compose_affine([function])
    return True


def drained(buffer: Buffer, value: ir.Value, producer: Stage, consumer: Stage) -> Drained:
    """Let a nest behind the producer hand on what it has made, in the order of memory, and the consumer read that."""
    made = value.owner.operation
    function = function_around(made)
    array = ir.MemRefType(value.type)
    name = unique_name(f"{buffer.name}_out", set(buffers_of(function)))
    builder = Builder.before(made)
    handed = builder.alloc(array, name)
    builder.loc = producer.op.location
    builder.point = ir.InsertionPoint(_behind(producer.op))
    nests = {view.nest for view in loops_of(function)}
    attributes: dict[str, ir.Attribute] = {"allo.nest": string_attr(unique_name(f"drain_{buffer.name}", nests))}
    variables: list[ir.Value] = []
    for dimension, extent in enumerate(array.shape):
        zero, end = (ir.AffineMapAttr(constant_map_attr(number)).value for number in (0, extent))
        attributes["allo.name"] = string_attr(f"{buffer.name}_{dimension}")
        loop = builder.affine_for((zero, []), (end, []), 1, attributes)
        variables.append(induction_variable(loop))
        builder.point = ir.InsertionPoint.at_block_terminator(loop.regions[0].blocks[0])
        attributes = {}
    place = ir.AffineMap.get(array.rank, 0, [affine_dim(d) for d in range(array.rank)], context())
    builder.affine_store(builder.affine_load(value, place, variables), handed, place, variables)
    blocks = [block for region in consumer.op.regions for block in region.blocks]
    for op in (consumer.op, *(inner for block in blocks for inner in operations(block))):
        for position, operand in enumerate(op.operands):
            if operand == value:
                op.operands[position] = handed
    return Drained(Buffer(buffer.function, name), handed)


def _behind(op: ir.Operation) -> ir.Operation:
    """The operation that follows one in its block."""
    block = statements(op.block)
    return block[block.index(op) + 1]
