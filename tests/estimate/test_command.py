"""The command `allo estimate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from allo.cli import main

DESIGN = """
from allo.ir.types import float32

def double(A: float32[16], B: float32[16]):
    for i in range(16):
        B[i] = A[i] * 2.0
"""


@pytest.fixture
def design(tmp_path: Path) -> str:
    file = tmp_path / "designs.py"
    file.write_text(DESIGN)
    return f"{file}:double"


def test_a_table(design: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", design, "--auto-pipeline"]) == 0
    assert capsys.readouterr().out.startswith(
        "double on u280 at 300 MHz; all figures are *estimated*\n  latency *25* cycles"
    )


def test_json_at_another_clock(design: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", design, "--json", "--target", "zynq7020", "--frequency", "120"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["target"], found["frequency"]) == ("zynq7020", 120)


def test_arguments_in_memory(design: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", design, "--json", "--auto-pipeline", "--memory", "HBM"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(t["kind"], t["array"], t["cycles"]) for t in found["transfers"]] == [("load", "A", 86), ("store", "B", 86)]
    assert found["cycles"] == 25 + 2 * 86


def test_what_is_assumed_is_done_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "sums.py"
    file.write_text(DESIGN.replace("B[i] = ", "B[0] += "))
    assert main(["estimate", f"{file}:double", "--json", "--rewritten"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(r["name"], r["what"]) for r in found["rewrites"]] == [
        ("allo-promote-scalars", "B[0] stays in a register while loop 'i' runs")
    ]


def test_a_page(design: str, tmp_path: Path) -> None:
    assert main(["estimate", design, "--html", str(tmp_path / "double.html")]) == 0
    assert "estimated" in (tmp_path / "double.html").read_text()


def test_a_page_that_cannot_be_written(design: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", design, "--html", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"allo: cannot write '{tmp_path}': Is a directory\n"


def test_a_target_that_is_not_there(design: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", design, "--target", "u28"]) == 1
    assert capsys.readouterr().err.startswith("no target 'u28'; there are ecp5, mesh8x8, ")
