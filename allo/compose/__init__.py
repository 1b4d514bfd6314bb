"""Composition: schedules of kernels become parts of the schedule of their caller (Allo paper, section 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..customize import Schedule, customize
from .composition import replay
from .defaults import default_schedule, schedules_of
from .graph import ArrayRole, BufferEdge, BufferNode, DataflowGraph, Link, Use, dataflow_graph

__all__ = [
    "ArrayRole",
    "BufferEdge",
    "BufferNode",
    "DataflowGraph",
    "Link",
    "Use",
    "compose",
    "dataflow_graph",
    "default_schedule",
    "replay",
    "schedules_of",
]


def compose(
    top: Schedule | Callable[..., Any],
    schedules: Any,
    id: str | None = None,
    instantiate: Sequence[Any] | Mapping[str, Any] | None = None,
) -> Schedule:
    """A new schedule of `top`, a kernel or its schedule (which stays as it is), with the steps of `schedules` replayed.

    `schedules`, `id` and `instantiate` are those of `Schedule.compose`, which raises the same errors.
    """
    result = top.copy() if isinstance(top, Schedule) else customize(top)
    result.compose(schedules, id=id, instantiate=instantiate)
    return result
