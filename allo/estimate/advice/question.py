"""The pipelined loop that advice is asked for, and a step that would make it faster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from ...ir.walk import LoopView
from ...timing.control.build import Assumed
from ...timing.control.tree import FunctionTree, Pipeline
from ...timing.pipeline import ScheduledRegion
from ...timing.problem.region import LoopBody


@dataclass(frozen=True, slots=True)
class Proposal:
    """A step, with the latency and the interval that a loop or function has with it.

    A loop that is not pipelined is scheduled again as a pipeline, where no latency is given. A `small` one is advised
    only where it gains a notable share.
    """

    step: str
    latency: Fraction | None = None
    interval: int | None = None
    small: bool = False

    @property
    def assumed(self) -> Assumed:
        """What a tree is with it."""
        return Assumed(self.latency, self.interval)


def pasted(steps: Iterable[str]) -> str:
    """Several steps as one line, with their remarks behind them."""
    parts = [step.partition("  # ") for step in steps]
    remarks = [remark for _, _, remark in parts if remark]
    return "; ".join(step for step, _, _ in parts) + (f"  # {', '.join(remarks)}" if remarks else "")


@dataclass(frozen=True, slots=True)
class Question:
    """A pipelined loop, with the loops from the outermost of its nest to itself as primitives call them."""

    tree: FunctionTree
    node: Pipeline
    names: tuple[str, ...]
    auto_pipeline: bool

    @property
    def done(self) -> ScheduledRegion:
        return self.node.region

    @property
    def region(self) -> LoopBody:
        return self.done.graph.region

    @property
    def requested(self) -> int:
        return self.node.requested

    @property
    def chain(self) -> tuple[LoopView, ...]:
        return self.node.loops[-1].chain

    def proposal(self, step: str, interval: int) -> Proposal | None:
        """A step that leads to this interval; None if that is not lower."""
        return Proposal(step, self.node.at(interval), interval) if interval < self.done.interval else None

    def without(self, *labels: str, recurrences: bool = True) -> int:
        """The interval that is left without the demands of the ports of some arrays, or of recurrences."""
        others = [array.pressure() for array in self.done.accesses if array.label not in labels]
        found = [self.requested, *(pressure.interval for pressure in others if pressure is not None)]
        found += [node.interval for node in self.region.nodes if node.kind == "call"]
        if recurrences and self.done.recurrence is not None:
            found.append(self.done.recurrence.interval)
        return max(found)
