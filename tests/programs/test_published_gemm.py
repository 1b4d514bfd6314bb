"""Programs in the manner of published Allo: products of matrices, their loops, schedules and builds."""

import numpy as np
import pytest

import allo
from allo.customize import Partition
from allo.ir.types import float32, int8, int16, int32

M, N, K = 32, 24, 16


def ints(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(-20, 20, shape).astype(np.int32)


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).random(shape, dtype=np.float32)


def gemm(A: int32[M, K], B: int32[K, N]) -> int32[M, N]:
    C: int32[M, N] = 0
    for i, j in allo.grid(M, N, name="C"):
        for k in allo.reduction(K):
            C[i, j] += A[i, k] * B[k, j]
    return C


def test_grid_of_three() -> None:
    def kernel(A: int32[32, 32], B: int32[32, 32]) -> int32[32, 32]:
        C: int32[32, 32] = 0
        for i, j, k in allo.grid(32, 32, 32):
            C[i, j] += A[i, k] * B[k, j]
        return C

    s = allo.customize(kernel)
    s.split("i", factor=8)
    s.split("j", factor=8)
    s.reorder("i.outer", "j.outer", "i.inner", "j.inner")
    np_A, np_B = ints(32, 32), ints(32, 32).T.copy()
    np.testing.assert_array_equal(s.build()(np_A, np_B), np_A @ np_B)


def test_loops_of_range() -> None:
    def kernel(A: float32[M, K], B: float32[K, N]) -> float32[M, N]:
        C: float32[M, N] = 0.0
        for i in range(M):
            for j in range(N):
                for k in range(K):
                    C[i, j] += A[i, k] * B[k, j]
        return C

    s = allo.customize(kernel)
    loops = s.get_loops()
    s.split(loops.S_i_0.i, 8)
    s.unroll(s.get_loops()["S_i_0"]["i.inner"], factor=4)
    np_A, np_B = floats(M, K), floats(K, N)
    np.testing.assert_allclose(s.build(target="llvm")(np_A, np_B), np_A @ np_B, rtol=1e-5)


def test_reduction_variable() -> None:
    def kernel(A: int32[M, K], B: int32[K, N]) -> int32[M, N]:
        C: int32[M, N] = 0
        for i, j in allo.grid(M, N):
            v: int32 = 0
            for k in allo.reduction(K, name="k"):
                v += A[i, k] * B[k, j]
            C[i, j] = v
        return C

    np_A, np_B = ints(M, K), ints(K, N)
    np.testing.assert_array_equal(allo.customize(kernel).build()(np_A, np_B), np_A @ np_B)


def test_row_wise_product() -> None:
    s = allo.customize(gemm)
    s.reorder("k", "j")
    s.buffer_at(s.C, axis="i")
    s.pipeline("j")
    np_A, np_B = ints(M, K), ints(K, N)
    np.testing.assert_array_equal(s.build()(np_A, np_B), np_A @ np_B)


def test_a_schedule_is_a_chain_of_modules() -> None:
    """The module can be printed after each step, and shows what the step did."""
    s = allo.customize(gemm)
    plain = str(s.module)
    s.pipeline("j", initiation_interval=4)
    assert "allo.pipeline" not in plain and "allo.pipeline = 4" in str(s.module)
    s.unroll("k", factor=2)
    assert "allo.unroll = 2" in str(s.module)


def test_partition_in_three_ways() -> None:
    def kernel(A: int32[M, K], B: int32[K, N], C: int32[M, N]):
        for i, j, k in allo.grid(M, N, K):
            C[i, j] += A[i, k] * B[k, j]

    s = allo.customize(kernel)
    s.partition(s.A, dim=1)
    s.partition(s.B, partition_type=Partition.Block, dim=2, factor=4)
    s.partition(s.C, partition_type=Partition.Cyclic, dim=2, factor=3)
    np_A, np_B, np_C = ints(M, K), ints(K, N), ints(M, N)
    wanted = np_C + np_A @ np_B
    s.build()(np_A, np_B, np_C)
    np.testing.assert_array_equal(np_C, wanted)


def test_loops_are_found_by_name_and_by_attribute() -> None:
    s = allo.customize(gemm)
    loops = s.get_loops("gemm")
    assert loops.C.i == loops["C"]["i"] == s.get_loops().C["i"]
    assert [band.name for band in loops] == ["C_init", "C"]
    assert [loop.name for loop in loops.C] == ["i", "j", "k"]


def test_two_nests_with_names() -> None:
    def kernel(A: int32[32, 32]) -> int32[32, 32]:
        B: int32[32, 32] = 0
        for i, j in allo.grid(32, 32, name="B"):
            B[i, j] = A[i, j] + 1
        C: int32[32, 32] = 0
        for i, j in allo.grid(32, 32, name="C"):
            C[i, j] = B[i, j] * 2
        return C

    s = allo.customize(kernel)
    loops = s.get_loops()
    s.pipeline(loops.B.j)
    s.fuse(loops["C"]["i"], loops["C"]["j"])
    s.split(s.get_loops().C.i_j_fused, 16)
    np_A = ints(32, 32)
    np.testing.assert_array_equal(s.build()(np_A), (np_A + 1) * 2)


def test_template_of_types_and_sizes() -> None:
    def kernel[TyA, TyB, TyC, M: int32, N: int32, K: int32](A: "TyA[M, K]", B: "TyB[K, N]") -> "TyC[M, N]":
        C: TyC[M, N] = 0
        for i, j in allo.grid(M, N, name="PE"):
            for k in allo.reduction(K):
                C[i, j] += A[i, k] * B[k, j]
        return C

    s = allo.customize(kernel, instantiate=[int8, int8, int16, 4, 8, 5])
    s.reorder("k", "j")
    s.buffer_at(s.C, axis="i")
    np_A, np_B = ints(4, 5).astype(np.int8), ints(5, 8).astype(np.int8)
    wanted = np_A.astype(np.int16) @ np_B.astype(np.int16)
    np.testing.assert_array_equal(s.build()(np_A, np_B), wanted)


def test_schedule_of_a_callee() -> None:
    def matrix_add(A: int32[M, N]) -> int32[M, N]:
        B: int32[M, N] = 0
        for i, j in allo.grid(M, N):
            B[i, j] = A[i, j] + 1
        return B

    def top(A: int32[M, K], B: int32[K, N]) -> int32[M, N]:
        C = gemm(A, B)
        D = matrix_add(C)
        return D

    s = allo.customize(top)
    s.reorder("gemm:k", "gemm:j")
    s.buffer_at(s.buffers["gemm:C"], axis="gemm:i")
    s.pipeline("gemm:j")
    s.split(s.get_loops("matrix_add")["S_i_j_0"]["j"], 8)
    s.unroll("matrix_add:j.inner")
    np_A, np_B = ints(M, K), ints(K, N)
    np.testing.assert_array_equal(s.build()(np_A, np_B), np_A @ np_B + 1)


@pytest.mark.parametrize("factor", [2, 8, 32])
def test_one_kernel_has_many_schedules(factor: int) -> None:
    s = allo.customize(gemm)
    s.split("i", factor)
    s.reorder("i.inner", "j")
    s.unroll("i.inner")
    np_A, np_B = ints(M, K), ints(K, N)
    np.testing.assert_array_equal(s.build()(np_A, np_B), np_A @ np_B)
