"""Loads in branches that data decide, moved in front of them: a FIFO gives its element whether it is used or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from ...ir.walk import statements
from ...poly import Access


@dataclass(frozen=True, slots=True)
class MovedLoad:
    """A load that stands in front of a branch now, and the statement that it stood in front of."""

    load: ir.Operation
    before: ir.Operation

    def put_back(self) -> None:
        self.load.move_before(self.before)


def moved_out_of_branches(reads: Sequence[Access]) -> list[MovedLoad]:
    """Move loads whose subscripts are known there in front of all `if` around them that are not affine.

    The element may be one that is not read, or none of the array: whoever moves loads has to look at what they read.
    """
    found = []
    for access in reads:
        load, branch = access.op, _branch_around(access.op)
        if branch is not None:
            following = statements(load.block)
            found.append(MovedLoad(load, following[following.index(load) + 1]))
            load.move_before(branch)
    return found


def _branch_around(load: ir.Operation) -> ir.Operation | None:
    """The outermost `scf.if` out of which a load can move; None if it is in none."""
    found, around = None, load.parent
    while around is not None and around.operation.name == "scf.if":
        branch: ir.Operation = around.operation
        if any(_is_made_in(operand, branch) for operand in load.operands):
            break
        found, around = branch, branch.parent
    return found


def _is_made_in(value: ir.Value, branch: ir.Operation) -> bool:
    """Whether a value is made inside of a branch, which has no variables of its own."""
    op = value.owner.owner.operation if isinstance(value.owner, ir.Block) else value.owner.operation
    while op.name != "func.func":
        op = op.parent.operation
        if op == branch:
            return True
    return False
