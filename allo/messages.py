"""Messages beside results: the logger `allo`, silent unless a program asks for it, and progress on a terminal."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LOG = logging.getLogger("allo")
LOG.addHandler(logging.NullHandler())

_SILENT = "ALLO_PROGRESS"  # "0" in the environment: no progress
_AFTER, _EVERY = 1.0, 0.5  # seconds
_one = threading.Lock()  # who holds it writes the line of progress


@contextmanager
def working(what: str, level: int = logging.INFO, *, so_far: Callable[[], str] | None = None) -> Iterator[None]:
    """Log `what` is done and how long it takes; on a terminal, stderr shows it while it takes over a second, with what
    `so_far` tells."""
    start = time.perf_counter()
    try:
        with _line(what, so_far):
            yield
    finally:
        LOG.log(level, "%s: %.2f s", what, time.perf_counter() - start)


@contextmanager
def _line(what: str, so_far: Callable[[], str] | None) -> Iterator[None]:
    if not _is_shown() or not _one.acquire(blocking=False):  # what works for another work is not told
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_written, args=(what, so_far, done), daemon=True, name="allo-progress")
    try:
        thread.start()
        yield
    finally:
        done.set()
        thread.join()
        _one.release()


def _is_shown() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get(_SILENT) != "0"


def _written(what: str, so_far: Callable[[], str] | None, done: threading.Event) -> None:
    """Write the line again and again, and wipe it out at the end."""
    start = time.perf_counter()
    wait, width = _AFTER, 0
    while not done.wait(wait):
        text = f"{what} ... {time.perf_counter() - start:.0f} s"
        if so_far is not None:
            text += f", {so_far()}"
        sys.stderr.write(f"\r{text:<{width}}")
        sys.stderr.flush()
        wait, width = _EVERY, max(width, len(text))
    if width:
        sys.stderr.write(f"\r{' ' * width}\r")
        sys.stderr.flush()
