"""Processing elements whose text differs in their names and in constant subscripts alone: written once, filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlir import ir

from allo import _mlir

from ....ir.access import ACCESSES, callee_name
from ....ir.builder import affine_constant
from ....ir.context import context
from ....ir.module import Module
from ....ir.names import unique_name
from ....ir.processes import ELEMENT_OF
from ....ir.walk import entry_block, operations, string_of

# Open places of a text are characters of the private use area of Unicode: emitted code is ASCII.
_NAME, _HEAD, _FIRST, _LAST = 0xE000, 0xE001, 0xE002, 0xF8FF

OPEN_NAME, OPEN_HEAD = chr(_NAME), chr(_HEAD)  # the name of a function, and what stands before its type

type OpenPlaces = Mapping[ir.Operation, tuple[str | None, ...]]  # of an access, by its subscripts


@dataclass(frozen=True, slots=True)
class Twin:
    """A function whose text is that of all with its `key`, but for its name and the `numbers` in the open `places`."""

    key: object
    places: OpenPlaces
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
    """The processing elements of a module: those of one nest come from the same lines."""

    def __init__(self, module: Module) -> None:
        self._nests: dict[str, tuple[str, str]] = {}
        self._maps: dict[ir.Attribute, tuple[ir.Attribute, tuple[int | None, ...]] | None] = {}
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
        found: list[tuple[ir.Operation, tuple[str | None, ...]]] = []
        before: list[tuple[ir.Operation, ir.Attribute]] = []
        try:
            for op in operations(entry, *ACCESSES):
                attributes = op.attributes
                given = attributes.get("map")
                if given is None or (split := self._split(given)) is None:
                    continue
                before.append((op, given))
                attributes["map"], constants = split
                first = _FIRST + len(numbers)
                numbers += [number for number in constants if number is not None]
                codes = iter(range(first, _FIRST + len(numbers)))
                found.append((op, tuple(None if number is None else chr(next(codes)) for number in constants)))
            words = _mlir.fingerprint(function.operation, {name: ""})
        finally:
            for op, given in before:
                op.attributes["map"] = given
        if _FIRST + len(numbers) > _LAST:
            return None
        places = dict(found)  # by operations with their own maps again, of which the hash of an operation is made
        return Twin((self._nests[name], words), places, tuple(numbers))

    def _split(self, attribute: ir.Attribute) -> tuple[ir.Attribute, tuple[int | None, ...]] | None:
        """A map with zeros for its constant results, and these; None if it has none that C++ writes as plain digits."""
        if attribute not in self._maps:
            given = ir.AffineMapAttr(attribute).value
            constants = tuple(
                expr.value if isinstance(expr, ir.AffineConstantExpr) and expr.value >= 0 else None
                for expr in given.results
            )
            zeros = [
                expr if number is None else affine_constant(0)
                for expr, number in zip(given.results, constants, strict=True)
            ]
            plain = ir.AffineMapAttr.get(ir.AffineMap.get(given.n_dims, given.n_symbols, zeros, context()))
            self._maps[attribute] = (plain, constants) if any(n is not None for n in constants) else None
        return self._maps[attribute]
