"""Python's collector of circles of references, which waits while the many values of a design are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_waits() -> Iterator[None]:
    """Collect nothing until this is left.

    Values of a design are no circles and stay, and the collector looks at them again and again: a quarter of the time
    that a grid of 64 x 64 elements takes. They count as old when this is left, or the next look would be at all of
    them. Of threads that are here at once, the first one lets it go on.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            if not gc.get_freeze_count():  # nobody else has put values out of the reach of the collector
                gc.freeze()
                gc.unfreeze()  # into the oldest generation
            gc.enable()
