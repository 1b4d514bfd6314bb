"""Limits of the work of the method: seconds and memory in all, and operations of isl in each step.

The seconds are those of the processor: that others use it too is no reason to give up before the deadline of the
whole comparison, which is one of the clock.
A limit on the operations of isl bounds the time and the memory of a call; both are looked at between the steps.
"""

from __future__ import annotations

import math
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time

import islpy as isl

from ...poly.effort import Exhausted, limited
from ...poly.model import Source
from ..deadline import Deadline
from .nodes import Gap

_OPERATIONS = 100_000_000  # of isl in all without a limit of time: some twenty seconds
_PER_SECOND = 200_000  # at least; most are faster
_OF_A_STEP = 2_000_000  # operations, of some seconds; a design of PolyBench takes 1.6 million
_MEMORY = 3_000_000_000  # bytes more than at the start


class OutOfEffort(Gap):
    """The method has worked for longer than it may, or needs more memory."""


class Effort:
    """The work that is left in one comparison; `at` is the statement that it is at."""

    def __init__(
        self, seconds: float | None = None, memory: int = _MEMORY, deadline: Deadline | None = None
    ) -> None:
        self.seconds = seconds
        self._until = math.inf if seconds is None else process_time() + seconds
        self._deadline = Deadline(math.inf) if deadline is None else deadline
        self.memory = memory
        self.at: Source | None = None
        self._start = _resident()
        self._reason = f"not decided within {_OPERATIONS // 1_000_000} million operations of isl"

    def error(self) -> OutOfEffort:
        return OutOfEffort(self._reason, self.at)

    def check(self, at: Source | None = None, steps: int = 1) -> None:
        """Raises OutOfEffort if time or memory are over, and sets what isl may do in the next steps."""
        self.at = at or self.at
        if _peak() - self._start > self.memory and _resident() - self._start > self.memory:
            raise OutOfEffort(f"it needs more than the limit of {self.memory / 1e9:g} GB of memory", self.at)
        seconds = min(self._until - process_time(), self._deadline.left)
        if math.isinf(seconds):
            return
        left = int(seconds * _PER_SECOND)
        within = "the time" if self.seconds is None else f"{self.seconds:g} s"
        self._reason = f"not decided within {within}; a longer `timeout` gives it more"
        if left <= 0:
            raise self.error()
        if left > _OF_A_STEP:
            self._reason = f"a step takes more than {steps * _OF_A_STEP / 1e6:g} million operations of isl"
        isl.DEFAULT_CONTEXT.reset_operations()
        most = min(steps * min(left, _OF_A_STEP), self._deadline.left * _PER_SECOND)
        isl.DEFAULT_CONTEXT.set_max_operations(max(1, int(most)))  # 0 is no limit

    @contextmanager
    def limited(self) -> Iterator[None]:
        """No more work for isl than there is left; raises OutOfEffort instead of its errors about that."""
        try:
            with limited(_OPERATIONS):
                self.check()
                yield
        except Exhausted as error:
            raise self.error() from error


def _peak() -> int:
    """At least the bytes that this process has in memory, and fast to ask; 0 if the system does not tell."""
    if sys.platform != "linux":
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _resident() -> int:
    """The bytes that this process has in memory; 0 if the system does not tell."""
    if sys.platform != "linux":
        return 0
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
