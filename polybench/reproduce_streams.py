"""Compares designs whose stages run at the same time, connected by FIFOs, with those whose stages run in turn.

python -m polybench.reproduce_streams
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from . import correlation, symm, three_mm, two_mm
from .evaluation import estimated
from .tables import print_table

HEADER = (
    *("kernel", "DSP, streams (estimated)", "cycles, streams (estimated)"),
    *("DSP, in turn (estimated)", "cycles, in turn (estimated)", "streams / in turn"),
)


def rows(size: str = "MEDIUM") -> list[Sequence[Any]]:
    """One row for each kernel: its design in streams, and the fastest one in turn within the DSPs that it takes."""
    found: list[Sequence[Any]] = []
    for kernel in (two_mm, three_mm, symm, correlation):
        streams = estimated(kernel.DESIGNS["streams"], size)
        in_turn = estimated(kernel.within(streams.dsp), size)
        ratio = round((streams.cycles or 0) / (in_turn.cycles or 1), 2)
        name = kernel.BENCHMARK.name
        found.append((name, streams.dsp, streams.cycles, in_turn.dsp, in_turn.cycles, ratio))
    return found


if __name__ == "__main__":
    sys.exit(print_table(__doc__, HEADER, rows))
