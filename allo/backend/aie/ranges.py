"""Loops in which branches at streams are decided: ranges of iterations that take them, or not, or take them in turn."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import groupby

from mlir import ir

from ...ir.branches import take_branch
from ...ir.builder import Builder, affine_dim, constant_map_attr, index_type
from ...ir.context import context
from ...ir.walk import constant_bounds, induction_variable, operations, statements
from ...poly.formula import compile_set, evaluate, satisfies

_RANGES = 8  # of the iterations of a loop
_PERIOD = 8  # iterations after which a loop takes the same branches again


def decide_ranges(block: ir.Block, streams: Sequence[ir.Value]) -> None:
    """Let loops with branches in which streams are used, and that their variable decides, be ranges of iterations, or
    do some iterations in each of theirs."""
    inside = {op for stream in streams for use in stream.uses for op in around(use.owner.operation, block)}
    for op in [op for op in statements(block) if op in inside]:
        loops = _ranges(op, inside) if op.name == "affine.for" else [op]
        for loop in loops:
            for region in loop.regions:
                for inner in region.blocks:
                    decide_ranges(inner, streams)


def around(op: ir.Operation, block: ir.Block) -> Iterator[ir.Operation]:
    """An operation, and those around it up to those of a block; nothing if it is not in that block."""
    found = [op]
    while found[-1].block != block:
        if found[-1].parent is None or found[-1].parent.operation.name == "func.func":
            return
        found.append(found[-1].parent.operation)
    yield from found


def _ranges(loop: ir.Operation, inside: Container[ir.Operation]) -> list[ir.Operation]:
    """The loop, or in its place loops over ranges of its iterations in which branches are taken, or not.

    Iterations that take the same branches after some others are a loop whose iterations do all of these.
    """
    bounds = constant_bounds(loop)
    if bounds is None or len(loop.results):
        return [loop]
    branches = [(number, op) for number, op in enumerate(operations(loop.regions[0].blocks[0], "affine.if"))
                if op in inside and list(op.operands) == [induction_variable(loop)] * len(op.operands)]  # fmt: skip
    lower, upper, step = bounds
    taken = [tuple(_holds(op, k) for _, op in branches) for k in range(lower, upper, step)]
    parts = [(kind, len(list(own))) for kind, own in groupby(taken)]
    if not branches:
        return [loop]
    made = []
    if len(parts) > _RANGES:
        period = next((n for n in range(2, _PERIOD + 1) if 2 * n <= len(taken) and taken[n:] == taken[:-n]), None)
        if period is None:
            return [loop]
        whole = len(taken) // period * period
        made.append(_in_periods(loop, lower, whole, [_decided(branches, kind) for kind in taken[:period]]))
        lower, parts = lower + whole * step, [(kind, 1) for kind in taken[whole:]]
    for kind, count in parts:
        part = loop.clone(ir.InsertionPoint(loop))
        _set_range(part, lower, lower + count * step)
        _decide(part.regions[0].blocks[0], _decided(branches, kind))
        made.append(part)
        lower += count * step
    loop.erase()
    return made


type _Decided = dict[int, bool]  # branches of a loop, by number, and whether they are taken


def _decided(branches: Sequence[tuple[int, ir.Operation]], kind: Sequence[bool]) -> _Decided:
    return {number: holds for (number, _), holds in zip(branches, kind, strict=True)}


def _decide(block: ir.Block, decided: _Decided) -> None:
    """Take branches of a block, or not, those inside of others first."""
    found = operations(block, "affine.if")
    for number in sorted(decided, reverse=True):
        take_branch(found[number], holds=decided[number])


def _in_periods(loop: ir.Operation, lower: int, count: int, kinds: Sequence[_Decided]) -> ir.Operation:
    """The first `count` iterations of a loop as one in front of it that does those of a period in each of its own."""
    step = ir.IntegerAttr(loop.attributes["step"]).value
    around = loop_like(loop, count // len(kinds), loop)
    *_, end = statements(around.regions[0].blocks[0])
    for number, kind in enumerate(kinds):
        copy = loop.clone(ir.InsertionPoint(end))
        _decide(copy.regions[0].blocks[0], kind)
        place = (affine_dim(0) * len(kinds) + number) * step + lower
        made = ir.AffineMapAttr.get(ir.AffineMap.get(1, 0, [place], context()))
        value = Builder.before(copy).value("affine.apply", index_type(), [induction_variable(around)], {"map": made})
        induction_variable(copy).replace_all_uses_with(value)
        for op in statements(copy.regions[0].blocks[0])[:-1]:
            op.move_before(copy)
        copy.erase()
    return around


def loop_like(loop: ir.Operation, count: int, end: ir.Operation) -> ir.Operation:
    """A loop of so many iterations, with the name of another one, in front of an operation."""
    ends = [ir.AffineMap.get_constant(n, context()) for n in (0, count)]
    names = {name: loop.attributes[name] for name in ("allo.name", "allo.nest") if name in loop.attributes}
    return Builder.before(end).affine_for((ends[0], []), (ends[1], []), 1, names)


def _set_range(loop: ir.Operation, lower: int, upper: int) -> None:
    """Let a loop with constant bounds have others."""
    loop.attributes["lowerBoundMap"], loop.attributes["upperBoundMap"] = map(constant_map_attr, (lower, upper))


def _holds(op: ir.Operation, number: int) -> bool:
    formula, equalities = compile_set(op.attributes["condition"])
    return satisfies(evaluate(formula, [number] * len(op.operands)), equalities)
