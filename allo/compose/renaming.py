"""Handles of a step in another module: functions, nests and arrays renamed by tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..customize.step.handles import Buffer, FifoName, Function, Handle, Loop, Nest
from ..customize.step.record import Step


@dataclass(slots=True)
class Renaming:
    """What functions are called in the other module, and what nests and arrays that steps made are called there."""

    functions: dict[str, str]
    parts: dict[tuple[str, str], str] = field(default_factory=dict)

    def step(self, step: Step) -> Step:
        """The step on the functions of the other module."""
        arguments = tuple((name, self.value(value)) for name, value in step.arguments)
        return Step(step.name, arguments, step.variadic, step.at, None, step.traits)

    def value(self, value: Any) -> Any:
        """What a step was given or has made, in the other module."""
        match value:
            case Loop(function, nest, name):
                return Loop(self.functions[function], self._part(function, nest), name)
            case Nest(function, name):
                return Nest(self.functions[function], self._part(function, name))
            case Buffer(function, name):
                return Buffer(self.functions[function], self._part(function, name))
            case FifoName(function, name):
                return FifoName(self.functions[function], self._part(function, name))
            case Function(name):
                return Function(self.functions[name])
            case tuple():
                return tuple(map(self.value, value))
            case _:
                return value

    def _part(self, function: str, name: str) -> str:
        return self.parts.get((function, name), name)

    def learn_parts(self, function: str, made: Iterable[str], made_there: Iterable[str]) -> None:
        """A step made nests and arrays of `function`: their names in the two modules."""
        for ours, theirs in zip(made, made_there, strict=False):
            if ours != theirs:
                self.parts[function, ours] = theirs


def functions_in(step: Step) -> list[str]:
    """The functions that the handles of a step name, each once."""
    handles = _handles([value for _, value in step.arguments])
    return list(dict.fromkeys(h.name if isinstance(h, Function) else h.function for h in handles))


def buffers_in(step: Step) -> list[Buffer]:
    """The arrays that a step names, each once."""
    handles = _handles([value for _, value in step.arguments])
    return list(dict.fromkeys(handle for handle in handles if isinstance(handle, Buffer)))


def _handles(values: Iterable[Any]) -> Iterator[Handle]:
    for value in values:
        match value:
            case Loop() | Nest() | Buffer() | Function() | FifoName():
                yield value
            case tuple():
                yield from _handles(value)


def renamed_functions(step: Step, names: Mapping[str, str]) -> Step:
    """The step with other functions."""
    return Renaming({f: names.get(f, f) for f in functions_in(step)}).step(step)
