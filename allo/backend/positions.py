"""Position dependence of the body of a processing element: decisions, parts of arrays, constants."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from mlir import ir

from ..ir.access import access_map, accessed, is_access, is_store, makes_stream, stored, subscripts
from ..ir.branches import branches_of
from ..ir.context import context
from ..ir.registers import are_registers, bank_dimensions
from ..ir.streams import is_stream_type
from ..ir.walk import operations, statements
from ..poly.formula import Formula, compile_map, evaluate
from ..poly.position_classes import AffineChoice, ComputedChoice, Position, PositionChoices

type Place = tuple[int, ...]  # the subscripts of a FIFO, a register or a bank


@dataclass(frozen=True, slots=True)
class _Subscripts:
    """Integers over the parts `inputs` of the position (None: an input that does not matter)."""

    formula: Formula
    inputs: tuple[int | None, ...]

    def at(self, position: Position) -> Place:
        return evaluate(self.formula, [0 if k is None else position[k] for k in self.inputs])


@dataclass(frozen=True, slots=True)
class _Use:
    """An access to a FIFO, register or bank of the array `argument`."""

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

    `parted` are the others that are arrays of which every element uses FIFOs, registers, or, of those in `banked`,
    banks at places of its own, by the dimensions that say which: these are passed by themselves, and do not make
    elements different.
    """

    def __init__(
        self, body: ir.Operation, ranges: Sequence[tuple[int, int]], banked: Collection[int] = ()
    ) -> None:
        block = body.regions[0].blocks[0]
        arguments, dimensions = list(block.arguments), len(ranges)
        self._choices = PositionChoices(block, arguments[:dimensions], ranges)
        self._numbers = {op: number for number, op in enumerate(branches_of(block))}
        self._positions = {value: k for k, value in enumerate(arguments[:dimensions])}
        self._arguments = {value: k for k, value in enumerate(arguments[dimensions:])}
        self.parted: Mapping[int, tuple[int, ...]] = {
            k: chosen for value, k in self._arguments.items()
            if (chosen := self._part_dimensions(value, k in banked)) is not None
        }  # fmt: skip
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
            number = self._arguments.get(accessed(op)) if is_access(op) else None
            if number is not None and (chosen := self.parted.get(number)) is not None:
                found.append(_Use(number, self._place(op, chosen)))
                rest = [k for k in range(ir.MemRefType(accessed(op).type).rank) if k not in chosen]
                otherwise = [*([stored(op)] if is_store(op) else []), *_inputs_of(op, rest)]
            used = tuple(dict.fromkeys(self._positions[v] for v in otherwise if v in self._positions))
            found += [_Constant(used)] if used else []
            found += [part for region in op.regions for b in region.blocks for part in self._read(b)]
        return tuple(found)

    def _place(self, access: ir.Operation, chosen: Sequence[int]) -> _Subscripts:
        return _Subscripts(compile_map(map_of(access, chosen)), tuple(map(self._positions.get, subscripts(access))))

    def _part_dimensions(self, argument: ir.Value, banked: bool) -> tuple[int, ...] | None:
        """The dimensions of an array that say which part of it an access uses, if the position alone decides that."""
        kind = argument.type
        if not isinstance(kind, ir.MemRefType):
            return None
        if is_stream_type(kind) or are_registers(kind):
            chosen = tuple(range(kind.rank))
        elif banked:
            chosen = bank_dimensions(kind)
        else:
            return None
        users = [use.owner.operation for use in argument.uses]
        is_parted = all(
            is_access(op)
            and access_map(op) is not None
            and None not in compile_map(map_of(op, chosen)).results
            and all(value in self._positions for value in _inputs_of(op, chosen))
            for op in users
        )
        return chosen if is_parted else None


def map_of(access: ir.Operation, chosen: Sequence[int]) -> ir.AffineMap:
    """The subscripts of some dimensions."""
    whole = access_map(access)
    assert whole is not None
    return ir.AffineMap.get(whole.n_dims, whole.n_symbols, [whole.results[k] for k in chosen], context())


def _inputs_of(access: ir.Operation, chosen: Sequence[int]) -> list[ir.Value]:
    """The operands that the subscripts of some dimensions depend on; all, if they are not affine."""
    formula = compile_map(map_of(access, chosen))
    forms = [*formula.results, *(quotient.numerator for quotient in formula.quotients)]
    values = subscripts(access)
    if None in forms:
        return values
    used = {number for form in forms if form is not None for number, _ in form.terms}
    return [value for number, value in enumerate(values, 1) if number in used]
