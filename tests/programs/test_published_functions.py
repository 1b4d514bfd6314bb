"""Programs in the manner of published Allo: kernels that call kernels, templates, several results, state, arrays."""

import numpy as np
import pytest

import allo
from allo.ir.types import ConstExpr, Stateful, float32, index, int8, int16, int32

M, N = 4, 6


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(-50, 50, shape, dtype=np.int32)


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).random(shape, dtype=np.float32)


def test_kernel_defined_in_a_kernel() -> None:
    def top(A: int32[M]) -> int32[M]:
        def add_one(A: int32[M]) -> int32[M]:
            B: int32[M] = 0
            for i in range(M):
                B[i] = A[i] + 1
            return B

        C: int32[M] = add_one(A)
        return C

    A = numbers(M)
    np.testing.assert_array_equal(allo.customize(top).build()(A), A + 1)


def test_template_defined_in_a_kernel() -> None:
    def top(A: int32[M, N]) -> float32[M, N]:
        def inner[T_in, T_out, P: int32, Q: int32](x: "T_in[P, Q]") -> "T_out[P, Q]":
            y: T_out[P, Q] = 0
            for i, j in allo.grid(P, Q):
                y[i, j] = x[i, j] + 0.5
            return y

        B = inner[int32, float32, M, N](A)
        return B

    A = numbers(M, N)
    np.testing.assert_array_equal(allo.customize(top).build()(A), A + 0.5)


def test_scalar_functions_in_expressions() -> None:
    def twice(x: int32) -> int32:
        y: int32 = x * 2
        return y

    def top(A: int32[M], B: int32[M]):
        for i in range(M):
            B[i] = twice(A[i]) + twice(twice(i)) - 1

    A, B = numbers(M), numbers(M)
    allo.customize(top).build()(A, B)
    np.testing.assert_array_equal(B, 2 * A + 4 * np.arange(M) - 1)


def test_arrays_through_three_kernels() -> None:
    def add_one(A: int32[M]) -> int32[M]:
        B: int32[M] = 0
        for i in range(M):
            B[i] = A[i] + 1
        return B

    def double(A: int32[M]):
        for i in range(M):
            A[i] *= 2

    def top(A: int32[M]) -> int32[M]:
        B = add_one(add_one(A))
        double(B)
        C: int32[M] = add_one(B) + A
        return C

    A = numbers(M)
    np.testing.assert_array_equal(allo.customize(top).build()(A), 2 * (A + 2) + 1 + A)


def test_several_results() -> None:
    def callee(a: float32[M], b: float32[M]) -> (float32[M], float32[M]):
        c: float32[M] = 0.0
        d: float32[M] = 0.0
        for i in range(M):
            c[i] = a[i] + b[i]
            d[i] = a[i] - b[i]
        return c, d

    def kernel(A: float32[M], B: float32[M]) -> (float32[M], float32[M]):
        C: float32[M] = 0
        D: float32[M] = 0
        C, D = callee(A, B)
        E, F = callee(C, D)
        return E, F

    A, B = floats(M), floats(M)
    E, F = allo.customize(kernel).build()(A, B)
    np.testing.assert_allclose(E, 2 * A, rtol=1e-6)
    np.testing.assert_allclose(F, 2 * B, rtol=1e-6)


def test_scalars_and_arrays_as_results() -> None:
    def split(a: int32) -> (int32, float32):
        return a // 3, a / 3.0

    def kernel(A: int32[M]) -> (float32, int32[M], int32):
        q, x = split(A[0])
        B: int32[M] = A
        B[1] = q
        return x, B, q

    A = np.array([10, 2, 3, 4], np.int32)
    x, B, q = allo.customize(kernel).build()(A)
    assert (x, q, B.tolist(), A.tolist()) == (np.float32(10 / 3), 3, [10, 3, 3, 4], [10, 2, 3, 4])


def test_scalars_are_copies_and_arrays_are_not() -> None:
    def callee(x: int32, A: int32[M]) -> int32:
        x += 1
        A[0] = x
        return x

    def kernel(x: int32, A: int32[M]) -> int32:
        y: int32 = callee(x, A)
        return x * 100 + y

    A = numbers(M)
    assert allo.customize(kernel).build()(7, A) == 708
    assert A[0] == 8


def test_rows_are_given_to_kernels() -> None:
    def add_one(A: int32[N], B: int32[N]):
        for i in range(N):
            B[i] = A[i] + 1

    def kernel(A: int32[M, N], B: int32[M, N]):
        for i in range(M):
            add_one(A[i], B[i])

    A, B = numbers(M, N), numbers(M, N)
    allo.customize(kernel).build()(A, B)
    np.testing.assert_array_equal(B, A + 1)


@pytest.mark.parametrize(("T", "dtype"), [(int32, np.int32), (float32, np.float32)], ids=str)
def test_template_chooses_by_type(T: object, dtype: type) -> None:
    def kernel[T: (float32, int32), R: int32, C: int32](A: "T[R, C]") -> "T[R, C]":
        B: T[R, C] = 0
        for i, j in allo.grid(R, C):
            with allo.meta_if(int32 == T):
                B[i, j] = A[i, j] + 1
            with allo.meta_else():
                B[i, j] = A[i, j] * 0.5
        return B

    A = numbers(2, 3).astype(dtype)
    wanted = A + 1 if dtype is np.int32 else A / 2
    np.testing.assert_array_equal(allo.customize(kernel, instantiate=[T, 2, 3]).build()(A), wanted)


def test_instances_of_one_template() -> None:
    def vadd[T1, T2, T3](A: "T1[8]", B: "T2[8]") -> "T3[8]":
        C: T3[8] = 0
        for i in range(8):
            C[i] = A[i] + B[i]
        return C

    def top(A: int8[8], B: float32[8]) -> float32[8]:
        C = vadd[int8, int8, int16](A, A)
        D = vadd[int16, float32, float32, "mixed"](C, B)
        return D

    s = allo.customize(top)
    s.pipeline("vadd_mixed:i")
    A, B = numbers(8).astype(np.int8), floats(8)
    np.testing.assert_allclose(s.build()(A, B), 2.0 * A + B, rtol=1e-6)


def test_template_calls_template() -> None:
    def fill[T, L: index](value: "T") -> "T[L]":
        A: T[L] = value
        return A

    def outer[T, L: index](A: "T[L]") -> "T[2 * L]":
        B: T[2 * L] = fill[T, 2 * L](1)
        half: ConstExpr[index] = L
        for i in range(L):
            B[half + i] += A[i]
        return B

    A = numbers(3)
    got = allo.customize(outer, instantiate=[int32, 3]).build()(A)
    np.testing.assert_array_equal(got, np.concatenate([np.ones(3), A + 1]))


def test_state_belongs_to_a_built_module() -> None:
    def accumulate(x: int32) -> int32:
        total: int32 @ Stateful = 0
        total += x
        return total

    s = allo.customize(accumulate)
    first, second = s.build(), s.build()
    assert [first(1), first(2), second(10), first(3)] == [1, 3, 10, 6]


def test_state_of_a_delay_line() -> None:
    def filtered(x: float32) -> float32:
        taps: Stateful[float32[4]] = 0.0
        for i in range(3):
            taps[3 - i] = taps[2 - i]
        taps[0] = x
        total: float32 = 0.0
        for i in range(4):
            total += taps[i]
        return total / 4

    module = allo.customize(filtered).build()
    assert [module(x) for x in (4.0, 8.0, 0.0, 4.0, 0.0)] == [1.0, 3.0, 3.0, 4.0, 3.0]


def test_whole_arrays() -> None:
    def kernel(A: float32[M, N], B: float32[M, N]) -> float32[M, N]:
        C: float32[M, N] = A + B * 2.0
        C = C - 1.0
        C += A
        C[0] = 0
        C[:, 1] = B[:, 0]
        C[1:3, 2:4] = A[0:2, 0:2]
        return C

    A, B = floats(M, N), floats(M, N) + 1
    wanted = 2 * A + 2 * B - 1
    wanted[0] = 0
    wanted[:, 1] = B[:, 0]
    wanted[1:3, 2:4] = A[:2, :2]
    np.testing.assert_allclose(allo.customize(kernel).build()(A, B), wanted, rtol=1e-5)


def test_copy_and_transpose() -> None:
    def kernel(A: float32[M, N]) -> float32[N, M]:
        B = A.copy()
        B[0, 0] = 3.0
        return B.T

    A = floats(M, N)
    wanted = A.T.copy()
    wanted[0, 0] = 3
    np.testing.assert_array_equal(allo.customize(kernel).build()(A), wanted)
    assert A[0, 0] != 3


def test_elementary_functions() -> None:
    def kernel(A: float32[M]) -> float32[M]:
        B: float32[M] = 0
        for i in range(M):
            B[i] = allo.exp(A[i]) + allo.log(A[i]) * allo.sqrt(A[i]) - allo.tanh(A[i]) / allo.power(A[i], 2.0)
        return B

    A = floats(M) + 0.5
    wanted = np.exp(A) + np.log(A) * np.sqrt(A) - np.tanh(A) / A**2
    np.testing.assert_allclose(allo.customize(kernel).build()(A), wanted, rtol=1e-5)


def test_a_kernel_made_for_each_type() -> None:
    def make(T, length):
        def kernel(A: T[length], b: T) -> T[length]:
            C: T[length] = 0
            for i in range(length):
                C[i] = A[i] * b
            return C

        return kernel

    for T, dtype in ((int32, np.int32), (float32, np.float32)):
        A = np.arange(5, dtype=dtype)
        np.testing.assert_array_equal(allo.customize(make(T, 5)).build()(A, 3), A * 3)
