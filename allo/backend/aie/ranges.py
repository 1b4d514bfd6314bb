"""Ranges of iterations in which branches at streams are taken, or not, in the place of loops whose variable decides."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import groupby

from mlir import ir

from ...ir.branches import take_branch
from ...ir.builder import constant_map_attr
from ...ir.walk import constant_bounds, induction_variable, operations, statements
from ...poly.formula import compile_set, evaluate, satisfies

_RANGES = 4  # of the iterations of a loop


def decide_ranges(block: ir.Block, streams: Sequence[ir.Value]) -> None:
    """Let loops with branches in which streams are used, and that their variable decides, be ranges of iterations."""
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
    """The loop, or in its place loops over ranges of its iterations in which branches are taken, or not."""
    bounds = constant_bounds(loop)
    if bounds is None or len(loop.results):
        return [loop]
    branches = [(number, op) for number, op in enumerate(operations(loop.regions[0].blocks[0], "affine.if"))
                if op in inside and list(op.operands) == [induction_variable(loop)] * len(op.operands)]  # fmt: skip
    lower, upper, step = bounds
    taken = [tuple(_holds(op, k) for _, op in branches) for k in range(lower, upper, step)]
    parts = [(kind, len(list(own))) for kind, own in groupby(taken)]
    if not branches or len(parts) > _RANGES:
        return [loop]
    made, first = [], lower
    for kind, count in parts:
        part = loop.clone(ir.InsertionPoint(loop))
        _set_range(part, first, first + count * step)
        found = operations(part.regions[0].blocks[0], "affine.if")
        for (number, _), holds in reversed([*zip(branches, kind, strict=True)]):
            take_branch(found[number], holds=holds)
        made.append(part)
        first += count * step
    loop.erase()
    return made


def _set_range(loop: ir.Operation, lower: int, upper: int) -> None:
    """Let a loop with constant bounds have others."""
    loop.attributes["lowerBoundMap"], loop.attributes["upperBoundMap"] = map(constant_map_attr, (lower, upper))


def _holds(op: ir.Operation, number: int) -> bool:
    formula, equalities = compile_set(op.attributes["condition"])
    return satisfies(evaluate(formula, [number] * len(op.operands)), equalities)
