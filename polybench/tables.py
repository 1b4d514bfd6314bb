"""Evaluations as rows: for the terminal, as CSV, JSON and Markdown."""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.table import Table

from .evaluation import CHECKS, TARGET, Evaluation
from .suite import load

_MARKS = {"passed": "yes", "failed": "NO", "unknown": "?", "skipped": "-", "error": "ERROR"}
_NUMBERS = ("cycles", "ii", "dsp", "bram18", "lut", "ff")
_TIMES = {
    "ms": "milliseconds",
    "exact ms": "exact",
    "C ms": "c",
    "C restrict ms": "restrict",
    "of C": "of_c",
    "of C restrict": "of_restrict",
}
_VERDICTS = tuple(check for check in CHECKS if check not in ("estimate", "time"))  # which have numbers
COLUMNS = ("kernel", "design", "size", *_VERDICTS, *_NUMBERS, "speed-up", *_TIMES, "lines", "compile s")
"""Of the rows: `ms` and what follows it are measured, the numbers before are estimated."""


def speedups(results: Sequence[Evaluation]) -> dict[tuple[str, str, str], float]:
    """Estimated cycles of `vanilla` divided by those of the design, where both are known."""
    cycles = {
        (r.kernel, r.design, r.size): r.figures.cycles for r in results if r.figures and r.figures.cycles
    }
    return {
        key: cycles[key[0], "vanilla", key[2]] / found
        for key, found in cycles.items()
        if (key[0], "vanilla", key[2]) in cycles
    }


def row(result: Evaluation, speedup: float | None) -> dict[str, Any]:
    """The cells of one design by column; what is not known is empty."""
    given: dict[str, Any] = {
        "kernel": result.kernel,
        "design": result.design,
        "size": result.size,
        **{name: _MARKS[check.status] for name, check in result.checks.items()},
        "lines": result.lines,
        "compile s": round(result.compile_seconds, 3),
    }
    if result.figures:
        given |= {name: getattr(result.figures, name) for name in _NUMBERS}
    if result.timing:
        given |= {name: round(getattr(result.timing, field), 3) for name, field in _TIMES.items()}
    if "compile" in result.checks:
        given["cpu"] = "ERROR"
    if speedup is not None:
        given["speed-up"] = round(speedup, 1)
    return {column: "" if given.get(column) is None else given[column] for column in COLUMNS}


def rows(results: Sequence[Evaluation]) -> list[dict[str, Any]]:
    """A row for each evaluation, in their order."""
    found = speedups(results)
    return [row(r, found.get((r.kernel, r.design, r.size))) for r in results]


def in_terminal(results: Sequence[Evaluation]) -> list[Table]:
    """Tables of rich: what is estimated, and what is measured."""
    found = []
    estimated = [r for r in results if r.timing is None or r.figures]
    measured = [r for r in results if r.timing]
    if estimated:
        numbers = ("cycles", "ii", "dsp", "speed-up", "lines", "compile s")
        found.append(_table(estimated, numbers, f"cycles and DSPs estimated for {TARGET}"))
    if measured:
        found.append(_table(measured, tuple(_TIMES), "measured on this CPU, with C by gcc -O3"))
    return found


def _table(results: Sequence[Evaluation], numbers: Sequence[str], title: str) -> Table:
    """The columns that have something to say; all checks are in one."""
    sizes = list(dict.fromkeys(r.size for r in results))
    table = Table(title=f"PolyBench, {', '.join(sizes)}: {title}", box=SIMPLE, padding=(0, 1, 0, 0))
    body = rows(results)
    numbers = [column for column in numbers if any(cells[column] != "" for cells in body)]
    names = ["kernel", "design", *(["size"] if len(sizes) > 1 else [])]
    for column in (*names, "checks"):
        table.add_column(column, no_wrap=True)
    for column in numbers:
        table.add_column(column.replace(" ", "\n"), justify="right", no_wrap=True)
    for result, cells in zip(results, body, strict=True):
        table.add_row(*(cells[name] for name in names), verdict(result), *(_cell(cells[c]) for c in numbers))
    return table


def verdict(result: Evaluation) -> str:
    """`ok`, or what did not pass."""
    others = [f"{name} {check.status}" for name, check in result.checks.items() if check.status != "passed"]
    return ", ".join(others) or "ok"


def in_markdown(header: Sequence[str], body: Sequence[Sequence[Any]]) -> str:
    """A table of Markdown; numbers with thousands separated."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(_cell(value) for value in cells) + " |" for cells in body]
    return "\n".join(lines)


def print_table(description: str | None, header: Sequence[str], rows: Callable[[], Sequence[Sequence[Any]]]) -> int:
    """A command without options that prints a table; `description` is the docstring of its module."""
    argparse.ArgumentParser(description=(description or "").splitlines()[0]).parse_args()
    print(in_markdown(header, rows()))
    return 0


def write(results: Sequence[Evaluation], folder: Path) -> None:
    """`results.csv` and `results.json` in `folder`."""
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows(results))
    everything = [{**r.as_json(), "extents": load(r.kernel).sizes[r.size]} for r in results]
    (folder / "results.json").write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)
