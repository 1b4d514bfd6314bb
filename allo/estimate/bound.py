"""Lower bound of the cycles of a design, from its recurrences and iterations alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..ir.linalg import with_loops
from ..ir.recursion import reads_programs
from ..timing.control.build import TreeOptions
from ..timing.control.trees import Trees
from .estimate import device_of
from .rules import as_the_tool_reads

if TYPE_CHECKING:
    from ..customize import Schedule


@reads_programs
def least_cycles(design: Schedule, options: Mapping[str, Any]) -> int | None:
    """Cycles that `allo.estimate(design, **options)` reaches or exceeds, whatever banks the arrays get.

    Units, ports and transfers are free, and arrays answer at once: what is left are iterations and what they wait for.
    None where a run-time value decides. It costs a small part of an estimate, above all where sums wait for themselves.
    """
    device = device_of(options)
    module = as_the_tool_reads(with_loops(design.ir), device.rules)
    tree = TreeOptions(
        device,
        options.get("auto_pipeline", False),
        dict(options.get("trips") or {}),
        unsafe_math=options.get("unsafe_math", False),
        bounds=True,
    )
    latency = Trees(module, tree).span(module.top).latency
    return None if latency is None else math.floor(latency)
