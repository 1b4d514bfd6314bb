"""Puts our designs beside the published points of `published_rtl.csv` at equal or fewer DSPs, MEDIUM, float32.

    python -m polybench.reproduce_points

For each kernel: the fastest of our designs with at most the DSPs of Allo's published one, and with at most 220 and 2560
DSPs beside the published points of these budgets. Theirs are cycles of simulated RTL (or of C synthesis where the
simulation failed), ours are estimated.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .evaluation import estimated
from .published import Point, points
from .suite import load
from .tables import print_table

KERNELS = ("two_mm", "three_mm", "atax", "bicg", "gemm", "gesummv", "mvt")
BUDGETS = (220, 2560)
HEADER = (
    *("kernel", "published design", "DSP (published)", "cycles (published)"),
    *("our design", "DSP (ours, estimated)", "cycles (ours, estimated)", "ours / published"),
)


def compared(kernel: str) -> list[Point]:
    """Allo's point, and the fastest of each budget."""
    known = points(kernel)
    found = [point for point in known if point.tool == "Allo"]
    for budget in BUDGETS:
        named = [point for point in known if f"({budget} DSP budget)" in point.tool]
        found += sorted(named, key=lambda point: point.cycles)[:1]
    return found


def rows() -> list[Sequence[Any]]:
    """One row for each published point: the fastest of our designs that takes no more DSPs."""
    found: list[Sequence[Any]] = []
    for kernel in KERNELS:
        designs = {name: design for name, design in load(kernel).designs.items() if name not in ("vanilla", "cpu")}
        known = {name: estimated(design, "MEDIUM") for name, design in designs.items()}
        for point in compared(kernel):
            budget = next((b for b in BUDGETS if f"({b} DSP" in point.tool), None)
            fitting = {name: f for name, f in known.items() if f.dsp <= (budget or point.dsp) and f.cycles}
            if budget:  # of a tool whose adders take DSPs
                fitting = {name: f for name, f in fitting.items() if not designs[name].operators}
            tool = point.tool if point.simulated else f"{point.tool} (fails in RTL simulation)"
            if not fitting:
                found.append((kernel, tool, point.dsp, point.cycles, "none", "", "", ""))
                continue
            name, ours = min(fitting.items(), key=lambda item: item[1].cycles or 0)
            note = "".join(f", {op}: {how}" for op, how in designs[name].operators.items())
            ratio = round((ours.cycles or 0) / point.cycles, 2)
            found.append((kernel, tool, point.dsp, point.cycles, name + note, ours.dsp, ours.cycles or 0, ratio))
    return found


if __name__ == "__main__":
    sys.exit(print_table(__doc__, HEADER, rows))
