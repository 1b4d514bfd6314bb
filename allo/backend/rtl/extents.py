"""Arrays of run-time extents in hardware: memories of the greatest extents, and numbers for those of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mlir import ir

from ...errors import TargetError
from ...ir.access import callee_name
from ...ir.builder import string_attr
from ...ir.context import context, unknown_location
from ...ir.module import Module
from ...ir.names import unique_name
from ...ir.types import TensorType
from ...ir.walk import argument_names, buffer_location, entry_block, operations
from ..arguments.parameters import Array, Parameter
from ..open_arrays import asked_extents, is_open, pass_extents

_DYNAMIC = ir.ShapedType.get_dynamic_size()


@dataclass(frozen=True, slots=True)
class OpenArguments:
    """Arguments whose first extent is that of a call: the greatest ones, by number, and those `asked` for as numbers
    behind the other arguments."""

    greatest: Mapping[int, int] = field(default_factory=dict)
    asked: Sequence[int] = ()

    def in_hardware(self, parameters: Sequence[Parameter], holders: Sequence[Array]) -> list[Array]:
        """The memory of the arguments that hardware has. Raises ValueError for an array that it has no room for."""
        made = list(holders)
        for number, most in self.greatest.items():
            parameter, holder = parameters[number], holders[number]
            assert isinstance(parameter.type, TensorType)
            if len(holder) > most:
                raise ValueError(
                    f"argument '{parameter.name}' has an extent of {len(holder)}, and the hardware was built for {most}"
                )
            made[number] = np.zeros((most, *holder.shape[1:]), holder.dtype)
            made[number][: len(holder)] = holder
        return [*made, *(np.array(len(holders[number]), np.int64) for number in self.asked)]

    def bring_back(self, parameters: Sequence[Parameter], holders: Sequence[Array], own: Sequence[Array]) -> None:
        """Bring what hardware has written to the memory of the arguments."""
        for number in self.greatest:
            if parameters[number].written:
                holders[number][:] = own[number][: len(holders[number])]


def closed(module: Module, given: Mapping[str, Any] | None) -> tuple[Module, OpenArguments]:
    """A module whose arrays have the `given` extents, by the name of the argument, with numbers for those of a call.

    Raises TargetError for names and extents that do not fit, and for what is open behind the first extent.
    """
    function = module.function(module.top)
    entry = entry_block(function)
    assert entry is not None
    names = argument_names(function)
    found = {name: n for n, name in enumerate(names) if is_open(entry.arguments[n].type)}
    wanted = _greatest(given, found)
    for name, number in found.items():
        place = buffer_location(entry.arguments[number])
        if _DYNAMIC in list(ir.MemRefType(entry.arguments[number].type).shape)[1:]:
            raise TargetError(
                f"array '{name}' has an extent behind the first that is known at run time only, and hardware needs it",
                at=place, hint="leave only the first extent open",
            )  # fmt: skip
        if name not in wanted:
            raise TargetError(
                f"array '{name}' has extents that are known at run time only, and hardware needs its size",
                at=place, hint=f"say how large it may be, extents={{'{name}': 1024}}, or give it constant extents",
            )  # fmt: skip
    if not found:
        return module, OpenArguments()
    made = module.clone()
    asked = asked_extents(made).get(made.top, [])
    pass_extents(made)
    top = made.function(made.top)
    body = entry_block(top)
    assert body is not None
    kinds = [argument.type for argument in body.arguments]
    for name, number in found.items():
        kinds[number] = _with_extent(kinds[number], wanted[name])
    _Closing(made).give(top, kinds)
    made.verify()
    return made, OpenArguments({number: wanted[name] for name, number in found.items()}, tuple(asked))


def _greatest(given: Mapping[str, Any] | None, found: Mapping[str, int]) -> dict[str, int]:
    if given is not None and not isinstance(given, Mapping):
        raise TargetError(f"extents must be a dict of names and extents, got {given!r}")
    for name, extent in (given or {}).items():
        if name not in found:
            listed = ", ".join(found) or "none"
            what = f"extents name '{name}', which is no array of a run-time extent"
            raise TargetError(what, hint=f"these are {listed}")
        if isinstance(extent, bool) or not isinstance(extent, int) or extent < 1:
            raise TargetError(f"the greatest extent of '{name}' must be a whole number above 0, got {extent!r}")
    return dict(given or {})


def _with_extent(kind: ir.Type, extent: int) -> ir.Type:
    memref = ir.MemRefType(kind)
    shape = [extent, *list(memref.shape)[1:]]
    return ir.MemRefType.get(shape, memref.element_type, memref.layout, memref.memory_space, unknown_location())


class _Closing:
    """Gives functions arrays of constant extents; those called with different ones are copied."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.taken = set(module.names())
        self.made: dict[tuple[str, ...], str] = {}

    def give(self, function: ir.OpView, kinds: Sequence[ir.Type]) -> None:
        """Let a function take arguments of these types, in place."""
        entry = entry_block(function)
        assert entry is not None
        for argument, kind in zip(entry.arguments, kinds, strict=True):
            argument.set_type(kind)
        results = ir.FunctionType(ir.TypeAttr(function.operation.attributes["function_type"]).value).results
        made = ir.FunctionType.get(list(kinds), list(results), context())
        function.operation.attributes["function_type"] = ir.TypeAttr.get(made, context())
        for op in operations(entry, "memref.cast"):
            op.results[0].replace_all_uses_with(op.operands[0])
            op.erase()
        for call in operations(entry, "func.call"):
            inner = [operand.type for operand in call.operands]
            callee = self.module.function(callee_name(call))
            body = entry_block(callee)
            if body is not None and [argument.type for argument in body.arguments] != inner:
                call.attributes["callee"] = ir.FlatSymbolRefAttr.get(self._copy(callee, inner), context())

    def _copy(self, callee: ir.OpView, kinds: Sequence[ir.Type]) -> str:
        name = ir.StringAttr(callee.operation.attributes["sym_name"]).value
        key = (name, *map(str, kinds))
        if key not in self.made:
            self.made[key] = unique_name(f"{name}_closed", self.taken)
            copy = callee.operation.clone(ir.InsertionPoint(callee.operation))
            copy.attributes["sym_name"] = string_attr(self.made[key])
            self.give(self.module.function(self.made[key]), kinds)
        return self.made[key]
