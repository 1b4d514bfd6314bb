"""Unrolling of stages, as `unroll_stages` returns it: a factor and cycles for each, and banks that arrays need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...errors import ScheduleError
from ...picture import aligned, preformatted
from ..step.handles import FifoName


class Option(NamedTuple):
    """A factor of a stage, the cycles of one run, and DSPs."""

    factor: int
    cycles: int
    dsp: int


@dataclass(frozen=True, slots=True)
class StageOptions:
    """What a stage can be: `options` by growing factors, the first of which is 1; why there are no larger ones."""

    name: str
    options: tuple[Option, ...]
    limit: str


@dataclass(frozen=True, slots=True)
class StageChoice:
    """What a stage has become."""

    name: str
    chosen: Option
    before: int  # cycles
    limit: str


class BankRequest(NamedTuple):
    """Banks that an array needs for what `unroll_stages` has done: arguments of `s.partition`."""

    array: str
    dim: int
    factor: int


@dataclass(frozen=True, slots=True)
class UnrollPlan:
    """Factors of the stages of a function, and how many elements a cycle the FIFOs of `widths` pass, others one.

    All cycles and DSPs are *estimated*; `banks` are not there yet.
    """

    target: str
    budget: int
    stages: tuple[StageChoice, ...]
    banks: tuple[BankRequest, ...]
    widths: Mapping[FifoName, int] = field(default_factory=dict)

    @property
    def cycles(self) -> int:
        """Those of the slowest stage."""
        return max(stage.chosen.cycles for stage in self.stages)

    @property
    def dsp(self) -> int:
        return sum(stage.chosen.dsp for stage in self.stages)

    def __str__(self) -> str:
        before = max(stage.before for stage in self.stages)
        head = f"slowest stage {self.cycles:,} cycles, {before:,} before; {self.dsp:,} of {self.budget:,} DSP on "
        rows = [("stage", "before", "factor", "cycles", "DSP", "no more, since")]
        for s in self.stages:
            made = s.chosen
            rows.append((s.name, f"{s.before:,}", str(made.factor), f"{made.cycles:,}", str(made.dsp), s.limit))
        wide = [f"{width} elements a cycle through {fifo}" for fifo, width in self.widths.items()]
        return "\n".join([f"{head}{self.target}, estimated", *aligned(rows), *wide])

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def balanced(stages: Sequence[StageOptions], budget: int) -> list[Option]:
    """An option for each stage, so that the slowest one takes the fewest cycles with at most `budget` DSPs together.

    Exact: for a limit of cycles the cheapest option of each stage that keeps it is the best one, and what all take
    together only grows if the limit sinks. So the least limit that is within the budget is found by bisection.
    Raises ScheduleError if not even the cheapest options are.
    """
    limits = sorted({option.cycles for stage in stages for option in stage.options})
    slowest = max(min(option.cycles for option in stage.options) for stage in stages)
    low, high = limits.index(slowest), len(limits) - 1
    found = _within(stages, limits[high])
    if (needed := sum(option.dsp for option in found)) > budget:
        raise ScheduleError(
            f"the stages take {needed:,} DSPs without unrolling, and dsp= is {budget:,}",
            hint="give more, or let operators be made of LUTs",
        )
    while low < high:
        middle = (low + high) // 2
        tried = _within(stages, limits[middle])
        if sum(option.dsp for option in tried) <= budget:
            found, high = tried, middle
        else:
            low = middle + 1
    return found


def _within(stages: Sequence[StageOptions], limit: int) -> list[Option]:
    """The cheapest option of each stage that takes at most so many cycles; of those as cheap that of fewest copies."""
    return [
        min((o for o in stage.options if o.cycles <= limit), key=lambda o: (o.dsp, o.factor)) for stage in stages
    ]
