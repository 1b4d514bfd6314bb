"""Reproduces Fig. 12 of the Allo paper: estimated speed-up of the best design of each kernel over the vanilla one.

    python -m polybench.reproduce_fig12 [--svg FILE]

Vanilla is the kernel without a schedule, with what Vitis HLS does by itself: it pipelines innermost loops.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .evaluation import estimated
from .suite import NAMES, load
from .tables import in_markdown

HEADER = ("kernel", "vanilla cycles", "best cycles", "speed-up", "worst II of best", "DSP of best")


def rows(size: str = "MEDIUM", kernels: Sequence[str] = NAMES) -> list[Sequence[Any]]:
    """One row for each kernel; all figures are estimated."""
    found: list[Sequence[Any]] = []
    for name in kernels:
        designs = load(name).designs
        vanilla, best = (estimated(designs[d], size, baseline=d == "vanilla") for d in ("vanilla", "best"))
        known = vanilla.cycles and best.cycles
        speedup = round(vanilla.cycles / best.cycles, 1) if known and vanilla.cycles and best.cycles else "?"
        found.append((name, vanilla.cycles or "?", best.cycles or "?", speedup, best.ii or "-", best.dsp))
    return found


def draw(found: Sequence[Sequence[Any]], path: Path) -> None:
    """The bars of the figure as SVG. Needs matplotlib."""
    from matplotlib.figure import Figure

    known = [row for row in found if row[3] != "?"]
    figure = Figure(figsize=(11, 4), layout="constrained")
    axes = figure.subplots()
    axes.bar([row[0] for row in known], [row[3] for row in known])
    axes.set_yscale("log")
    axes.set_ylabel("speed-up over vanilla (estimated)")
    axes.tick_params(axis="x", rotation=70)
    figure.savefig(path, metadata={"Date": None})


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--svg", type=Path, help="where to write the figure")
    options = parser.parse_args()
    found = rows()
    print(in_markdown(HEADER, found))
    if options.svg:
        draw(found, options.svg)
    return 0


if __name__ == "__main__":
    sys.exit(main())
