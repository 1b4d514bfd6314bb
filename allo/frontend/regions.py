"""Decorators and questions of dataflow regions, as programs write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

type Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def region() -> Decorator:
    """A function whose statements run at the same time: streams, arrays and tasks, or calls of other regions."""
    return lambda function: function


def kernel(*, mapping: Sequence[int] = (1,), args: Sequence[Any] | None = None) -> Decorator:
    """A task of the region around it, at each position of a grid of these extents (Dato, section 3).

    `args` are the arguments of the region that its parameters stand for, in their order; without them these are the
    arguments, or arrays, of the same names.
    """
    _outside("a task", "define it in a region, and build or customize that")


def get_pid() -> Any:
    """The position of a task in its grid: one number, or one for each dimension of the mapping."""
    _outside("the position of a task", "ask for it in a task")


def _outside(what: str, hint: str) -> NoReturn:
    raise RuntimeError(f"{what} has no meaning in plain Python; {hint}")


task, get_tid = kernel, get_pid  # as the Dato paper writes them
