"""The check against NumPy in the type of the benchmark, at the size at which all results mean something."""

from __future__ import annotations

from pathlib import Path

import pytest

from allo.ir.types import float32, float64
from polybench import NAMES, in_c, load
from polybench.accuracy import USUAL, error, inputs, tolerance
from polybench.evaluation import Task, evaluate
from tests.seeds import sampled


@pytest.mark.parametrize("design", ["vanilla", "best"])
@pytest.mark.parametrize("name", sampled(NAMES))
def test_like_numpy(name: str, design: str) -> None:
    check = evaluate(Task(name, design, "MINI", ("cpu",))).checks["cpu"]
    assert check.status == "passed", check.detail


@pytest.mark.skipif(not in_c.is_available(), reason="needs gcc")
def test_rounding_of_durbin(tmp_path: Path) -> None:
    """The loops in C, each operation rounded, are as far off as is allowed: not a freedom for mistakes of ours."""
    durbin = load("durbin")
    exact, rounded = inputs("durbin", "MINI", float64), inputs("durbin", "MINI")
    durbin.reference("MINI", *exact)
    in_c.compile_c(durbin, "MINI", "float32", tmp_path, options=in_c.EXACT)(*rounded)
    assert 10 * USUAL[float32] < error("durbin", rounded, exact) < tolerance("durbin")
