"""Conditions in the body of a processing element that its position decides, though no affine set says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir

from ..ir.branches import take_branch
from ..ir.context import context
from ..ir.walk import operations, statements
from ..poly.waiting.scalars import Scalars
from ..poly.waiting.terms import loop_variable

type Position = tuple[int, ...]

_DECIDED = "allo.x_decided"  # of what a plan of all positions takes for decided, in the bodies made of one
_PURE = ("arith.", "affine.apply", "scf.if", "affine.if")
_YIELDS = ("scf.yield", "affine.yield")


class Decisions:
    """The `scf.if` of a body whose conditions depend on the position only, whose parts have these ranges."""

    def __init__(self, block: ir.Block, position: Sequence[ir.Value], ranges: Sequence[tuple[int, int]]) -> None:
        self._scalars = Scalars()
        self._marks = bool(position)  # with a constant position more may be known, which is not to be left out
        for number, (value, values) in enumerate(zip(position, ranges, strict=True)):
            self._scalars.variable(value, loop_variable(f"p[{number}]", None, values))
        self.made: dict[ir.Operation, Callable[[Position], bool]] = {}
        self._helps: dict[ir.Operation, bool] = {}
        self._read(block)

    def _read(self, block: ir.Block) -> None:
        for op in statements(block):
            for region in op.regions:
                for inner in region.blocks:
                    self._read(inner)
            self._scalars.see(op)
            if op.name != "scf.if" or not (self._marks or _DECIDED in op.attributes):
                continue
            if (truth := self._scalars.truth(op.operands[0])) is not None:
                op.attributes[_DECIDED] = ir.UnitAttr.get(context())  # of which the hash of an operation is made, too
                self.made[op] = eval(f"lambda p: {truth.text}")  # the text is ours, and has no names of the user

    def helps(self, op: ir.Operation) -> bool:
        """Whether an operation does nothing but compute what these conditions test."""
        if op not in self._helps:
            users = [use.owner.operation for result in op.results for use in result.uses]
            self._helps[op] = op.name.startswith(_PURE) and bool(users) and all(map(self._is_help_for, users))
        return self._helps[op]

    def _is_help_for(self, user: ir.Operation) -> bool:
        if user.name in _YIELDS:
            return user.parent is not None and self.helps(user.parent.operation)
        return user in self.made or self.helps(user)



def decide(block: ir.Block) -> None:
    """Replace each `scf.if` that is marked, whose condition is constant now, by the statements that it chooses."""
    made = Decisions(block, (), ()).made
    for op, holds in made.items():
        take_branch(op, holds=holds(()))
    if made:
        _erase_unused(block)


def _erase_unused(block: ir.Block) -> None:
    """Erase what only computed such conditions."""
    for op in reversed(operations(block)):
        if op.name.startswith("arith.") and not any(True for result in op.results for _ in result.uses):
            op.erase()
