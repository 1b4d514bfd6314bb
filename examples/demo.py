"""The tour of the project: two PolyBench kernels, scheduled step by step, run on the CPU, compared with NumPy.

Each step prints what it changed: the loop nests before (-) and after (+), or the lines of MLIR where the loops stay.
"""

from __future__ import annotations

import difflib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))  # polybench lies beside the package
import allo
import polybench

SIZE = "MEDIUM"
SHOWN_LINES, WIDTH = 8, 100
Steps = Iterator[tuple[str, Callable[[], object]]]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; seconds, and the largest error relative to the largest element."""

    program: str
    steps: int
    mlir_lines: int
    schedule_time: float
    build_time: float
    run_time: float
    max_error: float


def gemm_steps(s: allo.Schedule) -> Steps:
    """What the schedule of gemm does, a sentence and a step at a time."""
    yield "cut the rows of C into tiles of 25", lambda: s.split("i", 25)
    yield "spread the tiles over the cores", lambda: s.parallel("i.outer")
    yield "keep the row of C that is worked on in a local array", lambda: s.buffer_at(s.C, axis="i.inner")
    yield "cut the sum over k into runs of 16", lambda: s.split("k", 16)
    yield "add the 16 terms of a run in one go", lambda: s.unroll("k.inner")
    yield "on hardware, start one column each cycle", lambda: s.pipeline("j1")
    yield (
        "on hardware, give B 4 banks, so that 4 neighbours are read at once",
        lambda: s.partition(s.B, partition_type=allo.Partition.Cyclic, dim=2, factor=4),
    )


def jacobi_steps(s: allo.Schedule) -> Steps:
    """What the schedule of jacobi-2d does: the sweep to B by 4 rows at a time, the sweep to A by halves."""
    yield "take the rows of the first sweep by 4 ...", lambda: s.split("i", 4)
    yield "... which walk along the columns together", lambda: s.reorder("i.outer", "j", "i.inner")
    yield "... and are written out", lambda: s.unroll("i.inner")
    yield "cut the columns of the second sweep into halves", lambda: s.split("q", 124)
    yield "do one half of the grid after the other", lambda: s.reorder("q.outer", "p", "q.inner")
    yield "make one loop of the halves and their rows", lambda: s.fuse("q.outer", "p")


def refused(s: allo.Schedule) -> str:
    """A step that a dependence forbids: time steps of jacobi-2d cannot run at the same time."""
    try:
        s.parallel("t")
    except allo.ScheduleError as error:
        return str(error)
    raise AssertionError("the time steps of jacobi-2d depend on each other")


def changes(before: str, after: str) -> list[str]:
    """The lines that differ, with - and +, and no more than a few of them."""
    lines = [
        line
        for line in difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))
    ]
    lines = [
        line if len(line) <= WIDTH else f"{line[: WIDTH // 2]} ... {line[-WIDTH // 2 :]}" for line in lines
    ]
    hidden = len(lines) - SHOWN_LINES
    return lines if hidden <= 1 else [*lines[:SHOWN_LINES], f"  ... and {hidden} more lines"]


def picture(s: allo.Schedule) -> tuple[str, str]:
    """The loop nests and the module, as text."""
    return str(s.get_loops()), str(s.module)


def apply_steps(s: allo.Schedule, steps: Steps, show: Callable[[str], None]) -> float:
    """Apply `steps`, show what each changes, and give the seconds that the primitives took."""
    seconds = 0.0
    for number, (sentence, step) in enumerate(steps, 1):
        loops, module = picture(s)
        start = time.perf_counter()
        step()
        took = time.perf_counter() - start
        seconds += took
        new_loops, new_module = picture(s)
        show(f"\n{number}. {sentence}   ({took * 1e3:.1f} ms)\n   {s.steps[-1]}")
        lines = changes(loops, new_loops) if new_loops != loops else changes(module, new_module)
        show("\n".join(f"     {line}" for line in lines))
    return seconds


def measure(program: str, s: allo.Schedule, schedule_time: float, benchmark: Any, size: str) -> Row:
    """Build `s`, run it, and compare the results with NumPy's."""
    start = time.perf_counter()
    module = s.build()
    got, wanted = benchmark.arguments(size), benchmark.arguments(size)
    module(*got)
    build_time = time.perf_counter() - start
    benchmark.reference(size, *wanted)
    pairs = [(g, w) for g, w in zip(got, wanted, strict=True) if isinstance(g, np.ndarray)]
    error = max(float(np.abs(g - w).max() / np.abs(w).max()) for g, w in pairs)
    times = []
    for _ in range(7):
        arguments = benchmark.arguments(size)
        start = time.perf_counter()
        module(*arguments)
        times.append(time.perf_counter() - start)
    lines = len(str(s.module).splitlines())
    return Row(program, len(s.steps), lines, schedule_time, build_time, statistics.median(times), error)


def scheduled_and_not(
    name: str,
    steps: Callable[[allo.Schedule], Steps],
    size: str,
    show: Callable[[str], None],
) -> list[Row]:
    """Schedule a kernel, showing each step; measure it before and after."""
    benchmark = polybench.load(name)
    start = time.perf_counter()
    plain = allo.customize(benchmark.kernel(size))
    s = allo.customize(benchmark.kernel(size))
    customize_time = (time.perf_counter() - start) / 2
    show(f"\n=== {name}, {size}: {dict(zip(benchmark.extents, benchmark.sizes[size], strict=True))}\n")
    show(str(s.get_loops()))
    if name == "jacobi_2d":
        show(f"\n0. a step that would change the results is refused\n{refused(s)}")
    schedule_time = apply_steps(s, steps(s), show)
    return [
        measure(f"{name} as written", plain, customize_time, benchmark, size),
        measure(f"{name} scheduled", s, customize_time + schedule_time, benchmark, size),
    ]


def table(rows: list[Row]) -> str:
    """The rows as text."""
    lines = ["program                steps  MLIR lines   schedule     build       run  max error"]
    for r in rows:
        times = "".join(f"{seconds * 1e3:7.1f} ms" for seconds in (r.schedule_time, r.build_time, r.run_time))
        lines.append(f"{r.program:22s} {r.steps:5d} {r.mlir_lines:11d} {times} {r.max_error:10.1e}")
    return "\n".join(lines)


def main() -> None:
    rows = scheduled_and_not("gemm", gemm_steps, SIZE, print)
    rows += scheduled_and_not("jacobi_2d", jacobi_steps, SIZE, print)
    print(
        f"\n=== results, compared with NumPy (wall time on this machine; build: with the first call)\n\n{table(rows)}"
    )
    print("\n=== a GEMM of 1024 x 1024 x 1024 float32, against numpy.dot on one core\n")
    script = Path(__file__).with_name("gemm_cpu.py")
    sys.stdout.flush()
    subprocess.run(
        [sys.executable, str(script)], check=True
    )  # a process of its own: it sets the threads of NumPy


if __name__ == "__main__":
    main()
