"""Stages of dataflow regions, with their loops in one row: cycles, the least that they allow, what keeps them above."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...timing.control.timeline import Timeline, TimelinePart
from .result import Estimate, FunctionEstimate, LoopEstimate
from .timeline_table import waits


@dataclass(frozen=True, slots=True)
class StageEstimate:
    """A stage, for reports of streamed graphs a layer. All numbers are *estimated*, None where they are not known.

    `cycles`: from its begin to its end, with what it waits for; `bound`: the least cycles that its operations, ports
    and recurrences allow at this parallelism; `because`: what takes the cycles above that, or binds the loop that takes
    most of them.
    """

    name: str
    cycles: int | None
    bound: int | None
    because: str

    @property
    def achieved(self) -> float | None:
        """The bound as a share of the cycles: 1 where a stage could not be faster as it is."""
        return self.bound / self.cycles if self.bound is not None and self.cycles else None


def stages_of(estimate: Estimate, timeline: Timeline) -> tuple[StageEstimate, ...]:
    """The stages of a timeline, in its order."""
    functions = {function.name: function for function in estimate.functions}
    return tuple(_stage(functions, timeline.of.partition(":")[0], part) for part in timeline.parts)


def stage_rows(estimate: Estimate, timeline: Timeline) -> list[tuple[str, ...]]:
    """A header, and a row for each stage."""
    rows: list[tuple[str, ...]] = [("stage", "cycles", "bound", "achieved", "because")]
    for stage in stages_of(estimate, timeline):
        share = "?" if stage.achieved is None else f"{100 * stage.achieved:.3g} %"
        numbers = ("?" if n is None else str(n) for n in (stage.cycles, stage.bound))
        rows.append((stage.name, *numbers, share, stage.because))
    return rows


def _stage(functions: dict[str, FunctionEstimate], inside: str, part: TimelinePart) -> StageEstimate:
    cycles = None if part.begin is None or part.end is None else part.end - part.begin
    called = functions.get(part.callee)
    loops = called.loops if called is not None else functions[inside].loops
    own = [loop for loop in loops if called is not None or loop.nest == part.nest]
    outer = [loop for loop in own if loop.level == 0]
    latency = called.latency if called is not None else outer[0].latency if outer else cycles
    lost = _lost(outer)
    bound = None if latency is None or lost is None else latency - lost
    waited = sum(stall.cycles for stall in part.stalls)
    if lost is not None and waited > lost:
        return StageEstimate(part.name, cycles, bound, f"waits {waits(part.stalls)}")
    return StageEstimate(part.name, cycles, bound, _because(own))


def _lost(outer: Iterable[LoopEstimate]) -> int | None:
    """The cycles that loops take above their bounds; None where that is not known."""
    total = 0
    for loop in outer:
        if loop.latency is None or loop.bound is None:
            return None
        total += loop.latency - loop.bound
    return total


def _because(loops: Sequence[LoopEstimate]) -> str:
    """What binds the innermost loop that takes most cycles, counted over all runs of it."""
    most, found, around = -1.0, "", list[float]()
    timed = [loop for loop in loops if not loop.unrolled]
    for place, loop in enumerate(timed):
        del around[loop.level :]
        times = around[-1] if around else 1.0
        around.append(times * (1.0 if loop.flattened else loop.trips or 1.0))
        is_innermost = place + 1 == len(timed) or timed[place + 1].level <= loop.level
        if is_innermost and loop.latency is not None and loop.latency * times > most:
            most, found = loop.latency * times, f"{loop.nest}.{loop.name}: {loop.reason or 'not pipelined'}"
    return found
