"""Primitives as methods of a schedule: arguments to handles, rewrite of a draft, check, install, record."""

from __future__ import annotations

import functools
import inspect
import math
import operator
import sys
import typing
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Concatenate, Protocol, overload

from ...errors import Diagnostic, Location, ScheduleError, ScheduleNote
from ...ir.memory import Memory
from ...ir.module import Module
from ...ir.recursion import reads_programs
from ...ir.states import Draft, FinishedModule
from .handles import Buffer, FifoName, Function, Loop, Nest
from .legality import demand_still_elements
from .missing import handles_in, missing_handle
from .own_functions import with_own_functions
from .provenance import mark_rewritten
from .record import Decided, Step, Steps, Traits
from .region_stages import demand_stages_still_legal
from .resolve import resolve_buffer, resolve_fifo, resolve_loop
from .resolve_part import resolve_part
from .signature import shown_signature
from .stream_ends import demand_ends_still_single

type Converter = Callable[[Module, Any], Any]  # of what a user wrote for a parameter, in a state of the schedule

_TRAITS = "traits"  # the attribute of a method that is a primitive
_PACKAGE = str(Path(__file__).resolve().parents[2])


_REPLAYED: ContextVar[Location | None] = ContextVar("replayed", default=None)
_IS_REPLAYED: ContextVar[bool] = ContextVar("is_replayed", default=False)
_EARLIER: ContextVar[Steps | None] = ContextVar("earlier", default=None)


@contextmanager
def replayed(at: Location | None) -> Iterator[None]:
    """What is applied inside comes from a step that was written at `at`."""
    token, outer = _REPLAYED.set(at), _IS_REPLAYED.set(True)
    try:
        yield
    finally:
        _REPLAYED.reset(token)
        _IS_REPLAYED.reset(outer)


def earlier_steps() -> Steps:
    """The steps of the schedule before the primitive that is being applied."""
    return _EARLIER.get() or Steps()


def schedule_line() -> Location | None:
    """The line of the user's program that is calling into this package, or that wrote the step being replayed."""
    if (written := _REPLAYED.get()) is not None:
        return written
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back  # type: ignore[assignment]
    return None if frame is None else Location(frame.f_code.co_filename, frame.f_lineno)


def demand_use(name: str, nothing: ScheduleError, *, strict: bool) -> None:
    """Say that a step does nothing, for a reason that would be an error with `strict`: a warning at its line."""
    if strict:
        raise nothing
    at = schedule_line() or Location("<schedule>", 0)
    told = "\n".join(Diagnostic(f"{name}: {d.message}", None, d.hint, d.notes).render() for d in nothing.diagnostics)
    warnings.warn_explicit(told, ScheduleNote, at.file, at.line)


class Scheduled(Protocol):
    """A schedule, as its primitives see it."""

    @property
    def steps(self) -> Steps: ...

    @property
    def _state(self) -> FinishedModule: ...

    @property
    def _history(self) -> list[tuple[FinishedModule, Steps]]: ...

    def _install(self, made: FinishedModule, step: Step) -> None: ...

    def separate(self, task: str, positions: str) -> Function: ...

    def undo(self, n: int = 1) -> None: ...


@overload
def primitive[**P, R](body: Callable[Concatenate[Draft, P], R], /) -> Callable[..., R]: ...
@overload
def primitive[**P, R](
    *, any_layout: bool = ..., whole_module: bool = ..., reshapes: bool = ..., checks_stages: bool = ...
) -> Callable[[Callable[Concatenate[Draft, P], R]], Callable[..., R]]: ...
def primitive(body: Callable[..., Any] | None = None, /, **traits: bool) -> Callable[..., Any]:
    """Make a method of `Schedule` from a rewrite `body(module, ...)`; the decorator takes `Traits`.

    The annotations of `body` say what each argument is: `Loop` and `Buffer` take names or handles, an `Enum` takes its
    member or its number, `int` an integer. `body` gets a draft of the next state; if it raises, nothing has changed.
    """
    made = functools.partial(_method, Traits(**traits))
    return made if body is None else made(body)


# what published Allo calls the first parameter of primitives
_PUBLISHED = {"target": ("buffer",), "name": ("loop",), "axis": ("loop", "region", "func"), "band_name": ("nest",)}


class _Signature:
    """The parameters of a primitive; `Signature.bind` takes longer than many a step."""

    def __init__(self, parameters: list[inspect.Parameter]) -> None:
        self.parameters = parameters
        self.defaults = {p.name: p.default for p in parameters}
        self.required = {p.name for p in parameters if p.default is p.empty}
        self._positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        self._is_fixed = all(p.kind is not p.VAR_POSITIONAL for p in parameters)

    def bind(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call of primitive `name` by parameter."""
        if not kwargs.keys() <= self.defaults.keys():
            kwargs = {self._own(keyword, kwargs): value for keyword, value in kwargs.items()}
        given = dict(zip(self._positional, args, strict=False)) | kwargs
        is_simple = self._is_fixed and len(given) == len(args) + len(kwargs)
        if is_simple and self.required <= given.keys() <= self.defaults.keys():
            return self.defaults | given
        try:
            found = inspect.Signature(self.parameters).bind(*args, **kwargs)
        except TypeError as error:
            raise ScheduleError(f"s.{name}(): {error}", hint=f"use s.{name}{_shown(self.parameters)}") from None
        found.apply_defaults()
        return found.arguments

    def _own(self, keyword: str, given: dict[str, Any]) -> str:
        """The parameter that a keyword names, also if it is that of published Allo."""
        first = self._positional[0] if self._positional else ""
        is_free = keyword not in self.defaults and first not in given
        return first if is_free and first in _PUBLISHED.get(keyword, ()) else keyword


def _method(traits: Traits, body: Callable[..., Any]) -> Callable[..., Any]:
    parameters = list(inspect.signature(body).parameters.values())[1:]
    signature = _Signature(parameters)
    variadic = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    defaults, required = signature.defaults, signature.required
    name = body.__name__

    @functools.cache
    def converters() -> dict[str, Converter]:
        kinds = typing.get_type_hints(body)
        return {n: _several(_converter(n, kinds[n])) if n == variadic else _converter(n, kinds[n]) for n in defaults}

    @functools.cache
    def parts() -> dict[str, set[Any]]:
        return {n: _parts(kind) for n, kind in typing.get_type_hints(body).items()}

    @reads_programs
    @functools.wraps(body)
    def method(self: Scheduled, *args: Any, **kwargs: Any) -> Any:
        at, before = schedule_line(), len(self.steps)
        try:
            given = signature.bind(name, args, kwargs)
            given = with_own_functions(given, parts(), lambda: self._state, self.separate)
            state = self._state
            try:
                values = {n: convert(state, given[n]) for n, convert in converters().items()}
            except ScheduleError as error:
                raise _missing(self, given, body) or error from None
            draft = state.draft()
            token = _EARLIER.set(self.steps)
            try:
                several = values[variadic] if variadic is not None else ()
                result = body(draft, *(values[n] for n in positional), *several, **{n: values[n] for n in named})
            finally:
                _EARLIER.reset(token)
            if isinstance(result, Decided):
                values, result = values | dict(result.arguments), result.value
            mark_rewritten(draft, values.values())
            made = _finished(draft, traits)
        except BaseException as error:
            self.undo(len(self.steps) - before)  # what gave positions functions of their own for this step
            if not isinstance(error, ScheduleError):
                raise
            error.diagnostics = tuple(_located(d, name, at) for d in error.diagnostics)
            raise
        arguments = tuple((n, values[n]) for n, default in defaults.items() if n in required or values[n] != default)
        self._install(made, Step(name, arguments, variadic, at, result, traits))
        return result

    method.__signature__ = shown_signature(body)  # type: ignore[attr-defined]
    method.__dict__[_TRAITS] = traits
    return method


def _finished(draft: Draft, traits: Traits) -> FinishedModule:
    """The state that a step has written. Raises ScheduleError if it is none that a schedule may have."""
    made = draft.finished()
    demand_still_elements(made, draft)
    if not traits.checks_stages:
        demand_ends_still_single(made, draft)
        demand_stages_still_legal(made, draft)
    return made


def _missing(schedule: Scheduled, given: dict[str, Any], body: Callable[..., Any]) -> ScheduleError | None:
    """Why the schedule lacks a handle among the arguments, if it lacks one."""
    kinds = typing.get_type_hints(body)
    states = [*(before for before, _ in schedule._history), schedule._state]
    handles = [h for n, value in given.items() for h in handles_in(value) if type(h) in _parts(kinds[n])]
    return missing_handle(states, schedule.steps, handles, is_replayed=_IS_REPLAYED.get())


def _parts(kind: Any) -> set[Any]:
    """The types that an annotation is made of."""
    return {kind} | {part for inner in typing.get_args(kind) for part in _parts(inner)}


def is_primitive(member: Any) -> bool:
    """Whether a member of a schedule is a primitive."""
    return inspect.isfunction(member) and _TRAITS in member.__dict__


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


def integer(name: str, value: Any) -> int:
    """The integer that a user gave for parameter `name`, of Python or NumPy. Raises ScheduleError for anything else."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except Exception:
        number = None
    if number is None:
        raise ScheduleError(f"{name} must be an integer, got {value!r}")
    return number


def _number(name: str, value: Any) -> float:
    """The finite number that a user gave for parameter `name`: an integer of 32 bits, else a float."""
    number: float
    try:
        number = operator.index(value)
    except TypeError:
        number = value if isinstance(value, float) else float("nan")
    if isinstance(value, bool) or not math.isfinite(number):
        raise ScheduleError(f"{name} must be a finite number, got {value!r}")
    return number if isinstance(number, int) and -(2**31) <= number < 2**31 else float(number)


def _several(convert: Converter) -> Converter:
    """All that a user wrote for `*loops`, or the one list of them, as a tuple."""

    def converted(module: Module, given: Any) -> Any:
        values = given[0] if len(given) == 1 and isinstance(given[0], list | tuple) else given
        return tuple(convert(module, value) for value in values)

    return converted


def _converter(name: str, kind: Any) -> Converter:
    """What makes of what a user wrote for a parameter of type `kind` what the primitive wants."""
    kinds = typing.get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if NoneType in kinds:
        given = _converter(name, functools.reduce(operator.or_, (option for option in kinds if option is not NoneType)))
        return lambda module, value: None if value is None else given(module, value)
    if kinds == (Loop,):
        return resolve_loop
    if kinds == (Buffer,):
        return resolve_buffer
    if kinds == (FifoName,):
        return resolve_fifo
    if all(option in (Function, Nest, Loop) for option in kinds):
        return lambda module, value: resolve_part(module, kinds, value)
    listed = next((option for option in kinds if typing.get_origin(option) is tuple), None)
    other = next((option for option in kinds if option is not listed), None)
    if listed is None:
        return lambda module, value: _plain(name, other, value)
    each = _converter(f"each of {name}", typing.get_args(listed)[0])

    def converted(module: Module, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return tuple(each(module, item) for item in value)
        if other is None:
            raise ScheduleError(f"{name} must be a list or a tuple, got {value!r}")
        return _plain(name, other, value)

    return converted


def _plain(name: str, kind: Any, value: Any) -> Any:
    """What a user wrote for a parameter that is no part of the program."""
    if kind is Memory and not isinstance(value, Memory):
        raise ScheduleError(f"{name} must be an allo.memory.Memory(...), got {value!r}")
    if isinstance(kind, type) and issubclass(kind, Enum) and type(value) is int and 0 <= value < len(kind):
        return list(kind)[value]
    if isinstance(kind, type) and issubclass(kind, Enum) and not isinstance(value, kind):
        raise ScheduleError(
            f"{name} must be one of {', '.join(f'{kind.__name__}.{m.name}' for m in kind)}, got {value!r}"
        )
    if kind is bool and not isinstance(value, bool):
        raise ScheduleError(f"{name} must be True or False, got {value!r}")
    if kind is float:
        return _number(name, value)
    if kind is int:
        number = integer(name, value)
        if not -(2**31) <= number < 2**31:
            raise ScheduleError(f"{name} must fit in 32 bits, got {number}")
        return number
    return value
