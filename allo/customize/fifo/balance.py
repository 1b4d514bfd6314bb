"""The best factors of stages for a budget of DSPs, with FIFOs that are as wide at both ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ...ir.walk import LoopView
from ..nest.unrolling import Option, StageChoice, StageOptions, balanced
from ..step.handles import FifoName
from .vectors import InnerLoop, widened

_FINE = 64  # of the budget: what bisection leaves of it

type Plan = tuple[tuple[StageChoice, ...], list[int], dict[FifoName, int]]


class CostedSample(Protocol):
    """One sample that goes through all stages, as an estimate says it."""

    def cycles(self, copies: Mapping[LoopView, int]) -> int:
        """With so many copies of each inner loop."""


class CostedStage(Protocol):
    """What a stage takes, as an estimate says it."""

    @property
    def name(self) -> str: ...

    def options(self, loops: Sequence[InnerLoop], *, tails: bool = False) -> StageOptions:
        """What it can be, if its inner loops are these; with `tails` also by factors that divide no trip count."""

    def cost(self, copies: Mapping[LoopView, int], factor: int) -> Option:
        """With so many copies of each inner loop."""


def within_budget(
    costs: Sequence[CostedStage],
    loops: Sequence[InnerLoop],
    stage_of: Mapping[LoopView, CostedStage | None],
    dsp: int,
    *,
    tails: bool,
) -> Plan | None:
    """The choices for stages, the copies of loops, and the widths of FIFOs; None if both ends of these, made as wide
    as one another, take more than the budget whatever is chosen.

    Where they take more than was chosen, the choice is for a smaller budget, found by bisection.
    """
    stages = [stage.options(loops, tails=tails) for stage in costs]

    def fitting(budget: int) -> Plan | None:
        factors = {stage.name: option.factor for stage, option in zip(costs, balanced(stages, budget), strict=True)}
        wanted = [1 if (stage := stage_of[loop.view]) is None else loop.copies(factors[stage.name]) for loop in loops]
        copies, widths = widened(loops, wanted)
        of_loop = {loop.view: count for loop, count in zip(loops, copies, strict=True)}
        chosen = [stage.cost(of_loop, factors[stage.name]) for stage in costs]
        fits = sum(option.dsp for option in chosen) <= dsp
        return (tuple(map(chosen_of, stages, chosen)), copies, widths) if fits else None

    if (found := fitting(dsp)) is not None:
        return found
    low, high = sum(min(option.dsp for option in stage.options) for stage in stages), dsp
    best = fitting(low)
    while best is not None and high - low > max(1, dsp // _FINE):
        middle = (low + high) // 2
        if (found := fitting(middle)) is not None:
            best, low = found, middle
        else:
            high = middle
    return best


def chosen_of(stage: StageOptions, option: Option) -> StageChoice:
    """What a stage has become with an option."""
    is_last = option.factor == stage.options[-1].factor
    return StageChoice(stage.name, option, stage.options[0].cycles, stage.limit if is_last else "")
