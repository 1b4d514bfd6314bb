"""Table of errors: what estimates for hardware of our own say that designs take, beside what Yosys counts.

    python -m polybench.sizes_rtl
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from statistics import median
from typing import Any

import allo

from .measured_rtl import Measured, read
from .suite import load
from .tables import print_table

HEADER = ("blocks", "designs", "median error", "median error without its sign", "worst error", "of")
BLOCKS = ("lut", "ff", "dsp")


def counted() -> list[Measured]:
    """The designs that Yosys has counted."""
    return [row for row in read() if row.lut is not None]


def errors(rows: Sequence[Measured]) -> dict[str, list[float]]:
    """For each kind of block, how much more than counted is estimated, in parts of it; none where none is counted."""
    found: dict[str, list[float]] = {block: [] for block in BLOCKS}
    for row in rows:
        schedule = load(row.kernel).designs[row.design].customized(row.size)
        stated = allo.estimate(schedule, profile="rtl", rewritten=True).resources
        for block in BLOCKS:
            count = getattr(row, block)
            found[block].append(getattr(stated, block) / count - 1 if count else 0.0)
    return found


def rows() -> list[Sequence[Any]]:
    """A row for each kind of block."""
    designs = counted()
    found: list[Sequence[Any]] = []
    for block, parts in errors(designs).items():
        worst = max(range(len(parts)), key=lambda n: abs(parts[n]))
        named = f"{designs[worst].kernel} `{designs[worst].design}`"
        shown = (f"{100 * part:+.1f} %" for part in (median(parts), parts[worst]))
        first, last = shown
        found.append((block.upper(), len(parts), first, f"{100 * median(map(abs, parts)):.1f} %", last, named))
    return found


if __name__ == "__main__":
    sys.exit(print_table(__doc__, HEADER, rows))
