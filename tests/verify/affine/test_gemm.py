"""The matrix product against its schedules: the time does not depend on the sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import allo
from allo import Schedule, customize
from allo.ir.types import float32, int8, int32
from allo.library.systolic import systolic as library_systolic
from allo.verify.affine import Proof, prove
from allo.verify.program.programs import load
from allo.verify.result import Mismatch

from .programs import compared


def product(n: int) -> Callable[..., None]:
    def gemm(A: float32[n, n], B: float32[n, n], C: float32[n, n]):
        for i, j in allo.grid(n, n, name="PE"):
            for k in allo.reduction(n):
                C[i, j] += A[i, k] * B[k, j]

    return gemm


def row_wise(s: Schedule) -> None:
    s.reorder("k", "j")
    s.buffer_at(s.C, axis="i")


def tiled(s: Schedule) -> None:
    (i, ii), (j, jj), (k, kk) = s.split("i", 32), s.split("j", 64), s.split("k", 16)
    s.reorder(i, j, k, kk, ii, jj)
    s.buffer_at(s.C, axis=j)
    s.buffer_at(s.B, axis=k)


def systolic(s: Schedule) -> None:
    buf_A, buf_B = s.buffer_at(s.A, "j"), s.buffer_at(s.B, "j")
    pe = s.unfold("PE", axis=[0, 1])
    s.relay(buf_A, pe, axis=1, depth=4)
    s.relay(buf_B, pe, axis=0, depth=4)


@pytest.mark.parametrize("n", [1024, 4096])
@pytest.mark.parametrize("steps", [row_wise, tiled, systolic], ids=lambda f: f.__name__)
def test_schedules_are_proved_at_any_size(steps: Callable[[Schedule], None], n: int) -> None:
    """`python -m benchmarks.verify gemm` has seconds and memory."""
    assert isinstance(compared(product(n), steps), Proof)


def accumulated(n: int) -> Callable[..., None]:
    def gemm(A: int8[n, n], B: int8[n, n], C: int32[n, n]):
        for i, j in allo.grid(n, n):
            total: int32 = 0
            for k in range(n):
                total += A[i, k] * B[k, j]
            C[i, j] = total

    return gemm


@pytest.mark.parametrize("n, tile", [(64, 8), (1024, 16), (4096, 64)])
def test_systolic_array_of_the_library(n: int, tile: int) -> None:
    array = customize(library_systolic, instantiate=[int8, int8, int32, n, n, n, tile, tile])
    assert isinstance(prove(load(customize(accumulated(n))), load(array)), Proof)


def test_tiles_at_the_edges_may_be_cut_off() -> None:
    array = customize(library_systolic, instantiate=[int8, int8, int32, 100, 100, 100, 16, 16])
    assert isinstance(prove(load(customize(accumulated(100))), load(array)), Proof)


def test_sums_in_another_order_differ_for_floats() -> None:
    def backwards(A: float32[64, 64], B: float32[64, 64], C: float32[64, 64]):
        for i, j, k in allo.grid(64, 64, 64):
            C[i, j] += A[i, 63 - k] * B[63 - k, j]

    found: Any = prove(load(customize(product(64))), load(customize(backwards)))
    assert isinstance(found, Mismatch)
    assert found.output == "C"
    assert found.reason == "reads A[0, 0] instead of A[0, 63]"
