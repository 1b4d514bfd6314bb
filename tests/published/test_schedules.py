"""Schedules as published Allo takes them: notes, first values, instances of other types, dataflow without a word."""

from __future__ import annotations

import numpy as np
import pytest

import allo
from allo.ir.types import Fixed, float32, index, int8, int32

from .doors import through_doors


def numbers(*shape: int, dtype: type = np.int32) -> np.ndarray:
    return np.random.default_rng(len(shape)).integers(-9, 9, shape).astype(dtype)


# -- reuse_at that finds nothing to reuse -------------------------------------------------------------------


def scale(A: int32[6, 8], B: int32[6, 8]):
    for y, x in allo.grid(6, 8):
        B[y, x] = A[y, x] * 3


def test_reuse_at_without_reuse_is_a_note() -> None:
    s = allo.customize(scale)
    with pytest.warns(allo.ScheduleNote, match="no element of 'A' is read in two iterations of 'y'"):
        line = s.reuse_at(s.A, axis="y")
    s.partition(line, dim=1)
    A = numbers(6, 8)
    np.testing.assert_array_equal(through_doors(s, A, numbers(6, 8)).arguments[1], A * 3)


def vertical(A: int32[8, 6], B: int32[6, 6]):
    for y, x in allo.grid(6, 6):
        B[y, x] = A[y, x] + A[y + 1, x] + A[y + 2, x]


@pytest.mark.slow
def test_a_window_on_a_line_buffer_of_one_column() -> None:
    s = allo.customize(vertical)
    line = s.reuse_at(s.A, axis="y")
    with pytest.warns(allo.ScheduleNote):
        window = s.reuse_at(line, axis="x")
    s.partition(window, dim=1)
    s.pipeline("x")
    A = numbers(8, 6)
    np.testing.assert_array_equal(through_doors(s, A, numbers(6, 6)).arguments[1], A[:6] + A[1:7] + A[2:])


# -- unfold after buffer_at ---------------------------------------------------------------------------------


def systolic(A: int32[4, 3], B: int32[3, 4]) -> int32[4, 4]:
    C: int32[4, 4] = 0
    for i, j in allo.grid(4, 4, name="PE"):
        for k in range(3):
            C[i, j] += A[i, k] * B[k, j]
    return C


@pytest.mark.parametrize("loops", [pytest.param(("j", "j"), marks=pytest.mark.slow), ("i", "j")])
def test_unfold_after_buffer_at(loops: tuple[str, str]) -> None:
    s = allo.customize(systolic)
    buf_A, buf_B = s.buffer_at(s.A, axis=loops[0]), s.buffer_at(s.B, axis=loops[1])
    pe = s.unfold("PE", axis=[0, 1])
    s.to(buf_A, pe, axis=1, depth=4)
    s.to(buf_B, pe, axis=0, depth=4)
    A, B = numbers(4, 3), numbers(3, 4)
    np.testing.assert_array_equal(through_doors(s, A, B).result, A @ B)


def test_unfold_after_a_row_buffer_of_the_result() -> None:
    s = allo.customize(systolic)
    s.buffer_at(s.C, axis="i")
    s.unfold("PE", [0, 1])
    A, B = numbers(4, 3), numbers(3, 4)
    np.testing.assert_array_equal(through_doors(s, A, B).result, A @ B)


# -- compose with id ----------------------------------------------------------------------------------------


def gemm[T, M: index, N: index, K: index](A: T[M, K], B: T[K, N]) -> T[M, N]:
    C: T[M, N] = 0
    for i, j in allo.grid(M, N):
        for k in range(K):
            C[i, j] += A[i, k] * B[k, j]
    return C


def two_gemms(A: int32[4, 6], B: int32[6, 4], D: int32[4, 6]) -> int32[4, 6]:
    C = gemm[int32, 4, 4, 6, "first"](A, B)
    E = gemm[int32, 4, 6, 4, "second"](C, D)
    return E


def test_compose_an_instance_of_other_types() -> None:
    part = allo.customize(gemm, instantiate=[float32, 8, 8, 8])
    part.reorder("k", "j")
    part.buffer_at(part.C, axis="i")
    part.pipeline("j")
    s = allo.customize(two_gemms)
    s.compose(part, id="first")
    s.compose(part, id="second")
    A, B, D = numbers(4, 6), numbers(6, 4), numbers(4, 6)
    np.testing.assert_array_equal(through_doors(s, A, B, D).result, A @ B @ D)


def matmul(A: int8[4, 4], B: int8[4, 4]) -> int8[4, 4]:
    C: int8[4, 4] = 0
    for i, j in allo.grid(4, 4):
        for k in range(4):
            C[i, j] += A[i, k] * B[k, j]
    return C


@pytest.mark.slow
def test_compose_an_instance_of_another_name() -> None:
    part = allo.customize(matmul)
    part.unroll("k")
    part.split("j", 2)
    s = allo.customize(two_gemms)
    s.compose(part, id="second")
    A, B, D = numbers(4, 6), numbers(6, 4), numbers(4, 6)
    np.testing.assert_array_equal(through_doors(s, A, B, D).result, A @ B @ D)


# -- buffer_at with a first value ---------------------------------------------------------------------------


def row_product(A: int32[4, 6], B: int32[6, 5]) -> int32[4, 5]:
    C: int32[4, 5] = 0
    for i, k, j in allo.grid(4, 6, 5):
        C[i, j] += A[i, k] * B[k, j]
    return C


def test_buffer_at_with_a_first_value() -> None:
    s = allo.customize(row_product)
    s.buffer_at(s.C, axis="i", init=0)
    s.pipeline("j")
    A, B = numbers(4, 6), numbers(6, 5)
    np.testing.assert_array_equal(through_doors(s, A, B).result, A @ B)


def biased(A: Fixed(16, 6)[4, 6]) -> Fixed(16, 6)[4]:
    C: Fixed(16, 6)[4] = 0.5
    for i, k in allo.grid(4, 6):
        C[i] += A[i, k]
    return C


@pytest.mark.slow
def test_buffer_at_with_a_first_value_of_a_fixed_point_type() -> None:
    s = allo.customize(biased)
    s.buffer_at(s.C, axis="i", init=0.5)
    A = numbers(4, 6) / np.float64(4)
    np.testing.assert_allclose(through_doors(s, A).result, A.sum(1) + 0.5)


# -- to implies dataflow ------------------------------------------------------------------------------------


def producer_consumer(A: int32[8, 8]) -> int32[8, 8]:
    B: int32[8, 8] = 0
    for i, j in allo.grid(8, 8, name="produce"):
        B[i, j] = A[i, j] + 1
    C: int32[8, 8] = 0
    for i, j in allo.grid(8, 8, name="consume"):
        C[i, j] = B[i, j] * 2
    return C


def test_to_implies_dataflow() -> None:
    s = allo.customize(producer_consumer)
    s.to(s.B, "consume", depth=2)
    assert "# dataflow" in s.pseudocode()
    A = numbers(8, 8)
    np.testing.assert_array_equal(through_doors(s, A).result, (A + 1) * 2)


@pytest.mark.slow
def test_to_implies_dataflow_in_front_of_a_sum() -> None:
    s = allo.customize(two_sums)
    s.to(s.B, "consume", depth=1)
    assert "# dataflow" in s.pseudocode()
    A = numbers(6, 5)
    np.testing.assert_array_equal(through_doors(s, A).result, A.sum(1).cumsum())


def two_sums(A: int32[6, 5]) -> int32[6]:
    B: int32[6] = 0
    for i, k in allo.grid(6, 5, name="produce"):
        B[i] += A[i, k]
    C: int32[6] = 0
    s: int32 = 0
    for i in range(6, name="consume"):
        s += B[i]
        C[i] = s
    return C


def test_systolic_arrays_with_shallow_fifos() -> None:
    """FIFOs of fewer elements than pass need both ends at once; each element begins with its part of `C = 0`."""

    def gemm(A: int32[2, 8], B: int32[8, 3]) -> int32[2, 3]:
        C: int32[2, 3] = 0
        for i, j, k in allo.grid(2, 3, 8, name="PE"):
            C[i, j] += A[i, k] * B[k, j]
        return C

    s = allo.customize(gemm)
    rows, columns = s.buffer_at(s.A, "j"), s.buffer_at(s.B, "j")
    elements = s.unfold("PE", [0, 1])
    s.to(rows, elements, axis=1, depth=3)
    s.to(columns, elements, axis=0, depth=4)
    s.partition(s.C, dim=0)
    assert "# dataflow" in s.pseudocode() and [name for name in s.get_loops().PE.loops] == ["i", "j", "k"]
    A, B = np.arange(16, dtype=np.int32).reshape(2, 8), np.arange(24, dtype=np.int32).reshape(8, 3)
    np.testing.assert_array_equal(through_doors(s, A, B).result, A @ B)


def test_loops_with_their_names() -> None:
    def kernel(A: int32[4, 8]) -> int32[4, 8]:
        B: int32[4, 8] = 0
        for i, j in allo.grid(4, 8, name="B"):
            B[i, j] = A[i, j] + 1
        return B

    s = allo.customize(kernel)
    for name, loop in s.get_loops().B:
        if name == "j":
            s.split(loop, 4)
    for name, loop in s.get_loops().B.loops.items():
        if name == "j.inner":
            s.unroll(loop)
    assert [name for name, _ in s.get_loops().B] == ["i", "j.outer", "j.inner"] and len(s.steps) == 2
    A = np.arange(32, dtype=np.int32).reshape(4, 8)
    np.testing.assert_array_equal(through_doors(s, A).result, A + 1)
