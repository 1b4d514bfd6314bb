"""Points of a search: decisions, the steps that they became, and what these cost, or why there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from .choices import Hole

FIGURES = ("cycles", "milliseconds", "interval", "dsp", "bram18", "uram", "lut", "ff")
"""What is known of each design; the first three may be None, where a run-time value decides."""


class PointState(Enum):
    """`BOUNDED`: not estimated, since a lower bound of its cycles, or what its lanes take, is above what is of use;
    `ILLEGAL`: a step is refused; `FAILED`: it cannot be estimated."""

    ESTIMATED = "estimated"
    BOUNDED = "bounded"
    ILLEGAL = "illegal"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PipelineFacts:
    """A pipeline of a design, with the bodies in it by their `titles`, as names of holes end (`... at title`).

    `dsp` are those of its lanes at an iteration a cycle, `interval` the cycles between two iterations,
    because results are needed again if it `waits`. `begin` and `end` are those of the `part` of the kernel that it is
    in, and `cycles` what all its runs take; None where that is not known, as of designs that are only bounded, whose
    interval is the least that recurrences allow.
    """

    titles: tuple[str, ...]
    dsp: int
    interval: int
    waits: bool
    cycles: int | None = None
    part: str = ""
    begin: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """A design that was looked at: all figures are *estimated*, but `simulated`, the cycles of a simulation in RTL.

    `holes` are the decisions in the order in which they were asked, `steps` the text of the schedule, `reason` why
    there is no design, `module` tells designs apart: equal modules are one design. `least` is the lower bound of the
    cycles of one that was not estimated, `proof` what `allo.verify` said. `places` are pipelines of a derived space.
    """

    holes: tuple[Hole, ...]
    steps: str
    state: PointState
    reason: str = ""
    module: str = ""
    figures: Mapping[str, float | int | None] = field(default_factory=dict)
    least: int | None = None
    simulated: int | None = None
    proof: str = ""
    places: tuple[PipelineFacts, ...] = ()

    @property
    def decisions(self) -> dict[str, int]:
        return {hole.name: hole.taken for hole in self.holes}

    @property
    def is_design(self) -> bool:
        return self.state is PointState.ESTIMATED

    @property
    def is_too_large(self) -> bool:
        """Whether its lanes alone are above a limit."""
        return self.state is PointState.BOUNDED and self.least is None

    def figure(self, name: str) -> float:
        """A figure; infinite if it is not known."""
        value = self.figures.get(name)
        return float("inf") if value is None else float(value)

    @property
    def cycles(self) -> int | None:
        value = self.figures.get("cycles")
        return None if value is None else int(value)

    def _of(self, name: str) -> int:
        return int(self.figures.get(name) or 0)

    @property
    def dsp(self) -> int:
        return self._of("dsp")

    @property
    def bram18(self) -> int:
        return self._of("bram18")

    @property
    def lut(self) -> int:
        return self._of("lut")

    @property
    def ff(self) -> int:
        return self._of("ff")

    def told(self) -> str:
        """The decisions that are not the first options, in a line."""
        return ", ".join(f"{hole.name}: {hole.value}" for hole in self.holes if hole.taken) or "nothing decided"

    def __str__(self) -> str:
        if not self.is_design:
            return f"{self.state.value}: {self.reason.splitlines()[0]}" if self.reason else self.state.value
        shown = f"{self.cycles} cycles, {self.dsp} DSP, {self.bram18} BRAM18, {self.lut} LUT, {self.ff} FF (estimated)"
        return shown + (f", {self.simulated} cycles simulated" if self.simulated is not None else "")
