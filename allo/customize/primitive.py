"""Decides what applying a primitive means: arguments to handles, rewrite of a clone, check, install, record."""

from __future__ import annotations

import functools
import inspect
import operator
import sys
import typing
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate

from ..errors import Diagnostic, Location, ScheduleError
from ..ir.module import Module
from .handles import Buffer, Loop
from .resolve import resolve_buffer, resolve_loop
from .step import Step

if TYPE_CHECKING:
    from .schedule import Schedule

_PACKAGE = str(Path(__file__).resolve().parents[1])


def schedule_line() -> Location | None:
    """The line of the user's program that is calling into this package."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back  # type: ignore[assignment]
    return None if frame is None else Location(frame.f_code.co_filename, frame.f_lineno)


def primitive[**P, R](body: Callable[Concatenate[Module, P], R]) -> Callable[..., R]:
    """Make a method of `Schedule` from a rewrite `body(module, ...)`.

    The annotations of `body` say what each argument is: `Loop` and `Buffer` take names or handles, an `Enum` takes its
    member or its name, `int` an integer. `body` gets a clone of the module; if it raises, nothing has changed.
    """
    signature = inspect.signature(body)
    parameters = list(signature.parameters.values())[1:]
    variadic = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    name = body.__name__

    @functools.cache
    def hints() -> dict[str, Any]:
        return typing.get_type_hints(body)

    @functools.wraps(body)
    def method(self: Schedule, *args: Any, **kwargs: Any) -> R:
        at = schedule_line()
        try:
            try:
                bound = signature.bind(self.ir, *args, **kwargs)
            except TypeError as error:
                raise ScheduleError(
                    f"s.{name}(): {error}", hint=f"use s.{name}{_shown(parameters)}"
                ) from None
            bound.apply_defaults()
            for parameter in parameters:
                value = bound.arguments[parameter.name]
                kind = hints()[parameter.name]
                if parameter.name == variadic:
                    given = value[0] if len(value) == 1 and isinstance(value[0], list | tuple) else value
                    bound.arguments[variadic] = tuple(
                        _convert(self.ir, name, parameter.name, kind, v) for v in given
                    )
                else:
                    bound.arguments[parameter.name] = _convert(self.ir, name, parameter.name, kind, value)
            clone = self.ir.clone()
            values = dict(bound.arguments)
            bound.arguments[next(iter(signature.parameters))] = clone
            result = body(*bound.args, **bound.kwargs)
            clone.verify()
        except ScheduleError as error:
            error.diagnostics = tuple(_located(d, name, at) for d in error.diagnostics)
            raise
        arguments = tuple((p.name, values[p.name]) for p in parameters if values[p.name] != p.default)
        self._install(clone, Step(name, arguments, variadic, at, result))
        return result

    method.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return method


def _shown(parameters: list[inspect.Parameter]) -> str:
    parts = []
    for parameter in parameters:
        prefix = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        default = "" if parameter.default is parameter.empty else f"={parameter.default}"
        parts.append(f"{prefix}{parameter.name}{default}")
    return f"({', '.join(parts)})"


def _located(diagnostic: Diagnostic, name: str, at: Location | None) -> Diagnostic:
    """The error of a step at the line of the schedule that asked for it."""
    if diagnostic.at is not None:
        return diagnostic
    return Diagnostic(f"{name}: {diagnostic.message}", at, diagnostic.hint, diagnostic.notes)


def _convert(module: Module, primitive_name: str, name: str, kind: Any, value: Any) -> Any:
    """What a user wrote for a parameter, as the primitive wants it."""
    if kind is Loop:
        return resolve_loop(module, value)
    if kind is Buffer:
        return resolve_buffer(module, value)
    options = typing.get_args(kind)
    if value is None and type(None) in options:
        return None
    kind = next((option for option in options if option is not type(None)), kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        if isinstance(value, kind):
            return value
        raise ScheduleError(
            f"{name} must be one of {', '.join(f'{kind.__name__}.{m.name}' for m in kind)}, got {value!r}"
        )
    if kind is bool:
        if isinstance(value, bool):
            return value
        raise ScheduleError(f"{name} must be True or False, got {value!r}")
    if kind is int:
        try:
            number = operator.index(value)
        except Exception:
            number = None
        if number is None or isinstance(value, bool):
            raise ScheduleError(f"{name} must be an integer, got {value!r}")
        if not -(2**31) <= number < 2**31:
            raise ScheduleError(f"{name} must fit in 32 bits, got {number}")
        return number
    return value
