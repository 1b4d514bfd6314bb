"""The tutorials run from their first to their last line."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from .pages import ROOT

QUICK = ("first_schedule", "stencil", "proofs")
TUTORIALS = [
    pytest.param(path, id=path.stem, marks=[] if path.stem in QUICK else pytest.mark.slow)
    for path in sorted((ROOT / "docs" / "tutorials").glob("*.py"))
]


@pytest.mark.filterwarnings("ignore::allo.ScheduleNote")  # where hardware is asked for too (tests/backend/twin.py)
@pytest.mark.parametrize("tutorial", TUTORIALS)
def test_tutorial(tutorial: Path) -> None:
    runpy.run_path(str(tutorial), run_name="__main__")
