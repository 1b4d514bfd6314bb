"""Branches that are taken: the statements that a condition chooses, in its place."""

from __future__ import annotations

from mlir import ir

from .walk import statements


def take_branch(op: ir.Operation, *, holds: bool) -> None:
    """Replace an `affine.if` or `scf.if` by what it does where its condition holds, or where it does not."""
    for chosen in op.regions[0 if holds else 1].blocks:
        *kept, end = statements(chosen)
        for inner in kept:
            inner.move_before(op)
        for result, value in zip(op.results, end.operands, strict=True):
            result.replace_all_uses_with(value)
    op.erase()
