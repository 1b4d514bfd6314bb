"""A step: one applied primitive, as a frozen value that prints as the Python line that repeats it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ...errors import Location
from ...picture import preformatted
from .handles import HANDLES, Buffer, FifoName, Function, Loop, Nest


@dataclass(frozen=True, slots=True)
class Traits:
    """What holds for the steps of a primitive beside what its signature says."""

    any_layout: bool = False  # they read no layouts of arrays and give none
    whole_module: bool = False  # they read more than the functions that they change and those that these call
    reshapes: bool = False  # their array has other dimensions afterwards
    checks_stages: bool = False  # they look at the stages of dataflow regions themselves: a user may vouch for them


@dataclass(frozen=True, slots=True)
class Decided[T]:
    """What a primitive returns that has decided what was left open: `arguments` of its step, so that it can be repeated
    without deciding again, and the `value` that users get."""

    arguments: Mapping[str, Any]
    value: T


@dataclass(frozen=True, slots=True)
class StepResult:
    """What an earlier step of a text returns, by its number, or an item of it; the text calls it `name`."""

    step: int
    item: int | None
    name: str


@dataclass(frozen=True, slots=True)
class Step:
    """`s.<name>(<arguments>)`, with the line of the schedule it stands on."""

    name: str
    arguments: tuple[tuple[str, Any], ...]
    variadic: str | None
    at: Location | None
    result: Any = None
    traits: Traits = field(default=Traits(), repr=False, compare=False)

    def __str__(self) -> str:
        parts: list[str] = []
        for name, value in self.arguments:
            if name == self.variadic:
                parts.extend(_text(item) for item in value)
            elif isinstance(value, HANDLES) and not parts:
                parts.append(_text(value))
            else:
                parts.append(f"{name}={_text(value)}")
        return f"s.{self.name}({', '.join(parts)})"

    def __repr__(self) -> str:
        return f"<Step {self}>"


class Steps(tuple[Step, ...]):
    """The steps of a schedule in their order; prints as the Python lines that repeat them."""

    __slots__ = ()

    def __str__(self) -> str:
        return "".join(f"{step}\n" for step in self)

    def __repr__(self) -> str:
        return f"<Steps>\n{self}".rstrip()

    def _repr_html_(self) -> str:
        return preformatted(str(self) or "no step")


def _text(value: Any) -> str:
    match value:
        case Loop() | Buffer() | Function() | Nest() | FifoName():
            return f'"{value}"'
        case StepResult():
            return value.name
        case Enum():
            return f"{type(value).__name__}.{value.name}"
        case tuple():
            return f"[{', '.join(map(_text, value))}]"
        case _:
            return repr(value)
