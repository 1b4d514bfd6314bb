"""Manifest of a backend: its names, options, modes, missing tools and builder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import TargetError
from ..ir.module import Module


@dataclass(frozen=True, slots=True)
class Manifest:
    """A backend: the names users give it, the options and modes it takes, and how it builds.

    `missing_tools` lists what the machine lacks, as sentences; `build(module, mode, options)` makes the result.
    With `own_banks`, no two processes of a region may use one bank of an array.
    """

    names: tuple[str, ...]
    modes: tuple[str, ...]
    options: tuple[str, ...]
    missing_tools: Callable[[], tuple[str, ...]]
    build: Callable[[Module, str | None, dict[str, Any]], Any]
    own_banks: bool = False


def seconds(options: dict[str, Any]) -> float | None:
    """How long a run may take, the option `timeout`. Raises TargetError if that is no time."""
    given = options.get("timeout")
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= 1e9:
        raise TargetError(f"timeout must be a number of seconds above 0, got {given!r}")
    return float(given)
