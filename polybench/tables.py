"""Evaluations as rows: for the terminal, as CSV, JSON and Markdown."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.table import Table

from .evaluation import CHECKS, TARGET, Evaluation
from .suite import load

_MARKS = {"passed": "yes", "failed": "NO", "unknown": "?", "skipped": "-", "error": "ERROR"}
_NUMBERS = ("cycles", "ii", "dsp", "bram18", "lut", "ff")
_ONLY_IN_FILES = ("bram18", "lut", "ff")
COLUMNS = ("kernel", "design", "size", *CHECKS[:-1], *_NUMBERS, "speed-up", "lines", "compile s")


def speedups(results: Sequence[Evaluation]) -> dict[tuple[str, str, str], float]:
    """Estimated cycles of `vanilla` divided by those of the design, where both are known."""
    cycles = {(r.kernel, r.design, r.size): r.figures.cycles for r in results if r.figures and r.figures.cycles}
    return {
        key: cycles[key[0], "vanilla", key[2]] / found
        for key, found in cycles.items()
        if (key[0], "vanilla", key[2]) in cycles
    }


def row(result: Evaluation, speedup: float | None) -> dict[str, Any]:
    """The cells of one design by column; what is not known is empty."""
    checks = {name: _MARKS[c.status] for name, c in result.checks.items() if name in COLUMNS}
    figures = {name: getattr(result.figures, name) for name in _NUMBERS} if result.figures else {}
    given = {
        "kernel": result.kernel,
        "design": result.design,
        "size": result.size,
        **checks,
        **{name: number for name, number in figures.items() if number is not None},
        "lines": result.lines,
        "compile s": round(result.compile_seconds, 3),
    }
    if "compile" in result.checks:
        given["cpu"] = "ERROR"
    if speedup is not None:
        given["speed-up"] = round(speedup, 1)
    return {column: given.get(column, "") for column in COLUMNS}


def rows(results: Sequence[Evaluation]) -> list[dict[str, Any]]:
    """A row for each evaluation, in their order."""
    found = speedups(results)
    return [row(r, found.get((r.kernel, r.design, r.size))) for r in results]


def in_terminal(results: Sequence[Evaluation]) -> Table:
    """A table of rich: the columns that have something to say."""
    body = rows(results)
    size = ", ".join(dict.fromkeys(r.size for r in results))
    table = Table(title=f"PolyBench, {size}: cycles and DSPs estimated for {TARGET}", box=SIMPLE, padding=(0, 1, 0, 0))
    columns = [c for c in COLUMNS if c not in _ONLY_IN_FILES and any(cells[c] != "" for cells in body)]
    if len(dict.fromkeys(r.size for r in results)) == 1:
        columns.remove("size")
    for column in columns:
        right = column in _NUMBERS or column in COLUMNS[-3:]
        table.add_column(column, justify="right" if right else "left", no_wrap=True)
    for cells in body:
        table.add_row(*(_cell(cells[column]) for column in columns))
    return table


def in_markdown(header: Sequence[str], body: Sequence[Sequence[Any]]) -> str:
    """A table of Markdown; numbers with thousands separated."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(_cell(value) for value in cells) + " |" for cells in body]
    return "\n".join(lines)


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
