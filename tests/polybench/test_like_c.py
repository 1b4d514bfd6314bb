"""The kernels give the bits of the loops in C, hence all digits that PolyBench/C prints."""

from __future__ import annotations

import pytest

import polybench
from polybench import in_c
from polybench.evaluation import Task, evaluate
from tests.seeds import sampled

pytestmark = pytest.mark.skipif(not in_c.is_available(), reason="needs gcc")


SLOW = pytest.mark.slow


@pytest.mark.parametrize("size", ["MINI", *(pytest.param(size, marks=SLOW) for size in ("SMALL", "MEDIUM"))])
@pytest.mark.parametrize("name", sampled(polybench.NAMES))
def test_equal_bits(name: str, size: str) -> None:
    check = evaluate(Task(name, "vanilla", size, ("c",))).checks["c"]
    assert (check.status, check.detail) == ("passed", "equal bits")
