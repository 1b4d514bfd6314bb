"""The PolyBench kernels mean what their NumPy references mean, as written and scheduled."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
import polybench
from allo.ir.types import float32, float64
from polybench.accuracy import INTEGER, element, error, inputs, tolerance
from polybench.in_c import compile_c
from tests.seeds import sampled


def schedule_gemm(s: allo.Schedule) -> None:
    s.split("i", 7)  # divides neither 20 nor 60: a guarded tail
    s.parallel("i.outer")
    s.buffer_at(s.C, axis="i.inner")
    s.split("k", 3)
    s.unroll("k.inner")
    s.pipeline("j1")
    s.partition(s.B, partition_type=allo.Partition.Cyclic, dim=2, factor=4)


def schedule_two_mm(s: allo.Schedule) -> None:
    s.buffer_at("product:tmp", axis="product:j")
    s.buffer_at("update:D", axis="update:i")
    s.unroll("update:k", 2)
    s.parallel("update:i")


def schedule_atax(s: allo.Schedule) -> None:
    s.buffer_at(s.tmp, axis="i")
    s.split("j1", 8)
    s.unroll("j1.inner")
    s.pipeline("S_i_1.j")
    s.partition(s.A, partition_type=allo.Partition.Block, dim=1, factor=2)


def schedule_jacobi_2d(s: allo.Schedule) -> None:
    outer, inner = s.split("i", 4)
    s.reorder(outer, "j", inner)
    s.unroll(inner)
    outer, _ = s.split("q", 14)
    s.reorder(outer, "p")
    s.parallel(s.fuse(outer, "p"))


def schedule_mvt(s: allo.Schedule) -> None:
    s.reorder("columns:j", "columns:i")
    s.buffer_at("rows:x1", axis="rows:i")
    s.parallel("rows:i")


SCHEDULES: dict[str, Callable[[allo.Schedule], None]] = {
    "gemm": schedule_gemm,
    "two_mm": schedule_two_mm,
    "atax": schedule_atax,
    "jacobi_2d": schedule_jacobi_2d,
    "mvt": schedule_mvt,
}


def scheduled(name: str, size: str) -> allo.Schedule:
    s = allo.customize(polybench.load(name).kernel(size))
    SCHEDULES[name](s)
    return s


def check(name: str, size: str, run: Callable[..., None], T: Any = float32) -> None:
    """`run` changes the arguments of the benchmark as NumPy does."""
    got, wanted = inputs(name, size, T), inputs(name, size, T)
    run(*got)
    polybench.load(name).reference(size, *wanted)
    compare(name, got, wanted, T)


def compare(name: str, got: tuple[Any, ...], wanted: tuple[Any, ...], T: Any) -> None:
    """The same up to the rounding of T."""
    assert error(name, got, wanted) <= tolerance(name, T)


def as_written(name: str, size: str, T: Any) -> Callable[..., None]:
    return allo.customize(polybench.load(name).kernel(size, element(name, T))).build()


@pytest.mark.parametrize("name", INTEGER)
def test_integers_by_default(name: str) -> None:
    """Without a choice the elements are int32, as in the original."""
    benchmark = polybench.load(name)
    run = allo.customize(benchmark.kernel("MINI")).build()
    got, wanted = benchmark.arguments("MINI"), benchmark.arguments("MINI")
    assert got[-1].dtype == np.int32
    run(*got)
    benchmark.reference("MINI", *wanted)
    np.testing.assert_array_equal(got[-1], wanted[-1])


@pytest.mark.parametrize("size", ["MINI", "SMALL"])
@pytest.mark.parametrize("name", polybench.NAMES)
def test_as_written(name: str, size: str) -> None:
    check(name, size, as_written(name, size, float64), float64)


@pytest.mark.parametrize("name", [name for name in polybench.NAMES if name != "durbin"])
def test_as_written_in_single_precision(name: str) -> None:
    """All but durbin, whose results in float32 are rounding errors from SMALL on."""
    check(name, "SMALL", as_written(name, "SMALL", float32))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("name", sampled(polybench.NAMES))
def test_same_as_in_c(name: str, tmp_path: Path) -> None:
    """The loops of the benchmarks in C, which the kernels are measured against, compute the same."""
    got, wanted = inputs(name, "MINI", float64), inputs(name, "MINI", float64)
    as_written(name, "MINI", float64)(*got)
    compile_c(polybench.load(name), "MINI", repr(element(name, float64)), tmp_path)(*wanted)
    compare(name, got, wanted, float64)


@pytest.mark.slow
@pytest.mark.parametrize("T", [float32, float64])
@pytest.mark.parametrize("name", polybench.NAMES)
def test_medium(name: str, T: Any) -> None:
    if (name, T) != ("durbin", float32):
        check(name, "MEDIUM", as_written(name, "MEDIUM", T), T)


def test_gramschmidt_gives_factors_of_its_input() -> None:
    """A = Q R holds for all columns, also for those behind the rank."""
    A, R, Q = inputs("gramschmidt", "SMALL", float64)
    start = A.copy()
    as_written("gramschmidt", "SMALL", float64)(A, R, Q)
    np.testing.assert_allclose(Q @ R, start, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("size", ["MINI", "SMALL"])
def test_scheduled(name: str, size: str) -> None:
    check(name, size, scheduled(name, size).build())


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule_replays_at_another_size(name: str) -> None:
    fresh = allo.customize(polybench.load(name).kernel("SMALL"))
    fresh.replay(scheduled(name, "MINI").steps)
    assert str(fresh.module) == str(scheduled(name, "SMALL").module)


@pytest.mark.parametrize("name", polybench.NAMES)
def test_kernel_is_plain_python(name: str) -> None:
    check(name, "MINI", polybench.load(name).kernel("MINI", element(name, float64)), float64)


@pytest.mark.parametrize("name", polybench.NAMES)
def test_module_grows_with_the_text_only(name: str) -> None:
    kernel = polybench.load(name).kernel
    small, large = (str(allo.customize(kernel(size)).module) for size in ("MINI", "EXTRALARGE"))
    assert len(small.splitlines()) == len(large.splitlines())


@pytest.mark.parametrize("name", polybench.NAMES)
def test_sizes(name: str) -> None:
    benchmark = polybench.load(name)
    assert benchmark.name == name and tuple(benchmark.sizes) == polybench.SIZES
    assert {len(extents) for extents in benchmark.sizes.values()} == {len(benchmark.extents)}


def test_thirty_kernels() -> None:
    assert len(set(polybench.NAMES)) == 30


def outputs(name: str, run: Callable[..., None], size: str) -> list[Any]:
    arguments = inputs(name, size)
    run(*arguments)
    return [argument for argument in arguments if isinstance(argument, np.ndarray)]


@pytest.mark.parametrize("name", ["jacobi_2d", "mvt"])
def test_schedule_that_keeps_the_order_of_sums_is_exact(name: str) -> None:
    plain = outputs(name, allo.customize(polybench.load(name).kernel("SMALL")).build(), "SMALL")
    for mine, theirs in zip(outputs(name, scheduled(name, "SMALL").build(), "SMALL"), plain, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_unknown_benchmark() -> None:
    with pytest.raises(ValueError, match="no benchmark 'gem'; there are correlation, covariance"):
        polybench.load("gem")
