"""The tour of the project: two PolyBench kernels, scheduled step by step for a card, run here, compared with NumPy.

Each step prints what it changed: the loop nests before (-) and after (+), or the lines of MLIR where the loops stay.
"""

from __future__ import annotations

import difflib
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

SIZE, TARGET = "MEDIUM", "u280"
PICTURES = Path("build") / "demo"
SHOWN_LINES, WIDTH = 8, 100
Steps = Iterator[tuple[str, Callable[[], object]]]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; seconds, *estimated* cycles, and the largest error relative to the largest element."""

    program: str
    steps: int
    mlir_lines: int
    schedule_time: float
    cycles: int | None
    dsp: int
    max_error: float


CYCLIC = allo.Partition.Cyclic


def gemm_steps(s: allo.Schedule) -> Steps:
    """What the schedule of gemm does, a sentence and a step at a time."""
    yield "scale one element of C each cycle", lambda: s.pipeline("j")
    yield "cut the columns of C into runs of 20 ...", lambda: s.split("j1", 20)
    yield "... whose 20 sums are made at once ...", lambda: s.unroll("j1.inner")
    yield "... and one run begins each cycle", lambda: s.pipeline("j1.outer")
    banks = "so that 20 neighbours are read at once"
    yield f"give C 20 banks, {banks}", lambda: s.partition(s.C, partition_type=CYCLIC, dim=2, factor=20)
    yield f"give B 20 banks, {banks}", lambda: s.partition(s.B, partition_type=CYCLIC, dim=2, factor=20)


def jacobi_steps(s: allo.Schedule) -> Steps:
    """What the schedule of jacobi-2d does: eight neighbours of the grid at once, in both sweeps."""
    for sweep, column in (("to B", "j"), ("to A", "q")):
        yield f"cut the columns of the sweep {sweep} into runs of 8 ...", lambda c=column: s.split(c, 8)
        yield "... which are computed at once ...", lambda c=column: s.unroll(f"{c}.inner")
        yield "... and one run begins each cycle", lambda c=column: s.pipeline(f"{c}.outer")
    for array in (s.A, s.B):
        banks = f"give {array.name} banks, so that a run and its neighbours"
        yield f"{banks} to the left and right", lambda a=array: s.partition(a, partition_type=CYCLIC, dim=2, factor=16)
        yield f"{banks} above and below are read at once", lambda a=array: s.partition(
            a, partition_type=CYCLIC, dim=1, factor=3
        )


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
    """Run `s` here, compare the results with NumPy's, and estimate its cycles on the card."""
    got, wanted = benchmark.arguments(size), benchmark.arguments(size)
    s.build()(*got)
    benchmark.reference(size, *wanted)
    pairs = [(g, w) for g, w in zip(got, wanted, strict=True) if isinstance(g, np.ndarray)]
    error = max(float(np.abs(g - w).max() / np.abs(w).max()) for g, w in pairs)
    # without any step, loops get what the vendor's tool does by itself
    estimate = s.report(target=TARGET, auto_pipeline=not s.steps)
    lines = len(str(s.module).splitlines())
    return Row(program, len(s.steps), lines, schedule_time, estimate.cycles, estimate.dsp, error)


def simulated(name: str, s: allo.Schedule, size: str) -> str:
    """The cycles of `s` as SystemVerilog, simulated one by one, and whether its bits are those of the CPU."""
    benchmark = polybench.load(name)
    built = s.build(target="rtl", device=TARGET)
    got, wanted = benchmark.arguments(size), benchmark.arguments(size)
    start = time.perf_counter()
    try:
        built(*got)
    except allo.ToolError as error:  # there is no simulator here
        return str(error)
    seconds = time.perf_counter() - start
    s.build()(*wanted)
    same = all(np.array_equal(g, w) for g, w in zip(got, wanted, strict=True))
    lines = [f"{loop}" for loop in built.loops]
    return "\n".join([
        *lines,
        f"{len(built.code.splitlines()):,} lines of SystemVerilog, compiled and run in {seconds:.1f} s; "
        f"the bits are {'those' if same else 'NOT those'} of the CPU",
        f"{name} scheduled: {built.cycles:,} cycles, simulated; {built.predicted_cycles:,} were predicted",
    ])


def scheduled_and_not(
    name: str,
    steps: Callable[[allo.Schedule], Steps],
    size: str,
    show: Callable[[str], None],
) -> tuple[Row, Row, allo.Schedule]:
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
    before = measure(f"{name} as written", plain, customize_time, benchmark, size)
    after = measure(f"{name} scheduled", s, customize_time + schedule_time, benchmark, size)
    return before, after, s


def table(rows: list[Row]) -> str:
    """The rows as text; each scheduled program follows the one it schedules."""
    lines = ["program                steps  MLIR lines   schedule      cycles   DSPs  max error"]
    for r in rows:
        numbers = f"{r.schedule_time * 1e3:7.1f} ms {r.cycles or 0:11,d} {r.dsp:6d} {r.max_error:10.1e}"
        lines.append(f"{r.program:22s} {r.steps:5d} {r.mlir_lines:11d} {numbers}")
    for plain, scheduled in zip(rows[::2], rows[1::2], strict=True):
        lines.append(f"{scheduled.program}: {speedup(plain, scheduled):.1f} times fewer cycles than as written")
    return "\n".join(lines)


def speedup(plain: Row, scheduled: Row) -> float:
    """How many times fewer cycles the scheduled program takes."""
    assert plain.cycles and scheduled.cycles
    return plain.cycles / scheduled.cycles


def bars(rows: list[Row]) -> str:
    """A picture of the cycles of each program, as SVG."""
    most = max(r.cycles or 0 for r in rows)
    parts = []
    for number, r in enumerate(rows):
        y, width = 20 + 34 * number, max(2, 420 * (r.cycles or 0) // most)
        colour = "#b8c4d6" if number % 2 == 0 else "#2f6fb0"
        parts.append(f'<text x="190" y="{y + 15}" text-anchor="end">{r.program}</text>')
        parts.append(f'<rect x="200" y="{y}" width="{width}" height="20" rx="3" fill="{colour}"/>')
        parts.append(f'<text x="{208 + width}" y="{y + 15}">{r.cycles:,}</text>')
    height = 30 + 34 * len(rows)
    size = f'width="740" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">'
    return "\n".join([head, *parts, "</svg>"])


def write_picture(rows: list[Row], schedules: list[allo.Schedule], folder: Path) -> Path:
    """A page with the cycles, and for each schedule its dataflow graph, beside its report; the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = [
        "<!DOCTYPE html><meta charset='utf-8'><title>Allo</title>",
        "<style>body { font: 16px sans-serif; margin: 2rem auto; max-width: 60rem; } svg { max-width: 100%; }</style>",
        f"<h1>Cycles on {TARGET}, estimated</h1>",
        bars(rows),
    ]
    for s in schedules:
        name = s.top_func_name
        (folder / f"{name}.html").write_text(s.report(target=TARGET).to_html())
        graph = s.draw().svg
        steps = "".join(f"{step}\n" for step in s.steps)
        parts.append(f"<h2>{name}</h2><pre>{steps}</pre>{graph}<p><a href='{name}.html'>Where the time goes</a></p>")
    page = folder / "index.html"
    page.write_text("\n".join(parts))
    return page


def main() -> None:
    rows, schedules = [], []
    for name, steps in (("gemm", gemm_steps), ("jacobi_2d", jacobi_steps)):
        plain, scheduled, s = scheduled_and_not(name, steps, SIZE, print)
        rows += [plain, scheduled]
        schedules.append(s)
    head = f"results, run here and compared with NumPy's; cycles and DSPs are estimated for {TARGET}"
    print(f"\n=== {head}\n\n{table(rows)}")
    print("\n=== a GEMM of 1024 x 1024 x 1024 float32, against numpy.dot on one core\n")
    script = Path(__file__).with_name("gemm_cpu.py")
    sys.stdout.flush()
    # a process of its own: it sets the threads of NumPy
    subprocess.run([sys.executable, str(script)], check=True)
    print(f"\na picture of this: {write_picture(rows, schedules, PICTURES)}")
    print("\n=== gemm as SystemVerilog of our own, simulated cycle by cycle by Verilator\n")
    print(simulated("gemm", schedules[0], SIZE))


if __name__ == "__main__":
    main()
