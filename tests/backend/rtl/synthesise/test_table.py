"""The table of docs/rtl-library.md beside what estimates say of integers, choices and memories now."""

from __future__ import annotations

from pathlib import Path

from allo.estimate.report.result import Resources
from allo.target import Fpga, load_target
from scripts.rtl_units import integers

DOCS = Path(__file__).parents[4] / "docs" / "rtl-library.md"


def test_the_table_has_what_estimates_say() -> None:
    target = load_target("u280")
    assert isinstance(target, Fpga)
    lines = [line for line in DOCS.read_text().splitlines() if line.startswith("|") and " -> " in line]
    rows = [line.strip("| ").split(" | ") for line in lines]
    written = {name.strip(): [pair.split(" -> ")[1].replace(",", "") for pair in pairs] for name, *pairs in rows}
    for name, _, stated in integers(target.under("rtl")):
        blocks = stated.bram18 if isinstance(stated, Resources) else 0
        assert written.pop(name) == [str(n) for n in (stated.lut, stated.ff, stated.dsp, blocks)], name
    assert not written
