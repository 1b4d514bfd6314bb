"""The designs of PolyBench against their kernels: proved at any size, with certificates that pass."""

from __future__ import annotations

import pytest

import allo
import polybench
from allo.verify.affine import Proof, prove
from allo.verify.programs import load

QUICK = ("gemm", "jacobi_2d", "correlation", "mvt", "trmm", "symm")


def assert_proved(name: str, size: str) -> None:
    benchmark = polybench.load(name)
    designs = list(benchmark.designs.values()) or [None]
    for design in designs:
        kernel = (benchmark if design is None else design).kernel(size)
        s = allo.customize(kernel)
        if design is not None:
            design.schedule(s, size)
        assert isinstance(prove(load(allo.customize(kernel)), load(s)), Proof)


@pytest.mark.parametrize("name", QUICK)
def test_designs(name: str) -> None:
    assert_proved(name, "MEDIUM")


@pytest.mark.slow
@pytest.mark.parametrize("name", polybench.NAMES)
def test_all_designs(name: str) -> None:
    assert_proved(name, "LARGE")
