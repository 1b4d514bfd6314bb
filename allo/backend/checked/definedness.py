"""Checks for elements that are used before they have a value: each local array gets a second one of flags.

Elements may be moved, and computed with, as long as it does not matter what they are: processing elements at the edge
of a tile do so. It matters in conditions, subscripts, arguments, results, and what leaves the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from mlir import ir

from ...ir.access import (
    accessed,
    base_of,
    callee_name,
    is_access,
    is_at_stream,
    is_copy,
    is_load,
    is_store,
    is_view,
    may_put,
    stored,
    subscripts,
)
from ...ir.builder import Builder
from ...ir.context import context, unknown_location
from ...ir.module import Module
from ...ir.walk import entry_block, operations
from .failures import MOST_VALUES, require
from .flags import behind, each_element, fill, filled, flag_type, flags_type, is_tracked
from .names import ArrayNames
from .subscripts import computed_subscripts

_KEEPS_ARRAYS = frozenset({"memref.dealloc", "memref.dim", "func.return"})
# what makes values of others and does nothing else
_VALUES = ("arith.", "math.", "affine.apply", "affine.min", "affine.max", "allo.")
_EFFECTS = frozenset({"allo.assert", "allo.element_cast", "allo.stream_create"})
_RESULT_HINT = "give the array one where it is declared"
_HINT = "give it one where it is declared; what is made of elements without a value has none either"
# what makes a word of another one with a part replaced
_REPLACES_PART = frozenset({"allo.set_bit", "allo.set_slice"})


class _Read(NamedTuple):
    """An element that was read: does it have a value, and what to say if it is used and has none."""

    flag: ir.Value
    message: str
    values: list[ir.Value]
    location: ir.Location


def track_definedness(module: Module) -> None:
    """Put a check in front of each read of an element that may have no value, in place.

    Arguments of the entry have one. A function that is called gets, for each array, the one that says what is written,
    unless it is always an argument of the entry: what is written to that leaves the kernel.
    """
    bodies = {
        function.name.value: function for function in module.functions() if entry_block(function) is not None
    }
    outside = _from_outside(module.top, bodies)
    for name, function in bodies.items():
        _Tracker(function, name == module.top, outside).run()


def _from_outside(top: str, bodies: Mapping[str, ir.OpView]) -> dict[str, frozenset[int]]:
    """For each function, the places of the arguments that are those of the entry wherever it is called."""
    entries = {name: entry_block(function) for name, function in bodies.items()}
    calls = [
        (name, call)
        for name, entry in entries.items()
        for call in (operations(entry, "func.call") if entry is not None else ())
        if callee_name(call) in bodies
    ]
    called = {callee_name(call) for _, call in calls}
    found = {
        name: frozenset(range(len(entry.arguments))) if entry is not None and name in {top, *called} else frozenset()
        for name, entry in entries.items()
    }
    changed = True
    while changed:
        changed = False
        for caller, call in calls:
            name = callee_name(call)
            stays = {k for k in found[name] if _is_argument(call.operands[k], entries[caller], found[caller])}
            if name != top and stays != found[name]:
                found[name] = frozenset(stays)
                changed = True
    return found


def _is_argument(value: ir.Value, entry: ir.Block | None, places: frozenset[int]) -> bool:
    base = base_of(value)
    return isinstance(base.owner, ir.Block) and base.owner == entry and ir.BlockArgument(base).arg_number in places


class _Tracker:
    """One function; `flags` has, for an array, the one that says which of its elements have a value."""

    def __init__(self, function: ir.OpView, is_top: bool, outside: Mapping[str, frozenset[int]]) -> None:
        self.function = function
        self.is_top = is_top
        self.outside = outside
        self.names = ArrayNames(function)
        self.flags: dict[ir.Value, ir.Value] = {}
        self.reads: dict[ir.Value, tuple[_Read, ...]] = {}  # what a value is made of that may have none

    def run(self) -> None:
        entry = entry_block(self.function)
        assert entry is not None
        body = operations(entry)
        if not self.is_top:
            outside = self.outside[self.function.name.value]
            known = [a for a in entry.arguments if is_tracked(a) and a.arg_number not in outside]
            for argument in known:
                self.flags[argument] = entry.add_argument(flags_type(argument), unknown_location())
        for op in body:
            self._operation(op)
        self._write_signature(entry)

    def _write_signature(self, entry: ir.Block) -> None:
        attributes = self.function.operation.attributes
        results = [value.type for value in list(entry.operations)[-1].operands]
        inputs = [argument.type for argument in entry.arguments]
        signature = ir.FunctionType.get(inputs, results, context())
        attributes["function_type"] = ir.TypeAttr.get(signature, context())
        for marks, count in (("arg_attrs", len(inputs)), ("res_attrs", len(results))):
            if marks in attributes:
                given = list(ir.ArrayAttr(attributes[marks]))
                added = [ir.DictAttr.get({}, context())] * (count - len(given))
                attributes[marks] = ir.ArrayAttr.get([*given, *added], context())

    # -- operations --------------------------------------------------------------------------------

    def _operation(self, op: ir.Operation) -> None:
        if is_access(op):
            self._access(op)
        elif op.name.startswith(_VALUES) and not _has_effect(op):
            if reads := self._reads_of(op.operands):
                self.reads.update((result, reads) for result in op.results)
        elif not may_put(op):  # moves an element; what is taken out of a stream counts as having a value
            self._use(op, op.operands)
            self._other(op)

    def _other(self, op: ir.Operation) -> None:
        if op.name == "memref.alloc":
            if is_tracked(op.results[0]):
                self.flags[op.results[0]] = filled(behind(op), op.results[0], False)
        elif is_view(op):
            self._view(op)
        elif is_copy(op):
            self._copy(op)
        elif op.name == "func.call":
            self._call(op)
        elif op.name == "func.return":
            if self.is_top:
                self._leave(op)
            else:
                self._return(op)
        elif op.name not in _KEEPS_ARRAYS:
            for (
                value
            ) in op.operands:  # another operation on an array: taken as if it gave all elements a value
                self._define(Builder.before(op), value)

    def _access(self, op: ir.Operation) -> None:
        array = accessed(op)
        self._use(op, subscripts(op))
        if is_load(op) and array in self.flags and not _is_for_a_part(op.results[0]):
            builder = Builder.before(op)
            flag = builder.value(op.name, flag_type(), [self.flags[array], *subscripts(op)], _map_of(op))
            self.reads[op.results[0]] = (self._read(op, array, flag),)
        elif is_store(op) and array in self.flags:
            if not ir.MemRefType(array.type).shape and self._is_read(stored(op)):
                self._use(op, [stored(op)])
            flags = [read.flag for read in self._reads_of([stored(op)])]
            builder = behind(op)
            flag = flags[0] if flags else builder.constant(flag_type(), 1)
            for other in flags[1:]:
                flag = builder.value("arith.andi", flag_type(), [flag, other])
            builder.op(op.name, (), [flag, self.flags[array], *subscripts(op)], _map_of(op))
        elif is_store(op):
            self._use(op, [stored(op)])

    def _is_read(self, value: ir.Value) -> bool:
        """Whether a value is an element as it was read: it is a use to give it to a variable, but not to move it in an
        array, as registers that shift do, of which not all are full yet."""
        while not isinstance(value.owner, ir.Block) and value.owner.operation.name == "allo.sign_cast":
            value = value.owner.operation.operands[0]
        return not isinstance(value.owner, ir.Block) and is_load(value.owner.operation)

    def _read(self, op: ir.Operation, array: ir.Value, flag: ir.Value) -> _Read:
        values = computed_subscripts(Builder.before(op), op)
        name = self.names.of(array)
        if not values or len(values) > MOST_VALUES:
            what, values = (f"an element of {name}", []) if values else (name, [])
        else:
            what = f"element [{', '.join(f'{{{n}}}' for n in range(len(values)))}] of {name}"
        return _Read(flag, f"{what} has no value where it is read\n{_HINT}", values, op.location)

    def _reads_of(self, values: Iterable[ir.Value]) -> tuple[_Read, ...]:
        """The reads whose elements `values` are made of."""
        found = [self.reads[value] for value in values if value in self.reads]
        return (
            found[0]
            if len(found) == 1
            else tuple({id(read): read for reads in found for read in reads}.values())
        )

    def _use(self, op: ir.Operation, values: Iterable[ir.Value]) -> None:
        """Put checks in front of `op`, where it matters what `values` are."""
        for read in self._reads_of(values):
            require(Builder(ir.InsertionPoint(op), read.location), read.flag, read.message, read.values)

    def _view(self, op: ir.Operation) -> None:
        """The same look at the flags."""
        source = op.operands[0]
        if source not in self.flags:
            return
        if op.name == "allo.element_cast":
            self.flags[op.results[0]] = self.flags[source]
            return
        attributes = {name: op.attributes[name] for name in op.attributes}
        kind = flags_type(op.results[0], keeps_layout=True)
        operands = [self.flags[source], *list(op.operands)[1:]]
        self.flags[op.results[0]] = behind(op).value(op.name, kind, operands, attributes)

    def _copy(self, op: ir.Operation) -> None:
        source, target = op.operands
        if target in self.flags:
            builder = behind(op)
            if source in self.flags:
                builder.copy(self.flags[source], self.flags[target])
            else:
                self._define(builder, target)

    def _call(self, op: ir.Operation) -> None:
        callee = callee_name(op)
        arrays = [value for value in op.operands if is_tracked(value)]
        if callee not in self.outside:
            for array in arrays:
                self._define(behind(op), array)
            return
        outside = self.outside[callee]
        arrays = [value for k, value in enumerate(op.operands) if is_tracked(value) and k not in outside]
        builder = Builder.before(op)
        added = [
            self.flags[array] if array in self.flags else filled(builder, array, True) for array in arrays
        ]
        results = [result for result in op.results if is_tracked(result)]
        types = [*(result.type for result in op.results), *(flags_type(result) for result in results)]
        attributes = {name: op.attributes[name] for name in op.attributes}
        made = builder.op("func.call", types, [*op.operands, *added], attributes)
        for old, new in zip(op.results, made.results, strict=False):
            old.replace_all_uses_with(new)
        tracked = [new for new in list(made.results)[: len(op.results)] if is_tracked(new)]
        self.flags.update(zip(tracked, list(made.results)[len(op.results) :], strict=True))
        op.erase()

    def _return(self, op: ir.Operation) -> None:
        builder = Builder.before(op)
        arrays = [value for value in op.operands if is_tracked(value)]
        added = [
            self.flags[array] if array in self.flags else filled(builder, array, True) for array in arrays
        ]
        builder.op("func.return", (), [*op.operands, *added])
        op.erase()

    def _leave(self, op: ir.Operation) -> None:
        """Every element of an array that the kernel returns must have a value."""
        for flags in [self.flags[value] for value in op.operands if value in self.flags]:

            def check(
                builder: Builder, place: ir.AffineMap, at: list[ir.Value], flags: ir.Value = flags
            ) -> None:
                shown = at if len(at) <= MOST_VALUES else []
                what = f"element [{', '.join(f'{{{n}}}' for n in range(len(shown)))}]" if shown else "an element"
                message = f"{what} of a result has no value\n{_RESULT_HINT}"
                require(builder, builder.affine_load(flags, place, at), message, shown)

            each_element(Builder.before(op), flags, check)

    def _define(self, builder: Builder, array: ir.Value) -> None:
        if array in self.flags:
            fill(builder, self.flags[array], True)


def _has_effect(op: ir.Operation) -> bool:
    return is_at_stream(op) or op.name in _EFFECTS


def _map_of(op: ir.Operation) -> dict[str, ir.Attribute]:
    return {"map": op.attributes["map"]} if "map" in op.attributes else {}


def _is_for_a_part(value: ir.Value) -> bool:
    """Whether a value is read only to replace a part of it: bits, or fields of a struct."""
    users = [use.owner.operation for use in value.uses]
    return bool(users) and all(_keeps_rest(user, value) for user in users)


def _keeps_rest(user: ir.Operation, value: ir.Value) -> bool:
    if user.name in _REPLACES_PART:
        return bool(user.operands[0] == value)
    if user.name == "allo.sign_cast":
        return _is_for_a_part(user.results[0])
    uses = [use.owner.operation for use in user.results[0].uses] if user.name == "allo.struct_get" else []
    return bool(uses) and all(use.name == "allo.struct_construct" for use in uses)
