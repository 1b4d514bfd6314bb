"""Designs of the matrix product: inner products, row-wise products with a buffer, tiles, and a systolic array."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
from allo import Partition, Schedule, customize
from allo.ir.types import AlloType, float32, int8, int16, int32

from .designs import assert_design, assert_loops, assert_pseudocode, results

M, N, K = 12, 16, 10


def product(T: AlloType, U: AlloType) -> Callable[..., None]:
    def gemm(A: T[M, K], B: T[K, N], C: U[M, N]):
        for i, j in allo.grid(M, N, name="PE"):
            for k in allo.reduction(K):
                C[i, j] += A[i, k] * B[k, j]

    return gemm


def inner_product(s: Schedule) -> None:
    """One element of C an iteration: K products at once."""
    s.pipeline("j")
    s.unroll("k")
    s.partition(s.A, dim=2)
    s.partition(s.B, dim=1)


def row_wise(s: Schedule) -> None:
    """Consecutive iterations add to different elements of a row, which is kept in a buffer (Fig. 2 of the paper)."""
    s.reorder("k", "j")
    s.buffer_at(s.C, axis="i")
    s.pipeline("j")


def row_wise_with_lanes(s: Schedule) -> None:
    """The same with four elements of a row at once, and the row of A in a buffer too."""
    lane = s.split("j", 4)
    s.reorder("k", *lane)
    for array, banks in ((s.A, 0), (s.C, 4)):
        buffer = s.buffer_at(array, axis="i")
        if banks:
            s.partition(buffer, Partition.Cyclic, dim=1, factor=banks)
    s.pipeline(lane[0])
    s.partition(s.B, Partition.Cyclic, dim=2, factor=4)


def tiled(s: Schedule) -> None:
    """Tiles of C of 4 x 8 stay on chip; parts of B come in tiles of 5 x 8."""
    (i, ii), (j, jj), (k, kk) = s.split("i", 4), s.split("j", 8), s.split("k", 5)
    s.reorder(i, j, k, kk, ii, jj)
    s.buffer_at(s.C, axis=j)
    s.buffer_at(s.B, axis=k)
    s.pipeline(jj)


def systolic(s: Schedule) -> None:
    """The eight lines of Fig. 5 of the paper."""
    buf_A = s.buffer_at(s.A, "j")
    buf_B = s.buffer_at(s.B, "j")
    pe = s.unfold("PE", axis=[0, 1])
    s.partition(s.C, dim=0)
    s.partition(s.A, dim=1)
    s.partition(s.B, dim=2)
    s.relay(buf_A, pe, axis=1, depth=M + 1)
    s.relay(buf_B, pe, axis=0, depth=N + 1)


def rectangular_systolic(s: Schedule) -> None:
    """An array of 4 x 8 elements that is used for all tiles of C."""
    (i, ii), (j, jj) = s.split("i", 4), s.split("j", 8)
    s.reorder(i, j, ii, jj)
    buf_A, buf_B = s.buffer_at(s.A, jj), s.buffer_at(s.B, jj)
    pe = s.unfold("PE", axes=[2, 3])
    s.partition(s.C, allo.Partition.Cyclic, dim=1, factor=4)
    s.partition(s.C, allo.Partition.Cyclic, dim=2, factor=8)
    s.relay(buf_A, pe, axis=3, depth=2)
    s.relay(buf_B, pe, axis=2, depth=2)


DESIGNS = [inner_product, row_wise, row_wise_with_lanes, tiled, systolic, rectangular_systolic]
TYPES = [(int8, int16), (float32, float32)]
DTYPES = {int8: np.int8, int16: np.int16, float32: np.float32}


def operands(T: AlloType, U: AlloType) -> list[Any]:
    """C starts with values, which the product is added to."""
    random = np.random.default_rng(11)
    shapes = ((M, K), (K, N), (M, N))
    return [random.integers(-7, 7, s).astype(DTYPES[t]) for s, t in zip(shapes, (T, T, U), strict=True)]


@pytest.mark.parametrize("T, U", TYPES, ids=["int8", "float32"])
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.__name__)
def test_design(design: Callable[[Schedule], None], T: AlloType, U: AlloType) -> None:
    s = customize(product(T, U))
    design(s)
    A, B, C = operands(T, U)
    assert_design(s, product(T, U), (A, B, C))
    found = results(s.build(), (A, B, C))[2]
    np.testing.assert_array_equal(found, C + A.astype(C.dtype) @ B.astype(C.dtype))


def scheduled(design: Callable[[Schedule], None]) -> Schedule:
    s = customize(product(float32, float32))
    design(s)
    return s


def test_loops_of_inner_product() -> None:
    assert_loops(scheduled(inner_product), """
        gemm
          PE:
            i
              j  (pipeline=1)
                k  (unroll=0)
        """)


def test_row_wise_product_is_that_of_the_paper() -> None:
    assert_pseudocode(scheduled(row_wise), """
        def gemm(A: float32[12, 10], B: float32[10, 16], C: float32[12, 16]):
            for i in range(12, name="PE"):
                buf_C: float32[16]
                for j_init in range(16):
                    buf_C[j_init] = C[i, j_init]
                for k in range(10):
                    for j in range(16):  # pipeline=1
                        buf_C[j] += A[i, k] * B[k, j]
                for j_back in range(16):
                    C[i, j_back] = buf_C[j_back]
        """)


def test_loops_with_lanes() -> None:
    assert_loops(scheduled(row_wise_with_lanes), """
        gemm
          PE:
            i
              j.inner_init
              k_init
              k
                j.outer  (pipeline=1)
                  j.inner
              j.inner_back
        """)


def test_loops_of_tiles() -> None:
    assert_loops(scheduled(tiled), """
        gemm
          PE:
            i.outer
              j.outer
                i.inner_init
                  j.inner_init
                k.outer
                  k.inner_init
                    j.inner_init_1
                  k.inner
                    i.inner
                      j.inner  (pipeline=1)
                i.inner_back
                  j.inner_back
        """)


def test_loops_of_systolic_array() -> None:
    assert_loops(scheduled(systolic), """
        gemm
          load_buf_A:
            k_init
              i
          load_buf_B:
            k_init_1
              j
          PE:
            i  (spatial)
              j  (spatial)
                k
        """)


# -- two products, one after the other ------------------------------------------------------------------


def gemm1(A: int32[M, K], B: int32[K, N], C: int32[M, N]):
    for i, j in allo.grid(M, N):
        total: int32 = 0
        for k in range(K):
            total += A[i, k] * B[k, j]
        C[i, j] = total


def gemm2(C: int32[M, N], D: int32[N, K], E: int32[M, K]):
    for i, j, k in allo.grid(M, K, N):
        if k == 0:
            E[i, j] = 0
        E[i, j] += C[i, k] * D[k, j]


def two_products(A: int32[M, K], B: int32[K, N], D: int32[N, K], E: int32[M, K]):
    C: int32[M, N]
    gemm1(A, B, C)
    gemm2(C, D, E)


def row_by_row(s: Schedule) -> None:
    """The second product takes each element of C as it comes (Fig. 6 of the paper, put right)."""
    s.reorder("gemm2:k", "gemm2:j")
    s.buffer_at("gemm2:E", axis="gemm2:i")
    s.relay(s.C, "gemm2", depth=4)
    s.dataflow("two_products")


def test_two_products_in_a_stream() -> None:
    s = customize(two_products)
    row_by_row(s)
    random = np.random.default_rng(12)
    A, B, D = (random.integers(-9, 9, shape, np.int32) for shape in ((M, K), (K, N), (N, K)))
    E = np.zeros((M, K), np.int32)
    assert_design(s, two_products, (A, B, D, E))
    np.testing.assert_array_equal(results(s.build(), (A, B, D, E))[3], A @ B @ D)


def test_text_of_two_products() -> None:
    s = customize(two_products)
    row_by_row(s)
    assert_pseudocode(s, """
        def gemm1(A: int32[12, 10], B: int32[10, 16], C: Stream[int32, 4]):
            for i in range(12):
                for j in range(16):
                    total: int32
                    total = 0
                    for k in range(10):
                        total += A[i, k] * B[k, j]
                    C.put(total)

        def gemm2(C: Stream[int32, 4], D: int32[16, 10], E: int32[12, 10]):
            for i in range(12):
                buf_E: int32[10]
                for k in range(16):
                    t = C.get()
                    for j in range(10):
                        if k == 0:
                            buf_E[j] = 0
                        buf_E[j] += t * D[k, j]
                for j_back in range(10):
                    E[i, j_back] = buf_E[j_back]

        def two_products(A: int32[12, 10], B: int32[10, 16], D: int32[16, 10], E: int32[12, 10]):  # dataflow
            fifo_C: Stream[int32, 4]
            gemm1(A, B, fifo_C)
            gemm2(fifo_C, D, E)
        """)
