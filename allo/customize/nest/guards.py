"""Affine conditions between loops, moved into the inner loop so that the loops are nested directly."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mlir import ir

from ...errors import Note, ScheduleError
from ...ir.builder import Builder
from ...ir.walk import LoopView, location_of
from ..step.resolve import loop_note

# Values that may be made whether the condition holds or not.
_OF_LOOPS = frozenset({"arith.constant", "affine.apply", "arith.index_cast"})
_UNCONDITIONAL = frozenset({"arith.constant", "memref.get_global", "memref.alloc", "affine.apply", "arith.index_cast"})


def sink_guards(band: Sequence[LoopView]) -> None:
    """Let each loop of the band stand directly in the body of the one before it.

        for i: if c(i):               for i:
            S(i)                          if c(i): S(i)
            for j: T(i, j)    ->          for j:
                                              if c(i): T(i, j)

    The condition is affine, so nothing that runs changes it. Refused: other operations around a loop.
    """
    for outer, inner in pairwise(band):
        while (guard := _parent(inner.op)) != outer.op:
            _sink(guard, outer, inner)
        _sink_values(outer, inner)


def _parent(op: ir.Operation) -> ir.Operation:
    parent = op.parent
    assert parent is not None
    return parent.operation


def _sink(guard: ir.Operation, outer: LoopView, inner: LoopView) -> None:
    """Take the loop out of the condition around it."""
    then = guard.regions[0].blocks[0] if guard.name == "affine.if" else None
    if then is None or len(guard.results) or inner.op.block != then:
        raise ScheduleError(
            f"loop '{inner.name}' in loop '{outer.name}' is under a condition that cannot be moved into it",
            notes=[Note("the condition is here", location_of(guard)), loop_note(inner)],
        )
    body = [op.operation for op in then.operations][:-1]
    position = body.index(inner.op)
    before, after = body[:position], body[position + 1 :]
    for op in [op for op in before if op.name in _UNCONDITIONAL]:
        op.move_before(guard)
    before = [op for op in before if op.name not in _UNCONDITIONAL]
    _check_values(before, [inner.op, *after], inner)
    inner.op.move_before(guard)
    _wrap(guard, before, Builder.before(inner.op))
    statements = [op.operation for op in inner.body.operations][:-1]
    _wrap(guard, statements, Builder(ir.InsertionPoint.at_block_begin(inner.body), guard.location))
    has_else = len(guard.regions[1].blocks) > 0 and len(guard.regions[1].blocks[0].operations) > 1
    if not after and not has_else:
        guard.erase()


def _sink_values(outer: LoopView, inner: LoopView) -> None:
    """Compute values of loop variables, which cost nothing, where the inner loop uses them."""
    body = [op.operation for op in outer.body.operations]
    for op in reversed(body[: body.index(inner.op)]):
        if op.name not in _OF_LOOPS:
            continue
        uses = [(use.owner.operation, use.operand_number) for use in op.results[0].uses]
        inside = [(user, number) for user, number in uses if _is_inside(user, [inner.op]) and user != inner.op]
        if inside:
            copy = op.clone(ir.InsertionPoint.at_block_begin(inner.body))
            for user, number in inside:
                user.operands[number] = copy.results[0]
        if len(inside) == len(uses):
            op.erase()


def _wrap(guard: ir.Operation, statements: list[ir.Operation], builder: Builder) -> None:
    """Put `statements` under the condition of `guard`, where `builder` stands."""
    if not statements:
        return
    builder.loc = guard.location
    condition = ir.IntegerSetAttr(guard.attributes["condition"])
    made = builder.op("affine.if", (), list(guard.operands), {"condition": condition}, 2)
    block = made.regions[0].blocks.append(arg_locs=[])
    end = ir.Operation.create("affine.yield", loc=guard.location, ip=ir.InsertionPoint(block))
    for op in statements:
        op.move_before(end)


def _check_values(before: list[ir.Operation], others: list[ir.Operation], inner: LoopView) -> None:
    """Refuse values that are computed under the condition in front of the loop, and used in the loop or behind it."""
    for op in before:
        for result in op.results:
            if any(_is_inside(use.owner.operation, others) for use in result.uses):
                raise ScheduleError(
                    f"a value that is computed under a condition around loop '{inner.name}' is used inside of it",
                    notes=[Note("it is computed here", location_of(op)), loop_note(inner)],
                )


def _is_inside(op: ir.Operation, outer: list[ir.Operation]) -> bool:
    current: ir.Operation | None = op
    while current is not None:
        if current in outer:
            return True
        current = None if current.parent is None else current.parent.operation
    return False
