"""The command `allo search`."""

from __future__ import annotations

from pathlib import Path

import pytest

import allo
from allo.cli import main

KERNEL = """
import allo
from allo.ir.types import int32


def scaled(A: int32[32], B: int32[32]):
    for i in range(32):
        B[i] = A[i] * 3
"""


@pytest.fixture
def design(tmp_path: Path) -> str:
    file = tmp_path / "scaled.py"
    file.write_text(KERNEL)
    return f"{file}:scaled"


def test_it_prints_designs_and_writes_the_best_one(design: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    files = {name: tmp_path / f"found.{name}" for name in ("csv", "svg", "txt")}
    asked = ["search", design, "--limit", "lut=2000", "--budget", "6", "--workers", "0"]
    written = ["--csv", str(files["csv"]), "--plot", str(files["svg"]), "-o", str(files["txt"])]
    assert main([*asked, *written]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("6 points of 'scaled': ") and "the best is Equivalent" in shown
    steps = files["txt"].read_text()
    assert shown.rstrip().endswith(steps.rstrip())
    assert len(files["csv"].read_text().splitlines()) >= 7 and files["svg"].exists()
    assert main(["apply", design, "--steps", str(files["txt"])]) == 0


def test_limits_that_are_none(design: str, capsys: pytest.CaptureFixture[str]):
    assert main(["search", design, "--limit", "dsp"]) == 2
    assert "--limit takes FIGURE=MOST, such as dsp=440, got 'dsp'" in capsys.readouterr().err
    assert main(["search", design, "--limit", "dps=3"]) == 1
    assert "there is no figure 'dps' of a design" in capsys.readouterr().err


def test_the_package_has_the_function():
    assert callable(allo.search) and "search" in allo.__all__
