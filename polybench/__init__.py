"""PolyBench/C 4.2.1 as Allo kernels in float32; `polybench.load("gemm")` gives one benchmark."""

from __future__ import annotations

from importlib import import_module

from .benchmark import Benchmark

NAMES = ("gemm", "two_mm", "atax", "jacobi_2d", "mvt")
SIZES = ("MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE")

__all__ = ["NAMES", "SIZES", "Benchmark", "load"]


def load(name: str) -> Benchmark:
    """The benchmark `name`, one of NAMES. Raises ValueError for another name."""
    if name not in NAMES:
        raise ValueError(f"no benchmark '{name}'; there are {', '.join(NAMES)}")
    benchmark = import_module(f".{name}", __name__).BENCHMARK
    assert isinstance(benchmark, Benchmark)
    return benchmark
