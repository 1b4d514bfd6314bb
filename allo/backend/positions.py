"""Position dependence of the body of a processing element: decisions, parts of arrays, constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from ..ir.access import access_map, accessed, is_access, is_store, makes_stream, stored, subscripts
from ..ir.branches import branches_of
from ..ir.registers import are_registers
from ..ir.streams import is_stream_type
from ..ir.walk import operations, statements
from ..poly.formula import Formula, compile_map, evaluate
from ..poly.position_classes import AffineChoice, ComputedChoice, Position, PositionChoices

type Place = tuple[int, ...]  # the subscripts of a FIFO or register


@dataclass(frozen=True, slots=True)
class _Subscripts:
    """Integers over the parts `inputs` of the position."""

    formula: Formula
    inputs: tuple[int, ...]

    def at(self, position: Position) -> Place:
        return evaluate(self.formula, [position[k] for k in self.inputs])


@dataclass(frozen=True, slots=True)
class _Use:
    """An access to a FIFO or register of the array `argument`."""

    argument: int
    place: _Subscripts


@dataclass(frozen=True, slots=True)
class _Constant:
    """The parts of the position that an operation depends on otherwise."""

    inputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Choice:
    """A condition on the position, of the branch with this number."""

    number: int
    condition: AffineChoice | ComputedChoice
    yes: tuple[_Part, ...]
    no: tuple[_Part, ...]

    def at(self, position: Position) -> tuple[bool, tuple[_Part, ...]]:
        holds = self.condition.at(position)
        return holds, self.yes if holds else self.no


type _Part = _Use | _Constant | _Choice


class Plan:
    """A body read once; its first arguments are the position, the others what it uses.

    `parted` are the others that are arrays of which every element uses FIFOs or registers at places of its own: these
    are passed by themselves, and do not make elements different.
    """

    def __init__(self, body: ir.Operation, ranges: Sequence[tuple[int, int]]) -> None:
        block = body.regions[0].blocks[0]
        arguments, dimensions = list(block.arguments), len(ranges)
        self._choices = PositionChoices(block, arguments[:dimensions], ranges)
        self._numbers = {op: number for number, op in enumerate(branches_of(block))}
        self._positions = {value: k for k, value in enumerate(arguments[:dimensions])}
        self._arguments = {value: k for k, value in enumerate(arguments[dimensions:])}
        self.parted = frozenset(k for value, k in self._arguments.items() if self._is_parted(value))
        # C++ of some vendors makes FIFOs once for all calls of a function
        own = [_Constant(tuple(range(dimensions)))] if any(map(makes_stream, operations(block))) else []
        self._parts = (*own, *self._read(block))

    def at(self, position: Position) -> tuple[object, dict[int, list[Place]]]:
        """What the elements that do the same have in common, and the parts of each array in the order of the text."""
        like: list[object] = []
        places: dict[int, dict[Place, int]] = {}
        self._visit(self._parts, position, like, places)
        return tuple(like), {argument: list(found) for argument, found in places.items()}

    def branches(self, position: Position) -> dict[int, bool]:
        """Which branches of the body an element takes, by their numbers."""
        found: dict[int, bool] = {}
        waiting = list(self._parts)
        while waiting:
            part = waiting.pop()
            if isinstance(part, _Choice):
                found[part.number], inner = part.at(position)
                waiting += inner
        return found

    def _visit(
        self, parts: tuple[_Part, ...], position: Position, like: list[object], places: dict[int, dict[Place, int]]
    ) -> None:
        for part in parts:
            match part:
                case _Use():
                    found = places.setdefault(part.argument, {})
                    like.append(found.setdefault(part.place.at(position), len(found)))
                case _Constant():
                    like.append(tuple(position[k] for k in part.inputs))
                case _Choice():
                    holds, inner = part.at(position)
                    like.append(holds)
                    self._visit(inner, position, like, places)

    def _read(self, block: ir.Block) -> tuple[_Part, ...]:
        found: list[_Part] = []
        for op in statements(block):
            if self._choices.helps(op):
                continue
            if (choice := self._choices.made.get(op)) is not None:
                yes, no = ([p for b in region.blocks for p in self._read(b)] for region in op.regions)
                found.append(_Choice(self._numbers[op], choice, tuple(yes), tuple(no)))
                continue
            otherwise = list(op.operands)
            if is_access(op) and (number := self._arguments.get(accessed(op))) in self.parted:
                found.append(_Use(number, self._place(op)))
                otherwise = [stored(op)] if is_store(op) else []
            used = tuple(dict.fromkeys(self._positions[v] for v in otherwise if v in self._positions))
            found += [_Constant(used)] if used else []
            found += [part for region in op.regions for b in region.blocks for part in self._read(b)]
        return tuple(found)

    def _inputs(self, values: list[ir.Value]) -> tuple[int, ...] | None:
        """The parts of the position that values are, if they are nothing else."""
        return tuple(self._positions[v] for v in values) if all(v in self._positions for v in values) else None

    def _place(self, access: ir.Operation) -> _Subscripts:
        affine_map, inputs = access_map(access), self._inputs(subscripts(access))
        assert affine_map is not None and inputs is not None
        return _Subscripts(compile_map(affine_map), inputs)

    def _is_parted(self, argument: ir.Value) -> bool:
        kind = argument.type
        if not isinstance(kind, ir.MemRefType) or not (is_stream_type(kind) or are_registers(kind)):
            return False
        users = [use.owner.operation for use in argument.uses]
        return all(
            is_access(op)
            and (affine_map := access_map(op)) is not None
            and self._inputs(subscripts(op)) is not None
            and None not in compile_map(affine_map).results
            for op in users
        )
