"""Steps that published Allo takes and that need more than a table of what is allowed: each proved to be legal."""

from __future__ import annotations

import numpy as np
import pytest

import allo
from allo.ir.types import float32, int8, int32

from .doors import through_doors


def numbers(*shape: int, dtype: type = np.int32) -> np.ndarray:
    return np.random.default_rng(len(shape)).integers(-9, 9, shape).astype(dtype)


# -- triangles and bounds known at run time -----------------------------------------------------------------


def trmm(A: int32[8, 8], B: int32[8, 4]) -> int32[8, 4]:
    C: int32[8, 4] = 0
    for i, j in allo.grid(8, 4):
        for k in range(i, 8):
            C[i, j] += A[i, k] * B[k, j]
    return C


def test_split_of_a_triangle() -> None:
    s = allo.customize(trmm)
    s.split("k", 3)
    s.unroll("k.inner")
    A, B = numbers(8, 8), numbers(8, 4)
    np.testing.assert_array_equal(through_doors(s, A, B).result, np.triu(A) @ B)


@pytest.mark.slow
def test_full_unroll_of_a_triangle() -> None:
    s = allo.customize(trmm)
    s.unroll("k")
    s.pipeline("j")
    s.partition(s.A, dim=2)
    A, B = numbers(8, 8), numbers(8, 4)
    np.testing.assert_array_equal(through_doors(s, A, B).result, np.triu(A) @ B)


def symv(A: int32[8, 8], x: int32[8]) -> int32[8]:
    y: int32[8] = 0
    for i in range(8):
        y[i] += A[i, i] * x[i]
        for j in range(i):
            y[i] += A[i, j] * x[j]
    return y


def test_reorder_of_a_triangle_with_a_statement_between() -> None:
    s = allo.customize(symv)
    s.reorder("j", "i")
    A, x = numbers(8, 8), numbers(8)
    np.testing.assert_array_equal(through_doors(s, A, x).result, np.tril(A) @ x)


def prefix(A: int32[16], n: int32) -> int32:
    total: int32 = 0
    for i in range(n):
        total += A[i]
    return total


@pytest.mark.parametrize("n", [0, 7, 16])
def test_split_of_bounds_known_at_run_time(n: int) -> None:
    s = allo.customize(prefix)
    s.split("i", 4)
    s.pipeline("i.outer")
    A = numbers(16)
    assert through_doors(s, A, n, csim=n == 7).result == A[:n].sum()


# -- first values -------------------------------------------------------------------------------------------


def two_mm(A: int32[4, 4], B: int32[4, 4], C: int32[4, 4]) -> int32[4, 4]:
    T: int32[4, 4] = 0
    for i, j, k in allo.grid(4, 4, 4, name="first"):
        T[i, j] += A[i, k] * B[k, j]
    D: int32[4, 4] = 0
    for i, j, k in allo.grid(4, 4, 4, name="second"):
        D[i, j] += T[i, k] * C[k, j]
    return D


def test_dataflow_with_first_values() -> None:
    s = allo.customize(two_mm)
    s.dataflow("two_mm")
    A, B, C = (numbers(4, 4) + k for k in range(3))
    np.testing.assert_array_equal(through_doors(s, A, B, C).result, A @ B @ C)


def blur(A: int32[10]) -> int32[6]:
    T: int32[8] = 0
    for i, r in allo.grid(8, 3, name="first"):
        T[i] += A[i + r]
    C: int32[6] = 0
    for j in range(6, name="second"):
        C[j] = T[j] + T[j + 1] + T[j + 2]
    return C


def test_compute_at_with_first_values() -> None:
    s = allo.customize(blur)
    s.compute_at(s.get_loops()["first"]["i"], s.get_loops()["second"]["j"])
    A = numbers(10)
    T = A[:8] + A[1:9] + A[2:]
    np.testing.assert_array_equal(through_doors(s, A).result, T[:6] + T[1:7] + T[2:])


# -- relay --------------------------------------------------------------------------------------------------


def gemv_relu(A: int32[6, 4], x: int32[4]) -> int32[6]:
    y: int32[6] = 0
    for i, k in allo.grid(6, 4, name="gemv"):
        y[i] += A[i, k] * x[k]
    z: int32[6] = 0
    for i in range(6, name="relu"):
        z[i] = max(y[i], 0)
    return z


@pytest.mark.parametrize("order", ["ik", pytest.param("ki", marks=pytest.mark.slow)])
def test_relay_of_sums(order: str) -> None:
    s = allo.customize(gemv_relu)
    if order == "ki":  # no sum is complete before the last iteration: all are put behind it
        s.reorder("k", s.get_loops()["gemv"]["i"])
    s.to(s.y, "relu", depth=2)
    A, x = numbers(6, 4), numbers(4)
    np.testing.assert_array_equal(through_doors(s, A, x).result, np.maximum(A @ x, 0))


def conv_conv(A: int32[8, 8]) -> int32[4, 4]:
    B: int32[6, 6] = 0
    for y, x in allo.grid(6, 6, name="first"):
        for r, c in allo.reduction(3, 3):
            B[y, x] += A[y + r, x + c]
    C: int32[4, 4] = 0
    for y, x in allo.grid(4, 4, name="second"):
        for r, c in allo.reduction(3, 3):
            C[y, x] += B[y + r, x + c]
    return C


@pytest.mark.slow
def test_relay_of_stencils_after_reuse_at() -> None:
    s = allo.customize(conv_conv)
    for array, nest in ((s.A, "first"), (s.B, "second")):
        lines = s.reuse_at(array, axis=s.get_loops()[nest]["y"])
        s.reuse_at(lines, axis=s.get_loops()[nest]["x"])
    s.to(s.B, "second", depth=2)
    A = numbers(8, 8)
    B = sum(A[r : r + 6, c : c + 6] for r in range(3) for c in range(3))
    C = sum(B[r : r + 4, c : c + 4] for r in range(3) for c in range(3))
    np.testing.assert_array_equal(through_doors(s, A).result, C)


# -- accumulators -------------------------------------------------------------------------------------------


def checksum(A: int8[6, 5]) -> int8:
    total: int8 = 0
    for i, j in allo.grid(6, 5):
        total += A[i, j]
    return total


def test_reorder_of_an_accumulator_that_wraps() -> None:
    s = allo.customize(checksum)
    s.reorder("j", "i")
    A = (numbers(6, 5) * 14).astype(np.int8)
    assert through_doors(s, A).result == np.int64(A).sum().astype(np.int8)


def histogram(A: int32[6, 5]) -> int32[4]:
    H: int32[4] = 0
    for i, j in allo.grid(6, 5):
        H[A[i, j] % 4] += 1
    return H


@pytest.mark.slow
def test_reorder_of_a_histogram() -> None:
    s = allo.customize(histogram)
    s.reorder("j", "i")
    A = numbers(6, 5)
    seen = through_doors(s, A, same=False).result
    np.testing.assert_array_equal(seen, np.bincount((A % 4).ravel(), minlength=4))


def greatest(A: float32[6, 5]) -> float32:
    best: float32 = -100.0
    for i, j in allo.grid(6, 5):
        best = max(best, A[i, j])
    return best


def test_reorder_of_a_maximum() -> None:
    s = allo.customize(greatest)
    s.reorder("j", "i", reassociate=True)
    A = numbers(6, 5, dtype=np.float32)
    assert through_doors(s, A, same=False).result == A.max()


# -- after annotations and partitions -----------------------------------------------------------------------


def add(A: int8[4, 16], B: int8[4, 16]) -> int8[4, 16]:
    C: int8[4, 16] = 0
    for i, j in allo.grid(4, 16):
        C[i, j] = A[i, j] + B[i, j]
    return C


def test_split_after_pipeline_and_unroll() -> None:
    s = allo.customize(add)
    s.pipeline("j")
    s.split("j", 4)
    s.unroll("i", 2)
    s.split("i", 2)
    A, B = numbers(4, 16, dtype=np.int8), numbers(4, 16, dtype=np.int8)
    np.testing.assert_array_equal(through_doors(s, A, B).result, A + B)


def test_pack_after_partition() -> None:
    s = allo.customize(add)
    s.partition(s.C, dim=2, factor=4)
    s.partition(s.A, dim=2, factor=8)
    s.pack(s.C, dim=2, factor=4)
    A, B = numbers(4, 16, dtype=np.int8), numbers(4, 16, dtype=np.int8)
    words = s.build()(A, B)
    np.testing.assert_array_equal(np.asarray(words).view(np.int8), A + B)
    np.testing.assert_array_equal(np.asarray(s.build(target="vitis_hls", mode="csim")(A, B)).view(np.int8), A + B)
    assert s.verify()


def local(A: int32[48]) -> int32[48]:
    T: int32[48] = 0
    for i in range(48):
        T[i] = A[47 - i]
    B: int32[48] = 0
    for j in range(48):
        B[j] = T[j] * 2
    return B


@pytest.mark.slow
def test_reshape_after_partition() -> None:
    s = allo.customize(local)
    s.partition(s.T, dim=1, factor=3)
    s.reshape(s.T, (6, 8))
    A = numbers(48)
    np.testing.assert_array_equal(through_doors(s, A).result, A[::-1] * 2)


# -- loops in a row -----------------------------------------------------------------------------------------


def statistics(A: int32[16]) -> int32[2]:
    low: int32 = 1000
    high: int32 = -1000
    for i in range(16):
        low = min(low, A[i])
    for j in range(16):
        high = max(high, A[j])
    R: int32[2] = 0
    R[0] = low
    R[1] = high
    return R


def test_fuse_of_independent_loops() -> None:
    s = allo.customize(statistics)
    s.pipeline(s.fuse("i", "j"))
    A = numbers(16)
    np.testing.assert_array_equal(through_doors(s, A).result, [A.min(), A.max()])


@pytest.mark.slow
def test_fuse_of_the_nests_of_a_program() -> None:
    s = allo.customize(local)
    s.split("i", 4)
    s.split("j", 4)
    s.fuse("i.outer", "j.outer")
    s.fuse("i.inner", "j.inner")
    A = numbers(48)
    np.testing.assert_array_equal(through_doors(s, A).result, A[::-1] * 2)
