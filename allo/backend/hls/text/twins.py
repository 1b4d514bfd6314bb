"""Processing elements whose text differs in their names and in numbers alone: written once, filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlir import ir

from allo import _mlir

from ....ir.access import ACCESSES, callee_name
from ....ir.module import Module
from ....ir.names import unique_name
from ....ir.processes import ELEMENT_OF
from ....ir.walk import entry_block, operations, string_of
from .open_numbers import Opened, open_condition, open_constant, open_map

# Open places of a text are characters of a private use plane of Unicode: emitted code is ASCII.
_NAME, _HEAD, _FIRST, _LAST = 0xF0000, 0xF0001, 0xF0002, 0xFFFFD

OPEN_NAME, OPEN_HEAD = chr(_NAME), chr(_HEAD)  # the name of a function, and what stands before its type

# the attributes of operations that have numbers
_WITH_NUMBERS = {
    **dict.fromkeys((*ACCESSES, "affine.apply"), ("map",)),
    "affine.for": ("lowerBoundMap", "upperBoundMap"),
    "affine.if": ("condition",),
    "arith.constant": ("value",),
}


@dataclass(frozen=True, slots=True)
class Open:
    """An attribute with further symbols in the place of numbers, and the places of these; a constant has one place."""

    attribute: ir.Attribute
    first: int
    count: int

    def texts(self) -> list[str]:
        return [chr(_FIRST + k) for k in range(self.first, self.first + self.count)]


type OpenPlaces = Mapping[tuple[ir.Operation, str], Open]  # by the operation and the name of the attribute


@dataclass(frozen=True, slots=True)
class Twin:
    """A function whose text is that of all with its `key`, but for its name and the `numbers` in the open `places`.

    Constants among the `values` can be open where they differ; closed ones have digits of their types.
    """

    key: object
    places: OpenPlaces
    values: OpenPlaces
    numbers: tuple[int, ...]

    def filling(self, name: str) -> dict[int, str]:
        """What stands in the open places, as `str.translate` takes it."""
        return {_NAME: name, _HEAD: "", **{_FIRST + k: str(number) for k, number in enumerate(self.numbers)}}


class Family:
    """Twins of one key as one function, or as a template: a parameter for each number in which they differ."""

    def __init__(self, first: str, members: Mapping[str, Twin]) -> None:
        self.first = first
        self.members = members
        columns = list(zip(*(twin.numbers for twin in members.values()), strict=True))
        self._same = {place: column[0] for place, column in enumerate(columns) if len(set(column)) == 1}
        different = [column for place, column in enumerate(columns) if place not in self._same]
        self._parameters = {column: number for number, column in enumerate(dict.fromkeys(different))}
        self._places = {k: self._parameters[c] for k, c in enumerate(columns) if k not in self._same}

    def open_places(self, member: Twin) -> OpenPlaces:
        """What is open in the text of the template, which is that of a member."""
        different = {key: place for key, place in member.values.items() if place.first in self._places}
        return {**member.places, **different}

    def instances(self) -> dict[str, str]:
        """What calls of the members call: the first one, if they differ in their names alone."""
        if not self._parameters:
            return dict.fromkeys(self.members, self.first)
        rows = zip(*self._parameters, strict=True)
        return {name: f"{self.first}<{', '.join(map(str, row))}>" for name, row in zip(self.members, rows, strict=True)}

    def filling(self, taken: set[str]) -> dict[int, str]:
        """What stands in the open places of the template, whose text has these words."""
        taken = set(taken)
        names = [unique_name(f"p{number}", taken) for number in self._parameters.values()]
        head = f"template <{', '.join(f'int {name}' for name in names)}> " if names else ""
        numbers = {_FIRST + place: str(number) for place, number in self._same.items()}
        return {_NAME: self.first, _HEAD: head, **numbers, **{_FIRST + k: names[n] for k, n in self._places.items()}}


class Twins:
    """The processing elements of a module: those of one nest come from the same lines.

    Functions that differ in constants of arithmetic are twins for those who have templates.
    """

    def __init__(self, module: Module, *, templates: bool) -> None:
        self._nests: dict[str, tuple[str, str]] = {}
        self._opened: dict[ir.Attribute, Opened | None] = {}
        self._templates = templates
        for function in module.functions():
            entry = entry_block(function)
            for call in operations(entry, "func.call") if entry is not None else ():
                if (nest := string_of(call, ELEMENT_OF)) is not None:
                    self._nests.setdefault(callee_name(call), (function.name.value, nest))

    def of(self, function: ir.OpView) -> Twin | None:
        """What a processing element has in common with others; None for other functions."""
        name, entry = function.name.value, entry_block(function)
        if name not in self._nests or entry is None:
            return None
        numbers: list[int] = []
        lines: list[int] = []  # which stand in comments
        places: list[tuple[ir.Operation, str, Open]] = []
        values: list[tuple[ir.Operation, str, Open]] = []
        before: list[tuple[ir.Operation, str, ir.Attribute]] = []
        try:
            for op in operations(entry, *_WITH_NUMBERS):
                for attribute in _WITH_NUMBERS[op.name]:
                    given = op.attributes.get(attribute)
                    if given is None or (opened := self._open(op, given)) is None:
                        continue
                    before.append((op, attribute, given))
                    op.attributes[attribute], own = opened
                    place = Open(opened[0], len(numbers), len(own))
                    (values if attribute == "value" else places).append((op, attribute, place))
                    numbers += own
                    lines.append(op.location.start_line if op.location.is_a_file() else 0)
            words = _mlir.fingerprint(function.operation, {name: ""})
        finally:
            for op, attribute, given in before:
                op.attributes[attribute] = given
        if _FIRST + len(numbers) > _LAST:
            return None
        # operations have their own attributes again, of which the hash of an operation is made
        open_places, open_values = ({(op, name): place for op, name, place in found} for found in (places, values))
        return Twin((self._nests[name], words, tuple(lines)), open_places, open_values, tuple(numbers))

    def _open(self, op: ir.Operation, attribute: ir.Attribute) -> Opened | None:
        if op.name == "arith.constant":
            return open_constant(attribute) if self._templates else None
        if attribute not in self._opened:
            opened = open_condition if op.name == "affine.if" else open_map
            self._opened[attribute] = opened(attribute)
        return self._opened[attribute]
