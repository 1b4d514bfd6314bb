"""End of a simulated run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """How a run ended, after how many clock edges.

    The first edge is the one that samples `start`, the last the one before `done` (or `stuck`) is 1.
    """

    cycles: int
    deadlocked: bool = False
    limited: bool = False  # it took all cycles that it was given, and has not ended
    idle: bool = False  # what has to change has not, for very long
    failure: str | None = None  # what an assertion of the design says

    @property
    def finished(self) -> bool:
        return not self.deadlocked and not self.limited and not self.idle and self.failure is None
