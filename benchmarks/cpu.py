"""Measures unscheduled kernels on the CPU against the same loop nests in C, compiled by gcc -O3 -march=native.

    python benchmarks/cpu.py                              # the 30 PolyBench kernels, MEDIUM
    python benchmarks/cpu.py --kernel gemm --size LARGE --type float64 --repeat 21

All programs of a kernel run in this process, one after the other in every round, on copies of one input, so that a
busy machine slows all of them. A time is the median over the rounds; a ratio is the median of the rounds' ratios
(below 1: we are faster). The C is measured with plain pointers and with `restrict`. The results of durbin (in float32)
and of gramschmidt are rounding errors at the inputs of PolyBench: the programs round differently, so all digits differ.
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
import allo.ir.types
import polybench

LIMIT = 1.15
SOURCES = Path(__file__).resolve().parent / "c"


C_TYPES: dict[str, Any] = {"float32": ctypes.c_float, "float64": ctypes.c_double, "int32": ctypes.c_int}
C_NAMES = {"float32": "float", "float64": "double", "int32": "int"}


def compile_c(
    benchmark: polybench.Benchmark, size: str, element: str, restrict: bool, folder: Path
) -> Callable[..., None]:
    """The C function of `benchmark`, called with the same arguments as the kernel."""
    library = folder / f"{benchmark.name}{restrict:d}.so"
    extents = zip(benchmark.extents, benchmark.sizes[size], strict=True)
    defines = [f"-D{name}={extent}" for name, extent in extents]
    defines.append(f"-DDATA_TYPE={C_NAMES[element]}")
    defines.append(f"-DRESTRICT={'restrict' if restrict else ''}")
    source = SOURCES / f"{benchmark.name}.c"
    options = ["-O3", "-march=native", "-shared", "-fPIC", *defines]
    command = ["gcc", *options, str(source), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    function = getattr(ctypes.CDLL(str(library)), benchmark.name)
    function.restype = None

    def call(*arguments: Any) -> None:
        function(*(as_c(argument, element) for argument in arguments))

    return call


def as_c(argument: Any, element: str) -> Any:
    """An array as a pointer, a number as `element`."""
    return (
        ctypes.c_void_p(argument.ctypes.data)
        if isinstance(argument, np.ndarray)
        else C_TYPES[element](argument)
    )


def copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments whose arrays may be changed."""
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def error(got: tuple[Any, ...], wanted: tuple[Any, ...]) -> float:
    """The largest difference of two results, relative to the largest element of the array."""
    pairs = [(g, w) for g, w in zip(got, wanted, strict=True) if isinstance(g, np.ndarray)]
    pairs = [(g.astype(np.float64), w.astype(np.float64)) for g, w in pairs if w.any()]
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


def measure(
    name: str, size: str, chosen: tuple[Any, ...], repeat: int, folder: Path
) -> tuple[str, list[float]]:
    """One line of the table, and its two ratios; `chosen` is the element type or nothing."""
    benchmark = polybench.load(name)
    arguments = benchmark.arguments(size, *chosen)
    element = next(str(a.dtype) for a in reversed(arguments) if isinstance(a, np.ndarray))
    programs: dict[str, Callable[..., None]] = {
        "allo": allo.customize(benchmark.kernel(size, *chosen)).build(),
        "plain": compile_c(benchmark, size, element, False, folder),
        "restrict": compile_c(benchmark, size, element, True, folder),
    }
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
    columns = [f"{name:14s}", *(f"{m:9.2f} ms" for m in medians), *(f"{r:8.2f}" for r in ratios)]
    return "  ".join([*columns, f"{error(got, wanted):9.1e}", verdict]), ratios


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
    if shutil.which("gcc") is None:
        sys.exit("gcc is missing; install it to compare with C (Debian: apt-get install gcc).")
    print(
        f"{options.size}, medians of {options.repeat} interleaved rounds, one thread; measured on this machine"
    )
    print("kernel                allo            C   C restrict  allo/C  allo/restrict  max error")
    chosen = (getattr(allo.ir.types, options.type),) if options.type else ()
    table = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.kernel or polybench.NAMES:
            line, ratios = measure(name, options.size, chosen, options.repeat, Path(folder))
            print(line, flush=True)
            table.append(ratios)
    plain, restrict = (statistics.median(column) for column in zip(*table, strict=True))
    print(f"median of the kernels: {plain:.2f} of plain C, {restrict:.2f} of C with restrict")


if __name__ == "__main__":
    main()
