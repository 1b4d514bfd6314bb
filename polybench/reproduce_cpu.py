"""Measures the kernels on one core of this CPU, unscheduled and with their `cpu` designs, against gcc -O3.

    python -m polybench.reproduce_cpu                              # the 30 kernels, MEDIUM
    python -m polybench.reproduce_cpu --kernel gemm --size LARGE --type float64 --rounds 21

All programs of a kernel run in one process, one after the other in every round; times are CPU time, medians over the
rounds in milliseconds. A ratio is the median of the rounds' ratios: of a kernel without a schedule to C, below 1 when
it is faster; of C to the `cpu` design, how many times as fast that is. Ratios are of builds with `contract=True`, in
which a * b + c is rounded once, as it is in the C; `exact` is the time where every operation rounds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from typing import Any

import allo.ir.types
from allo.ir.types import AlloType

from .in_c import is_available
from .suite import NAMES, SIZES, load
from .tables import in_markdown
from .timing import ROUNDS, timed

HEADER = (
    *("kernel", "Allo", "exact", "C", "C restrict", "Allo / C", "Allo / restrict"),
    *("`cpu` design", "exact", "C / `cpu`", "restrict / `cpu`"),
)
LIMIT = 1.15  # of the time of C, without a schedule, on the median of the kernels
WANTED = 2.0  # times as fast as C, with a schedule, for at least twelve


def row(name: str, size: str = "MEDIUM", T: AlloType | None = None, rounds: int = ROUNDS) -> Sequence[Any]:
    """The measured line of one kernel."""
    benchmark = load(name)
    designs = [benchmark.designs[d] for d in ("vanilla", "cpu") if d in benchmark.designs]
    plain, *scheduled = timed(benchmark, designs, size, T, rounds)
    cells: list[Any] = [name, plain.milliseconds, plain.exact, plain.c, plain.restrict, plain.of_c]
    cells += [plain.of_restrict]
    for cpu in scheduled:
        cells += [cpu.milliseconds, cpu.exact, 1 / cpu.of_c, 1 / cpu.of_restrict]
    cells += [""] * (len(HEADER) - len(cells))
    return [round(cell, 2) if isinstance(cell, float) else cell for cell in cells]


def summary(rows: Sequence[Sequence[Any]]) -> str:
    """The medians over the kernels, and how many `cpu` designs are fast, beside what is wanted."""
    of_c, of_restrict = (statistics.median(row[column] for row in rows) for column in (5, 6))
    fast, fast_restrict = (
        sum(row[column] >= WANTED for row in rows if row[column] != "") for column in (9, 10)
    )
    return (
        f"Median of {len(rows)} kernels without a schedule: {of_c:.2f} of the time of plain C, {of_restrict:.2f} of C "
        f"with restrict (wanted: at most {LIMIT}). `cpu` designs at least {WANTED:.0f} times as fast: {fast} as plain "
        f"C, {fast_restrict} as C with restrict."
    )


def table(
    names: Sequence[str] = NAMES, size: str = "MEDIUM", T: AlloType | None = None, rounds: int = ROUNDS
) -> str:
    """The summary and the table, in Markdown."""
    rows = [row(name, size, T, rounds) for name in names]
    return f"{summary(rows)}\n\n{in_markdown(HEADER, rows)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kernel", choices=NAMES, action="append", help="may be repeated; default: all")
    parser.add_argument("--size", choices=SIZES, default="MEDIUM")
    parser.add_argument(
        "--type", choices=("float32", "float64"), help="of the elements; default: the kernel's own"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds that count (default {ROUNDS})")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: must be at least 1")
    if not is_available():
        sys.exit("gcc is missing; install it to compare with C (Debian: apt-get install gcc).")
    T = getattr(allo.ir.types, options.type) if options.type else None
    print(table(options.kernel or NAMES, options.size, T, options.rounds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
