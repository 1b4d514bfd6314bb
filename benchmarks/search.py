"""Searches beside designs made by hand, for the kernels with published points, at the DSPs of the latter.

    python -m benchmarks.search [SECONDS] [KERNEL ...] [--workers N] [--points N] [--lut]

Each kernel of PolyBench is searched as it is written, at MEDIUM in float32, without a schedule, for SECONDS (600) with
a process for each core, within the DSPs of a design of `polybench/` for the published point between 900 and 2,600 DSPs.
Sums may be added in any order (`unsafe_math`) where the design by hand does that too. Both are estimated by the same
rules, those of Vitis HLS 2023.2; the best design found is verified against the kernel. `of a core` are the seconds
that cores worked on a search, which on a shared machine are fewer than went by. With `--lut` designs found take no
more LUTs than those by hand either.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
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
    *("kernel", "by hand", "DSP", "LUT", "cycles", "DSP (found)", "LUT (found)", "cycles (found)", "found / by hand"),
    *("points", "seconds", "of a core", "verified"),
)
SIZE = "MEDIUM"
UNLIMITED = 1_000_000  # points; time ends a search


def row(kernel: str, given: argparse.Namespace) -> Sequence[Any]:
    """The row of a kernel."""
    benchmark, name = load(kernel), DESIGNS[kernel]
    design = benchmark.designs[name]
    options = {"profile": "vitis_hls_2023.2", "unsafe_math": design.reassociated, "operators": design.operators}
    return kernel, name, *compared(benchmark.kernel(SIZE), design.customized(SIZE), given, options)


def compared(kernel: Any, design: allo.Schedule, given: argparse.Namespace, options: Mapping[str, Any]) -> list[Any]:
    """The figures of a design, of what a search finds at its DSPs for a kernel, and what the search took."""
    by_hand = allo.estimate(design, **options)
    limits = {"dsp": by_hand.dsp} | ({"lut": by_hand.lut} if given.lut else {})
    start, before = perf_counter(), os.times()
    found = allo.search(
        kernel,
        constraints=limits,
        budget=given.points,
        seconds=given.seconds,
        workers=given.workers,
        verify=False,
        **options,
    )
    taken = round(perf_counter() - start)
    of_a_core = round(sum(os.times()[:4]) - sum(before[:4]))
    best = found.best
    proof = found.verified().best.proof.partition(":")[0]
    ratio = round((best.cycles or 0) / (by_hand.cycles or 1), 3)
    shown = [by_hand.dsp, by_hand.lut, by_hand.cycles, best.dsp, best.lut, best.cycles, ratio]
    return [*shown, len(found.points), taken, of_a_core, proof]


def arguments(about: str | None, names: Sequence[str]) -> argparse.ArgumentParser:
    """What a search is asked for."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=float, nargs="?", default=600.0, help="of each search")
    parser.add_argument("kernels", nargs="*", default=list(names), help=f"some of {', '.join(names)}")
    parser.add_argument("--workers", type=int, help="processes (a process for each core)")
    parser.add_argument("--points", type=int, default=UNLIMITED, help="the most points of each search")
    parser.add_argument("--lut", action="store_true", help="no more LUTs than by hand")
    return parser


def main() -> None:
    """Print the rows of the kernels that are named, or of all, as they are known."""
    given = arguments(__doc__, list(DESIGNS)).parse_args()
    print(*HEADER, sep=" | ", flush=True)
    for kernel in given.kernels:
        print(*row(kernel, given), sep=" | ", flush=True)


if __name__ == "__main__":
    main()
