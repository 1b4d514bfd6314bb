"""The 30 benchmarks of PolyBench/C 4.2.1 by name, and its sizes."""

from dataclasses import replace
from functools import cache
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


@cache
def load(name: str) -> Benchmark:
    """The benchmark `name`, one of NAMES. Raises ValueError for another name."""
    if name not in NAMES:
        raise ValueError(f"no benchmark '{name}'; there are {', '.join(NAMES)}")
    benchmark = import_module(f"polybench.{name}").BENCHMARK
    assert isinstance(benchmark, Benchmark)
    for_cpu = import_module(
        "polybench.cpu_designs"
    ).CPU  # which needs the modules of benchmarks: not at the top
    added = {"cpu": for_cpu[name]} if name in for_cpu else {}
    return replace(benchmark, designs={**benchmark.designs, **added})
