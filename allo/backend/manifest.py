"""Manifest of a backend: its names, options, modes, missing tools and builder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..ir.module import Module


@dataclass(frozen=True, slots=True)
class Manifest:
    """A backend: the names users give it, the options and modes it takes, and how it builds.

    `missing_tools` lists what the machine lacks, as sentences; `build(module, mode, options)` makes the result.
    """

    names: tuple[str, ...]
    modes: tuple[str, ...]
    options: tuple[str, ...]
    missing_tools: Callable[[], tuple[str, ...]]
    build: Callable[[Module, str | None, dict[str, Any]], Any]
