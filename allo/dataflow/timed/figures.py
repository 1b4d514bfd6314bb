"""Figures of a timed run: its cycles, and those of each task and channel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..replay import Replayed
from .critical import CriticalPath, critical_path
from .times import ChannelTime, TaskTime, channel_times, task_times


@dataclass(frozen=True, eq=False)
class RunFigures:
    """A replayed run of the design `top` on `target` at a frequency in MHz."""

    top: str
    target: str
    frequency: float
    replayed: Replayed
    notes: tuple[str, ...] = ()
    basis: str = "with the static schedules of its tasks"

    @property
    def cycles(self) -> int:
        """The cycles of the whole run."""
        return self.replayed.total

    @property
    def milliseconds(self) -> float:
        """The time of the whole run at the frequency of the target."""
        return self.cycles / self.frequency / 1000

    @cached_property
    def tasks(self) -> tuple[TaskTime, ...]:
        """The tasks, a position each, in the order in which they were started."""
        return task_times(self.replayed)

    @cached_property
    def channels(self) -> tuple[ChannelTime, ...]:
        """The channels, in the order in which they were made."""
        return channel_times(self.replayed)

    @cached_property
    def critical(self) -> CriticalPath:
        """The chain of tasks and waits that the last cycle depends on."""
        return critical_path(self.replayed)
