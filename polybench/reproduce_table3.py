"""Reproduces Table 3 of the Allo paper (PLDI 2024): five designs at MEDIUM, the paper's figures and ours side by side.

    python -m polybench.reproduce_table3

The paper's cycles come from C synthesis by Vitis HLS; ours are estimated. Compile time is CPU time
from Python to HLS code.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .evaluation import compile_seconds, estimated
from .published import TABLE_3
from .suite import load
from .tables import print_table

HEADER = (
    *("kernel", "cycles (paper)", "cycles (ours, estimated)", "ours / paper", "II (paper)", "II (ours)"),
    *("DSP (paper)", "DSP (ours, estimated)", "lines (paper)", "lines (ours)"),
    *("compile s (paper)", "compile s (ours)"),
)


def rows() -> list[Sequence[Any]]:
    """One row for each design of the table."""
    found: list[Sequence[Any]] = []
    for name, paper in TABLE_3.items():
        design = load(name).designs["table3"]  # within the DSPs of the paper
        ours = estimated(design, "MEDIUM")
        ratio = round(ours.cycles / paper.cycles, 2) if ours.cycles else "?"
        seconds = round(compile_seconds(design, "MEDIUM"), 2)
        found.append(
            (
                *(name, paper.cycles, ours.cycles or "?", ratio, paper.ii, ours.ii or "-"),
                *(paper.dsp, ours.dsp, paper.lines, design.lines(), paper.compile_seconds, seconds),
            )
        )
    return found


if __name__ == "__main__":
    sys.exit(print_table(__doc__, HEADER, rows))
