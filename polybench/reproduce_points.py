"""Puts our designs beside the published points of `published_rtl.csv` at equal or fewer DSPs, MEDIUM, float32.

    python -m polybench.reproduce_points

For each point of Allo, and of Stream-HLS at its three budgets: the fastest of our designs with at most the DSPs that
the point takes, whatever its budget was, and at least four fifths of them; where that is slower, or there is none, the
fastest whose adders are LUTs. Theirs are cycles of simulated RTL (or of C synthesis where the simulation failed), ours
are estimated; both are for 300 MHz.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .evaluation import Figures, estimated
from .published import Point, points
from .suite import load
from .tables import print_table

KERNELS = ("two_mm", "three_mm", "atax", "bicg", "gemm", "gesummv", "mvt")
BUDGETS = (220, 2560, 9024)
HEADER = (
    *("kernel", "published design", "DSP (published)", "LUT (published)", "cycles (published)"),
    *("our design", "DSP (ours, estimated)", "LUT (ours, estimated)", "cycles (ours, estimated)"),
    "ours / published",
)


def compared(kernel: str) -> list[Point]:
    """Allo's point, and the fastest of each budget; budgets that led to the same design are one point."""
    known = points(kernel)
    found = [point for point in known if point.tool == "Allo"]
    for budget in BUDGETS:
        named = [point for point in known if f"({budget} DSP budget)" in point.tool]
        best = min(named, key=lambda point: point.cycles)
        if (best.dsp, best.cycles) not in [(point.dsp, point.cycles) for point in found]:  # not the same once more
            found.append(best)
    return found


def fastest(kernel: str, known: dict[str, Figures], point: Point, *, fabric: bool) -> tuple[str, Figures] | None:
    """The fastest design with no more DSPs than `point` whose adders are LUTs, or DSPs, which it then uses up."""
    designs = load(kernel).designs
    least = 0 if fabric else 0.8 * point.dsp
    fitting = [
        (name, figures)
        for name, figures in known.items()
        if least <= figures.dsp <= point.dsp and figures.cycles and bool(designs[name].operators) == fabric
    ]
    return min(fitting, key=lambda item: item[1].cycles or 0, default=None)


def chosen() -> list[tuple[Point, str, Figures]]:
    """The designs beside each published point, one or two, with what is estimated of them."""
    found: list[tuple[Point, str, Figures]] = []
    for kernel in KERNELS:
        designs = {name: design for name, design in load(kernel).designs.items() if name not in ("vanilla", "cpu")}
        known = {name: estimated(design, "MEDIUM") for name, design in designs.items()}
        for point in compared(kernel):
            least = None
            for fabric in (False, True):
                best = fastest(kernel, known, point, fabric=fabric)
                if best is None or (least is not None and (best[1].cycles or 0) >= min(least, point.cycles)):
                    continue
                found.append((point, *best))
                least = best[1].cycles or 0
                if least <= point.cycles:
                    break
    return found


def titled(point: Point) -> str:
    """The tool of a published point, which says where its design fails."""
    return point.tool if point.simulated else f"{point.tool} (fails in RTL simulation)"


def rows() -> list[Sequence[Any]]:
    """The rows of the table: one for each published point, or two."""
    found: list[Sequence[Any]] = []
    for point, name, ours in chosen():
        note = "".join(f", {op}: {how}" for op, how in load(point.kernel).designs[name].operators.items())
        least = ours.cycles or 0
        theirs = (point.kernel, titled(point), point.dsp, point.lut, point.cycles)
        found.append((*theirs, name + note, ours.dsp, ours.lut, least, round(least / point.cycles, 2)))
    return found


if __name__ == "__main__":
    sys.exit(print_table(__doc__, HEADER, rows))
