"""Compares estimates with published cycles of designs, and measures how long reports and HLS code take.

    python benchmarks/estimate.py [--speed] [--intervals COUNT]

The table is that of docs/estimator.md. Published numbers are facts: cycles of RTL simulation of Vitis HLS 2023.2
(Stream-HLS artifact, results/data/compare.csv, row "Vitis HLS (automatic pipelining)"), synthesis reports of Vitis HLS
2022.1 (Allo, PLDI 2024, Fig. 2). That the kernels of the artifact are perfect nests that add to arrays
which are there already is inferred from their cycles; they are so here.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import allo
import polybench
from allo.ir.types import float32 as T
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
    resources: tuple[int, int, int] | None  # DSP, LUT, FF
    estimate: allo.Estimate
    remark: str = ""
    fitted: bool = False

    @property
    def error(self) -> float:
        """Of the cycles, in percent."""
        assert self.estimate.cycles is not None
        return 100 * (self.estimate.cycles / self.published - 1)


def vanilla_2mm(alpha: T, A: T[180, 210], B: T[210, 190], C: T[190, 220], tmp: T[180, 190], D: T[180, 220]):
    for i in range(180):
        for j in range(190):
            for k in range(210):
                tmp[i, j] += alpha * A[i, k] * B[k, j]
    for i1 in range(180):
        for j1 in range(220):
            for k1 in range(190):
                D[i1, j1] += tmp[i1, k1] * C[k1, j1]


def vanilla_3mm(
    A: T[180, 200], B: T[200, 190], C: T[190, 220], D: T[220, 210], E: T[180, 190], F: T[190, 210], G: T[180, 210]
):
    for i in range(180):
        for j in range(190):
            for k in range(200):
                E[i, j] += A[i, k] * B[k, j]
    for i1 in range(190):
        for j1 in range(210):
            for k1 in range(220):
                F[i1, j1] += C[i1, k1] * D[k1, j1]
    for i2 in range(180):
        for j2 in range(210):
            for k2 in range(190):
                G[i2, j2] += E[i2, k2] * F[k2, j2]


def vanilla_atax(A: T[390, 410], x: T[410], y: T[410], tmp: T[390]):
    for i in range(390):
        tmp[i] = 0.0
        for j in range(410):
            tmp[i] += A[i, j] * x[j]
        for j1 in range(410):
            y[j1] += A[i, j1] * tmp[i]


def vanilla_bicg(A: T[410, 390], s: T[390], q: T[410], p: T[390], r: T[410]):
    for i in range(390):
        s[i] = 0.0
    for i1 in range(410):
        for j in range(390):
            s[j] += r[i1] * A[i1, j]
            q[i1] += A[i1, j] * p[j]


def vanilla_gesummv(alpha: T, beta: T, A: T[250, 250], B: T[250, 250], x: T[250], y: T[250]):
    for i in range(250):
        for j in range(250):
            y[i] += alpha * A[i, j] * x[j] + beta * B[i, j] * x[j]


def vanilla_mvt(A: T[400, 400], x1: T[400], x2: T[400], y1: T[400], y2: T[400]):
    for i in range(400):
        for j in range(400):
            x1[i] += A[i, j] * y1[j]
    for i1 in range(400):
        for j1 in range(400):
            x2[i1] += A[j1, i1] * y2[j1]


VANILLA: tuple[tuple[str, Callable[..., None], int, tuple[int, int, int]], ...] = (
    ("2mm", vanilla_2mm, 117_648_026, (10, 1453, 1399)),
    ("3mm", vanilla_3mm, 127_680_022, (19, 2018, 2019)),
    ("atax", vanilla_atax, 1_288_583, (5, 954, 1027)),
    ("bicg", vanilla_bicg, 1_279_602, (6, 819, 953)),
    ("gesummv", vanilla_gesummv, 500_020, (6, 883, 1352)),
    ("mvt", vanilla_mvt, 2_560_019, (6, 1069, 1086)),
)


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


def rows() -> Iterator[Row]:
    """All comparisons."""
    group = "Vitis HLS 2023.2, innermost loops pipelined, RTL"
    s = allo.customize(polybench.load("gemm").kernel("MEDIUM"))
    yield Row(group, "gemm", 10_609_802, (9, 1057, 1359), allo.estimate(s, auto_pipeline=True), fitted=True)
    for name, kernel, cycles, resources in VANILLA:
        found = allo.estimate(allo.customize(kernel), auto_pipeline=True)
        remark = "the tool runs two nests at once, see below" if name == "3mm" else ""
        yield Row(group, name, cycles, resources, found, remark, fitted=name != "3mm")
    group = "gemm of 1024 x 1024, Vitis HLS 2022.1, synthesis"
    yield Row(
        group, "vanilla, 25,074 ms at 300 MHz", 25_074 * 300e3, None,
        allo.estimate(allo.customize(scalar_gemm), auto_pipeline=True), "the sum in a scalar, as the tool does it",
    )  # fmt: skip
    yield Row(
        group, "inner product, II 128, 17,950 ms at 240 MHz", 17_950 * 240e3, None,
        allo.estimate(inner_product(), frequency=240), "II {interval}",
    )  # fmt: skip
    yield Row(group, "row-wise product, II 1, 112 ms at 300 MHz", 112 * 300e3, None, allo.estimate(row_wise()))


def markdown() -> str:
    """The table of docs/estimator.md."""
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
        pairs = [("" if row.resources is None else f"{row.resources[n]:,} -> ") + f"{estimated[n]:,}" for n in range(3)]
        lines.append(
            f"| {row.name}{mark}{remark} | {row.published:,.0f} | {row.estimate.cycles:,} | {row.error:+.2f} % "
            f"| {' | '.join(pairs)} |"
        )
        errors.append(row)
    mean = sum(abs(row.error) for row in errors) / len(errors)
    others = [abs(row.error) for row in errors if not row.fitted]
    lines += [
        "",
        f"Mean error of the cycles: {mean:.1f} % of all {len(errors)} rows, {sum(others) / len(others):.1f} % of the "
        f"{len(others)} rows that the constants were not fitted to (* marks",
        f"the others). {_ratios(errors)}",
    ]
    return "\n".join(lines)


def _ratios(found: list[Row]) -> str:
    """How the resources compare."""
    known = [(row.resources, (row.estimate.dsp, row.estimate.lut, row.estimate.ff)) for row in found if row.resources]
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
    """How many intervals of random kernels are too high, and none too low: what docs/estimator.md says of them."""
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
