"""Aliases of an array in a state, through calls, returns, constants and views, searched from one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..errors import InternalError
from .function_arrays import ArrayRole, FunctionArrays, Joining, LocalArray
from .parts import Part

type Place = tuple[str, int]  # a function and the number of an array there; a constant of the module and -1


class SharedArrays:
    """Arrays of a state; what is known of a function is read when it is the first time that a state has it."""

    def __init__(self, parts: Mapping[str, Part]) -> None:
        self._parts = parts
        self._known: dict[str, FunctionArrays] = {}
        self._users: dict[str, list[tuple[str, Joining]]] | None = None  # of functions and constants
        self._neighbours: dict[Place, tuple[Place, ...]] = {}

    def find(self, function: str, name: str) -> Place:
        """The array that `buffers_of` finds under this name in a function; InternalError without one."""
        arrays = self._of(function).arrays
        for number in reversed(range(len(arrays))):
            if arrays[number].name == name and arrays[number].is_buffer:
                return function, number
        raise InternalError(f"no buffer '{function}:{name}'")

    def array(self, place: Place) -> LocalArray:
        """What is known of an array."""
        name, number = place
        if number >= 0:
            return self._of(name).arrays[number]
        return LocalArray(f"@{name}", ArrayRole.GLOBAL, self._parts[name].array_type(number), None, 0, False, None)

    def same(self, place: Place) -> list[Place]:
        """All that is one array with this one (or, by several calls of a function, must have one type with it)."""
        found, seen = [place], {place}
        for member in found:
            for other in self.neighbours(member):
                if other not in seen:
                    seen.add(other)
                    found.append(other)
        return found

    def neighbours(self, place: Place) -> tuple[Place, ...]:
        """The arrays that are directly joined with one."""
        known = self._neighbours.get(place)
        if known is None:
            known = self._neighbours[place] = tuple(self._joined_with(place))
        return known

    def _joined_with(self, place: Place) -> Iterator[Place]:
        name, number = place
        if number < 0:
            yield from ((user, joining.results[0] or 0) for user, joining in self._used(name))
            return
        arrays = self._of(name)
        for position, argument in enumerate(arrays.arguments):
            if argument == number:
                yield from self._joined((user, joining.operands[position]) for user, joining in self._used(name))
        for position, returned in enumerate(arrays.returned or ()):
            if returned == number:
                yield from self._joined((user, joining.results[position]) for user, joining in self._used(name))
        for joining in arrays.joinings:
            if number in joining.operands or number in joining.results:
                yield from self._joined(self._other_sides(name, number, joining))

    def external(self, place: Place) -> Joining | None:
        """The last call that gives an array to a function without a body, or gets it from there."""
        name, number = place
        joinings = () if number < 0 else self._of(name).joinings
        calls = [j for j in joinings if j.role is ArrayRole.RESULT and number in (*j.operands, *j.results)]
        return next((call for call in reversed(calls) if self._of(call.symbol).returned is None), None)

    def _of(self, function: str) -> FunctionArrays:
        if function not in self._known:
            self._known[function] = self._parts[function].arrays
        return self._known[function]

    def _used(self, name: str) -> list[tuple[str, Joining]]:
        """The operations that call a function, or take the address of a constant, each with the function around it."""
        if self._users is None:
            self._users = {}
            for function, part in self._parts.items():
                if part.is_function:
                    for joining in self._of(function).joinings:
                        self._users.setdefault(joining.symbol, []).append((function, joining))
        return self._users.get(name, [])

    def _other_sides(self, name: str, number: int, joining: Joining) -> Iterator[tuple[str, int | None]]:
        if joining.role is ArrayRole.CONSTANT:
            yield joining.symbol, -1
        elif joining.role is ArrayRole.VIEW:
            ends = joining.operands[0], joining.results[0]
            yield from ((name, end) for end in ends if None not in ends and end != number)
        else:
            callee = self._of(joining.symbol)
            if callee.returned is not None:
                given = zip(joining.operands, callee.arguments, strict=True)
                returned = zip(joining.results, callee.returned, strict=True)
                yield from ((joining.symbol, other) for own, other in (*given, *returned) if own == number)

    def _joined(self, places: Iterator[tuple[str, int | None]]) -> Iterator[Place]:
        return ((name, number) for name, number in places if number is not None)

