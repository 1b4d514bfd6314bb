"""The PolyBench kernels mean what their NumPy references mean, as written and scheduled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
import polybench


def schedule_gemm(s: allo.Schedule) -> None:
    s.split("i", 7)  # divides neither 20 nor 60: a guarded tail
    s.parallel("i.outer")
    s.buffer_at(s.C, axis="i.inner")
    s.split("k", 3)
    s.unroll("k.inner")
    s.pipeline("j1")
    s.partition(s.B, partition_type=allo.Partition.Cyclic, dim=2, factor=4)


def schedule_two_mm(s: allo.Schedule) -> None:
    first, second = s.get_loops()
    s.buffer_at(s.tmp, axis=first.j)
    s.buffer_at(s.D, axis=second.i)
    s.unroll(second.k, 2)
    s.parallel(second.i)


def schedule_atax(s: allo.Schedule) -> None:
    s.buffer_at(s.tmp, axis="i")
    s.split("j1", 8)
    s.unroll("j1.inner")
    s.pipeline("S_i_1.j")


def schedule_jacobi_2d(s: allo.Schedule) -> None:
    outer, inner = s.split("i", 4)
    s.reorder(outer, "j", inner)
    s.unroll(inner)
    outer, _ = s.split("q", 14)
    s.reorder(outer, "p")
    s.parallel(s.fuse(outer, "p"))


def schedule_mvt(s: allo.Schedule) -> None:
    first, second = s.get_loops()
    s.reorder(second.j, second.i)
    s.buffer_at(s.x1, axis=first.i)
    s.partition(s.A, partition_type=allo.Partition.Block, dim=1, factor=2)
    s.parallel(first.i)


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


def check(name: str, size: str, run: Callable[..., None]) -> None:
    """`run` changes the arguments of the benchmark as NumPy does."""
    benchmark = polybench.load(name)
    got, wanted = benchmark.arguments(size), benchmark.arguments(size)
    run(*got)
    benchmark.reference(size, *wanted)
    for mine, theirs in zip(got, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-5)


@pytest.mark.parametrize("size", ["MINI", "SMALL"])
@pytest.mark.parametrize("name", polybench.NAMES)
def test_as_written(name: str, size: str) -> None:
    check(name, size, allo.customize(polybench.load(name).kernel(size)).build())


@pytest.mark.parametrize("size", ["MINI", "SMALL"])
@pytest.mark.parametrize("name", polybench.NAMES)
def test_scheduled(name: str, size: str) -> None:
    check(name, size, scheduled(name, size).build())


@pytest.mark.parametrize("name", polybench.NAMES)
def test_schedule_replays_at_another_size(name: str) -> None:
    fresh = allo.customize(polybench.load(name).kernel("SMALL"))
    fresh.replay(scheduled(name, "MINI").steps)
    assert str(fresh.module) == str(scheduled(name, "SMALL").module)


@pytest.mark.parametrize("name", polybench.NAMES)
def test_kernel_is_plain_python(name: str) -> None:
    check(name, "MINI", polybench.load(name).kernel("MINI"))


def outputs(name: str, run: Callable[..., None], size: str) -> list[Any]:
    arguments = polybench.load(name).arguments(size)
    run(*arguments)
    return [argument for argument in arguments if isinstance(argument, np.ndarray)]


@pytest.mark.parametrize("name", ["jacobi_2d", "mvt"])
def test_schedule_that_keeps_the_order_of_sums_is_exact(name: str) -> None:
    plain = outputs(name, allo.customize(polybench.load(name).kernel("SMALL")).build(), "SMALL")
    for mine, theirs in zip(outputs(name, scheduled(name, "SMALL").build(), "SMALL"), plain, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_unknown_benchmark() -> None:
    with pytest.raises(ValueError, match="no benchmark 'gem'; there are gemm, two_mm"):
        polybench.load("gem")
