"""PolyBench in simulated hardware: the bits of the CPU, and the cycles that were predicted."""

from __future__ import annotations

import pytest

from polybench import NAMES, load
from polybench.accuracy import inputs

from .simulated import assert_as_predicted

SOME = ("gemm", "seidel_2d", "lu")  # of the best designs: others take the C++ compiler minutes


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_kernels_as_they_are(name: str) -> None:
    made = assert_as_predicted(load(name).designs["vanilla"].customized("MINI"), *inputs(name, "MINI"))
    assert made.predicted_cycles is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
def test_best_designs(name: str) -> None:
    assert_as_predicted(load(name).designs["best"].customized("MINI"), *inputs(name, "MINI"))
