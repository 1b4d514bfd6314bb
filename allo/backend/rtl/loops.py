"""Loops of a run in simulation: when each ran and how often, beside what the schedule says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import Location
from .lowering.watched import WatchedLoop
from .simulate import Simulation


@dataclass(frozen=True, slots=True)
class LoopRun:
    """What a loop, or a nest that is one pipeline, has done in a run.

    It began first in cycle `first` and ended last in cycle `last`, counted from the start of the kernel (None: it
    never ran). `intervals` are the least and the most cycles from iteration to iteration of one run of it. `scheduled`
    says the same of the schedule: first, last, and the interval of a pipeline; None where data decide.
    """

    name: str
    at: Location | None
    runs: int
    iterations: int
    first: int | None
    last: int | None
    intervals: tuple[int, int] | None
    scheduled: tuple[int | None, int | None, int | None]

    @property
    def as_scheduled(self) -> bool:
        """Whether all that the schedule says is true of this run."""
        first, last, interval = self.scheduled
        is_first, is_last = first in (None, self.first), last in (None, self.last)
        return is_first and is_last and (None in (interval, self.intervals) or self.intervals == (interval, interval))

    def __str__(self) -> str:
        if self.first is None or self.last is None:
            return f"{self.name}: never ran"
        told = f"{self.name}: cycles {self.first:,} to {self.last:,}, {self.runs:,} x, {self.iterations:,} iterations"
        if self.intervals is None:
            return told
        least, most = self.intervals
        return f"{told}, one each {least:,}{'' if least == most else f' to {most:,}'} cycles"


class LoopMonitors:
    """The monitors of a simulation."""

    def __init__(self, model: Simulation, loops: Sequence[WatchedLoop]) -> None:
        self._seen = [(loop, model.view(f"{loop.monitor}.seen")) for loop in loops]

    def start(self) -> None:
        """Forget what was seen."""
        for _, seen in self._seen:
            seen[:] = 0

    def read(self, begin: int = 0) -> tuple[LoopRun, ...]:
        """What the loops have done since the start; the kernel began in cycle `begin`."""
        return tuple(_run(loop, [int(number) for number in seen], begin) for loop, seen in self._seen)


def _run(loop: WatchedLoop, seen: list[int], begin: int) -> LoopRun:
    _, runs, iterations, first, last, least, most, _ = seen
    first, last = first - begin, last - begin
    span = loop.span
    scheduled = (None, None) if span is None else (span.first, span.last)
    return LoopRun(
        loop.name, loop.at, runs, iterations, first if runs else None, last if runs else None,
        (least, most) if most else None, (*scheduled, loop.interval),
    )  # fmt: skip
