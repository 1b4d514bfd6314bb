"""The designs of PolyBench against the benchmark's kernels: proved at any size, with certificates that pass."""

from __future__ import annotations

import pytest

import allo
import polybench
from allo.verify.affine import Proof, prove
from allo.verify.program.programs import load
from tests.seeds import sampled

QUICK = ("gemm", "jacobi_2d", "mvt", "trmm", "symm", "gemver", "syr2k", "nussinov", "seidel_2d")


def assert_proved(name: str, size: str) -> None:
    benchmark = polybench.load(name)
    kernel = load(allo.customize(benchmark.kernel(size)))
    for label, design in benchmark.designs.items():
        found = prove(kernel, load(design.customized(size)), reassociate=design.reassociated)
        assert isinstance(found, Proof), f"{label}: {found}"


@pytest.mark.parametrize("name", sampled(QUICK))
def test_designs(name: str) -> None:
    assert_proved(name, "MEDIUM")


@pytest.mark.slow
@pytest.mark.parametrize("name", polybench.NAMES)
def test_all_designs(name: str) -> None:
    assert_proved(name, "LARGE")
