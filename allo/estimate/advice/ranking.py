"""Order of advised steps by what the whole design gains."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mlir import ir

from ..report.result import Advice
from .question import Proposal, pasted

_NOTABLE = 50  # the part of all cycles that a step has to gain which is good for long loops only


@dataclass(frozen=True, slots=True)
class AdvisedStep:
    """A proposal, the function that it is in, and how users call what it is about."""

    function: str
    op: ir.Operation
    at: str
    proposal: Proposal


def ranked(
    steps: Sequence[AdvisedStep], latency_with: Callable[[Sequence[AdvisedStep]], Fraction | None]
) -> tuple[tuple[Advice, ...], list[AdvisedStep]]:
    """What gains most first, then in the order of the text, with steps that gain together only as one; all its steps.

    `latency_with` gives the cycles of the whole design if some steps are taken. Where that is known, steps that cost
    cycles are left out, and those that are good only for a notable share of it if they gain less.
    """
    whole = latency_with([])
    if whole is None:
        kept = [step for step in steps if not step.proposal.small]
        return tuple(Advice(step.at, step.proposal.step, None) for step in kept), kept

    def gain(taken: Sequence[AdvisedStep]) -> int:
        latency = latency_with(taken)
        return 0 if latency is None else math.ceil(whole) - math.ceil(latency)

    gains = {step: gain([step]) for step in steps}
    least = {step: whole / _NOTABLE if step.proposal.small else 0 for step in steps}
    kept = [step for step, value in gains.items() if value >= least[step]]
    found = [Advice(step.at, step.proposal.step, gains[step]) for step in kept if gains[step]]
    idle = [step for step in kept if not gains[step]]
    together = _together(idle, gain)
    if together:
        at = ", ".join(step.at for step in together)
        found.append(Advice(at, pasted(step.proposal.step for step in together), gain(together)))
    found.sort(key=lambda advice: -(advice.gain or 0))
    found += [Advice(step.at, step.proposal.step, 0) for step in idle if step not in together]
    return tuple(found), kept


def _together(idle: Sequence[AdvisedStep], gain: Callable[[Sequence[AdvisedStep]], int]) -> list[AdvisedStep]:
    """The fewest of the steps that gain nothing alone which gain as much as all of them."""
    kept = [step for step in idle if step.op.name != "func.func"]  # these leave nothing to gain inside
    most = gain(kept) if len(kept) > 1 else 0
    if most <= 0:
        return []
    for step in list(kept):
        rest = [other for other in kept if other is not step]
        if gain(rest) == most:
            kept = rest
    return kept
