"""Reports of `v++ --link`: clocks, banks of memory, and what routing left of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ....errors import ToolError
from .tool_reports import ImplementationReport, Usage, read_text

_ROUTED = "_x/reports/link/imp"  # below the folder of the binary
_RESOURCES = {"LUT": "LUT", "REG": "FF", "BRAM": "BRAM", "URAM": "URAM", "DSP": "DSP"}
_FIELD = re.compile(r"\s+(Name|Type|Frequency|Argument|Memory|Platform VBNV):\s*(.*?)\s*")
_CELL = re.compile(r"(\d+(?:\.\d+)?)\s*\[\s*[\d.]+%\]")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_KERNEL_CLOCK = "DATA"  # the type of the clock that kernels get


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock of the binary, in MHz, as the linker scaled it."""

    name: str
    type: str
    frequency: float

    def __str__(self) -> str:
        return f"clock {self.name}: {self.frequency:g} MHz"


@dataclass(frozen=True, slots=True)
class LinkReport:
    """What a binary for a card or its emulation has: its clocks, and the bank of each argument that is in memory.

    `implementation` is None for emulations, which are not placed, and where the tool left no reports of routing.
    """

    platform: str
    clocks: tuple[Clock, ...]
    banks: tuple[tuple[str, str], ...]
    implementation: ImplementationReport | None
    path: Path

    def __str__(self) -> str:
        lines = [f"linked for {self.platform}", *(f"  {clock}" for clock in self.clocks)]
        lines += [f"  {name} in {bank}" for name, bank in self.banks]
        routed = str(self.implementation or "no reports of placement and routing")
        return "\n".join([*lines, *(f"  {line}" for line in routed.splitlines())])


def read_link(path: Path, kernel: str, frequency: float, *, is_placed: bool) -> LinkReport:
    """`<binary>.info` and, if it was placed, the reports of routing of `kernel`, asked to run at `frequency` MHz.

    ToolError, with the line, if one of them has another form.
    """
    platform, name, type_, argument = "", "", "", ""
    clocks, banks = [], []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        match = _FIELD.fullmatch(line)
        if match is None:
            continue
        key, value = match.groups()
        if key == "Platform VBNV":
            platform = value
        elif key == "Name":
            name = value
        elif key == "Type":
            type_ = value
        elif key == "Frequency":
            clocks.append(Clock(name, type_, _number(path, number, value.removesuffix(" MHz"))))
        elif key == "Argument":
            argument = value
        elif value[:1] != "<":  # numbers have <not applicable>
            banks.append((argument, value.partition(" (")[0]))
    if not platform:
        raise _unexpected(path, "no line 'Platform VBNV:'")
    of_kernels = [clock for clock in clocks if clock.type == _KERNEL_CLOCK]
    if not of_kernels:
        raise _unexpected(path, f"no clock of type {_KERNEL_CLOCK} with a line 'Frequency:'")
    routed = None
    if is_placed:
        routed = _implementation(path.parent / _ROUTED, kernel, frequency, of_kernels[0].frequency)
    return LinkReport(platform, tuple(clocks), tuple(banks), routed, path)


def _implementation(folder: Path, kernel: str, asked: float, achieved: float) -> ImplementationReport | None:
    """What the reports of routing say; None if there are none. The last ones count: those after routing's repairs."""
    timing = sorted((p for p in folder.glob("*timing_summary_*") if p.suffix == ".rpt"), key=_stage)
    used = sorted((p for p in folder.glob("*kernel_util_*") if p.suffix == ".rpt"), key=_stage)
    if not timing and not used:
        return None
    slack = read_slack(timing[-1]) if timing else None
    resources = read_kernel_usage(used[-1], kernel) if used else ()
    return ImplementationReport(1000 / asked, 1000 / achieved, resources, (used or timing)[-1], slack)


def _stage(path: Path) -> tuple[int, str]:
    stages = ("synthed", "placed", "routed", "postroute")
    return max((n for n, stage in enumerate(stages) if stage in path.name), default=-1), path.name


def read_slack(path: Path) -> float:
    """The worst negative slack of a timing summary, in ns: the first number below `WNS(ns)`."""
    lines = read_text(path).splitlines()
    for number, line in enumerate(lines, 1):
        if line.split()[:1] == ["WNS(ns)"]:
            row = lines[number + 1].split() if number + 1 < len(lines) else []
            return _number(path, number + 2, row[0] if row else "")
    raise _unexpected(path, "no column 'WNS(ns)'")


def read_kernel_usage(path: Path, kernel: str) -> tuple[Usage, ...]:
    """What `kernel` takes of what the platform leaves to kernels, from the table of utilisation."""
    columns: list[str] = []
    rows: dict[str, dict[str, float]] = {}
    for number, cells in _table(path):
        if cells[0] == "Name":
            columns = cells[1:]
        elif columns and cells[0] in ("User Budget", kernel):
            rows[cells[0]] = dict(zip(columns, _counts(path, number, cells[1:], len(columns)), strict=True))
    for name in ("User Budget", kernel):
        if name not in rows:
            raise _unexpected(path, f"no row '{name}' in a table with a column 'Name'")
    missing = [column for column in _RESOURCES if column not in columns]
    if missing:
        raise _unexpected(path, f"no column '{missing[0]}'")
    return tuple(
        Usage(name, rows[kernel][column], rows["User Budget"][column]) for column, name in _RESOURCES.items()
    )


def _table(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of tables: `| name | cell | ... |`, with the numbers of their lines."""
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.startswith("|") and line.rstrip().endswith("|"):
            yield number, [cell.strip() for cell in line.strip().strip("|").split("|")]


def _counts(path: Path, number: int, cells: Sequence[str], columns: int) -> list[float]:
    found = [_CELL.fullmatch(cell) for cell in cells]
    if len(cells) != columns or not all(found):
        raise _unexpected(path, f"'{' | '.join(cells)}' where counts like '12 [ 0.67%]' are expected", number)
    return [float(match[1]) if "." in match[1] else int(match[1]) for match in found if match]


def _number(path: Path, number: int, text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise _unexpected(path, f"'{text}' where a number is expected", number)
    return float(text)


def _unexpected(path: Path, what: str, number: int | None = None) -> ToolError:
    where = f"line {number} of the report {path}" if number else f"the report {path}"
    return ToolError(
        f"{where} has {what}", hint="this release of the tool writes another form; read the report itself"
    )
