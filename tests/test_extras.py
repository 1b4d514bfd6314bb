"""Extras of the package: `scripts/extras.sh` tries each of them."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
OF_DEVELOPERS = {"test", "dev"}


def test_each_extra_is_tried() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    tried = runpy.run_path(str(ROOT / "scripts" / "try_extra.py"))["EXTRAS"]
    (whole,) = extras["all"]
    assert re.sub(r"allo\[(.*)\]", r"\1", whole).split(",") == [name for name in extras if name in tried]
    assert set(tried) == set(extras) - OF_DEVELOPERS - {"all"}
    default = next(line for line in (ROOT / "scripts" / "extras.sh").read_text().splitlines() if "set --" in line)
    assert set(default.partition("set -- ")[2].split()) == {*tried, "all"}
