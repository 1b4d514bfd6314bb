"""Programs as users write them: constant arrays, interleaved writers, float16, tasks in sequence on one core."""

# Streams and arrays of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import Stream, float16, int8, int16, int32
from allo.memory import Layout
from tests.backend.aie.test_lowered import lowered  # noqa: F401
from tests.seeds import sweep

S, R = Layout.Shard, Layout.Replicate
N, H = 64, 18
WEIGHTS = np.array([[1, 2, 1], [2, -4, 2], [1, 2, 1]], np.int32)
TABLE = np.round(127 * np.tanh(np.arange(-128, 128) / 32)).astype(np.int8)

type Numbers = np.ndarray[Any, Any]


def integers(*shape: int, kind: Any = np.int32) -> Numbers:
    return np.random.default_rng(sum(shape)).integers(-9, 9, shape).astype(kind)


@df.region()
def blur(A: int32[H, H], B: int32[H - 2, H - 2]):
    @df.kernel(mapping=[4], args=[A, B])
    def rows(a: int32[H, H], b: int32[H - 2, H - 2] @ [S(0), R]):
        w: int32[3, 3] = WEIGHTS
        p = df.get_pid()
        for i, j in allo.grid(4, H - 2):
            total: int32 = 0
            for r, c in allo.grid(3, 3):
                total += a[p * 4 + i + r, j + c] * w[r, c]
            b[i, j] = total


@df.region()
def activation(A: int8[N], B: int8[N]):
    scale: int8[4] = [1, 0, 1, -1]

    @df.kernel(mapping=[4], args=[A, B])
    def core(a: int8[N] @ [S(0)], b: int8[N] @ [S(0)]):
        lut: int8[256] = TABLE
        for i in range(N // 4):
            b[i] = lut[a[i] + 128] * scale[i % 4]


@df.region()
def elements_in_turn(A: int32[N], B: int32[N]):
    @df.kernel(mapping=[4], args=[A, B])
    def core(a: int32[N], b: int32[N]):
        p = df.get_pid()
        for i in range(N // 4):
            b[4 * i + p] = a[4 * i + p] * 3


@df.region()
def rows_in_turn(A: int16[N, 4], B: int16[N, 4]):
    @df.kernel(mapping=[4], args=[A, B])
    def core(a: int16[N, 4], b: int16[N, 4]):
        p = df.get_pid()
        for i, j in allo.grid(N // 4, 4):
            b[4 * i + p, j] = a[4 * i + p, j] * 3


@df.region()
def sums_and_differences(A: int32[N], B: int32[N]):
    @df.kernel(mapping=[1], args=[A, B])
    def even(a: int32[N], b: int32[N]):
        for i in range(N // 2):
            b[2 * i] = a[2 * i] + a[2 * i + 1]

    @df.kernel(mapping=[1], args=[A, B])
    def odd(a: int32[N], b: int32[N]):
        for i in range(N // 2):
            b[2 * i + 1] = a[2 * i] - a[2 * i + 1]


@df.region()
def halves(A: float16[N, 8], B: float16[8, 8], C: float16[N, 8]):
    pipe: Stream[float16[N // 2, 8], 2][2]

    @df.kernel(mapping=[2], args=[A, B])
    def product(a: float16[N, 8] @ [S(0), R], b: float16[8, 8]):
        p = df.get_pid()
        pipe[p].put(allo.matmul(a, b))

    @df.kernel(mapping=[2], args=[C])
    def third(c: float16[N, 8] @ [S(0), R]):
        p = df.get_pid()
        c[:, :] = pipe[p].get() / 3


@df.region()
def tasks_in_sequence(A: int32[N], B: int32[N], C: int32[N], D: int32[N], E: int32[N // 2]):
    s: Stream[int32[N], 2]
    t: Stream[int32[N], 2]

    @df.kernel(mapping=[1], args=[A])
    def load(a: int32[N]):
        s.put(allo.mul(a, 3))

    @df.kernel(mapping=[1], args=[B, C])
    def mix(b: int32[N], c: int32[N]):
        x: int32[N] = s.get()
        c[:] = allo.add(x, b)
        t.put(x)

    @df.kernel(mapping=[1], args=[D])
    def out(d: int32[N]):
        d[:] = t.get() + 1

    @df.kernel(mapping=[1], args=[B, E])
    def pairs(b: int32[N], e: int32[N // 2]):
        for i in range(N // 2):
            e[i] = b[2 * i] + b[2 * i + 1]


@df.region()
def layers(X: int16[16, 16], W: int16[16, 16], T: int16[8, 32], U: int16[4, 64], V: int16[16, 16], Y: int16[16, 16]):
    """Products, whose operands are in blocks for the vector unit, around a layer whose operands have other shapes."""
    first: Stream[int16[16, 16], 2]
    scaled: Stream[int16[16, 16], 2]

    @df.kernel(mapping=[1], args=[X, W])
    def one(x: int16[16, 16], w: int16[16, 16]):
        first.put(allo.matmul(x, w))

    @df.kernel(mapping=[1], args=[T, U])
    def scale(t: int16[8, 32], u: int16[4, 64]):
        h: int16[16, 16] = first.get()
        for i, j in allo.grid(16, 16):
            h[i, j] = h[i, j] * t[i // 2, 16 * (i % 2) + j] + u[i // 4, 16 * (i % 4) + j]
        scaled.put(h)

    @df.kernel(mapping=[1], args=[V, Y])
    def two(v: int16[16, 16], y: int16[16, 16]):
        y[:, :] = allo.matmul(scaled.get(), v)


def _called(region: Any, arguments: list[Numbers], kernels: str = "scalar", steps: Any = ()) -> Any:
    built = df.build(region, target="aie", kernels=kernels, mapping_primitives=steps)
    built(*arguments)
    assert built.timed().cycles > 0
    return built


def test_constant_arrays_are_in_the_memory_of_cores() -> None:
    A, B = integers(H, H), np.zeros((H - 2, H - 2), np.int32)
    built = _called(blur, [A, B], "vector")
    wanted = sum(A[r : r + H - 2, c : c + H - 2] * WEIGHTS[r, c] for r in range(3) for c in range(3))
    np.testing.assert_array_equal(B, wanted)
    buffers = [line for line in built.mlir.splitlines() if "aie.buffer" in line and "3x3xi32" in line]
    assert len(buffers) == 4
    assert all(line.endswith(": memref<3x3xi32> = dense<[[1, 2, 1], [2, -4, 2], [1, 2, 1]]>") for line in buffers)


def test_tables_of_regions_and_tasks() -> None:
    A, B = np.arange(-128, 128, 4).astype(np.int8), np.zeros(N, np.int8)
    built = _called(activation, [A, B])
    np.testing.assert_array_equal(B, TABLE[A.astype(int) + 128] * np.tile([1, 0, 1, -1], N // 4).astype(np.int8))
    memory = next(use for use in built.capacity.uses if use.resource == "memory of a core")
    assert memory.used >= 256 + 4


@pytest.mark.parametrize(
    ("region", "steps"), [(elements_in_turn, [("bundle", [f"core_{k}" for k in range(4)])]), (rows_in_turn, [])]
)
def test_writers_that_take_turns(region: Any, steps: Any) -> None:
    A = integers(N, 4, kind=np.int16) if region is rows_in_turn else integers(N)
    B = np.zeros_like(A)
    built = _called(region, [A, B], steps=steps)
    np.testing.assert_array_equal(B, A * 3)
    assert str(built.graph.nodes[1].parts[1].part) in ("B[1:62:4]", "B[1:62:4, 0:4]")


def test_two_tasks_write_one_array() -> None:
    A, B = integers(N), np.zeros(N, np.int32)
    _called(sums_and_differences, [A, B])
    np.testing.assert_array_equal(B[::2], A[::2] + A[1::2])
    np.testing.assert_array_equal(B[1::2], A[::2] - A[1::2])


@df.region()
def places_that_depend_on_rows(A: int32[8, 4], B: int32[8, 8]):
    """A column has each third row, and all columns have all; the inner ones of loops without iterations have some."""

    @df.kernel(mapping=[1], args=[A, B])
    def core(a: int32[8, 4], b: int32[8, 8]):
        for i in range(8):
            b[i, i] = a[i, i % 3]
            for j in range(4, 2):
                for k in range(j):
                    b[i, k] = 0
                for k in range(3, 3):
                    b[i, k] = 1


def test_rows_that_depend_on_columns() -> None:
    A, B = integers(8, 4), integers(8, 8)
    wanted = B.copy()
    wanted[range(8), range(8)] = A[range(8), [i % 3 for i in range(8)]]
    built = _called(places_that_depend_on_rows, [A, B])
    np.testing.assert_array_equal(B, wanted)
    assert [str(use.part) for use in built.graph.nodes[0].parts] == ["A[0:8, 0:3]", "B[0:8, 0:8]"]


@df.region()
def otherwise(A: int32[N], B: int32[N]):
    @df.kernel(mapping=[1], args=[A, B])
    def core(a: int32[N], b: int32[N]):
        for i in range(N):
            b[i] = a[i]
            if i >= 1 and i % N == 0:
                b[i] += 5
            else:
                b[i] = 1
            b[i] += a[i] * 2


def test_what_else_parts_write_is_read() -> None:
    A, B = integers(N), np.zeros(N, np.int32)
    _called(otherwise, [A, B])
    np.testing.assert_array_equal(B, 1 + 2 * A)


@sweep(4, 0)
def test_any_interleaving(seed: int) -> None:
    random = np.random.default_rng(seed)
    P, Q = (int(n) for n in random.integers(1, 4, 2))
    m, n = (int(n) for n in random.integers(1, 5, 2))
    rows, columns = P * m, Q * n

    @df.region()
    def top(A: int32[rows, columns], B: int32[rows, columns]):
        @df.kernel(mapping=[P, Q], args=[A, B])
        def core(a: int32[rows, columns], b: int32[rows, columns]):
            p, q = df.get_pid()
            for i, j in allo.grid(m, n):
                b[P * i + p, Q * j + q] = a[P * i + p, Q * j + q] * 2 + 10 * p + q

    A, B = integers(rows, columns), np.zeros((rows, columns), np.int32)
    _called(top, [A, B])
    added = 10 * (np.arange(rows) % P)[:, None] + np.arange(columns) % Q
    np.testing.assert_array_equal(B, A * 2 + added)


@pytest.mark.usefixtures("lowered")
def test_float16_is_scalar_code_of_float32_that_is_rounded() -> None:
    random = np.random.default_rng(0)
    A, B = (random.standard_normal(shape).astype(np.float16) for shape in ((N, 8), (8, 8)))
    C = np.zeros((N, 8), np.float16)
    built = df.build(halves, target="aie", kernels="vector")
    built(A, B, C)
    total = np.zeros_like(C)
    for k in range(8):
        total += A[:, k : k + 1] * B[k]
    np.testing.assert_array_equal(C, total / np.float16(3))
    assert built.kernels is not None
    assert {choice.reason for choice in built.kernels.choices if choice.kernel is None} >= {
        "the vector unit of npu1 has no products of f16 that are summed in f16",
        "the vector unit has no elements of type f16",
    }


def test_tasks_in_sequence_on_one_core() -> None:
    order = ("pairs", "load", "mix", "out")
    A, B, C, D, E = integers(N), integers(N, 1)[:, 0].copy(), *(np.zeros(k, np.int32) for k in (N, N, N // 2))
    built = _called(tasks_in_sequence, [A, B, C, D, E], steps=[("chain", [f"{task}_0" for task in order])])
    assert len(built.plan.mapping.cores) == 1
    np.testing.assert_array_equal(C, 3 * A + B)
    np.testing.assert_array_equal(D, 3 * A + 1)
    np.testing.assert_array_equal(E, B[::2] + B[1::2])


@pytest.mark.usefixtures("lowered")
@pytest.mark.parametrize("kernels", ["scalar", pytest.param("vector", marks=pytest.mark.slow)])
def test_objects_of_several_shapes_come_through_one_fifo(kernels: str) -> None:
    """Five operands for two DMA inputs: those with as many elements share one, whatever their shapes and orders."""
    X, W, V = (integers(16, 16 + k, kind=np.int16)[:, k:].copy() for k in range(3))
    T, U, Y = integers(8, 32, kind=np.int16), integers(4, 64, kind=np.int16), np.zeros((16, 16), np.int16)
    steps = [("chain", ["one_0", "scale_0", "two_0"])]
    built = df.build(layers, target="aie", kernels=kernels, mapping_primitives=steps)
    built(X, W, T, U, V, Y)
    np.testing.assert_array_equal(Y, ((X @ W) * T.reshape(16, 16) + U.reshape(16, 16)) @ V)
    assert [fifo.extents for fifo in built.plan.fifos.arrays_of("one_0-scale_0-two_0", True)] == [(256,)]
