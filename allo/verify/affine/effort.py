"""Decides how much work the method may do: an amount of isl's, or seconds, and then each call of isl no more either."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import islpy as isl

from .nodes import Gap

_OPERATIONS = 100_000_000  # of isl without a limit of time: some twenty seconds
_PER_SECOND = 8_000_000


class OutOfEffort(Gap):
    """The method has worked for longer than it may."""


class Effort:
    """The work that is left in one comparison."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self.deadline = None if seconds is None else monotonic() + seconds

    def error(self) -> OutOfEffort:
        if self.seconds is None:
            return OutOfEffort(f"not decided within {_OPERATIONS // 1_000_000} million operations of isl")
        return OutOfEffort(f"not decided within {self.seconds:g} s; a longer `timeout` gives it more")

    def check(self) -> None:
        """Raises OutOfEffort if the time is over, and sets what isl may do in the time that is left."""
        if self.deadline is None:
            return
        left = self.deadline - monotonic()
        if left <= 0:
            raise self.error()
        isl.DEFAULT_CONTEXT.reset_operations()
        isl.DEFAULT_CONTEXT.set_max_operations(max(1, int(left * _PER_SECOND)))

    @contextmanager
    def limited(self) -> Iterator[None]:
        """No more work for isl than there is left; raises OutOfEffort instead of its errors about that."""
        context = isl.DEFAULT_CONTEXT
        before = context.get_max_operations()
        context.reset_operations()
        context.set_max_operations(_OPERATIONS)
        try:
            self.check()
            yield
        except isl.Error as error:
            if is_exhausted():
                raise self.error() from error
            raise
        finally:
            context.set_max_operations(before)
            context.reset_operations()


def is_exhausted() -> bool:
    """Whether isl refuses to work because it has done all that it may."""
    try:
        probe = isl.Set("{ [i, j] : exists k : 2 * k = i + j and 0 <= i < j < 9 }")
        probe.subtract(isl.Set("{ [i, j] : i = 1 }")).coalesce().is_empty()
    except isl.Error:
        return True
    return False
