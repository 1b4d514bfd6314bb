"""Resolution of arguments that may name a function, a loop nest or a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import ScheduleError, nearest
from ...ir.module import Module
from ...ir.walk import LoopView
from .handles import Function, Loop, Nest
from .loop_tree import LoopNest, nest_name
from .resolve import resolve_loop, split_function

_NAMES = {Function: "function", Nest: "loop nest", Loop: "loop"}


def resolve_part(module: Module, kinds: Sequence[type], given: Any) -> Function | Nest | Loop:
    """What `given` names: a handle, a kernel, or a name that only one of `kinds` has."""
    wanted = " or ".join(_NAMES[kind] for kind in kinds)
    if isinstance(given, LoopNest):
        given = Nest(next(iter(given)).function, given.name)
    if isinstance(given, Function | Nest | Loop) and type(given) in kinds:
        if isinstance(given, Loop):
            return resolve_loop(module, given)
        found = _by_name(module, [type(given)], str(given))
        if found:
            return found[0]
        raise ScheduleError(f"there is no {wanted} '{given}'; an earlier step may have replaced it")
    if callable(given) and hasattr(given, "__name__"):
        given = given.__name__
    if not isinstance(given, str):
        raise ScheduleError(f"a {wanted} is named by a string or a handle, got {type(given).__name__} {given!r}")
    found = _by_name(module, kinds, given)
    if len(found) == 1:
        return found[0]
    if Loop in kinds and not found:
        function, name = split_function(module, given)
        if name.rpartition(".")[2] in [name.rpartition(".")[2] for name in _names(module, Loop, function)]:
            return resolve_loop(module, given)
    if found:
        listed = " and a ".join(_NAMES[type(part)] for part in found)
        raise ScheduleError(f"'{given}' is the name of a {listed}", hint="give a handle, or rename the nest")
    known = [name for kind in kinds for name in _names(module, kind, split_function(module, given)[0])]
    listed = f"the names are {", ".join(known)}" if known else "there are none"
    raise ScheduleError(f"there is no {wanted} '{given}'", hint=nearest(given, known) or listed)


def find_nest(module: Module, nest: Nest) -> LoopView:
    """The outermost loop of a nest; ScheduleError if an earlier step has replaced it."""
    for view in module.loops(nest.function):
        if nest_name(view) == nest.name:
            return view
    raise ScheduleError(f"there is no loop nest '{nest}'; an earlier step may have replaced it")


def _by_name(module: Module, kinds: Sequence[type], given: str) -> list[Function | Nest | Loop]:
    found: list[Function | Nest | Loop] = []
    if Function in kinds and given in _names(module, Function, ""):
        found.append(Function(given))
    if Nest in kinds:
        function, name = split_function(module, given)
        if name in _names(module, Nest, function):
            found.append(Nest(function, name))
    return found


def _names(module: Module, kind: type, function: str) -> list[str]:
    if kind is Function:
        return module.names()
    if kind is Nest:
        return [name for view in module.loops(function) if (name := nest_name(view)) is not None]
    return [view.name for view in module.loops(function)]
