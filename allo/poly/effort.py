"""Limits on the work of isl: nothing can interrupt a call of it but its own count of operations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import islpy as isl


class Exhausted(Exception):
    """isl has done all that it may."""


@contextmanager
def limited(operations: int) -> Iterator[None]:
    """No more than so many operations of isl; raises Exhausted instead of its errors about that."""
    context = isl.DEFAULT_CONTEXT
    before = context.get_max_operations()
    context.reset_operations()
    context.set_max_operations(operations)
    try:
        yield
    except isl.Error as error:
        if is_exhausted():
            raise Exhausted from error
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
