"""Handles: frozen names of functions, loop nests, loops and buffers, never pointers into the IR."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop, by function, loop nest and name."""

    function: str
    nest: str
    name: str

    def __iter__(self) -> Iterator[str | Loop]:
        """`for name, loop in s.get_loops().C`, as programs for published Allo write it."""
        return iter((self.name, self))

    def __str__(self) -> str:
        return f"{self.function}:{self.nest}.{self.name}"


@dataclass(frozen=True, slots=True)
class Buffer:
    """An array of a function: argument, local variable or constant."""

    function: str
    name: str

    @property
    def func(self) -> str:
        """Its function, by the name of published Allo."""
        return self.function

    def __str__(self) -> str:
        return f"{self.function}:{self.name}"


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the module."""

    name: str

    def __str__(self) -> str:
        return f"{self.name}"


@dataclass(frozen=True, slots=True)
class Nest:
    """A loop nest of a function, by the name of its outermost loop's nest."""

    function: str
    name: str

    def __str__(self) -> str:
        return f"{self.function}:{self.name}"


@dataclass(frozen=True, slots=True)
class FifoName:
    """A FIFO, or an array of FIFOs, by the function that makes it."""

    function: str
    name: str

    def __str__(self) -> str:
        return f"{self.function}:{self.name}"


type Handle = Loop | Buffer | Function | Nest | FifoName
HANDLES = (Loop, Buffer, Function, Nest, FifoName)


def parse_handle(value: Any, kind: Any) -> Any:
    """The handle that a printed one such as `"f:S_i_0.i"` means to a parameter of type `kind`; else `value` itself."""
    kinds = get_args(kind) or (kind,)
    if not isinstance(value, str) or not any(k in (Loop, Buffer, Nest) for k in kinds):
        return value
    function, _, name = value.rpartition(":")
    if not function or not name:
        return value
    if Buffer in kinds:
        return Buffer(function, name)
    nest, _, loop = name.partition(".")
    if loop and Loop in kinds:
        return Loop(function, nest, loop)
    return Nest(function, name) if Nest in kinds and not loop else value
