"""Provenance of loop nests: the mark on those that steps have rewritten, which CPUs run as they are written."""

from __future__ import annotations

from collections.abc import Iterable

from allo import _mlir

from ...ir.builder import unit_attr
from ...ir.states import Draft
from .handles import Loop

SCHEDULED = "allo.scheduled"  # of the outermost loop


def mark_rewritten(draft: Draft, arguments: Iterable[object]) -> None:
    """Mark the nests of the loops that the step which wrote `draft` was given, and those that it made.

    A step that only annotates loops, or that names none, leaves their order to backends.
    """
    named: dict[str, set[str]] = {}
    for loop in _loops(arguments):
        named.setdefault(loop.function, set()).add(loop.nest)
    for name, nests in named.items():
        before, function = draft.before.parts[name], draft.function(name)
        if _mlir.are_same(before.op, function.operation, annotations=False):
            continue
        known = {view.nest for view in draft.earlier_loops(name)}
        for view in draft.written_loops(name):
            if view.nest in known - nests:
                continue
            if view.parent is None:
                view.op.attributes[SCHEDULED] = unit_attr()
            elif SCHEDULED in view.op.attributes:
                del view.op.attributes[SCHEDULED]


def _loops(arguments: Iterable[object]) -> list[Loop]:
    """The handles of loops among the arguments of a step."""
    found: list[Loop] = []
    for value in arguments:
        if isinstance(value, Loop):
            found.append(value)
        elif isinstance(value, tuple):
            found += _loops(value)
    return found
