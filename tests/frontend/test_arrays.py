"""Whole arrays, slices, transposes and broadcasting mean what they mean in NumPy."""

from collections.abc import Callable

import numpy as np
import pytest

import allo
from allo.ir.types import float32, int32

TABLE = np.arange(6, dtype=np.float32)


def broadcast(A: float32[4, 6], B: float32[6, 4], v: float32[6]):
    A[:] = A + B.T * 2.0 - v
    A[1:3] += TABLE
    A[:, ::2] = v[1::2]


def overlapping(A: float32[4, 6], B: float32[6, 4], v: float32[6]):
    A[1:] = A[:-1] + v
    A[0, 1:4] = A[0, 0:3]
    B[:] = A.T
    v[::2] += v[1]


def in_loops(A: float32[4, 6], B: float32[6, 4], v: float32[6]):
    for i in range(3):
        A[i] = A[i + 1] * v
        A[3, i : i + 3] = v[i]
        B[i][1:3] = A[i][2]
        v[i] = A[i][2] - A.shape[1]


def reads_its_target(A: float32[4, 6], B: float32[6, 4], v: float32[6]):
    A[1:] += A[:-1]
    A += A[0, 1]
    v[:] = v[0] + 1.0
    v[2:] -= v[3]
    B[1:3] = B[2, 3] * B[0]
    for i in range(3):
        A[i] = A[i, i] * 2.0


def sum_and_clear(X: float32[2]) -> float32:
    total: float32 = X[0] + X[1]
    X[0] = 0.0
    return total


def calls_on_parts(A: float32[4, 6], B: float32[6, 4], v: float32[6]):
    if sum_and_clear(v[0:2]) > 0.0:
        v[0] += 3.0
    v[2] = sum_and_clear(v[2:4])
    v[4:6] = sum_and_clear(v[4:6])
    A[1, 0] += sum_and_clear(A[1, 0:2])


@pytest.mark.parametrize("kernel", [broadcast, overlapping, in_loops, reads_its_target, calls_on_parts])
def test_as_numpy(kernel: Callable[..., None]) -> None:
    random = np.random.default_rng(0)
    arrays = [random.random(shape, np.float32) for shape in ((4, 6), (6, 4), (6,))]
    expected = [array.copy() for array in arrays]
    allo.customize(kernel).build()(*arrays)
    kernel(*expected)
    for got, wanted in zip(arrays, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


def scale(X: float32[6], by: float32):
    for i in range(6):
        X[i] *= by


def pass_a_row(A: float32[4, 6]):
    scale(A[1], 3.0)


def test_a_view_given_to_a_kernel_is_copied_back() -> None:
    a = np.ones((4, 6), np.float32)
    allo.customize(pass_a_row).build()(a)
    assert a[1].tolist() == [3.0] * 6 and a[0].tolist() == [1.0] * 6


def results(A: float32[4, 6]) -> float32[6, 4]:
    B = allo.exp(-A)
    C: float32[4, 6] = B.copy()
    return C.T + 1


def test_results() -> None:
    a = np.random.default_rng(1).random((4, 6), np.float32)
    np.testing.assert_allclose(allo.customize(results).build()(a), np.exp(-a).T + 1, rtol=1e-6)


def shift(A: int32[8]):
    A[:-1] = A[1:]


def test_a_view_copies_only_what_overlaps() -> None:
    text = str(allo.customize(shift).module)
    assert text.count("memref.alloc") == 1
    assert "memref<7xi32>" in text
