"""Loop nests merged with later ones that have the same iterations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mlir import ir

from ...ir.module import Module
from ...ir.walk import LoopView, bound_operands, induction_variable
from .recompute import free_names
from .rewrite import loop_attributes


def chain_of(views: Sequence[LoopView], nest: ir.Operation) -> list[LoopView]:
    """The loops of a nest, each directly in the one before, as long as there is one of them only; `views` are all."""
    found = [view for view in views if view.op == nest]
    while found:
        inner = [view for view in views if view.parent is not None and view.parent.op == found[-1].op]
        if len(inner) != 1 or inner[0].op.block != found[-1].body or inner[0].op.name != "affine.for":
            break
        found.append(inner[0])
    return found


def matching(nest: Sequence[LoopView], consumer: Sequence[LoopView]) -> list[LoopView]:
    """The loops of the nest that run over the same iterations as those of the consumer, if all of them do."""
    if len(nest) < len(consumer) or any(inner.op.block != outer.body for outer, inner in pairwise(consumer)):
        return []
    if consumer[0].op.block != nest[0].op.block:
        return []
    same: dict[ir.Value, ir.Value] = {}
    for mine, other in zip(nest, consumer, strict=False):
        if any(mine.op.attributes[n] != other.op.attributes[n] for n in ("lowerBoundMap", "upperBoundMap", "step")):
            return []
        operands = [same.get(value, value) for side in bound_operands(mine.op) for value in side]
        if operands != [value for side in bound_operands(other.op) for value in side]:
            return []
        same[induction_variable(mine.op)] = induction_variable(other.op)
    return list(nest[: len(consumer)])


def merge(module: Module, function: str, merged: Sequence[LoopView], consumer: Sequence[LoopView]) -> None:
    """Move the body of the nest to the start of the target's, with the loop variables of the consumer."""
    for view in merged:
        loop_attributes(view)
    merge_into(module.function(function), merged, consumer)


def merge_into(function: ir.OpView, merged: Sequence[LoopView], consumer: Sequence[LoopView]) -> None:
    """As `merge`, of loops without annotations."""
    free_names(function, merged[-1].op, consumer[-1])
    for mine, other in zip(merged, consumer, strict=True):
        induction_variable(mine.op).replace_all_uses_with(induction_variable(other.op))
    first = consumer[-1].body.operations[0]
    for op in list(merged[-1].body.operations)[:-1]:
        op.operation.move_before(first)
    merged[0].op.erase()
