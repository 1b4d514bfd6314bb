"""Searches beside designs made by hand, for the kernels with published points, at the DSPs of the latter.

    python -m benchmarks.search [SECONDS] [KERNEL ...] [--workers N]

Each kernel of PolyBench is searched as it is written, at MEDIUM in float32, without a schedule, for SECONDS (600) with
a process for each core, within the DSPs of a design of `polybench/` for the published point between 900 and 2,600 DSPs.
Sums may be added in any order (`unsafe_math`) where the design by hand does that too. Both are estimated by the same
rules, those of Vitis HLS 2023.2; the best design found is verified against the kernel. `of a core` are the seconds
that cores worked on a search, which on a shared machine are fewer than went by.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import allo
from polybench.suite import load

DESIGNS = {
    "two_mm": "dsp1942",
    "three_mm": "dsp2507",
    "atax": "dsp1502",
    "bicg": "dsp1501",
    "gemm": "dsp2552",
    "gesummv": "dsp922",
    "mvt": "dsp2306",
}
HEADER = (
    *("kernel", "by hand", "DSP", "cycles", "DSP (found)", "cycles (found)", "found / by hand"),
    *("points", "seconds", "of a core", "verified"),
)
SIZE = "MEDIUM"
UNLIMITED = 1_000_000  # points; time ends a search


def row(kernel: str, seconds: float, workers: int | None) -> Sequence[Any]:
    """The row of a kernel."""
    benchmark, name = load(kernel), DESIGNS[kernel]
    design = benchmark.designs[name]
    options = {"profile": "vitis_hls_2023.2", "unsafe_math": design.reassociated, "operators": design.operators}
    by_hand = allo.estimate(design.customized(SIZE), **options)
    start, before = perf_counter(), os.times()
    found = allo.search(
        benchmark.kernel(SIZE),
        constraints={"dsp": by_hand.dsp},
        budget=UNLIMITED,
        seconds=seconds,
        workers=workers,
        verify=False,
        **options,
    )
    taken = round(perf_counter() - start)
    of_a_core = round(sum(os.times()[:4]) - sum(before[:4]))
    best = found.best
    proof = found.verified().best.proof.partition(":")[0]
    ratio = round((best.cycles or 0) / (by_hand.cycles or 1), 2)
    shown = (kernel, name, by_hand.dsp, by_hand.cycles, best.dsp, best.cycles, ratio)
    return *shown, len(found.points), taken, of_a_core, proof


def main() -> None:
    """Print the rows of the kernels that are named, or of all, as they are known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=float, nargs="?", default=600.0, help="of each search")
    parser.add_argument("kernels", nargs="*", default=list(DESIGNS), help=f"some of {', '.join(DESIGNS)}")
    parser.add_argument("--workers", type=int, help="processes (a process for each core)")
    given = parser.parse_args()
    print(*HEADER, sep=" | ", flush=True)
    for kernel in given.kernels:
        print(*row(kernel, given.seconds, given.workers), sep=" | ", flush=True)


if __name__ == "__main__":
    main()
