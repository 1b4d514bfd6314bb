"""Python's collector of circles of references, which waits while the many values of a design are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_waits() -> Iterator[None]:
    """Collect nothing until this is left.

    Values of a design are no circles and stay, and the collector looks at them again and again: a quarter of the time
    that a grid of 64 x 64 elements takes. Of threads that are here at once, the first one lets it go on.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
