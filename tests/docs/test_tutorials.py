"""The tutorials run from their first to their last line."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from .pages import ROOT

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.py"))


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial(tutorial: Path) -> None:
    runpy.run_path(str(tutorial), run_name="__main__")
