"""Measures unscheduled kernels on the CPU against the same loop nests in C, compiled by gcc -O3 -march=native.

    python benchmarks/cpu.py                              # five PolyBench kernels, LARGE
    python benchmarks/cpu.py --kernel gemm --size MEDIUM --repeat 21

All programs of a kernel run in this process, one after the other in every round, on copies of one input, so that a
busy machine slows all of them. A time is the median over the rounds; a ratio is the median of the rounds' ratios
(below 1: we are faster). The C is measured with plain pointers and with `restrict`.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))  # polybench lies beside the package
import allo
import polybench

LIMIT = 1.15
SOURCES = Path(__file__).resolve().parent / "c"


def compile_c(benchmark: polybench.Benchmark, size: str, restrict: bool, folder: Path) -> Callable[..., None]:
    """The C function of `benchmark`, called with the same arguments as the kernel."""
    library = folder / f"{benchmark.name}{restrict:d}.so"
    extents = zip(benchmark.extents, benchmark.sizes[size], strict=True)
    defines = [f"-D{name}={extent}" for name, extent in extents]
    defines.append(f"-DRESTRICT={'restrict' if restrict else ''}")
    source = SOURCES / f"{benchmark.name}.c"
    command = ["gcc", "-O3", "-march=native", "-shared", "-fPIC", *defines, str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    function = getattr(ctypes.CDLL(str(library)), benchmark.name)
    function.restype = None

    def call(*arguments: Any) -> None:
        function(*map(as_c, arguments))

    return call


def as_c(argument: Any) -> Any:
    """An array as a pointer, a number as a float."""
    return (
        ctypes.c_void_p(argument.ctypes.data)
        if isinstance(argument, np.ndarray)
        else ctypes.c_float(argument)
    )


def copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments whose arrays may be changed."""
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def error(got: tuple[Any, ...], wanted: tuple[Any, ...]) -> float:
    """The largest difference of two results, relative to the largest element of the array."""
    pairs = [(g, w) for g, w in zip(got, wanted, strict=True) if isinstance(g, np.ndarray)]
    return max(float(np.abs(g - w).max() / np.abs(w).max()) for g, w in pairs)


def interleaved(
    programs: dict[str, Callable[..., None]], arguments: tuple[Any, ...], repeat: int
) -> dict[str, list[float]]:
    """Seconds of each program in each of `repeat` rounds, after one round that does not count."""
    times: dict[str, list[float]] = {name: [] for name in programs}
    inputs = {name: copied(arguments) for name in programs}
    for number in range(repeat + 1):
        for name, program in programs.items():
            for mine, original in zip(inputs[name], arguments, strict=True):
                if isinstance(mine, np.ndarray):
                    mine[...] = original
            start = time.perf_counter()
            program(*inputs[name])
            if number:
                times[name].append(time.perf_counter() - start)
    return times


def measure(name: str, size: str, repeat: int, folder: Path) -> str:
    """One line of the table."""
    benchmark = polybench.load(name)
    programs: dict[str, Callable[..., None]] = {
        "allo": allo.customize(benchmark.kernel(size)).build(),
        "plain": compile_c(benchmark, size, False, folder),
        "restrict": compile_c(benchmark, size, True, folder),
    }
    arguments = benchmark.arguments(size)
    got, wanted = copied(arguments), copied(arguments)
    programs["allo"](*got)
    programs["restrict"](*wanted)
    times = interleaved(programs, arguments, repeat)
    medians = [statistics.median(times[program]) * 1e3 for program in programs]
    ratios = [
        statistics.median(a / c for a, c in zip(times["allo"], times[program], strict=True))
        for program in ("plain", "restrict")
    ]
    verdict = "ok" if max(ratios) <= LIMIT else f"above {LIMIT}"
    columns = [f"{name:10s}", *(f"{m:9.2f} ms" for m in medians), *(f"{r:8.2f}" for r in ratios)]
    return "  ".join([*columns, f"{error(got, wanted):9.1e}", verdict])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--kernel", choices=polybench.NAMES, action="append", help="may be repeated; default: all"
    )
    parser.add_argument("--size", choices=polybench.SIZES, default="LARGE")
    parser.add_argument("--repeat", type=int, default=7, help="rounds that count (default 7)")
    options = parser.parse_args()
    if shutil.which("gcc") is None:
        sys.exit("gcc is missing; install it to compare with C (Debian: apt-get install gcc).")
    print(
        f"{options.size}, medians of {options.repeat} interleaved rounds, one thread; measured on this machine"
    )
    print("kernel            allo            C   C restrict  allo/C  allo/restrict  max error")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.kernel or polybench.NAMES:
            print(measure(name, options.size, options.repeat, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
