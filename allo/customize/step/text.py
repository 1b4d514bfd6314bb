"""Printed steps of a schedule, read back: calls `s.name(arguments)` of literals and of what steps return."""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass, replace
from enum import Enum
from types import UnionType
from typing import Any

from ...errors import Diagnostic, Location, Note, ScheduleError, counted, nearest
from .handles import parse_handle
from .record import Step, StepResult, Steps
from .signature import call_signature

Primitive = Callable[..., Any]


def parse_steps(text: str, primitives: Mapping[str, Primitive], file: str = "<steps>") -> Steps:
    """The steps that `text` says, a call `s.split("gemm:S_i_0.i", factor=4)` each.

    What a step returns may have a name, `outer, inner = s.split("i", 4)`, or stand as an argument of another one, as
    advice of estimates does. Nothing of the text is executed. Raises ScheduleError with every line that is not a call
    of a primitive with literal arguments.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        at = Location(file, error.lineno or 1, error.offset or 0)
        raise ScheduleError.collected([Diagnostic(f"the steps are not Python: {error.msg}", at, None)]) from None
    reader = _Reader(primitives, file)
    wrong: list[Diagnostic] = []
    for node in tree.body:
        try:
            reader.read(node)
        except ScheduleError as error:
            at = Location(file, node.lineno, node.col_offset + 1)
            wrong += [Diagnostic(d.message, at, d.hint) for d in error.diagnostics]
        except RecursionError:
            wrong.append(Diagnostic("the step is nested too deeply", Location(file, node.lineno), None))
    if wrong:
        raise ScheduleError.collected(wrong)
    return Steps(reader.steps)


class _Reader:
    """The steps of a text so far, and the names of what they return."""

    def __init__(self, primitives: Mapping[str, Primitive], file: str) -> None:
        self.primitives = primitives
        self.file = file
        self.steps: list[Step] = []
        self.names: dict[str, StepResult] = {}
        self.schedule: str | None = None  # what the first step calls it

    def read(self, node: ast.stmt) -> None:
        """A statement: a step, perhaps with a name for its result or names for the items of it."""
        match node:
            case ast.Expr(value=ast.Call() as call):
                targets: ast.expr | None = None
            case ast.Assign(targets=[targets], value=ast.Call() as call):
                pass
            case _:
                raise _no_step(node)
        items = targets.elts if isinstance(targets, ast.Tuple | ast.List) else [targets] if targets else []
        named = [item.id for item in items if isinstance(item, ast.Name)]
        if len(named) < len(items):
            raise _no_step(node)
        number = self._step(call, node)
        for place, name in enumerate(named):
            item = place if isinstance(targets, ast.Tuple | ast.List) else None
            self.names[name] = StepResult(number, item, name)

    def _step(self, call: ast.Call, whole: ast.AST) -> int:
        """The number of the step that a call is."""
        called = call.func
        if not isinstance(called, ast.Attribute) or not isinstance(called.value, ast.Name):
            raise _no_step(whole)
        name = called.value.id
        self.schedule = self.schedule or name
        if name != self.schedule:
            raise ScheduleError(
                f"`{ast.unparse(whole)}` is a step of '{name}', and the first step is one of '{self.schedule}'",
                hint="replay the steps of one schedule at a time",
            )
        primitive = find_primitive(called.attr, self.primitives)
        values = values_of(primitive)
        if any(k.arg is None for k in call.keywords):
            raise ScheduleError(f"`{ast.unparse(call)}` hides names of parameters", hint="write name=value for each")
        arguments = [self._argument(argument, values) for argument in call.args]
        keywords = {k.arg: self._argument(k.value, values) for k in call.keywords if k.arg is not None}
        at = Location(self.file, call.lineno, call.col_offset + 1)
        self.steps.append(make_step(primitive, arguments, keywords, at))
        return len(self.steps) - 1

    def _argument(self, node: ast.expr, values: Mapping[str, type]) -> Any:
        match node:
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner))) if owner == self.schedule:
                return StepResult(self._step(node, node), None, ast.unparse(node))
            case ast.List() | ast.Tuple():
                return [self._argument(item, values) for item in node.elts]
        return _literal(node, values)


def _no_step(node: ast.AST) -> ScheduleError:
    hint = 's.split("i", 4), a call of a method of the schedule `s` with literal arguments on each line'
    return ScheduleError(f"`{ast.unparse(node)}` is not a step", hint=hint)


def given_steps(steps: Any, primitives: Mapping[str, Primitive]) -> Steps:
    """The steps that a user gave: `Step`s in any iterable, or their text. Raises ScheduleError for anything else."""
    if isinstance(steps, str):
        return parse_steps(steps, primitives)
    found = list(steps) if isinstance(steps, Iterable) else [steps]
    for step in found:
        if not isinstance(step, Step):
            raise ScheduleError(
                f"steps are replayed, got {type(step).__name__} {step!r}",
                hint="give s.steps of a schedule, some of them, or the text that they print",
            )
    return Steps(found)


def result_of(asked: StepResult, results: Sequence[Any], at: Location | None) -> Any:
    """What a step has returned. Raises ScheduleError if there is no such item."""
    found = results[asked.step]
    if asked.item is None:
        return found
    if not isinstance(found, tuple) or asked.item >= len(found):
        count = counted(len(found), "value") if isinstance(found, tuple) else "no tuple"
        message = f"'{asked.name}' is to be value {asked.item} (the first is 0) of a step that returns {count}"
        raise ScheduleError.collected([Diagnostic(message, at, None)])
    return found[asked.item]


def of_step(error: ScheduleError, number: int, steps: Steps) -> ScheduleError:
    """The refusal of `steps[number]`, which were replayed, with a note that says which step it is."""
    if number < len(steps):
        note = Note(f"this is step {number} of the replay (the first is 0): {steps[number]}")
        error.diagnostics = tuple(replace(d, notes=(*d.notes, note)) for d in error.diagnostics)
    return error


def find_primitive(name: str, primitives: Mapping[str, Primitive]) -> Primitive:
    """The primitive of this name. Raises ScheduleError if there is none."""
    if name not in primitives:
        hint = nearest(name, primitives) or f"the primitives are {', '.join(primitives)}"
        raise ScheduleError(f"there is no primitive '{name}'", hint=hint)
    return primitives[name]


def make_step(primitive: Primitive, arguments: list[Any], keywords: dict[str, Any], at: Location | None) -> Step:
    """The step `primitive(*arguments, **keywords)`; texts such as `"f:A"` become handles where one is wanted."""
    name, signature = primitive.__name__, call_signature(primitive)
    try:
        bound = signature.bind(*arguments, **keywords)
    except TypeError as error:
        raise ScheduleError(f"s.{name}(): {error}") from None
    hints = hints_of(primitive)
    variadic = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL), None)
    pairs = []
    for parameter, value in bound.arguments.items():
        if parameter == variadic:
            value = value[0] if len(value) == 1 and isinstance(value[0], list | tuple) else value
            value = tuple(parse_handle(item, hints[parameter]) for item in value)
        else:
            value = parse_handle(value, hints[parameter])
        pairs.append((parameter, tuple(value) if isinstance(value, list) else value))
    return Step(name, tuple(pairs), variadic, at)


def hints_of(primitive: Primitive) -> dict[str, Any]:
    """The types of the parameters."""
    return typing.get_type_hints(inspect.unwrap(primitive))


def values_of(primitive: Primitive) -> dict[str, type]:
    """The enumerations and records that arguments of `primitive` may be, by name."""
    found: dict[str, type] = {}
    for hint in hints_of(primitive).values():
        for kind in typing.get_args(hint) if isinstance(hint, UnionType) else (hint,):
            if isinstance(kind, type) and (issubclass(kind, Enum) or is_dataclass(kind)):
                found[kind.__name__] = kind
    return found


def _literal(node: ast.expr, values: Mapping[str, type]) -> Any:
    match node:
        case ast.Attribute(value=ast.Name(id=owner), attr=member) if owner in values:
            kind = values[owner]
            if issubclass(kind, Enum) and member in kind.__members__:
                return kind[member]
        case ast.Call(func=ast.Name(id=owner), args=arguments, keywords=keywords) if owner in values:
            named = {k.arg: _literal(k.value, values) for k in keywords if k.arg is not None}
            try:
                return values[owner](*(_literal(a, values) for a in arguments), **named)
            except (TypeError, ValueError) as error:
                raise ScheduleError(f"`{ast.unparse(node)}`: {error}") from None
        case ast.List() | ast.Tuple():
            return [_literal(item, values) for item in node.elts]
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):  # TypeError: a set of lists
        raise ScheduleError(
            f"`{ast.unparse(node)}` is not a literal", hint="give names of loops and buffers as strings"
        ) from None
