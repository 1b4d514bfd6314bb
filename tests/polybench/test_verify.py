"""The designs of PolyBench compute what the kernels compute, proven."""

from __future__ import annotations

import pytest

import polybench
from allo.testing import assert_equivalent
from tests.seeds import rotating

DESIGNS = [(name, design) for name in polybench.NAMES for design in polybench.load(name).designs]
QUICK = ("two_mm", "jacobi_1d")  # of others tests/verify/affine/test_polybench.py proves all designs


def verified(name: str, design: str, size: str) -> None:
    benchmark = polybench.load(name)
    chosen = benchmark.designs[design]
    assert_equivalent(benchmark.kernel(size), chosen.customized(size), reassociate=chosen.reassociated)


@pytest.mark.parametrize("name", QUICK)
def test_best_designs(name: str) -> None:
    verified(name, "best", "MEDIUM")


@pytest.mark.parametrize(("name", "design"), rotating(DESIGNS, slow=True))
def test_all_designs(name: str, design: str) -> None:
    verified(name, design, "SMALL")
