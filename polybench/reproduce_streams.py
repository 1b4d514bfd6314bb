"""Compares designs whose stages run at the same time, connected by FIFOs, with those whose stages run in turn.

python -m polybench.reproduce_streams
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from .evaluation import estimated
from .suite import NAMES, load
from .tables import print_table

HEADER = (
    *("kernel", "DSP, streams (estimated)", "cycles, streams (estimated)"),
    *("DSP, in turn (estimated)", "cycles, in turn (estimated)", "streams / in turn"),
)


def rows(size: str = "MEDIUM") -> list[Sequence[Any]]:
    """One row for each kernel: its design in streams, and the fastest one in turn whose lanes take no more DSPs."""
    found: list[Sequence[Any]] = []
    for name in NAMES:
        designs = load(name).designs
        if "streams" not in designs:
            continue
        streams = estimated(designs["streams"], size)
        in_turn = estimated(import_module(f"polybench.{name}").within(streams.dsp), size)
        ratio = round((streams.cycles or 0) / (in_turn.cycles or 1), 2)
        found.append((name, streams.dsp, streams.cycles, in_turn.dsp, in_turn.cycles, ratio))
    return found


if __name__ == "__main__":
    sys.exit(print_table(__doc__, HEADER, rows))
