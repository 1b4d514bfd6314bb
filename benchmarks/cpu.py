"""Measures kernels on the CPU, unscheduled and with `cpu` designs, against the same loops in C by gcc -O3.

    python benchmarks/cpu.py                              # the 30 PolyBench kernels, MEDIUM
    python benchmarks/cpu.py --kernel gemm --size LARGE --type float64 --repeat 21

All programs of a kernel run in this process, one after the other in every round, on copies of one input, so that a
busy machine slows all of them. Times are CPU time: what other programs do in between does not count. A time is the
median over the rounds; a ratio is the median of the rounds' ratios: with C below, below 1 when we are faster; of the
`cpu` design the other way round, how many times as fast it is. The C is measured with plain pointers and with
`restrict`. The results of durbin (in float32) and of gramschmidt are rounding errors at the inputs of PolyBench: the
programs round differently, so all digits differ.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))  # polybench lies beside the package
import allo
import allo.ir.types
import polybench
from polybench.accuracy import error
from polybench.cpu_designs import CPU
from polybench.in_c import compile_c, is_available

LIMIT = 1.15  # of the time of C, without a schedule
WANTED = 2.0  # times as fast as C, with a schedule


def copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments whose arrays may be changed."""
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def interleaved(
    programs: dict[str, Callable[..., None]], arguments: tuple[Any, ...], repeat: int
) -> dict[str, list[float]]:
    """CPU seconds of each program in each of `repeat` rounds, after one round that does not count."""
    times: dict[str, list[float]] = {name: [] for name in programs}
    inputs = {name: copied(arguments) for name in programs}
    for number in range(repeat + 1):
        for name, program in programs.items():
            for mine, original in zip(inputs[name], arguments, strict=True):
                if isinstance(mine, np.ndarray):
                    mine[...] = original
            start = time.thread_time()
            program(*inputs[name])
            if number:
                times[name].append(time.thread_time() - start)
    return times


def median_ratio(ours: list[float], theirs: list[float]) -> float:
    """The median over the rounds."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def measure(
    name: str, size: str, chosen: tuple[Any, ...], repeat: int, folder: Path
) -> tuple[str, list[float], list[float]]:
    """One line of the table, its two ratios and, of a `cpu` design, how many times as fast as each C it is.

    `chosen` is the element type or nothing.
    """
    benchmark = polybench.load(name)
    arguments = benchmark.arguments(size, *chosen)
    element = next(str(a.dtype) for a in reversed(arguments) if isinstance(a, np.ndarray))
    programs: dict[str, Callable[..., None]] = {
        "allo": allo.customize(benchmark.kernel(size, *chosen)).build(),
        "plain": compile_c(benchmark, size, element, folder),
        "restrict": compile_c(benchmark, size, element, folder, restrict=True),
    }
    if name in CPU:
        programs["cpu"] = CPU[name].customized(size, *chosen).build()
    got, wanted = copied(arguments), copied(arguments)
    programs["allo"](*got)
    programs["restrict"](*wanted)
    times = interleaved(programs, arguments, repeat)
    medians = [statistics.median(times[program]) * 1e3 for program in ("allo", "plain", "restrict")]
    ratios = [median_ratio(times["allo"], times[c]) for c in ("plain", "restrict")]
    faster = [median_ratio(times[c], times["cpu"]) for c in ("plain", "restrict") if "cpu" in times]
    verdict = "ok" if max(ratios) <= LIMIT else f"above {LIMIT}"
    columns = [f"{name:14s}", *(f"{m:9.2f} ms" for m in medians), *(f"{r:8.2f}" for r in ratios)]
    columns += [f"{statistics.median(times['cpu']) * 1e3:9.2f} ms"] if faster else [" " * 12]
    columns += [f"{f:8.2f}" for f in faster] or [" " * 8] * 2
    return "  ".join([*columns, f"{error(name, got, wanted):9.1e}", verdict]), ratios, faster


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--kernel", choices=polybench.NAMES, action="append", help="may be repeated; default: all"
    )
    parser.add_argument("--size", choices=polybench.SIZES, default="MEDIUM")
    parser.add_argument(
        "--type", choices=("float32", "float64"), help="of the elements; default: the kernel's own"
    )
    parser.add_argument("--repeat", type=int, default=7, help="rounds that count (default 7)")
    options = parser.parse_args()
    if not is_available():
        sys.exit("gcc is missing; install it to compare with C (Debian: apt-get install gcc).")
    print(
        f"{options.size}, medians of {options.repeat} interleaved rounds, one thread; measured on this machine"
    )
    print(
        "kernel                allo            C   C restrict    allo/C  allo/restrict    cpu design     C/cpu"
        "  restrict/cpu  max error"
    )
    chosen = (getattr(allo.ir.types, options.type),) if options.type else ()
    table, scheduled = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.kernel or polybench.NAMES:
            line, ratios, faster = measure(name, options.size, chosen, options.repeat, Path(folder))
            print(line, flush=True)
            table.append(ratios)
            scheduled += [faster] if faster else []
    plain, restrict = (statistics.median(column) for column in zip(*table, strict=True))
    print(f"median of the kernels: {plain:.2f} of plain C, {restrict:.2f} of C with restrict")
    of_plain, of_restrict = (sum(f[c] >= WANTED for f in scheduled) for c in (0, 1))
    print(f"cpu designs {WANTED:.0f} times as fast: {of_plain} of plain C, {of_restrict} of C with restrict")


if __name__ == "__main__":
    main()
