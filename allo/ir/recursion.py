"""Python's limit of recursion while programs are read: what walks a kernel calls itself for each level of it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from threading import Lock

_LIMIT = 200_000  # calls; `frontend/read/nesting.py` refuses kernels that would need more


class _Raised:
    """A higher limit while any thread is inside; it is a setting of the whole process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._before = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(self._before, _LIMIT))
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                sys.setrecursionlimit(self._before)


_RAISED = _Raised()


def reads_programs[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """`function` may recurse as deeply as any program that is accepted needs."""

    @functools.wraps(function)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        with _RAISED:
            return function(*args, **kwargs)

    return inside
