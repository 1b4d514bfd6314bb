"""Classes of the positions of a task: those at which the same conditions hold, and how many each one has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from mlir import ir

from ..ir.access import callee_name
from ..ir.branches import branches_of
from ..ir.elements import SPATIAL
from ..ir.module import Module
from ..ir.walk import constant_bounds, entry_block, induction_variable, operations, statements
from .formula import Formula, Numbers, compile_set, evaluate, satisfies
from .waiting.scalars import Scalars
from .waiting.terms import loop_variable

_MOST_POSITIONS = 65_536
_PURE = ("arith.", "affine.apply", "scf.if", "affine.if")
_YIELDS = ("scf.yield", "affine.yield")

type Position = tuple[int, ...]
type _Flags = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
type Branches = tuple[tuple[int, bool], ...]  # numbers of branches of a function, and whether their conditions hold


@dataclass(frozen=True, slots=True)
class AffineChoice:
    """A set over the parts `inputs` of the position."""

    inputs: tuple[int, ...]
    formula: Formula
    equalities: tuple[bool, ...]

    def at(self, position: Position) -> bool:
        """Whether it holds."""
        return satisfies(evaluate(self.formula, [position[k] for k in self.inputs]), self.equalities)

    def over(self, axes: Sequence[Numbers], _where: _Flags) -> _Flags:
        """At which positions it holds; `axes` are the parts of all."""
        found: _Flags = np.ones((), np.bool_)
        values = evaluate(self.formula, [axes[k] for k in self.inputs])
        for numbers, equality in zip(values, self.equalities, strict=True):
            found = found & (numbers == 0 if equality else numbers >= 0)
        return found


@dataclass(frozen=True, slots=True)
class ComputedChoice:
    """What is computed of the position, which need not be defined where it is not asked for."""

    holds: Callable[[Position], bool]

    def at(self, position: Position) -> bool:
        """Whether it holds."""
        return bool(self.holds(position))

    def over(self, axes: Sequence[Numbers], where: _Flags) -> _Flags:
        """At which of some positions it holds; `axes` are the parts of all."""
        found = np.zeros(where.shape, np.bool_)
        for place in map(tuple, np.argwhere(where).tolist()):
            found[place] = self.at(tuple(int(axis[place]) for axis in axes))
        return found


class PositionChoices:
    """The branches of a body whose conditions depend on the `position` only, the parts of which have these ranges."""

    def __init__(self, block: ir.Block, position: Sequence[ir.Value], ranges: Sequence[tuple[int, int]]) -> None:
        self._scalars = Scalars()
        self._parts = {value: k for k, value in enumerate(position)}
        for number, (value, values) in enumerate(zip(position, ranges, strict=True)):
            self._scalars.variable(value, loop_variable(f"p[{number}]", None, values))
        self.made: dict[ir.Operation, AffineChoice | ComputedChoice] = {}
        self._helps: dict[ir.Operation, bool] = {}
        self._read(block)

    def _read(self, block: ir.Block) -> None:
        for op in statements(block):
            for region in op.regions:
                for inner in region.blocks:
                    self._read(inner)
            self._scalars.see(op)
            if op.name == "affine.if" and (choice := _affine_choice(op, self._parts)) is not None:
                self.made[op] = choice
            elif op.name == "scf.if" and (truth := self._scalars.truth(op.operands[0])) is not None:
                self.made[op] = ComputedChoice(eval(f"lambda p: {truth.text}"))  # it has no names of the user

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


def _affine_choice(op: ir.Operation, parts: Mapping[ir.Value, int]) -> AffineChoice | None:
    """The condition of an `affine.if` of which all operands are these parts of the position."""
    formula, equalities = compile_set(op.attributes["condition"])
    if None in formula.results or not all(value in parts for value in op.operands):
        return None
    return AffineChoice(tuple(parts[value] for value in op.operands), formula, equalities)


def position_classes(module: Module, caller: str, callee: str, instances: int) -> Counter[Branches] | None:
    """How many of the `instances` of `callee` in `caller`, one at each position of a grid, take which branches.

    Instances are fewer where positions of a grid call another function. None if calls share an instance, if one is in a
    loop that is none of a grid, or if anything but positions and constants decides which position calls.
    """
    block, entry = (entry_block(module.function(name)) for name in (caller, callee))
    if entry is None:
        return None
    assert block is not None
    found: Counter[Branches] = Counter()
    positions = 0
    numbers = {op: number for number, op in enumerate(branches_of(entry))}
    for call in operations(block, "func.call"):
        if callee_name(call) != callee:
            continue
        grid = _Grid.around(call, block)
        reached = None if grid is None else grid.reached(call, block)
        if grid is None or reached is None:
            return None
        positions += prod(grid.extents)
        known = {a: v for a, v in zip(entry.arguments, map(grid.value, call.operands), strict=True) if v is not None}
        ranges = [(int(axis.min()), int(axis.max())) for axis in known.values() if axis.size]
        if len(ranges) == len(known):
            choices = PositionChoices(entry, list(known), ranges)
            rows = _Rows(choices.made, numbers, list(known.values()))
            rows.read(entry, reached)
            found.update(rows.counted(reached))
    return found if positions == instances else None


class _Rows:
    """Which branches all positions take: of each that one of them reaches, -1 where it is not reached, else 0 or 1."""

    def __init__(
        self,
        choices: Mapping[ir.Operation, AffineChoice | ComputedChoice],
        numbers: Mapping[ir.Operation, int],
        axes: Sequence[Numbers],
    ) -> None:
        self._choices = choices
        self._numbers = numbers
        self._axes = axes
        self._made: dict[int, np.ndarray[tuple[int, ...], np.dtype[np.int8]]] = {}

    def read(self, block: ir.Block, where: _Flags) -> None:
        """The branches of a block, which some positions reach."""
        for op in statements(block):
            choice = self._choices.get(op)
            if choice is not None:
                holds = np.broadcast_to(choice.over(self._axes, where), where.shape)
                self._made[self._numbers[op]] = np.where(where, holds.astype(np.int8), np.int8(-1))
            for number, region in enumerate(op.regions):
                inside = where if choice is None else where & (holds if number == 0 else ~holds)
                for inner in region.blocks:
                    if choice is None or inside.any():
                        self.read(inner, inside)

    def counted(self, where: _Flags) -> Counter[Branches]:
        """How many of these positions take the same branches."""
        if not self._made:
            return Counter({(): int(where.sum())})
        patterns, counts = np.unique(
            np.stack([row[where] for row in self._made.values()], axis=1), axis=0, return_counts=True
        )
        return Counter(
            {
                tuple((n, bool(v)) for n, v in zip(self._made, pattern, strict=True) if v >= 0): count
                for pattern, count in zip(patterns.tolist(), counts.tolist(), strict=True)
            }
        )


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
                choice = _affine_choice(op, {value: k for k, value in enumerate(self._known)})
                if choice is None:
                    return None
                holds = choice.over(list(self._known.values()), found)
                found &= holds if inner == op.regions[0].blocks[0] else ~holds
        return found
