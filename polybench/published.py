"""Published figures of other tools for the same benchmarks at MEDIUM in float32, which ours are put beside."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Table3:
    """A row of Table 3 of the Allo paper (PLDI 2024): cycles by C synthesis for a U280 at 300 MHz."""

    cycles: int
    ii: int
    dsp: int
    lines: int
    compile_seconds: float
    scalehls_cycles: int
    scalehls_ii: int
    scalehls_dsp: int
    scalehls_compile_seconds: float


TABLE_3 = {
    "atax": Table3(4_900, 1, 403, 9, 1.0, 19_400, 4, 141, 36.1),
    "correlation": Table3(498_700, 1, 4168, 19, 0.8, 144_900_000, 667, 109, 638.8),
    "jacobi_2d": Table3(58_800, 1, 3968, 17, 0.9, 10_800_000, 28, 55, 47.9),
    "symm": Table3(405_700, 1, 1208, 15, 1.0, 182_400_000, 13, 6, 3.5),
    "trmm": Table3(492_600, 1, 101, 12, 0.8, 38_400_000, 4, 7, 1.4),
}

BEST_SPEEDUP = 1099
"""The largest speed-up over Vitis HLS in Fig. 12 of the paper, whose text gives no numbers of single kernels."""


@dataclass(frozen=True, slots=True)
class Point:
    """A design of another tool: cycles by RTL simulation, or by C synthesis where that simulation failed."""

    tool: str
    kernel: str
    cycles: int
    dsp: int
    simulated: bool
    lut: int


def points(kernel: str) -> list[Point]:
    """What the artifact of Stream-HLS (FPGA 2025, MIT licence) records for a kernel, in its order; [] for most kernels.

    Vitis HLS 2023.2 at 300 MHz, arrays on chip. Designs without any cycles are left out.
    """
    original = {"two_mm": "2mm", "three_mm": "3mm"}.get(kernel, kernel)
    with (Path(__file__).parent / "published_rtl.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["kernel"] == original]
    found = []
    for row in rows:
        simulated = row["rtl_status"] == "Pass"
        cycles = int(row["rtl_cycles"] if simulated else row["csynth_cycles"])
        if cycles > 0:
            found.append(Point(row["tool"], kernel, cycles, int(row["dsp"]), simulated, int(row["lut"])))
    return found
