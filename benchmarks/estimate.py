"""Compares estimates with published cycles of designs, and measures how long reports and HLS code take.

    python benchmarks/estimate.py [--speed] [--intervals COUNT]

The table is that of docs/estimator-details.md. Published numbers are facts: cycles of RTL simulation of Vitis HLS
2023.2 (Stream-HLS artifact, results/data/compare.csv), of kernels of PolyBench and of the designs in
benchmarks/published/; synthesis reports of Vitis HLS 2022.1 (Allo, PLDI 2024, Fig. 2 and Table 3).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import allo
import polybench
from allo.ir.types import float32 as T
from benchmarks.published import DESIGNS, PROFILE, TABLE_3
from examples import transformer

FIRST_SEED, MORE_DATA = 7_000_000, 64  # of random kernels; sets of arguments
LIMITS_SECONDS = {
    "report": 0.15,
    "emission": 0.05,
    "emission with a run of FIFOs": 0.5,
    "report of a transformer block": 1.0,
}


@dataclass(frozen=True, slots=True)
class Row:
    """A published design with our estimate of it; `fitted`: the model's constants were chosen with it in sight."""

    group: str
    name: str
    published: float
    resources: tuple[int, ...]  # DSP, LUT and FF, or some of them
    estimate: allo.Estimate
    remark: str = ""
    fitted: bool = False

    @property
    def error(self) -> float:
        """Of the cycles, in percent."""
        assert self.estimate.cycles is not None
        return 100 * (self.estimate.cycles / self.published - 1)


VITIS: tuple[tuple[str, str, int, tuple[int, int, int], bool], ...] = (  # fitted to, but for 3mm
    ("gemm", "gemm", 10_609_802, (9, 1057, 1359), True),
    ("2mm", "two_mm", 117_648_026, (10, 1453, 1399), True),
    ("3mm", "three_mm", 127_680_022, (19, 2018, 2019), False),
    ("atax", "atax", 1_288_583, (5, 954, 1027), True),
    ("bicg", "bicg", 1_279_602, (6, 819, 953), True),
    ("gesummv", "gesummv", 500_020, (6, 883, 1352), True),
    ("mvt", "mvt", 2_560_019, (6, 1069, 1086), True),
)


def vanilla(name: str) -> allo.Schedule:
    """A kernel of PolyBench without any step."""
    return allo.customize(polybench.load(name).kernel("MEDIUM"))


def scalar_gemm(A: T[1024, 1024], B: T[1024, 1024], C: T[1024, 1024]):
    for i in range(1024):
        for j in range(1024):
            total: T = C[i, j]
            for k in range(1024):
                total += A[i, k] * B[k, j]
            C[i, j] = total


def gemm(A: T[1024, 1024], B: T[1024, 1024], C: T[1024, 1024]):
    for i in range(1024):
        for j in range(1024):
            for k in range(1024):
                C[i, j] += A[i, k] * B[k, j]


def inner_product() -> allo.Schedule:
    """Fig. 2 of the paper, in the middle."""
    s = allo.customize(gemm)
    outer, _ = s.split("k", 32)
    s.pipeline(outer)
    s.partition("A", dim=2, factor=32)
    s.partition("B", dim=1, factor=32)
    return s


def row_wise() -> allo.Schedule:
    """Fig. 2 of the paper, on the right."""
    s = allo.customize(gemm)
    s.reorder("k", "j")
    s.partition(s.buffer_at("C", "i"), dim=1, factor=32)
    for loop in ("j", "j_init", "j_back"):
        s.pipeline(s.split(loop, 32)[0])
    s.partition("B", dim=2, factor=32)
    s.partition("C", dim=2, factor=32)
    return s


@cache
def rows() -> tuple[Row, ...]:
    """All comparisons."""
    return tuple(_rows())


def _rows() -> Iterator[Row]:
    group = f"Vitis HLS 2023.2, kernels of PolyBench without any pragma, RTL; profile {PROFILE}"
    for name, kernel, cycles, resources, fitted in VITIS:
        found = allo.estimate(vanilla(kernel), profile=PROFILE)
        yield Row(group, name, cycles, resources, found, fitted=fitted)
    group = f"Vitis HLS 2023.2, designs of seven tools, RTL; profile {PROFILE}"
    for design in DESIGNS:
        yield Row(
            group, f"{design.kernel}, {design.tool}", design.cycles, design.resources, design.estimate(),
            design.structure,
        )  # fmt: skip
    group = f"Table 3 of the Allo paper, synthesis; profile {PROFILE}"
    for design in TABLE_3:
        yield Row(group, design.kernel, design.cycles, design.resources, design.estimate(), design.structure)
    group = "gemm of 1024 x 1024, Vitis HLS 2022.1, synthesis; no profile"
    yield Row(
        group, "vanilla, 25,074 ms at 300 MHz", 25_074 * 300e3, (),
        allo.estimate(allo.customize(scalar_gemm), auto_pipeline=True), "the sum in a scalar, as the tool does it",
    )  # fmt: skip
    yield Row(
        group, "inner product, II 128, 17,950 ms at 240 MHz", 17_950 * 240e3, (),
        allo.estimate(inner_product(), frequency=240), "II {interval}",
    )  # fmt: skip
    yield Row(group, "row-wise product, II 1, 112 ms at 300 MHz", 112 * 300e3, (), allo.estimate(row_wise()))


def markdown() -> str:
    """The table of docs/estimator-details.md."""
    lines = ["| design | published cycles | estimated | error | DSP | LUT | FF |", "|" + "---|" * 7]
    group = ""
    errors = []
    for row in rows():
        if row.group != group:
            group = row.group
            lines.append(f"| *{group}* | | | | | | |")
        remark = f" ({row.remark.format(interval=row.estimate.interval)})" if row.remark else ""
        mark = " *" if row.fitted else ""
        estimated = (row.estimate.dsp, row.estimate.lut, row.estimate.ff)
        known = [f"{published:,} -> " for published in row.resources]
        pairs = [f"{before}{ours:,}" for before, ours in zip_longest(known, estimated, fillvalue="")]
        lines.append(
            f"| {row.name}{mark}{remark} | {row.published:,.0f} | {row.estimate.cycles:,} | {row.error:+.2f} % "
            f"| {' | '.join(pairs)} |"
        )
        errors.append(row)
    lines += ["", *textwrap.wrap(f"{_errors(errors)} {_ratios(errors)}", 120)]
    return "\n".join(lines)


def _errors(found: list[Row]) -> str:
    """How far the cycles are off."""
    sizes = [abs(row.error) for row in found]
    others = [abs(row.error) for row in found if not row.fitted]
    within = sum(size <= 2 for size in sizes)
    return (
        f"Error of the cycles of all {len(sizes)} rows: mean {statistics.mean(sizes):.2f} %, median "
        f"{statistics.median(sizes):.2f} %, largest {max(sizes):.2f} %; {within} are within 2 %. Of the {len(others)} "
        f"rows without a star: mean {statistics.mean(others):.2f} %."
    )


def _ratios(found: list[Row]) -> str:
    """How the resources compare."""
    rows = [row for row in found if len(row.resources) == 3]
    known = [(row.resources, (row.estimate.dsp, row.estimate.lut, row.estimate.ff)) for row in rows]
    means = [sum(ours[n] / theirs[n] for theirs, ours in known) / len(known) for n in range(3)]
    parts = [f"{mean:.2f} of the {name}" for mean, name in zip(means, ("DSPs", "LUTs", "FFs"), strict=True)]
    return f"On average {', '.join(parts)} of the tool are estimated."


def cpu_seconds(action: Callable[[], Any], repeat: int = 3) -> float:
    """The median CPU time, once everything has run."""
    times = []
    for _ in range(repeat + 1):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return statistics.median(times[1:])


def speed() -> Iterator[tuple[str, str, float]]:
    """What is measured, for which design, and its CPU seconds."""
    for name in polybench.NAMES:
        benchmark = polybench.load(name)
        schedules = {name: allo.customize(benchmark.kernel("MEDIUM"))}
        schedules |= {f"{name} {key}": design.customized("MEDIUM") for key, design in benchmark.designs.items()}
        for key, s in schedules.items():
            yield "report", key, cpu_seconds(lambda s=s: s.report(target="u280", auto_pipeline=True))
            emission = "emission with a run of FIFOs" if key.endswith(" streams") else "emission"
            yield emission, key, cpu_seconds(lambda s=s: str(s.build(target="vhls")))
    block = transformer.schedule_block()
    yield "report of a transformer block", "block", cpu_seconds(lambda: block.report(target="u280"))


def intervals(count: int) -> str:
    """How many intervals of random kernels are too high, and none too low (docs/estimator-details.md)."""
    from tests.estimate.random_kernels import random_kernel
    from tests.estimate.test_differential import found_and_needed

    high = low = 0
    for seed in range(FIRST_SEED, FIRST_SEED + count):
        kernel = random_kernel(seed)
        found, needed = found_and_needed(kernel.function, kernel.data, kernel.depth)
        if found > needed and len(kernel.data) > 1:  # with more data, more is known to be needed
            kernel = random_kernel(seed, MORE_DATA)
            found, needed = found_and_needed(kernel.function, kernel.data, kernel.depth)
        high, low = high + (found > needed), low + (found < needed)
    share = f"{high} ({100 * high / count:.1f} %) are too high, {low} too low"
    return f"Of {count} intervals of random kernels, from seed {FIRST_SEED} on, {share}."


def main(*, only_speed: bool = False) -> None:
    """Print the table and the slowest designs; the exit code is 1 if one is above its limit."""
    if not only_speed:
        print(f"{markdown()}\n")
    found = list(speed())
    too_slow = False
    for what, limit in LIMITS_SECONDS.items():
        _, name, seconds = max((row for row in found if row[0] == what), key=lambda row: row[2])
        print(f"{what}: at most {seconds * 1e3:.0f} ms of CPU time ({name}), the limit is {limit * 1e3:.0f} ms")
        too_slow = too_slow or seconds > limit
    if too_slow:
        raise SystemExit("above a limit")


if __name__ == "__main__":
    parser: Any = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speed", action="store_true", help="only the times of reports and of emission")
    parser.add_argument("--intervals", type=int, metavar="COUNT", help="only intervals of so many random kernels")
    options = parser.parse_args()
    if options.intervals:
        print(intervals(options.intervals))
    else:
        main(only_speed=options.speed)
