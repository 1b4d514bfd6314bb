"""Rows of `measured_rtl.csv`: what was found of designs that were simulated in SystemVerilog."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from .suite import NAMES, load

FILE = Path(__file__).with_suffix(".csv")
DESIGNS = ("vanilla", "best")  # those that all kernels have


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found of a design at a size; `failure` says why there is nothing."""

    kernel: str
    design: str
    size: str
    predicted: int | None = None
    simulated: int | None = None
    equal: bool | None = None
    lut: int | None = None
    ff: int | None = None
    dsp: int | None = None
    failure: str = ""


def read() -> list[Measured]:
    """What the file has, in the order of the benchmarks."""
    if not FILE.exists():
        return []
    with FILE.open(newline="", encoding="utf-8") as file:
        return [Measured(**{name: _value(name, text) for name, text in row.items()}) for row in csv.DictReader(file)]


def _value(name: str, text: str) -> Any:
    if name in ("kernel", "design", "size", "failure"):
        return text
    return None if not text else text == "True" if name == "equal" else int(text)


def write(rows: Sequence[Measured]) -> None:
    """The file anew: kernels in the order of the benchmarks, their designs too, after those that all have."""
    with FILE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Measured)], lineterminator="\n")
        writer.writeheader()
        for row in sorted(rows, key=_place):
            writer.writerow({name: "" if value is None else value for name, value in asdict(row).items()})


def _place(row: Measured) -> tuple[int, int]:
    designs = list(dict.fromkeys((*DESIGNS, *load(row.kernel).designs)))
    return NAMES.index(row.kernel), designs.index(row.design)
