"""Handles: frozen names of loops and buffers, never pointers into the IR."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop, by function, loop nest and name."""

    function: str
    nest: str
    name: str

    def __str__(self) -> str:
        return f"{self.function}:{self.nest}.{self.name}"


@dataclass(frozen=True, slots=True)
class Buffer:
    """An array of a function: argument, local variable or constant."""

    function: str
    name: str

    def __str__(self) -> str:
        return f"{self.function}:{self.name}"
