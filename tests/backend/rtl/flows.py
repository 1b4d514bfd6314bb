"""Dataflow designs in simulated hardware beside the simulator: the same bits, in the cycles of a timed run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
import allo.dataflow as df
from allo.backend.rtl import RTLModule
from allo.target import load_target

type Steps = Callable[[allo.Schedule], Any]


def assert_flows(
    design: Any, *arguments: Any, steps: Steps = lambda s: None, data_decide: bool = False, **options: Any
) -> RTLModule:
    """Run a design in hardware and timed, under the profile of that hardware: bits and cycles are the same.

    The cycles are those that were predicted, unless `data_decide`.
    """
    s = design if isinstance(design, allo.Schedule) else df.customize(design)
    steps(s)
    own, timed = ([a.copy() if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2))
    built = s.build(target="rtl", random_state=1, limit=100_000, **options)
    assert isinstance(built, RTLModule)
    built(*own)
    simulated = df.build(s, target="simulator", timed=load_target("u280").under("rtl"))
    simulated(*timed)
    for one, other in zip(own, timed, strict=True):
        np.testing.assert_array_equal(one, other)
    assert built.cycles == simulated.timing.cycles
    assert simulated.timing.notes == ()
    assert built.predicted_cycles == (None if data_decide else built.cycles)
    return built
