"""The pipelined loop that advice is asked for, what binds it, and what it is part of."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ...ir.walk import LoopView
from ...poly import Model
from ..scheduling.pipeline import ScheduledRegion
from ..scheduling.region import LoopBody, Surroundings


@dataclass(frozen=True, slots=True)
class Question:
    """A pipelined loop, with the loops from the outermost of its nest to itself."""

    function: str
    model: Model
    done: ScheduledRegion
    region: LoopBody
    requested: int
    chain: tuple[LoopView, ...]
    names: tuple[str, ...]  # of the loops, as primitives take them
    around: Surroundings
    runs: tuple[Fraction | None, ...]  # iterations of each time loop
    latency: Fraction | None  # of the pipeline
    auto_pipeline: bool
