"""Manifest of a backend: its names, options, modes, the tools that its parts need, and its builder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import TargetError
from ..ir import subnormals
from ..ir.module import Module


@dataclass(frozen=True, slots=True)
class ToolPart:
    """A part of a backend that needs a tool, by the name that users give it.

    `require` says which tool there is, or raises ToolError.
    """

    name: str
    require: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Manifest:
    """A backend: the names users give it, the options and modes it takes, and how it builds.

    `build(module, mode, options)` makes the result; it needs no tool, but some of `parts` do.
    With `own_banks`, no two processes of a region may use one bank of an array.
    """

    names: tuple[str, ...]
    modes: tuple[str, ...]
    options: tuple[str, ...]
    build: Callable[[Module, str | None, dict[str, Any]], Any]
    parts: tuple[ToolPart, ...] = ()
    own_banks: bool = False


def seconds(options: dict[str, Any]) -> float | None:
    """How long a run may take, the option `timeout`. Raises TargetError if that is no time."""
    given = options.get("timeout")
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= 1e9:
        raise TargetError(f"timeout must be a number of seconds above 0, got {given!r}")
    return float(given)


def flushes(options: dict[str, Any]) -> bool:
    """Whether arithmetic takes and makes zeros in the place of subnormal numbers, the option `subnormals`.

    Raises TargetError if that is neither "keep" nor "flush".
    """
    return subnormals.flushes(options.get("subnormals", "keep"))
