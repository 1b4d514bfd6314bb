"""Dies of the functions that dataflow regions are made of, as steps have placed their stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlir import ir

from ....errors import TargetError
from ....ir.access import callee_name
from ....ir.builder import string_attr
from ....ir.dies import placed_stages, stage_name
from ....ir.module import Module
from ....ir.processes import ELEMENT_OF
from ....ir.walk import entry_block, statements, string_of

DIE = "allo.x_die"  # of a stage: the die on which it is


@dataclass(frozen=True, slots=True)
class DieFunction:
    """A function by its name in C++, without the arguments of a template, and the dies of its instances.

    `kind` says what these are called in hardware: "one", "several" of one function, or those of a "template".
    """

    name: str
    dies: tuple[str, ...]
    kind: str


def has_placed_stages(module: Module) -> bool:
    """Whether steps have placed stages of a function."""
    return any(placed_stages(function) for function in module.functions())


def mark_stages(module: Module) -> None:
    """Mark the statements, which are stages, with their dies, in place: nests, calls, and elements of grids."""
    for function in module.functions():
        entry, places = entry_block(function), placed_stages(function)
        for op in statements(entry) if entry is not None and places else ():
            name = string_of(op, ELEMENT_OF) or stage_name(op)
            if name in places:
                op.attributes[DIE] = string_attr(places[name])


def placed_functions(module: Module, names: Mapping[str, str]) -> tuple[DieFunction, ...]:
    """The functions that marked statements call, in the order of the text, by their names in C++."""
    dies: dict[str, dict[str, None]] = {}
    kinds: dict[str, str] = {}
    for function in module.functions():
        entry = entry_block(function)
        for op in statements(entry) if entry is not None else ():
            if op.name == "func.call":
                name, is_template, _ = names[callee_name(op)].partition("<")
                kinds[name] = "template" if is_template else "several" if name in kinds else "one"
                if DIE in op.attributes:
                    dies.setdefault(name, {})[ir.StringAttr(op.attributes[DIE]).value] = None
    return tuple(DieFunction(name, tuple(own), kinds[name]) for name, own in dies.items())


def demand_known_dies(functions: tuple[DieFunction, ...], device: str, count: int) -> None:
    """Raises TargetError for dies that a device has not, and for functions of which instances lie on several dies."""
    known = [f"SLR{n}" for n in range(count)]
    for one in functions:
        for die in one.dies:
            if die not in known:
                has = f"it has {', '.join(known)}" if count > 1 else "it has one die"
                raise TargetError(
                    f"stage '{one.name}' was placed on {die}, which device '{device}' has not; {has}",
                    hint="place_stages() for this device",
                )
        if len(one.dies) > 1:
            raise TargetError(
                f"instances of '{one.name}' were placed on {' and '.join(one.dies)}, and the tool gives them names of "
                "its own, by which they cannot be told apart",
                hint="place all of them on one die: place_stages(..., fixed={...})",
            )


def floorplan_lines(functions: tuple[DieFunction, ...]) -> list[str]:
    """The calls of `place_on` in `floorplan.tcl`; shorter names first, since the pattern of several instances of one
    function may have the name of another in it."""
    ordered = sorted(functions, key=lambda one: (len(one.name), one.name))
    return [f"place_on {one.dies[0]} {one.name}{'' if one.kind == 'one' else f' {one.kind}'}" for one in ordered]
