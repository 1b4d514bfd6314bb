"""Simulates designs in SystemVerilog cycle by cycle, float32, and keeps what was found in `measured_rtl.csv`.

    python -m polybench.reproduce_rtl [--kernel NAME ...] [--design NAME ...] [--size SIZE ...] [--seconds N] [--count]
    python -m polybench.reproduce_rtl --points [--kernel NAME ...] [--seconds N] [--count]

For each design, of MEDIUM, SMALL and MINI (or the sizes asked for) the first whose cycles are at most CYCLES and whose
simulation ends in so many seconds: cycles of the run beside those predicted, and whether all bits are those of the CPU.
A design that is at none of them is there with the reason. `--count` adds what Yosys counts for an UltraScale+ device.
`--points` are the designs beside published ones, at MEDIUM.
The rows of other designs stay as they are; `python -m polybench.document rtl "rtl points"` writes the tables.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import textwrap
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

import allo

from .accuracy import inputs
from .evaluation import estimated
from .measured_rtl import DESIGNS, Measured, read, write
from .points_rtl import beside_published_ones
from .suite import NAMES, load
from .tables import in_markdown

SIZES = ("MEDIUM", "SMALL", "MINI")
CYCLES, LINES = 2_000_000_000, 150_000  # at most, and lines of SystemVerilog
FLAT = 600  # lines of SystemVerilog at most that Yosys sees as one netlist; of others units are counted alone
HEADER = (
    "kernel", "design", "size", "cycles (simulated)", "cycles (predicted)", "bits of the CPU",
    "LUT (Yosys)", "FF (Yosys)", "DSP (Yosys)", "cycles (Vitis, estimated)",
)  # fmt: skip


def measured(kernel: str, design: str, size: str, *, count: bool) -> Measured:
    """Simulate a design, here."""
    found = Measured(kernel, design, size)
    schedule = load(kernel).designs[design].customized(size)
    try:
        built = schedule.build(target="rtl")
    except allo.TargetError as error:
        return replace(found, failure=error.diagnostics[0].message)
    found = replace(found, predicted=built.predicted_cycles)
    lines = built.code.count("\n")
    if lines > LINES:
        return replace(found, failure=f"{lines:,} lines of SystemVerilog are too many to compile here")
    if (found.predicted or 0) > CYCLES:
        return replace(found, failure=f"{found.predicted:,} cycles are too many to simulate here")
    given, wanted = inputs(kernel, size), inputs(kernel, size)
    built(*given)
    schedule.build()(*wanted)
    equal = all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(given, wanted, strict=True))
    found = replace(found, simulated=built.cycles, equal=equal)
    if not count:
        return found
    counts = built.synthesise(by_unit=lines > FLAT)
    return replace(found, lut=counts.lut, ff=counts.ff, dsp=counts.dsp)


def elsewhere(kernel: str, design: str, size: str, *, count: bool, seconds: float) -> Measured:
    """Simulate a design in a process of its own, which has so many seconds."""
    command = [sys.executable, "-m", "polybench.reproduce_rtl", "--one", kernel, design, size]
    folder = Path(__file__).resolve().parents[1]
    try:
        ended = subprocess.run(
            [*command, *(["--count"] if count else [])],
            cwd=folder, timeout=seconds, capture_output=True, text=True, check=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Measured(kernel, design, size, failure=f"not compiled and simulated in {seconds:.0f} s")
    except subprocess.CalledProcessError as error:
        return Measured(kernel, design, size, failure=error.stderr.strip().splitlines()[-1])
    return Measured(**json.loads(ended.stdout.splitlines()[-1]))


def table() -> str:
    """The table of what was simulated, and a list of what was not."""
    rows = [row for row in read() if row.design in DESIGNS]
    body = [
        (
            row.kernel, row.design, row.size, row.simulated, row.predicted, "equal" if row.equal else "DIFFERENT",
            *("" if number is None else number for number in (row.lut, row.ff, row.dsp)),
            estimated(load(row.kernel).designs[row.design], row.size, baseline=row.design == "vanilla").cycles or "",
        )
        for row in rows
        if not row.failure
    ]  # fmt: skip
    failed: dict[str, list[str]] = {}
    for row in rows:
        if row.failure:
            failed.setdefault(f"{row.size}, {row.failure}", []).append(f"{row.kernel} `{row.design}`")
    listed = [
        textwrap.fill(f"- {why}: {', '.join(names)}", 120, subsequent_indent="  ", break_on_hyphens=False)
        for why, names in failed.items()
    ]
    return "\n".join([in_markdown(HEADER, body), *(["", "Not simulated:", "", *listed] if listed else [])])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kernel", nargs="*", default=NAMES)
    parser.add_argument("--design", nargs="*", default=DESIGNS)
    parser.add_argument("--size", nargs="*", default=SIZES)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--points", action="store_true", help="designs beside published ones, at MEDIUM")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(asdict(measured(*options.one, count=options.count))))
        return 0
    tasks = [(kernel, design) for kernel in options.kernel for design in options.design]
    if options.points:
        tasks = [(kernel, design) for kernel, design in beside_published_ones() if kernel in options.kernel]
    for kernel, design in tasks:
        found: Measured | None = None
        for size in ("MEDIUM",) if options.points else options.size:
            found = elsewhere(kernel, design, size, count=options.count, seconds=options.seconds)
            if not found.failure:
                break
        if found is not None:
            print(found, flush=True)
            write([*(row for row in read() if (row.kernel, row.design) != (kernel, design)), found])
    return 0


if __name__ == "__main__":
    sys.exit(main())
