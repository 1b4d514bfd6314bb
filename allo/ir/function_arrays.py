"""Arrays of one function, and what joins them to others, by numbers: a fact in all states that have the function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from mlir import ir

from ..errors import Location
from .access import callee_name, is_array, is_load
from .context import context
from .walk import argument_names, array_operations, buffer_name, entry_block, file_location, location_of

_VIEWS = frozenset({"memref.cast", "allo.element_cast"})
_ENDS = ("func.call", "func.return")


class ArrayRole(Enum):
    """What a value is to the function that it is in."""

    ARGUMENT = "argument"
    LOCAL = "local"
    RESULT = "result"  # of a call
    CONSTANT = "constant"  # a constant, where a function takes its address
    VIEW = "view"  # another array with other elements or extents
    GLOBAL = "global"  # a constant of the module, of no function


_ROLES = {
    "func.call": ArrayRole.RESULT,
    "memref.get_global": ArrayRole.CONSTANT,
    **dict.fromkeys(_VIEWS, ArrayRole.VIEW),
}


class LocalArray(NamedTuple):
    """An array or a stream: result number `position` of operation `place` of `array_values`, or that argument."""

    name: str
    role: ArrayRole
    type: ir.Type
    place: int | None
    position: int
    is_buffer: bool  # has the name by which users know it
    location: Location | None


class Joining(NamedTuple):
    """An operation by which arrays are one with others: of function or constant `symbol`, or of each other."""

    role: ArrayRole  # of its results
    place: int
    symbol: str
    operands: tuple[int | None, ...]  # the numbers of those that are arrays
    results: tuple[int | None, ...]
    location: Location | None


@dataclass(frozen=True, slots=True)
class FunctionArrays:
    """The arrays of a function; `returned` is None if it has no body."""

    arrays: tuple[LocalArray, ...]
    arguments: tuple[int | None, ...]
    returned: tuple[int | None, ...] | None
    joinings: tuple[Joining, ...]

    def retyped(self, types: Mapping[int, ir.Type]) -> FunctionArrays:
        """The same with other types."""
        arrays = tuple(
            LocalArray(a.name, a.role, types[k], a.place, a.position, a.is_buffer, a.location) if k in types else a
            for k, a in enumerate(self.arrays)
        )
        return FunctionArrays(arrays, self.arguments, self.returned, self.joinings)


def joining_operations(entry: ir.Block) -> list[ir.Operation]:
    """The operations that make or join arrays, by their places; the last one is what ends the function."""
    return [op for op, _ in array_operations(entry, *_ENDS)]


def function_arrays(function: ir.Operation) -> FunctionArrays:
    """The arrays of a function."""
    return _Reader(function).run()


class _Reader:
    def __init__(self, function: ir.Operation) -> None:
        self.function = function.opview
        self.arrays: list[LocalArray] = []
        self.joinings: list[Joining] = []
        self.numbers: dict[ir.Value, int] = {}

    def run(self) -> FunctionArrays:
        entry = entry_block(self.function)
        if entry is None:
            return FunctionArrays((), (), None, ())
        for position, (name, argument) in enumerate(zip(argument_names(self.function), entry.arguments, strict=True)):
            if is_array(argument.type):
                at = file_location(argument.location)
                self._add(argument, LocalArray(name, ArrayRole.ARGUMENT, argument.type, None, position, True, at))
        arguments = self._numbers(entry.arguments)
        returned: tuple[int | None, ...] = ()
        for place, (op, given) in enumerate(array_operations(entry, *_ENDS)):
            if op.name == "func.return":
                returned = self._numbers(op.operands)
            elif not is_load(op):  # these give a stream of an array of streams
                self._read(op, place, given)
        return FunctionArrays(tuple(self.arrays), arguments, returned, tuple(self.joinings))

    def _read(self, op: ir.Operation, place: int, given: str | None) -> None:
        role, at = _ROLES.get(op.name, ArrayRole.LOCAL), location_of(op)
        symbol = ""
        if role is ArrayRole.RESULT:
            symbol = callee_name(op)
        elif role is ArrayRole.CONSTANT:
            symbol = ir.FlatSymbolRefAttr(op.attributes["name"]).value
        made = given or (f"{symbol}_result" if role is ArrayRole.RESULT else None)
        if role is ArrayRole.VIEW and given is None and op.operands[0] in self.numbers:
            made = self.arrays[self.numbers[op.operands[0]]].name
        for position, result in enumerate(op.results):
            if is_array(result.type):
                name = (made or "unnamed") + (f"#{position}" if position else "")
                is_buffer = buffer_name(op) == name
                self._add(result, LocalArray(name, role, result.type, place, position, is_buffer, at))
        if role is not ArrayRole.LOCAL:
            operands, results = self._numbers(op.operands), self._numbers(op.results)
            self.joinings.append(Joining(role, place, symbol, operands, results, at))

    def _add(self, value: ir.Value, array: LocalArray) -> None:
        self.numbers[value] = len(self.arrays)
        self.arrays.append(array)

    def _numbers(self, values: Iterable[ir.Value]) -> tuple[int | None, ...]:
        return tuple(self.numbers.get(value) for value in values)


def retype(function: ir.OpView, arrays: FunctionArrays, types: Mapping[int, ir.Type]) -> None:
    """Give arrays of a function other types, and the function the signature of these."""
    entry = entry_block(function)
    assert entry is not None, "functions without a body have no arrays"
    found = joining_operations(entry)
    for number, kind in types.items():
        array = arrays.arrays[number]
        values = entry.arguments if array.place is None else found[array.place].results
        values[array.position].set_type(kind)
    inputs = [argument.type for argument in entry.arguments]
    signature = ir.FunctionType.get(inputs, [value.type for value in found[-1].operands], context())
    function.operation.attributes["function_type"] = ir.TypeAttr.get(signature, context())
