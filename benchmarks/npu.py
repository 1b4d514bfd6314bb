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

import allo.dataflow as df
from allo.ir.types import bfloat16, int8, int16
from allo.library.aie import GEMM

PARTS = {"i16": (int16, (64, 64, 64)), "bf16": (bfloat16, (64, 64, 64)), "i8": (int8, (64, 128, 64))}
DATO = {"i16": 75.01, "bf16": 47.56, "i8": 61.58}  # per cent of the peak, npu1, 4 x 4 (Dato paper, section 7.2.1)
SCALING = {(1, 4): 1.0, (2, 4): 1.97, (4, 4): 3.67}  # section 7.3


@dataclass(frozen=True)
class Row:
    """One program: its run, and the CPU seconds that building it takes."""

    run: Any  # of type ArrayRun
    seconds: float


def gemm(element: str, rows: int = 4, columns: int = 4, parts: tuple[int, int, int] = (8, 8, 8)) -> Row:
    """A product of `parts` of one core each, on `rows x columns` cores of npu1."""
    kind: Any
    kind, (m, n, k) = PARTS[element]
    Pm, Pn, Pk = parts
    top, steps = GEMM(m * Pm, n * Pn, k * Pk, Pm, Pn, Pk, kind, kind, columns, rows)
    start = time.process_time()
    built = df.build(top, target="aie", mapping_primitives=steps)
    return Row(built.timed(kernels="vector"), time.process_time() - start)


def utilisation() -> str:
    """The rows of the three types beside those of the paper."""
    lines = ["| elements | m x n x k of a core | simulated | Dato, measured |", "|---|---|---|---|"]
    for element, paper in DATO.items():
        run = gemm(element, parts=(8, 4, 8) if element == "i8" else (8, 8, 8)).run
        part = " x ".join(map(str, PARTS[element][1]))
        lines.append(f"| {element} | {part} | {100 * (run.utilisation or 0):.1f} % | {paper} % |")
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
    print(f"{utilisation()}\n\n{scaling()}\n\n{building()}")


if __name__ == "__main__":
    main()
