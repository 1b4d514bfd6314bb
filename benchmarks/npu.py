"""GEMM on the timed model of an NPU beside what the Dato paper measured, and how it grows with the array.

    python benchmarks/npu.py

Cycles are *simulated*. The model is calibrated on a single core: 25 cycles a call of a kernel, and an instruction more
for each block of results (XDNA thesis, sections 4.1, 6.2 and 6.3). Whole arrays are predictions.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import allo
import allo.dataflow as df
from allo.ir.types import bfloat16, int4, int8, int16
from allo.library.aie import GEMM
from allo.memory import Layout

# Elements of both factors, m x n x k of a core, and how many of these parts there are.
PARTS = {
    "i16": (int16, int16, (64, 64, 64), (8, 8, 8)),
    "bf16": (bfloat16, bfloat16, (64, 64, 64), (8, 8, 8)),
    "i8": (int8, int8, (64, 128, 64), (8, 4, 8)),
    "i8 x i4": (int8, int4, (64, 128, 128), (32, 4, 16)),
}
# Per cent of the peak, npu1, 4 x 4 (Dato paper, section 7.2.1).
DATO = {"i16": "75.01 %", "bf16": "47.56 %", "i8": "61.58 %", "i8 x i4": "up to 84 %"}
SCALING = {(1, 4): 1.0, (2, 4): 1.97, (4, 4): 3.67}  # section 7.3


ABLATION = {  # ms (section 7.4)
    "a call for each 16 parts": 13.65, "mapping": 6.42, "vector kernels": 3.13, "layouts by DMA engines": 2.83,
}  # fmt: skip


@df.region()
def sixteen(A: int16[256, 64], B: int16[64, 256], C: int16[256, 256]):
    """Sixteen parts of a product, each added to what C has."""

    @df.kernel(mapping=[4, 4], args=[A, B, C])
    def gemm(a: int16[256, 64] @ Layout("S1R"), b: int16[64, 256] @ Layout("RS0"), c: int16[256, 256] @ Layout("S1S0")):
        for i, j, k in allo.grid(64, 64, 64):
            c[i, j] += a[i, k] * b[k, j]


@dataclass(frozen=True)
class Row:
    """One program: its run, and the CPU seconds that building it takes."""

    run: Any  # of type ArrayRun
    seconds: float


def gemm(
    element: str, rows: int = 4, columns: int = 4, parts: tuple[int, int, int] | None = None, **options: Any
) -> Row:
    """A product of `parts` of one core each, on `rows x columns` cores of npu1."""
    first, second, (m, n, k), usual = PARTS[element]
    Pm, Pn, Pk = parts or usual
    top, steps = GEMM(m * Pm, n * Pn, k * Pk, Pm, Pn, Pk, first, first, columns, rows, TyB=second)
    start = time.process_time()
    built = df.build(top, target="aie", mapping_primitives=steps, **options)
    return Row(built.timed(kernels=None if options else "vector"), time.process_time() - start)


def utilisation() -> str:
    """The rows of all types beside those of the paper."""
    head = "| elements | m x n x k of a core | matrices M x N x K | simulated | Dato, measured |"
    lines = [head, "|---|---|---|---|---|"]
    for element, paper in DATO.items():
        _, _, part, count = PARTS[element]
        share = gemm(element, kernels="vector").run.utilisation or 0
        whole = " x ".join(str(size * times) for size, times in zip(part, count, strict=True))
        lines.append(f"| {element} | {' x '.join(map(str, part))} | {whole} | {100 * share:.1f} % | {paper} |")
    return "\n".join(lines)


def ablation() -> str:
    """What a product of 512 x 256 x 512 takes, i16, as the compiler does more; each row has all of those above."""
    parts = (8, 4, 8)
    calls = parts[0] * parts[1] * parts[2] // 16
    cycles = [
        calls * df.build(sixteen, target="aie").timed().cycles,
        gemm("i16", parts=parts, kernels="scalar").run.cycles,
        gemm("i16", parts=parts, kernels="vector", layouts="cores").run.cycles,
        gemm("i16", parts=parts, kernels="vector").run.cycles,
    ]
    lines = ["| with | cycles, simulated | factor | Dato, ms, measured | factor |", "|---|---|---|---|---|"]
    last = list(ABLATION.values())[-1]
    for (step, paper), own in zip(ABLATION.items(), cycles, strict=True):
        lines.append(f"| {step} | {own:,} | {own / cycles[-1]:.2f} | {paper} | {paper / last:.2f} |")
    return "\n".join(lines)


def scaling() -> str:
    """The same product on more cores."""
    lines = ["| cores | cycles | speed-up, simulated | Dato, measured |", "|---|---|---|---|"]
    first = None
    for (rows, columns), paper in SCALING.items():
        run = gemm("i16", rows, columns).run
        first = first or run.cycles
        lines.append(f"| {rows} x {columns} | {run.cycles:,} | {first / run.cycles:.2f} | {paper} |")
    return "\n".join(lines)


def building() -> str:
    """CPU seconds of a build and a timed run, as parts become more."""
    lines = ["| parts | tasks | build and timed run, s of CPU time |", "|---|---|---|"]
    gemm("i16", parts=(1, 1, 1), rows=1, columns=1)
    for parts in ((4, 4, 1), (4, 4, 4), (8, 8, 8)):
        count = parts[0] * parts[1] * parts[2]
        lines.append(f"| {' x '.join(map(str, parts))} | {count} | {gemm('i16', parts=parts).seconds:.2f} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables."""
    print(f"{utilisation()}\n\n{scaling()}\n\n{ablation()}\n\n{building()}")


if __name__ == "__main__":
    main()
