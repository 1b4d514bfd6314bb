"""Statements in front of an inner loop, done in its first iteration, so that both loops can be one pipeline."""

from __future__ import annotations

from mlir import ir

from ...ir.builder import Builder, affine_constant, affine_dim
from ...ir.context import context
from ...ir.names import unique_name
from ...ir.walk import LoopView, constant_bounds, induction_variable
from .rewrite import only_child


def sink_into_first(inner: LoopView, name: str, taken: set[str]) -> bool:
    """Do what stands in front of a loop in its first iteration, and keep the values in registers; whether it could be.

        for k in range(m):                    t: T
            t = pipe.get()                    for k in range(m):
            for j in range(n):       ->           for j in range(n):
                S(j, k, t)                            if j == 0: t = pipe.get()
                                                      S(j, k, t)

    The registers stand in front of the loops that are nested directly then, and inside of another one: a variable of
    their own, called `name` or like it. `taken` are the names of arrays, and gets those of the registers.
    """
    top = joinable(inner)
    outer, bounds = inner.parent, constant_bounds(inner.op)
    if top is None or outer is None or bounds is None:
        return False
    before = _in_front(outer, inner)
    if not before:
        return True
    kept = [result for op in before for result in op.results]
    register = Builder.before(top.op)
    builder = Builder(ir.InsertionPoint.at_block_begin(inner.body), before[0].location)
    first = ir.IntegerSet.get(1, 0, [affine_dim(0) - affine_constant(bounds[0])], [True], context())
    guard = builder.affine_if(first, [induction_variable(inner.op)], has_else=False)
    end = guard.regions[0].blocks[0].operations[0]
    moved = set(before)
    for op in before:
        op.move_before(end)
    for value in kept:
        uses = [(use.owner.operation, use.operand_number) for use in value.uses if use.owner.operation not in moved]
        if not uses:
            continue
        own = unique_name(name, taken)
        taken.add(own)
        variable = register.alloc(ir.MemRefType.get([], value.type, loc=top.op.location), own)
        Builder(ir.InsertionPoint(end), value.owner.location).store(value, variable, [])
        read = builder.load(variable, [])
        for user, number in uses:
            user.operands[number] = read
    return True


def joinable(inner: LoopView) -> LoopView | None:
    """The outermost of the loops that can be one pipeline with an inner one, but for that which the nest begins with;
    None if what stands between them cannot move."""
    outer = inner.parent
    if outer is None or outer.parent is None or inner.op.parent != outer.op or constant_bounds(inner.op) is None:
        return None
    body = [op.operation for op in outer.body.operations]
    before = _in_front(outer, inner)
    results = [result for op in before for result in op.results]
    kept = [one for one in results if any(use.owner.operation not in before for use in one.uses)]
    if len(body) > len(before) + 2 or any(len(op.regions) for op in before) or not all(map(_fits_register, kept)):
        return None
    top = outer
    while top.parent is not None and top.parent.parent is not None and only_child(top.parent, top):
        top = top.parent
    return top


def _in_front(outer: LoopView, inner: LoopView) -> list[ir.Operation]:
    body = [op.operation for op in outer.body.operations]
    return body[: body.index(inner.op)]


def _fits_register(value: ir.Value) -> bool:
    return isinstance(value.type, (ir.IntegerType, ir.FloatType))
