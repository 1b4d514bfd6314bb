"""Writes the tables of docs/polybench.md anew, between their marks.

python -m polybench.document [TABLE ...]
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

from . import (
    points_rtl,
    reproduce_cpu,
    reproduce_fig12,
    reproduce_points,
    reproduce_rtl,
    reproduce_streams,
    reproduce_table3,
    sizes_rtl,
)
from .tables import in_markdown

PAGE = Path(__file__).resolve().parents[1] / "docs" / "polybench.md"
TABLES: dict[str, Callable[[], str]] = {
    "table 3": lambda: in_markdown(reproduce_table3.HEADER, reproduce_table3.rows()),
    "points": lambda: in_markdown(reproduce_points.HEADER, reproduce_points.rows()),
    "streams": lambda: in_markdown(reproduce_streams.HEADER, reproduce_streams.rows()),
    "fig. 12": lambda: in_markdown(reproduce_fig12.HEADER, reproduce_fig12.rows()),
    "rtl": reproduce_rtl.table,
    "rtl points": lambda: in_markdown(points_rtl.HEADER, list(points_rtl.rows())),
    "rtl sizes": lambda: in_markdown(sizes_rtl.HEADER, sizes_rtl.rows()),
    "cpu": reproduce_cpu.table,
}


def between(text: str, name: str) -> str:
    """What stands between the marks of a table."""
    return _pattern(name).search(text)[2].strip()  # type: ignore[index]


def replaced(text: str, name: str, body: str) -> str:
    """`text` with another table between the marks."""
    return _pattern(name).sub(lambda match: f"{match[1]}\n{body}\n{match[3]}", text)


def _pattern(name: str) -> re.Pattern[str]:
    name = re.escape(name)
    return re.compile(rf"(<!-- {name} -->)(.*?)(<!-- end of {name} -->)", re.DOTALL)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("table", nargs="*", help=f"{', '.join(TABLES)}; default: all")
    chosen = parser.parse_args().table or list(TABLES)
    for name in chosen:
        if name not in TABLES:
            sys.exit(f"no table '{name}'; there are {', '.join(TABLES)}")
    text = PAGE.read_text(encoding="utf-8")
    for name in chosen:
        text = replaced(text, name, f"Of {date.today().isoformat()}:\n\n{TABLES[name]()}")
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
