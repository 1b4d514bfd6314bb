"""Classes of the positions of a task: those at which the same conditions hold, and how many each one has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod

import numpy as np
from mlir import ir

from ..ir.access import callee_name
from ..ir.elements import SPATIAL
from ..ir.module import Module
from ..ir.walk import constant_bounds, entry_block, induction_variable, operations
from .formula import Numbers, compile_set, evaluate

_MOST_POSITIONS = 65_536

type _Flags = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


def position_classes(
    module: Module, caller: str, callee: str, conditions: Sequence[ir.Operation], instances: int
) -> Counter[tuple[bool, ...]] | None:
    """How many of the `instances` of `callee` in `caller`, one at each position of a grid, find which conditions true.

    Instances are fewer where positions of a grid call another function. None if calls share an instance, if one is in a
    loop that is none of a grid, or if anything but positions and constants decides.
    """
    block, entry = (entry_block(module.function(name)) for name in (caller, callee))
    assert block is not None and entry is not None
    found: Counter[tuple[bool, ...]] = Counter()
    positions = 0
    for call in operations(block, "func.call"):
        if callee_name(call) != callee:
            continue
        grid = _Grid.around(call, block)
        if grid is None:
            return None
        known = {a: v for a, v in zip(entry.arguments, map(grid.value, call.operands), strict=True) if v is not None}
        reached = grid.reached(call, block)
        flags = [_holds(condition, known) for condition in conditions]
        if reached is None or any(flag is None for flag in flags):
            return None
        positions += prod(grid.extents)
        rows = [np.broadcast_to(flag, grid.extents)[reached] for flag in flags if flag is not None]
        if not rows:
            found[()] += int(reached.sum())
            continue
        patterns, counts = np.unique(np.stack(rows, axis=1), axis=0, return_counts=True)
        found.update(dict(zip(map(tuple, patterns.tolist()), counts.tolist(), strict=True)))
    return found if positions == instances else None


class _Grid:
    """The positions at which a statement runs: those of the loops around it, each of which is a dimension."""

    def __init__(self, loops: Sequence[ir.Operation], ranges: Sequence[range]) -> None:
        self.extents = tuple(map(len, ranges))
        axes = np.meshgrid(*(np.arange(r.start, r.stop, r.step) for r in ranges), indexing="ij")
        self._known = {induction_variable(loop): axis for loop, axis in zip(loops, axes, strict=True)}

    @staticmethod
    def around(op: ir.Operation, block: ir.Block) -> _Grid | None:
        """That of an operation; None if a loop around it, inside of `block`, is none of a grid, or if it is large."""
        loops: list[ir.Operation] = []
        while op.block != block:
            op = op.block.owner.operation
            if op.name != "affine.if":
                loops.insert(0, op)
        bounds = [constant_bounds(loop) if SPATIAL in loop.attributes else None for loop in loops]
        ranges = [range(*bound) for bound in bounds if bound is not None]
        is_small = len(ranges) == len(loops) and prod(map(len, ranges)) <= _MOST_POSITIONS
        return _Grid(loops, ranges) if is_small else None

    def value(self, operand: ir.Value) -> Numbers | None:
        """What an index is at each position; None if it is neither a position nor a constant."""
        if operand in self._known:
            return self._known[operand]
        made = None if isinstance(operand.owner, ir.Block) else operand.owner.operation
        if made is None or made.name != "arith.constant" or not isinstance(operand.type, ir.IndexType):
            return None
        return np.full(self.extents, ir.IntegerAttr(made.attributes["value"]).value, np.int64)

    def reached(self, op: ir.Operation, block: ir.Block) -> _Flags | None:
        """At which positions the conditions around an operation let it run; None if that is not known."""
        found = np.ones(self.extents, np.bool_)
        while op.block != block:
            inner, op = op.block, op.block.owner.operation
            if op.name == "affine.if":
                holds = _holds(op, self._known)
                if holds is None:
                    return None
                found &= holds if inner == op.regions[0].blocks[0] else ~holds
        return found


def _holds(condition: ir.Operation, known: dict[ir.Value, Numbers]) -> _Flags | None:
    """Where an `affine.if` takes its first branch."""
    values = [known.get(value) for value in condition.operands]
    formula, equalities = compile_set(condition.attributes["condition"])
    given = [value for value in values if value is not None]
    if len(given) < len(values) or None in formula.results:
        return None
    found: _Flags = np.ones((), np.bool_)
    for numbers, equality in zip(evaluate(formula, given), equalities, strict=True):
        found = found & (numbers == 0 if equality else numbers >= 0)
    return found
