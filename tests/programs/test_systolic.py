"""The systolic array of Fig. 5 of the Allo paper, from the plain matrix product by its schedule, and others like it."""

# ruff: noqa: F821 - kernels declare arrays without a value

import numpy as np
import pytest

import allo
from allo.backend.instantiate import instantiate
from allo.customize import Schedule
from allo.ir.types import float32, float64, index, int8, int16, int32, uint8, uint16

TYPES = [
    (int8, int16, np.int8, np.int16),
    (int32, int32, np.int32, np.int32),
    (uint8, uint16, np.uint8, np.uint16),
    (float32, float32, np.float32, np.float32),
    (float64, float64, np.float64, np.float64),
]
SHAPES = [(4, 4, 4), (2, 5, 3), (1, 6, 4), (6, 1, 4), (3, 3, 1), (1, 1, 1)]


def product(M, N, K, T, U):
    def gemm(A: T[M, K], B: T[K, N], C: U[M, N]):
        for i, j in allo.grid(M, N, name="PE"):
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]

    return gemm


def systolic(M, N, K, T=int8, U=int16):
    """The eight lines of the paper; `partition` counts dimensions from 1, as the released Allo does."""
    s = allo.customize(product(M, N, K, T, U))
    buf_A = s.buffer_at(s.A, "j")
    buf_B = s.buffer_at(s.B, "j")
    pe = s.unfold("PE", axis=[0, 1])
    s.partition(s.C, dim=0)
    s.partition(s.A, dim=1)
    s.partition(s.B, dim=2)
    s.relay(buf_A, pe, axis=1, depth=M + 1)
    s.relay(buf_B, pe, axis=0, depth=N + 1)
    return s


def operands(M, N, K, dtype, result, seed=1):
    random = np.random.default_rng(seed)
    A, B = (random.integers(0, 7, shape).astype(dtype) for shape in ((M, K), (K, N)))
    return A, B, np.zeros((M, N), result)


@pytest.mark.parametrize("T, U, dtype, result", TYPES, ids=[str(t[0]) for t in TYPES])
def test_types(T, U, dtype, result):
    A, B, C = operands(3, 4, 5, dtype, result)
    systolic(3, 4, 5, T, U).build()(A, B, C)
    np.testing.assert_array_equal(C, A.astype(result) @ B.astype(result))


@pytest.mark.parametrize("M, N, K", SHAPES)
def test_shapes(M, N, K):
    A, B, C = operands(M, N, K, np.int8, np.int16)
    systolic(M, N, K).build()(A, B, C)
    np.testing.assert_array_equal(C, A.astype(np.int16) @ B.astype(np.int16))


def test_neighbours_are_connected():
    text = str(systolic(4, 3, 5).module)
    assert "memref<4x3x!allo.stream<i8, 5>>" in text and "memref<4x3x!allo.stream<i8, 4>>" in text
    assert "buf_A" not in text.replace("fifo_buf_A", "").replace("load_buf_A", "")
    assert text.count("stream_get") == 2 and text.count("stream_put") == 4


def test_elements_that_do_the_same_share_a_function():
    """Which neighbours there are is all that makes them different, not the FIFOs and the register that each uses."""
    s = systolic(4, 3, 5)
    made = instantiate(s.ir)
    assert [f.name.value for f in made.functions()] == ["PE_0_0", "PE_0_2", "PE_3_0", "PE_3_2", "gemm"]
    corner = str(made.function("PE_3_2"))
    assert corner.count("stream_get") == 2 and corner.count("stream_put") == 0
    code = s.build(target="vhls").hls_code
    assert "  PE_0_0(C[2][1], fifo_buf_A[2][1], fifo_buf_A[2][2], fifo_buf_B[2][1], fifo_buf_B[3][1]);" in code
    A, B, C = operands(4, 3, 5, np.int8, np.int16)
    s.build(target="vitis_hls", mode="csim")(A, B, C)
    np.testing.assert_array_equal(C, A.astype(np.int16) @ B.astype(np.int16))


def test_the_size_of_hardware_code_grows_by_the_calls():
    small, large = (systolic(n, n, n).build(target="catapult").hls_code.splitlines() for n in (4, 16))
    assert len(large) - len(small) == 16 * 16 - 4 * 4


def test_loaders_and_elements_are_a_dataflow_region():
    s = systolic(3, 4, 5)
    s.dataflow("gemm")
    assert "attributes {allo.dataflow}" in str(instantiate(s.ir).function("gemm"))
    A, B, C = operands(3, 4, 5, np.int8, np.int16)
    s.build()(A, B, C)
    np.testing.assert_array_equal(C, A.astype(np.int16) @ B.astype(np.int16))


def test_the_schedule_is_data():
    s = systolic(4, 3, 5)
    fresh = allo.customize(product(2, 6, 4, float32, float32))
    fresh.replay(s.steps)
    A, B, C = operands(2, 6, 4, np.float32, np.float32)
    fresh.build()(A, B, C)
    np.testing.assert_array_equal(C, A @ B)


def test_the_schedule_as_operations():
    s = systolic(4, 3, 5)
    assert str(Schedule.from_mlir(s.to_mlir()).module) == str(s.module)


def test_the_size_of_the_text_does_not_depend_on_the_size_of_the_array():
    small, large = (len(str(systolic(n, n, n).module).splitlines()) for n in (2, 64))
    assert small == large


def test_a_large_array():
    A, B, C = operands(64, 64, 64, np.int16, np.int32)
    systolic(64, 64, 64, int16, int32).build()(A, B, C)
    np.testing.assert_array_equal(C, A.astype(np.int32) @ B.astype(np.int32))


def test_the_lines_as_printed_in_the_paper():
    """There dimensions count from 0; here 0 means all of them, which makes more banks and changes no value."""
    M, N, K = 4, 3, 5
    s = allo.customize(product(M, N, K, int8, int16))
    buf_A = s.buffer_at(s.A, "j")
    buf_B = s.buffer_at(s.B, "j")
    pe = s.unfold("PE", axis=[0, 1])
    s.partition(s.C, dim=[0, 1])
    s.partition(s.A, dim=0)
    s.partition(s.B, dim=1)
    s.relay(buf_A, pe, axis=1, depth=M + 1)
    s.relay(buf_B, pe, axis=0, depth=N + 1)
    assert len(s.steps) == 8
    A, B, C = operands(M, N, K, np.int8, np.int16)
    s.build()(A, B, C)
    np.testing.assert_array_equal(C, A.astype(np.int16) @ B.astype(np.int16))


def test_a_tiled_array():
    """Fig. 7: a product of any size on one array of 4 x 4 elements."""
    s = allo.customize(product(8, 12, 5, int8, int16))
    for loop in ("i", "j"):
        s.split(loop, 4)
    s.reorder("i.outer", "j.outer", "i.inner", "j.inner")
    buf_A, buf_B = s.buffer_at(s.A, "j.inner"), s.buffer_at(s.B, "j.inner")
    pe = s.unfold("PE", axes=[2, 3])
    s.partition(s.C, allo.Partition.Cyclic, dim=1, factor=4)
    s.partition(s.C, allo.Partition.Cyclic, dim=2, factor=4)
    s.relay(buf_A, pe, axis=3)
    s.relay(buf_B, pe, axis=2)
    A, B, C = operands(8, 12, 5, np.int8, np.int16)
    s.build()(A, B, C)
    np.testing.assert_array_equal(C, A.astype(np.int16) @ B.astype(np.int16))


@pytest.mark.slow
def test_weights_stay_and_sums_travel():
    """A weight-stationary array from the same primitives: element (k, n) keeps W[k, n], sums go down, data go right."""

    def stationary(A: int32[6, 3], W: int32[3, 4], C: int32[6, 4]):
        S: int32[6, 4, 4]
        for m, n in allo.grid(6, 4, name="start"):
            S[m, 0, n] = 0
        for k, n in allo.grid(3, 4, name="PE"):
            for m in range(6):
                S[m, k + 1, n] = S[m, k, n] + A[m, k] * W[k, n]
        for m, n in allo.grid(6, 4, name="end"):
            C[m, n] = S[m, 3, n]

    s = allo.customize(stationary)
    data = s.buffer_at(s.A, "PE.n")
    pe = s.unfold("PE", axes=[0, 1])
    s.partition(s.W)
    s.relay(s.S, pe, axis=0, depth=2)
    s.relay(data, pe, axis=1, depth=2)
    random = np.random.default_rng(3)
    A, W = random.integers(-9, 9, (6, 3), np.int32), random.integers(-9, 9, (3, 4), np.int32)
    assert sum(f.name.value.startswith("PE_") for f in instantiate(s.ir).functions()) == 2
    for built in (s.build(), s.build(target="vitis_hls", mode="csim")):
        C = np.zeros((6, 4), np.int32)
        built(A, W, C)
        np.testing.assert_array_equal(C, A @ W)


M, N, K = 3, 4, 5


def element(A_in: int8[K], B_in: int8[K], A_out: int8[K], B_out: int8[K], C: int16[M, N], i: index, j: index):
    for k in range(K):
        a: int8 = A_in[k]
        b: int8 = B_in[k]
        C[i, j] += a * b
        A_out[k] = a
        B_out[k] = b


def explicit(A: int8[M, K], B: int8[K, N], C: int16[M, N]):
    A_fifo: int8[M, N + 1, K]
    B_fifo: int8[N, M + 1, K]
    for k in range(K, name="data_load"):
        for m in range(M):
            A_fifo[m, 0, k] = A[m, k]
        for n in range(N):
            B_fifo[n, 0, k] = B[k, n]
    for i, j in allo.grid(M, N, name="PE"):
        element(A_fifo[i, j], B_fifo[j, i], A_fifo[i, j + 1], B_fifo[j, i + 1], C, i, j)
    A_drain: int8[M]
    B_drain: int8[N]
    for k in range(K, name="data_drain"):
        for m in range(M):
            A_drain[m] = A_fifo[m, N, k]
        for n in range(N):
            B_drain[n] = B_fifo[n, M, k]


def test_an_array_with_its_fifos_written_out():
    """The style of the released Allo: a function for an element, and arrays that `to` turns into FIFOs."""
    s = allo.customize(explicit)
    s.partition(s.A, dim=1)
    s.partition(s.B, dim=2)
    s.partition(s.C)
    pe = s.unfold("PE", [0, 1])
    s.to(s.A_fifo, pe, axis=1, depth=M + 1)
    s.to(s.B_fifo, pe, axis=0, depth=N + 1)
    assert "memref<3x5x!allo.stream<i8, 4>>" in str(s.module) and "memref<4x4x!allo.stream<i8, 5>>" in str(s.module)
    assert [f.name.value for f in instantiate(s.ir).functions()] == ["element", "PE_0_0", "explicit"]
    for built in (s.build(), s.build(target="vitis_hls", mode="csim")):
        A, B, C = operands(M, N, K, np.int8, np.int16)
        built(A, B, C)
        np.testing.assert_array_equal(C, A.astype(np.int16) @ B.astype(np.int16))
