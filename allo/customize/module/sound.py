"""Refusals of modules that analyses would misread: arrays of two names, ROMs that are written, subscripts outside."""

from __future__ import annotations

from ...ir.module import Module
from .aliases import check_aliases
from .bounds import check_bounds
from .read_only import check_read_only_memories


def check_sound(module: Module, inside: frozenset[str] = frozenset()) -> None:
    """Raises KernelError, with all faults of one kind; `inside` names functions known to stay in their arrays."""
    check_aliases(module)
    check_read_only_memories(module)
    check_bounds(module, inside)
