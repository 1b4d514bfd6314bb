"""The operators on whole arrays: values against NumPy, in the form of `linalg` and in loops."""

from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest

import allo
from allo import dsl
from allo.ir.types import (
    Fixed,
    Int,
    UInt,
    bfloat16,
    bool,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
)

random = np.random.default_rng(7)


def floats(*shape: int) -> Any:
    return random.standard_normal(shape).astype(np.float32)


def integers(dtype: Any, *shape: int) -> Any:
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


@pytest.fixture(params=[False, True], ids=["linalg", "loops"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`run(kernel, *arguments)`: the results of the machine code, and what its arrays hold afterwards."""

    def call(kernel: Any, *arguments: Any) -> list[Any]:
        schedule = allo.customize(kernel, lower_linalg=request.param)
        assert ("linalg." in str(schedule.module)) != request.param
        own = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
        result = schedule.build()(*own)
        results = list(result) if isinstance(result, tuple) else [result]
        return [*results, *(value for value in own if isinstance(value, np.ndarray))]

    return call


def close(found: Any, *wanted: Any, tolerance: float = 1e-5) -> None:
    for got, value in zip(found, wanted, strict=False):
        np.testing.assert_allclose(got, value, rtol=tolerance, atol=tolerance)


def equal(found: Any, *wanted: Any) -> None:
    for got, value in zip(found, wanted, strict=False):
        np.testing.assert_array_equal(got, np.asarray(value).astype(np.asarray(got).dtype))


# -- products -------------------------------------------------------------------------------------


def products(A: float32[4, 8], B: float32[8, 6], C: float32[4, 6]) -> (float32[4, 6], float32[4, 6]):
    C[:] = allo.matmul(A, B)
    D: float32[4, 6] = A @ B
    return D, allo.matmul(A, B)


def test_matmul(run: Any) -> None:
    a, b = floats(4, 8), floats(8, 6)
    d, e, _, _, c = run(products, a, b, np.zeros((4, 6), np.float32))
    close((c, d, e), a @ b, a @ b, a @ b)


def of_integers(A: int8[4, 8], B: int8[8, 6]) -> (int32[4, 6], int8[4, 6], int64[4, 6], float32[4, 6]):
    natural = A @ B
    wide: int64[4, 6] = natural
    return A @ B, A @ B, wide, A @ B


def test_integers_are_added_so_that_the_target_is_exact(run: Any) -> None:
    a, b = np.full((4, 8), -128, np.int8), np.full((8, 6), -128, np.int8)
    exact = a.astype(np.int64) @ b.astype(np.int64)
    equal(run(of_integers, a, b), exact, exact, exact, exact)


def test_the_least_type_of_a_product_holds_every_sum() -> None:
    text = str(allo.customize(of_integers).module)
    assert 'allo.name = "natural"} : memref<4x6xi19>' in text
    assert "ins(%arg0, %arg1 : memref<4x8xi8>, memref<8x6xi8>) outs(%alloc_1 : memref<4x6xi32>)" in text


def of_mixed(A: uint8[4, 8], B: int16[8, 6], C: uint8[8, 6]) -> (int32[4, 6], uint16[4, 6], uint32[4, 6], int64[4, 6]):
    return A @ B, A @ B, A @ C, allo.matmul(A, C)


def test_unsigned_and_mixed_integers(run: Any) -> None:
    a, b, c = integers(np.uint8, 4, 8), integers(np.int16, 8, 6), integers(np.uint8, 8, 6)
    wide = [value.astype(np.int64) for value in (a, b, c)]
    equal(run(of_mixed, a, b, c), wide[0] @ wide[1], wide[0] @ wide[1], wide[0] @ wide[2], wide[0] @ wide[2])


def of_odd_widths(A: int8[4, 8], B: int8[8, 6]) -> (int32[4, 6], int32[4, 6]):
    a: Int(5)[4, 8] = A
    b: UInt(3)[8, 6] = B
    narrow: Int(7)[4, 6] = a @ b
    widened: int32[4, 6] = narrow
    return a @ b, widened


def test_odd_widths(run: Any) -> None:
    a, b = random.integers(-16, 16, (4, 8)).astype(np.int8), random.integers(0, 8, (8, 6)).astype(np.int8)
    exact = a.astype(np.int64) @ b.astype(np.int64)
    equal(run(of_odd_widths, a, b), exact, (exact + 64) % 128 - 64)


def of_fixed_point(A: float64[3, 4], B: float64[4, 2]) -> (float64[3, 2], float64[3, 2]):
    a: Fixed(12, 6)[3, 4] = A
    b: Fixed(10, 5)[4, 2] = B
    narrow: Fixed(16, 4)[3, 2] = a @ b
    wide: Fixed(40, 20)[3, 2] = a @ b
    x: float64[3, 2] = narrow
    y: float64[3, 2] = wide
    return x, y


def test_fixed_point_is_cut_once_at_the_end(run: Any) -> None:
    a, b = random.integers(-2048, 2048, (3, 4)) / 64, random.integers(-512, 512, (4, 2)) / 32
    exact = [[sum(Fraction(x) * Fraction(y) for x, y in zip(r, c, strict=True)) for c in b.T] for r in a]
    cut = [[((floor(value * 16) + 2**15) % 2**16 - 2**15) / 16 for value in row] for row in exact]
    equal(run(of_fixed_point, a, b), cut, np.array(exact, np.float64))


def of_floats(
    A: float16[4, 8], B: float16[8, 6], C: float32[8, 6], D: int8[8, 6]
) -> (float32[4, 6], float32[4, 6], float16[4, 6], int32[6, 6]):
    return A @ B, A @ C, A @ D, C.T @ D


def test_floats_are_added_in_the_wider_type(run: Any) -> None:
    a, b, c, d = floats(4, 8).astype(np.float16), floats(8, 6).astype(np.float16), floats(8, 6), integers(np.int8, 8, 6)
    found = run(of_floats, a, b, c, d)
    wide = a.astype(np.float32)
    close(found[:2], wide @ b.astype(np.float32), wide @ c)
    assert abs(found[2] - wide @ d.astype(np.float32)).max() < 1
    equal(found[3:4], np.trunc(c.T @ d.astype(np.float32)))


def of_bfloat16(A: float32[4, 8], B: float32[8, 6]) -> float32[4, 6]:
    a: bfloat16[4, 8] = A
    b: bfloat16[8, 6] = B
    return a @ b


def test_bfloat16(run: Any) -> None:
    a, b = random.integers(-8, 8, (4, 8)).astype(np.float32), random.integers(-8, 8, (8, 6)).astype(np.float32)
    equal(run(of_bfloat16, a, b), a @ b)


def of_truth_values(A: bool[4, 8], B: bool[8, 6]) -> int32[4, 6]:
    return A @ B


def test_truth_values_are_counted(run: Any) -> None:
    a, b = random.random((4, 8)) < 0.5, random.random((8, 6)) < 0.5
    equal(run(of_truth_values, a, b), a.astype(int) @ b.astype(int))


def with_vectors(A: float32[4, 8], v: float32[8], w: float32[4]) -> (float32[4], float32[8], float32):
    return A @ v, w @ A, v @ v


def test_vectors(run: Any) -> None:
    a, v, w = floats(4, 8), floats(8), floats(4)
    close(run(with_vectors, a, v, w), a @ v, w @ a, v @ v)


def batches(A: float32[3, 4, 8], B: float32[3, 8, 6], W: float32[8, 5]) -> (float32[3, 4, 6], float32[3, 4, 5]):
    return allo.bmm(A, B), A @ W


def test_batches(run: Any) -> None:
    a, b, w = floats(3, 4, 8), floats(3, 8, 6), floats(8, 5)
    close(run(batches, a, b, w), a @ b, a @ w)


def layers(X: float32[4, 8], W: float32[6, 8], b: float32[6], V: float32[2, 4, 8]) -> (float32[4, 6], float32[2, 4, 6]):
    return allo.linear(X, W, b), allo.linear(V, W)


def test_linear(run: Any) -> None:
    x, w, b, v = floats(4, 8), floats(6, 8), floats(6), floats(2, 4, 8)
    close(run(layers, x, w, b, v), x @ w.T + b, v @ w.T)


def integer_layer(X: uint8[4, 8], W: int8[6, 8], b: int32[6]) -> int16[4, 6]:
    return allo.linear(X, W, b)


def test_linear_of_integers(run: Any) -> None:
    x, w, b = integers(np.uint8, 4, 8), integers(np.int8, 6, 8), integers(np.int32, 6)
    equal(run(integer_layer, x, w, b), x.astype(np.int64) @ w.T.astype(np.int64) + b)


def of_parts(A: float32[6, 8], B: float32[8, 6], C: float32[3, 4, 4]) -> (float32[2, 3], float32[3], float32[2, 2]):
    for b in range(1, 3):
        C[b] = C[b] @ C[b - 1]
    return A[1:3] @ B[:, 2:5], A[0] @ B[:, 3:6], A[0:4:2] @ B[:, 0:2]


def test_parts_of_arrays(run: Any) -> None:
    a, b, c = floats(6, 8), floats(8, 6), floats(3, 4, 4)
    *found, _, _, after = run(of_parts, a, b, c)
    close(found, a[1:3] @ b[:, 2:5], a[0] @ b[:, 3:6], a[0:4:2] @ b[:, 0:2])
    second = c[1] @ c[0]
    close([after], [c[0], second, c[2] @ second])


def of_one_of_many(
    A: float32[3, 4, 4], B: float32[4, 4], C: float32[1, 2, 4]
) -> (float32[4, 4], float32[4, 4], float32[3, 4, 4], float32[4, 4], float32[3, 2, 4]):
    return A[1] @ B, B @ A[2].T, allo.transpose(A, (0, 2, 1)) @ A, allo.transpose(A[1]), C @ A


def test_parts_with_constant_subscripts(run: Any) -> None:
    a, b, c = floats(3, 4, 4), floats(4, 4), floats(1, 2, 4)
    close(run(of_one_of_many, a, b, c), a[1] @ b, b @ a[2].T, a.transpose(0, 2, 1) @ a, a[1].T, c @ a)


def test_a_transposed_operand_is_read_where_it_is() -> None:
    def kernel(Q: float32[4, 8], K: float32[6, 8]) -> float32[4, 6]:
        return Q @ K.T

    text = str(allo.customize(kernel).module)
    assert text.count("memref.alloc") == 1 and "linalg.matmul indexing_maps" in text


# -- windows --------------------------------------------------------------------------------------


def convolutions(X: float32[2, 3, 8, 9], W: float32[4, 3, 3, 2]) -> (float32[2, 4, 6, 8], float32[2, 4, 4, 6]):
    return allo.conv2d(X, W), allo.conv2d(X, W, stride=2, padding=(1, 2))


def test_conv2d(run: Any) -> None:
    x, w = floats(2, 3, 8, 9), floats(4, 3, 3, 2)
    close(run(convolutions, x, w), allo.conv2d(x, w), allo.conv2d(x, w, 2, (1, 2)), tolerance=1e-4)


def test_conv2d_in_plain_python_is_its_definition() -> None:
    x, w = floats(1, 2, 4, 5), floats(3, 2, 2, 3)
    wanted = np.zeros((1, 3, 3, 3))
    for n, f, i, j in np.ndindex(1, 3, 3, 3):
        wanted[n, f, i, j] = sum(x[n, c, i + k, j + m] * w[f, c, k, m] for c, k, m in np.ndindex(2, 2, 3))
    close([allo.conv2d(x, w)], wanted)


def integer_convolutions(
    X: uint8[2, 3, 8, 9], W: int8[4, 3, 3, 2], Y: int8[2, 3, 8, 9]
) -> (int32[2, 4, 6, 8], int32[2, 4, 3, 4], uint8[2, 4, 6, 8]):
    return allo.conv2d(X, W), allo.conv2d(Y, W, 2), allo.conv2d(X, W)


def test_conv2d_of_integers(run: Any) -> None:
    x, w, y = integers(np.uint8, 2, 3, 8, 9), integers(np.int8, 4, 3, 3, 2), integers(np.int8, 2, 3, 8, 9)
    wide = [value.astype(np.int64) for value in (x, w, y)]
    exact = allo.conv2d(wide[0], wide[1])
    equal(run(integer_convolutions, x, w, y), exact, allo.conv2d(wide[2], wide[1], stride=2), exact)


def pools(
    X: float32[2, 3, 8, 9], U: uint8[2, 3, 8, 9], S: int8[2, 3, 8, 9], K: float32[3, 2]
) -> (float32[2, 3, 6, 8], uint8[2, 3, 6, 8], int32[2, 3, 6, 8], int8[2, 3, 3, 4]):
    return allo.maxpool(X, K), allo.maxpool(U, K), allo.maxpool(S, K), allo.maxpool(S, K, stride=2)


def test_maxpool(run: Any) -> None:
    x, u, s, k = floats(2, 3, 8, 9), integers(np.uint8, 2, 3, 8, 9), integers(np.int8, 2, 3, 8, 9), floats(3, 2)
    wanted = [allo.maxpool(x, k), allo.maxpool(u, k), allo.maxpool(s, k), allo.maxpool(s, k, 2)]
    equal(run(pools, x, u, s, k), *wanted)
    assert wanted[0][0, 0, 0, 0] == x[0, 0, :3, :2].max() and wanted[3][0, 0, 1, 1] == s[0, 0, 2:5, 2:4].max()


def sums(
    X: float32[2, 3, 8, 9], U: uint8[2, 3, 8, 9], S: int8[2, 3, 8, 9], K: float32[3, 2]
) -> (float32[2, 3, 6, 8], uint16[2, 3, 6, 8], int8[2, 3, 6, 8], int32[2, 3, 3, 4]):
    return allo.sumpool(X, K), allo.sumpool(U, K), allo.sumpool(S, K), allo.sumpool(S, K, stride=2)


def test_sumpool(run: Any) -> None:
    x, u, s, k = floats(2, 3, 8, 9), integers(np.uint8, 2, 3, 8, 9), integers(np.int8, 2, 3, 8, 9), floats(3, 2)
    found = run(sums, x, u, s, k)
    close(found[:1], allo.sumpool(x, k))
    equal(found[1:], allo.sumpool(u, k), allo.sumpool(s, k), allo.sumpool(s, k, 2))
    assert allo.sumpool(u, k)[0, 0, 0, 0] == u[0, 0, :3, :2].sum()


# -- element by element ---------------------------------------------------------------------------


def arithmetic(
    A: int32[4, 8], B: int32[4, 8], U: uint8[8]
) -> (int32[4, 8], int64[4, 8], int64[4, 8], int32[4, 8], int64[4, 8], int32[4, 8]):
    return allo.add(A, B), allo.sub(A, B), allo.mul(A, B), allo.div(A, B), allo.abs(A), allo.add(A, U)


def test_arithmetic_of_integers(run: Any) -> None:
    a, b, u = integers(np.int32, 4, 8), integers(np.int32, 4, 8), integers(np.uint8, 8)
    a[0, 0] = -(2**31)
    x, y = a.astype(np.int64), b.astype(np.int64)
    quotient = np.sign(x) * np.sign(y) * (abs(x) // abs(y))
    equal(run(arithmetic, a, b, u), x + y, x - y, x * y, quotient, abs(x), x + u)


def arithmetic_of_floats(
    A: float32[4, 8], B: float32[8], x: float32
) -> (float32[4, 8], float32[4, 8], float32[4, 8], float32[4, 8]):
    return allo.add(A, B), allo.sub(A, x), allo.mul(A, A), allo.div(x, A + B)


def test_arithmetic_of_floats(run: Any) -> None:
    a, b = floats(4, 8) + 10, floats(8)
    close(run(arithmetic_of_floats, a, b, 2.5), a + b, a - np.float32(2.5), a * a, np.float32(2.5) / (a + b))


def functions(
    A: float32[4, 8],
) -> (float32[4, 8], float32[4, 8], float32[4, 8], float32[4, 8], float32[4, 8], float32[4, 8], float32[4, 8]):
    positive = allo.abs(A)
    waves = allo.sin(A) + allo.cos(A) * allo.tan(A)
    logs = allo.log(positive) + allo.log2(positive) - allo.log10(positive)
    return allo.exp(A), allo.exp(-A), allo.tanh(A), allo.sqrt(positive), allo.power(positive, 1.5), waves, logs


def test_elementary_functions(run: Any) -> None:
    a = floats(4, 8)
    p = abs(a)
    logs = np.log(p) + np.log2(p) - np.log10(p)
    waves = np.sin(a) + np.cos(a) * np.tan(a)
    close(run(functions, a), np.exp(a), np.exp(-a), np.tanh(a), np.sqrt(p), p**1.5, waves, logs, tolerance=1e-4)


def scalars(x: float32, i: int8) -> (float32, float32, int32, int32, float32, float32):
    return allo.exp(x), allo.gelu(x), allo.add(i, i), allo.abs(i), allo.relu(x), allo.power(x, 2.0)


def test_scalars() -> None:
    found = allo.customize(scalars).build()(-1.5, -128)
    x = np.float32(-1.5)
    close(found, np.exp(x), allo.gelu(x), -256, 128, 0, 2.25)


def activations(A: float32[4, 8], I: int8[8], U: uint8[8]) -> (float32[4, 8], float32[4, 8], int8[8], uint8[8]):  # noqa: E741
    return allo.relu(A), allo.gelu(A + 1.0), allo.relu(I), allo.relu(U)


def test_activations(run: Any) -> None:
    a, i, u = floats(4, 8), integers(np.int8, 8), integers(np.uint8, 8)
    close(run(activations, a, i, u), np.maximum(a, 0), allo.gelu(a + 1), np.maximum(i, 0), u)
    exact = 0.5 * 1.0 * (1 + np.tanh(np.sqrt(2 / np.pi) * (1 + 0.044715)))
    close([allo.gelu(np.float32(1))], exact)


def filled_rows(v: float32[8]) -> float32[3, 8]:
    B: float32[3, 8] = allo.exp(v)
    return B


def test_a_result_of_fewer_dimensions_fills_an_array() -> None:
    v = floats(8)
    close([allo.customize(filled_rows).build()(v)], np.tile(np.exp(v), (3, 1)))


def test_several_operators_in_one_expression_are_one_operation() -> None:
    def kernel(A: float32[4, 8], x: float32) -> float32[4, 8]:
        return allo.exp(allo.add(A * 2.0, x))

    text = str(allo.customize(kernel).module)
    assert text.count("linalg.generic") == 1 and text.count("memref.alloc") == 1


# -- rows -----------------------------------------------------------------------------------------


def rows(
    A: float32[4, 4], V: float32[2, 3, 4], g: float32[4], b: float32[4]
) -> (float32[4, 4], float32[2, 3, 4], float32[4], float32[4, 4], float32[2, 3, 4]):
    narrow = allo.layernorm(A, g, b)
    return allo.softmax(A), allo.softmax(V), allo.softmax(g), narrow, allo.layernorm(V, g, b, eps=0.5)


def test_softmax_and_layernorm(run: Any) -> None:
    a, v, g, b = floats(4, 4) * 50, floats(2, 3, 4), floats(4), floats(4)

    def soft(x: Any) -> Any:
        powers = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)

    def norm(x: Any, eps: float) -> Any:
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * g + b

    close(run(rows, a, v, g, b), soft(a), soft(v), soft(g), norm(a, 1e-5), norm(v, 0.5), tolerance=1e-4)


def attention(Q: float32[6, 8], K: float32[6, 8], V: float32[6, 8]) -> float32[6, 8]:
    return allo.softmax(allo.tril(allo.matmul(Q, K.T)) / 2.0) @ V


def test_nested_operators(run: Any) -> None:
    q, k, v = floats(6, 8), floats(6, 8), floats(6, 8)
    close(run(attention, q, k, v), allo.softmax(np.tril(q @ k.T) / np.float32(2)) @ v)
    close([allo.interpret(attention)(q, k, v)], allo.softmax(np.tril(q @ k.T) / np.float32(2)) @ v)


# -- arrangements ---------------------------------------------------------------------------------


def arrangements(
    A: int32[2, 3, 4], B: int16[2, 5, 4], C: int32[2, 3, 4]
) -> (int32[4, 2, 3], int32[4, 3, 2], int32[6, 4], int32[3, 8], int32[24], int32[2, 8, 4], int32[2, 3, 4]):
    turned = allo.transpose(A, (2, 0, 1))
    C[:] = allo.copy(A)
    long = allo.view(A, -1)
    lower = allo.tril(A)
    return turned, allo.transpose(A), allo.view(A, (6, 4)), allo.view(A, (3, 8)), long, allo.concat(A, B, 1), lower


def test_arrangements(run: Any) -> None:
    a, b = integers(np.int32, 2, 3, 4), integers(np.int16, 2, 5, 4)
    wanted = [a.transpose(2, 0, 1), a.T, a.reshape(6, 4), a.reshape(3, 8), a.ravel(), np.concatenate([a, b], 1)]
    *found, _, _, c = run(arrangements, a, b, np.zeros_like(a))
    equal([*found, c], *wanted, np.tril(a), a)


def constants(A: int32[2, 3]) -> (int8[2, 3], float32[4], uint8[2, 2], int32[2, 3]):
    a: int8[2, 3] = allo.ones((2, 3))
    b = allo.zeros(4)
    c: uint8[2, 2] = allo.ones((2, 2), dtype=uint8)
    return a, b, c, A + allo.ones((2, 3), dtype=int32)


def test_zeros_and_ones(run: Any) -> None:
    a = integers(np.int16, 2, 3).astype(np.int32)
    equal(run(constants, a), np.ones((2, 3)), np.zeros(4), np.ones((2, 2)), a + 1)


# -- where operators stand ------------------------------------------------------------------------


def in_place(A: float32[4, 4], B: float32[4, 4]):
    A[:] = A @ B
    B += A @ A
    A[0:2] = (A @ B)[2:4]
    B[:] = allo.add(A, B)
    A[1:] = allo.exp(B[1:])
    B[:] = allo.transpose(B)


def test_targets_that_are_read(run: Any) -> None:
    a, b = floats(4, 4), floats(4, 4)
    found = run(in_place, a, b)
    in_place(a, b)
    close(found[1:], a, b, tolerance=1e-3)


def clipped(X: float32[4, 4]) -> float32[4, 4]:
    return allo.relu(X)


def calls(A: float32[4, 4]) -> float32[4, 4]:
    B = clipped(A @ A)
    return allo.matmul(B, clipped(A))


def test_arguments_of_kernels(run: Any) -> None:
    a = floats(4, 4)
    close(run(calls, a), np.maximum(a @ a, 0) @ np.maximum(a, 0))


def same[T: (float32, int32), N: int32](A: "T[N, N]", B: "T[N, N]") -> "T[N, N]":
    return A @ B


def test_templates() -> None:
    a = integers(np.int8, 3, 3).astype(np.int32)
    equal([allo.customize(same, instantiate=[int32, 3]).build()(a, a)], a @ a)


def test_the_names_are_in_allo_and_in_allo_dsl() -> None:
    names = set(dsl.__all__)
    assert {"matmul", "conv2d", "concat", "exp", "grid"} <= names and names <= set(allo.__all__)
    assert all(getattr(dsl, name) is getattr(allo, name) for name in names)


def of_single_elements(
    A: float32[1, 5], B: float32[5, 1], v: float32[1]
) -> (float32[1, 1], float32[5, 5], float32[1, 5], float32[5, 5]):
    return A @ B, B @ A, allo.layernorm(A, allo.view(B, 5), A[0]), allo.mul(A + B, v)


def test_extents_of_one(run: Any) -> None:
    a, b, v = floats(1, 5), floats(5, 1), floats(1)
    close(run(of_single_elements, a, b, v), a @ b, b @ a, allo.layernorm(a, b.ravel(), a[0]), (a + b) * v)


def in_blocks(A: float32[4, 4], n: int32) -> float32[4, 4]:
    B: float32[4, 4] = A
    i: int32 = 0
    while i < n:
        if i % 2 == 0:
            B[:] = B @ A
        else:
            B[:] = allo.softmax(B)
        i += 1
    return B


def test_loops_and_branches(run: Any) -> None:
    a = floats(4, 4)
    close(run(in_blocks, a, 3), allo.softmax(a @ a) @ a)


WEIGHTS = np.random.default_rng(3).integers(0, 256, (8, 6), np.uint8)


def with_constants(A: int8[4, 8]) -> (int32[4, 6], int32):
    ones: int32[8] = [1, 1, 1, 1, 1, 1, 1, 1]
    total = allo.matmul(A[0], ones)
    return A @ WEIGHTS, total


def test_constant_arrays(run: Any) -> None:
    a = integers(np.int8, 4, 8)
    equal(run(with_constants, a), a.astype(int) @ WEIGHTS.astype(int), a[0].sum(dtype=int))


def test_cpp_rules_add_in_32_bits() -> None:
    def kernel(A: int8[4, 8], B: int8[8, 6]) -> int64[4, 6]:
        C = A @ B
        D: int64[4, 6] = C
        return D

    schedule = allo.customize(kernel, typing_rule_set="cpp")
    assert 'allo.name = "C"} : memref<4x6xi32>' in str(schedule.module)
