"""Programs in the manner of published Allo: operators of the library, structs, shapes known at run time, windows."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

import math

import numpy as np
import pytest

import allo
from allo.ir.types import Fixed, Struct, float32, int8, int32, uint8


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).random(shape, dtype=np.float32)


def windows(array: np.ndarray, *taps: int) -> np.ndarray:
    return np.lib.stride_tricks.sliding_window_view(array, taps)


@pytest.mark.parametrize("lower", [False, True])
def test_matrix_product_and_bias(lower: bool) -> None:
    def kernel(A: float32[16, 12], B: float32[12, 8], bias: float32[16, 8]) -> float32[16, 8]:
        C = allo.matmul(A, B)
        D = allo.add(C, bias)
        return D

    A, B, bias = floats(16, 12), floats(12, 8), floats(16, 8)
    module = allo.customize(kernel, lower_linalg=lower).build()
    np.testing.assert_allclose(module(A, B, bias), A @ B + bias, rtol=1e-5)


def test_lowered_operators_are_loops_for_schedules() -> None:
    def kernel(A: float32[16, 16], B: float32[16, 16]) -> float32[16, 16]:
        return allo.matmul(A, B)

    s = allo.customize(kernel, lower_linalg=True)
    nest = next(band for band in s.get_loops() if len(list(band)) == 3)
    _, j, k = list(nest)
    s.reorder(k, j)
    s.split(j, 4)
    A, B = floats(16, 16), floats(16, 16).T.copy()
    np.testing.assert_allclose(s.build()(A, B), A @ B, rtol=1e-5)


def test_operators_nest() -> None:
    def kernel(A: float32[8, 8], B: float32[8, 8]) -> float32[8, 8]:
        D = A @ B
        C = (allo.add(allo.exp(D), allo.abs(D)) - allo.log(D)) / D
        return C

    A, B = floats(8, 8) + 0.1, floats(8, 8)
    D = A @ B
    np.testing.assert_allclose(
        allo.customize(kernel).build()(A, B), (np.exp(D) + D - np.log(D)) / D, rtol=1e-4
    )


def test_dense_layer_with_softmax() -> None:
    def kernel(X: float32[4, 16], W: float32[8, 16], b: float32[8]) -> float32[4, 8]:
        Z = allo.linear(X, W, b)
        return allo.softmax(allo.relu(Z - 4.0))

    X, W, b = floats(4, 16), floats(8, 16), floats(8)
    likelihood = np.exp(np.maximum(X @ W.T + b - 4, 0))
    wanted = likelihood / likelihood.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(allo.customize(kernel).build()(X, W, b), wanted, rtol=1e-4)


def test_convolution_and_pools() -> None:
    def kernel(X: float32[2, 3, 8, 8], W: float32[4, 3, 3, 3], K: float32[2, 2]) -> float32[2, 4, 5, 5]:
        C = allo.conv2d(X, W)
        return allo.maxpool(C, K) - allo.sumpool(C, K)

    X, W = floats(2, 3, 8, 8), floats(4, 3, 3, 3)
    C = np.einsum("bihwpq,oipq->bohw", windows(X, 1, 1, 3, 3)[:, :, :, :, 0, 0], W)
    pooled = windows(C, 1, 1, 2, 2)
    wanted = pooled.max(axis=(-1, -2, -3, -4)) - pooled.sum(axis=(-1, -2, -3, -4))
    got = allo.customize(kernel).build()(X, W, np.zeros((2, 2), np.float32))
    np.testing.assert_allclose(got, wanted, rtol=1e-4)


def test_shapes() -> None:
    def kernel(A: float32[2, 3, 4], B: float32[4, 2]) -> float32[4, 8]:
        C = allo.transpose(A, (2, 0, 1))
        D = allo.view(C, (4, 6))
        return allo.concat(D, B, axis=1)

    A, B = floats(2, 3, 4), floats(4, 2)
    wanted = np.concatenate([A.transpose(2, 0, 1).reshape(4, 6), B], axis=1)
    np.testing.assert_array_equal(allo.customize(kernel).build()(A, B), wanted)


def test_batches() -> None:
    def kernel(A: float32[3, 4, 5], B: float32[3, 5, 6]) -> float32[3, 4, 6]:
        return allo.bmm(A, B)

    A, B = floats(3, 4, 5), floats(3, 5, 6)
    np.testing.assert_allclose(allo.customize(kernel).build()(A, B), A @ B, rtol=1e-5)


def test_products_of_small_integers_are_exact() -> None:
    def kernel(A: int8[4, 6], B: int8[6, 4]) -> int32[4, 4]:
        C: int32[4, 4] = A @ B
        return C

    A = np.random.default_rng(0).integers(-128, 128, (4, 6), dtype=np.int8)
    B = np.random.default_rng(1).integers(-128, 128, (6, 4), dtype=np.int8)
    np.testing.assert_array_equal(
        allo.customize(kernel).build()(A, B), A.astype(np.int32) @ B.astype(np.int32)
    )


def test_triangle_and_ones() -> None:
    def kernel(A: float32[4, 4]) -> float32[4, 4]:
        return allo.tril(A) + allo.ones((4, 4), dtype=float32)

    A = floats(4, 4)
    np.testing.assert_array_equal(allo.customize(kernel).build()(A), np.tril(A) + 1)


def test_attention() -> None:
    length, width = 8, 4

    def attention(
        Q: float32[length, width], K: float32[length, width], V: float32[length, width]
    ) -> float32[length, width]:
        S = allo.matmul(Q, K.T) / math.sqrt(width)
        P = allo.softmax(S)
        return allo.matmul(P, V)

    Q, K, V = floats(length, width), floats(length, width) * 3, floats(length, width) - 0.5
    likelihood = np.exp(Q @ K.T / 2)
    wanted = likelihood / likelihood.sum(axis=1, keepdims=True) @ V
    np.testing.assert_allclose(allo.customize(attention).build()(Q, K, V), wanted, rtol=1e-4, atol=1e-5)


def test_tiles_of_a_product() -> None:
    def kernel(A: float32[8, 8], B: float32[8, 8]) -> float32[8, 8]:
        C: float32[8, 8] = 0
        for i, j, k in allo.grid(2, 2, 2):
            C[4 * i : 4 * i + 4, 4 * j : 4 * j + 4] += allo.matmul(
                A[4 * i : 4 * i + 4, 4 * k : 4 * k + 4], B[4 * k : 4 * k + 4, 4 * j : 4 * j + 4]
            )
        return C

    A, B = floats(8, 8), floats(8, 8).T.copy()
    np.testing.assert_allclose(allo.customize(kernel).build()(A, B), A @ B, rtol=1e-5)


def test_structs_in_arrays() -> None:
    pixel = Struct({"red": uint8, "green": uint8, "weight": int32})

    def kernel(A: uint8[4], out: int32[4]):
        B: pixel[4]
        for i in range(4):
            B[i].red = A[i]
            B[i].green = A[3 - i]
            B[i].weight = A[i] * A[3 - i]
        for i in range(4):
            out[i] = B[i].weight - B[i].red + B[i].green

    A, out = np.array([10, 200, 30, 255], np.uint8), np.zeros(4, np.int32)
    allo.customize(kernel).build()(A, out)
    wide = A.astype(np.int32)
    np.testing.assert_array_equal(out, wide * wide[::-1] - wide + wide[::-1])


@pytest.mark.parametrize("size", [1, 10, 33])
def test_shape_known_at_run_time(size: int) -> None:
    def scale(A: float32[...], B: float32[...], size: int32, by: float32):
        for i in range(size):
            B[i] = A[i] * by

    A, B = floats(size), np.zeros(size, np.float32)
    allo.customize(scale).build()(A, B, size, 3.0)
    np.testing.assert_array_equal(B, A * 3)


def test_fixed_point_arrays_are_floats_in_numpy() -> None:
    T = Fixed(16, 6)

    def kernel(A: T[8], B: T[8]) -> T[8]:
        C: T[8] = 0
        for i in range(8):
            C[i] = A[i] * B[i]
        return C

    A, B = (np.floor(floats(8) * factor) / 64 for factor in (200, 300))
    got = allo.customize(kernel).build()(A, B)
    np.testing.assert_array_equal(got, np.floor(A * B * 64) / 64)


def test_convolution_with_line_and_window_buffers() -> None:
    def conv2d(A: int32[10, 12], W: int32[3, 3]) -> int32[8, 10]:
        B: int32[8, 10] = 0
        for y, x in allo.grid(8, 10):
            v: int32 = 0
            for r, c in allo.reduction(3, 3):
                v += A[y + r, x + c] * W[r, c]
            B[y, x] = v
        return B

    s = allo.customize(conv2d)
    lines = s.reuse_at(s.A, axis="y")
    window = s.reuse_at(lines, axis="x")
    s.partition(lines, dim=1)
    s.partition(window, dim=0)
    s.pipeline("x")
    A = np.random.default_rng(2).integers(-100, 100, (10, 12), dtype=np.int32)
    W = np.random.default_rng(3).integers(-9, 9, (3, 3), dtype=np.int32)
    np.testing.assert_array_equal(s.build()(A, W), np.einsum("yxrc,rc->yx", windows(A, 3, 3), W))
