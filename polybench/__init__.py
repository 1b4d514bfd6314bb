"""PolyBench/C 4.2.1 as Allo kernels; `polybench.load("gemm")` gives one benchmark.

Each nest of a kernel that consists of several is a kernel of its own. Some benchmarks have `designs`: the same in
stages, with a schedule for hardware; `polybench.load("atax").designs["best"].customized("MEDIUM")` applies it.
Annotations name the extents and the element type of the function around them: these files do without
`from __future__ import annotations`, which would hide those names.
"""

from importlib import import_module

from .benchmark import Benchmark

NAMES = (
    *("correlation", "covariance"),  # data mining
    *("gemm", "gemver", "gesummv", "symm", "syr2k", "syrk", "trmm"),  # BLAS
    *("two_mm", "three_mm", "atax", "bicg", "doitgen", "mvt"),  # linear algebra
    *("cholesky", "durbin", "gramschmidt", "lu", "ludcmp", "trisolv"),  # solvers
    *("deriche", "floyd_warshall", "nussinov"),  # medley
    *("adi", "fdtd_2d", "heat_3d", "jacobi_1d", "jacobi_2d", "seidel_2d"),  # stencils
)
SIZES = ("MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE")

__all__ = ["NAMES", "SIZES", "Benchmark", "load"]


def load(name: str) -> Benchmark:
    """The benchmark `name`, one of NAMES. Raises ValueError for another name."""
    if name not in NAMES:
        raise ValueError(f"no benchmark '{name}'; there are {', '.join(NAMES)}")
    benchmark = import_module(f".{name}", __name__).BENCHMARK
    assert isinstance(benchmark, Benchmark)
    return benchmark
