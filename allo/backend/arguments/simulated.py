"""Runs of programs with streams: what is shown while they take long, and what is told when they are stopped or hang."""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from allo import _mlir

from ...errors import AlloError, DataflowError, Note, RunTimeout
from ...ir.hang import Hang, task_states
from ...ir.run_report import RunFacts, RunState, reported_hang, reported_state
from ...messages import working
from ..checked.failures import CheckFailed

type Again = Callable[[], Hang | None]


@cache
def _library() -> Any:
    library = ctypes.CDLL(_mlir.runtime_library())
    library.allo_progress_new.restype = ctypes.c_void_p
    library.allo_progress_delete.argtypes = [ctypes.c_void_p]
    library.allo_progress_read.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    return library


@contextmanager
def shown_progress(top: str) -> Iterator[int]:
    """The address of what a run tells of its progress, which a terminal shows while it takes over a second."""
    progress = _library().allo_progress_new()
    found = (ctypes.c_int64 * 3)()

    def so_far() -> str:
        _library().allo_progress_read(progress, found)
        passed, tasks, ended = found
        return f"{passed:,} elements passed" + (f", {ended:,} of {tasks:,} tasks done" if tasks else "")

    try:
        with working(f"running '{top}'", logging.DEBUG, so_far=so_far):
            yield progress
    finally:
        _library().allo_progress_delete(progress)


def hang_error(report: str, facts: RunFacts, again: Again) -> AlloError:
    """The error for what a simulation reports.

    `again` runs the program without its data, if that can be: it sees who would have used which FIFO, and which depths
    are the least.
    """
    found = reported_hang(report, facts)
    return ((again() or found) if isinstance(found, Hang) else found).error()


@dataclass(frozen=True, slots=True)
class Stopped:
    """Tells where a run was when an error ended it, by what the simulation says of its state."""

    facts: RunFacts
    state: Callable[[], str]

    def tell(self, error: BaseException) -> None:
        """Add to the error what is known, in place."""
        found = reported_state(self.state(), self.facts)
        if found is None:
            return
        if isinstance(error, CheckFailed):
            error.task = None if found.left is None else found.left.name
        elif isinstance(error, RunTimeout):
            _describe(error, found)
        else:
            error.add_note(found.text())


def _describe(error: DataflowError, found: RunState) -> None:
    """Give an error the state as notes, and for tools."""
    (said,) = error.diagnostics
    first, *lines = found.text().splitlines()
    notes = [Note("\n".join([first, *(f"  {line}" for line in lines)]))]
    told = DataflowError(said.message, hint=said.hint, notes=notes)
    error.diagnostics = told.diagnostics
    error.tasks = tuple(task_states(found.waits, ()))
    error.streams = tuple(dict.fromkeys(wait.stream.state() for wait in found.waits if wait.stream is not None))
