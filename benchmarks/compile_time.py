"""Measures what a user waits for: import, customize, each primitive, build, first call; designs; 3,000 lines.

    python benchmarks/compile_time.py [--repeat 7]

CPU time of this process (all threads), warm: everything has run once before. Each line shows the PolyBench kernel
(MEDIUM size) that takes longest; a time is a median. The first call compiles: it counts without the time of the second.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))  # polybench lies beside the package
import allo
import polybench
from allo.ir.types import float32, int8, int32
from benchmarks.primitives import attempt, primitives
from polybench.evaluation import compile_seconds

SIZE = "MEDIUM"
LIMITS_MS = {"import allo": 600.0, "customize": 30.0, "primitive": 30.0, "build": 50.0, "first call": 100.0}
FEW, MANY, MANY_RATIO = 2, 200, 2.0  # functions of a module, of which steps change two, and what more may cost
UNFOLD_MS = 3000.0  # HLS code of 64 x 64 processing elements, which differ in what they read
DESIGN_MS, DESIGNS_MS = 300.0, 3000.0  # customize, all primitives and HLS code of the best design: of one, of all
LONG_KERNEL_LINES = (1500, 3000, 6000)
IMPORT = "import time; start = time.process_time(); import allo; print(time.process_time() - start)"


def cpu_seconds(action: Callable[[], Any]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def median_ms(samples: Iterator[float]) -> float:
    return statistics.median(samples) * 1e3


def import_ms(repeat: int) -> float:
    """CPU time of `import allo` in a new interpreter whose files are compiled and in the page cache, as for a user."""
    command = [sys.executable, "-c", IMPORT]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
        texts = [
            subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
            for _ in range(repeat + 1)
        ]
    return median_ms(float(text) for text in texts[1:])


def stages(benchmark: polybench.Benchmark, repeat: int) -> dict[str, float]:
    """Milliseconds of each stage for one kernel."""
    kernel, arguments = benchmark.kernel(SIZE), benchmark.arguments(SIZE)
    result = {"customize": median_ms(cpu_seconds(lambda: allo.customize(kernel)) for _ in range(repeat + 1))}
    for name, action in primitives(kernel).items():
        fresh = [allo.customize(kernel) for _ in range(repeat)]
        result[name] = median_ms(cpu_seconds(lambda s=s, action=action: attempt(action, s)) for s in fresh)
    built, first = [], []
    for _ in range(repeat):
        schedule = allo.customize(kernel)
        start = time.process_time()
        module = schedule.build()
        middle = time.process_time()
        module(*arguments)
        end = time.process_time()
        module(*arguments)
        built.append(middle - start)
        first.append((end - middle) - (time.process_time() - end))  # without what the kernel itself takes
    result["build"] = median_ms(iter(built))
    result["first call"] = median_ms(iter(first))
    return result


def long_kernel(lines: int) -> str:
    """The source of a kernel of about `lines` lines: nests of three loops with stencils and reductions."""
    parts = ["from allo.ir.types import float32", "", "", "def long(A: float32[64, 64], B: float32[64, 64]):"]
    while len(parts) < lines:
        n = len(parts)
        parts += [
            f"    for i{n} in range(1, 63):",
            f"        for j{n} in range(1, 63):",
            f"            x{n}: float32 = 0.25 * (A[i{n} - 1, j{n}] + A[i{n} + 1, j{n}])",
            f"            for k{n} in range(64):",
            f"                x{n} += A[i{n}, k{n}] * B[k{n}, j{n}]",
            f"            B[i{n}, j{n}] = x{n} if x{n} > 0.0 else -x{n}",
        ]
    return "\n".join(parts) + "\n"


def meta_kernel(lines: int) -> str:
    """The source of a kernel whose compile-time loop makes about `lines` lines."""
    body = re.sub(r"\b([ijkx])\d+\b", r"\1", long_kernel(10)).partition("):\n")[2]
    return "\n".join(
        [
            "import allo",
            long_kernel(0).rstrip("\n"),
            f"    with allo.meta_for({lines // len(body.splitlines())}) as u:",
            *("    " + line for line in body.splitlines()),
            "",
        ]
    )


def rate(folder: Path, name: str, source: str) -> float:
    """Seconds of CPU time that `customize` takes for the kernel `long` of `source`."""
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return min(cpu_seconds(lambda: allo.customize(module.long)) for _ in range(2))


def long_kernels() -> None:
    """Print the lines a second for kernels of growing length, and for one that meta_for makes long."""
    with tempfile.TemporaryDirectory() as folder:
        for lines in LONG_KERNEL_LINES:
            seconds = rate(Path(folder), f"long_{lines}", long_kernel(lines))
            print(f"customize of a generated kernel of {lines} lines: {seconds:.2f} s, {lines / seconds:.0f} lines/s")
        lines = LONG_KERNEL_LINES[1]
        seconds = rate(Path(folder), "meta", meta_kernel(lines))
        print(f"customize of a meta_for that makes {lines} lines: {seconds:.2f} s, {lines / seconds:.0f} lines/s")


def best_designs(repeat: int) -> dict[str, float]:
    """Milliseconds from Python to HLS code for the `best` design of each kernel, all primitives included."""
    return {
        name: median_ms(compile_seconds(polybench.load(name).designs["best"], SIZE) for _ in range(repeat))
        for name in polybench.NAMES
    }


def unfolded_array(repeat: int) -> float:
    """Milliseconds from the schedule to HLS code of an array of 64 x 64 processing elements."""

    def gemm(A: int8[64, 64], B: int8[64, 64], C: int32[64, 64]):
        for i, j in allo.grid(64, 64, name="PE"):
            for k in range(64):
                C[i, j] += A[i, k] * B[k, j]

    s = allo.customize(gemm)
    s.unfold("PE", axes=[0, 1])
    return median_ms(cpu_seconds(lambda: s.build(target="vhls")) for _ in range(repeat))


def many_functions(count: int) -> float:
    """Milliseconds of 100 steps on two functions of a module that has `count` of them."""
    nest = "    for i, j in allo.grid(64, 64, name='N{q}'):\n        B[i, j] = A[i, j] + {q}.0\n"
    nests = "".join(nest.format(q=q) for q in range(10))
    signature = "(A: float32[64, 64], B: float32[64, 64]):\n"
    calls = "".join(f"    f{k}(A, B)\n" for k in range(count))
    functions = "".join(f"def f{k}{signature}{nests}" for k in range(count))
    first = allo.customize(f"{functions}def top{signature}{calls}", global_vars={"float32": float32})

    def steps() -> None:
        s = first.copy()
        for k in range(20):
            loops = s.get_loops(f"f{k % 2}")[f"N{k // 2}"]
            outer, inner = s.split(loops["j"], 4)
            s.reorder(outer, loops["i"])
            s.pipeline(inner)
            s.parallel(outer)
            s.split(loops["i"], 8)
        assert len(s.steps) == 100

    return median_ms(cpu_seconds(steps) for _ in range(5))


def row(name: str, kernel: str, milliseconds: float, limit: float) -> str:
    verdict = "ok" if milliseconds <= limit else "ABOVE"
    return f"{name:22s} {kernel:10s} {milliseconds:8.1f} ms   limit {limit:5.0f} ms   {verdict}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=7, help="samples of each median (default 7)")
    repeat = parser.parse_args().repeat
    print("CPU time, warm, median; the slowest of the PolyBench kernels")
    print(row("import allo", "", import_ms(repeat), LIMITS_MS["import allo"]))
    table = {name: stages(polybench.load(name), repeat) for name in polybench.NAMES}
    for stage in next(iter(table.values())):
        slowest = max(table, key=lambda name: table[name].get(stage, 0.0))  # some have no pair of loops
        limit = LIMITS_MS.get(stage, LIMITS_MS["primitive"])
        print(row(stage, slowest, table[slowest][stage], limit))
    print(
        f"customize of all {len(table)} kernels: {sum(times['customize'] for times in table.values()):.0f} ms"
    )
    designs = best_designs(repeat)
    largest = max(designs, key=lambda name: designs[name])
    print(row("a `best` design", largest, designs[largest], DESIGN_MS))
    print(row("all `best` designs", "", sum(designs.values()), DESIGNS_MS))
    few = many_functions(FEW)
    print(row(f"100 steps, {FEW} functions", "", few, MANY_RATIO * few))
    print(row(f"100 steps, {MANY} functions", "", many_functions(MANY), MANY_RATIO * few))
    print(row("64 x 64 unfold", "gemm", unfolded_array(min(repeat, 3)), UNFOLD_MS))
    long_kernels()


if __name__ == "__main__":
    main()
