"""Dataflow designs: regions of tasks with streams between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..customize import Schedule
from ..customize import customize as _customize
from ..frontend.regions import get_pid, get_tid, kernel, region, task

__all__ = ["build", "customize", "get_pid", "get_tid", "kernel", "region", "task"]


def customize(
    function: Callable[..., Any], *, instantiate: Sequence[Any] | Mapping[str, Any] | None = None, **options: Any
) -> Schedule:
    """The schedule of a region: all primitives apply to the loops and arrays of its tasks, `"task:i"`.

    Raises KernelError with all mistakes of the region and its tasks.
    """
    return _customize(function, instantiate=instantiate, **options)
