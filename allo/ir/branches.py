"""Branches that are taken: the statements that a condition chooses, in its place."""

from __future__ import annotations

from collections.abc import Mapping

from mlir import ir

from .walk import operations, statements


def branches_of(block: ir.Block) -> list[ir.Operation]:
    """The branches of a block, at any depth, in the order of the text, by which they are numbered."""
    return operations(block, "affine.if", "scf.if")


def take_branches(block: ir.Block, holds: Mapping[int, bool]) -> None:
    """Replace the branches with these numbers by what they do where their conditions hold, or where they do not.

    What computes conditions and is used no more goes, too.
    """
    found = branches_of(block)
    is_computed = any(found[number].name == "scf.if" for number in holds)
    for number in sorted(holds, reverse=True):  # those inside of others first
        take_branch(found[number], holds=holds[number])
    for op in reversed(operations(block)) if is_computed else ():
        if op.name.startswith(("arith.", "affine.apply")) and not any(True for r in op.results for _ in r.uses):
            op.erase()


def take_branch(op: ir.Operation, *, holds: bool) -> None:
    """Replace an `affine.if` or `scf.if` by what it does where its condition holds, or where it does not."""
    for chosen in op.regions[0 if holds else 1].blocks:
        *kept, end = statements(chosen)
        for inner in kept:
            inner.move_before(op)
        for result, value in zip(op.results, end.operands, strict=True):
            result.replace_all_uses_with(value)
    op.erase()
