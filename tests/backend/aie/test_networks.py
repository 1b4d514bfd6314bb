"""Parts of networks and products on tori, each on several cores of the model, against NumPy."""

# Streams of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

from typing import Any

import numpy as np

import allo
import allo.dataflow as df
from allo.ir.types import Stream, float32, int16, int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate
T, D, H = 8, 8, 16  # tokens, width of the model, of the inner layer
M, P = 8, 2  # of products on a torus: rows, and cores a side
B = M // P

type Numbers = np.ndarray[Any, Any]


def reals(*shape: int) -> Numbers:
    return np.random.default_rng(sum(shape)).random(shape, np.float32) - 0.5


@df.region()
def swiglu(X: float32[T, D], G: float32[D, H], U: float32[D, H], W: float32[H, D], Y: float32[T, D]):
    gates: Stream[float32[T, H], 2]
    ups: Stream[float32[T, H], 2]
    inner: Stream[float32[T, H], 2]

    @df.kernel(mapping=[1], args=[X, G])
    def gate(x: float32[T, D], w: float32[D, H]):
        gates.put(allo.matmul(x, w))

    @df.kernel(mapping=[1], args=[X, U])
    def up(x: float32[T, D], w: float32[D, H]):
        ups.put(allo.matmul(x, w))

    @df.kernel(mapping=[1])
    def act():
        g: float32[T, H] = gates.get()
        u: float32[T, H] = ups.get()
        o: float32[T, H] = 0
        for i, j in allo.grid(T, H):
            o[i, j] = g[i, j] / (1.0 + allo.exp(-g[i, j])) * u[i, j]
        inner.put(o)

    @df.kernel(mapping=[1], args=[W, Y])
    def down(w: float32[H, D], y: float32[T, D]):
        y[:, :] = allo.matmul(inner.get(), w)


@df.region()
def attention(Q: float32[2, T, D], K: float32[2, T, D], V: float32[2, T, D], O: float32[2, T, D]):  # noqa: E741
    weights: Stream[float32[T, T], 2][2]

    @df.kernel(mapping=[2], args=[Q, K])
    def score(q: float32[2, T, D], k: float32[2, T, D]):
        h = df.get_pid()
        s: float32[T, T] = 0
        for i, j, d in allo.grid(T, T, D):
            s[i, j] += q[h, i, d] * k[h, j, d]
        weights[h].put(allo.softmax(s))

    @df.kernel(mapping=[2], args=[V, O])
    def value(v: float32[2, T, D], o: float32[2, T, D]):
        h = df.get_pid()
        w: float32[T, T] = weights[h].get()
        for i, d in allo.grid(T, D):
            total: float32 = 0
            for j in range(T):
                total += w[i, j] * v[h, j, d]
            o[h, i, d] = total


@df.region()
def rms_norm(X: float32[T, D], G: float32[D], Y: float32[T, D]):
    @df.kernel(mapping=[4], args=[X, G, Y])
    def rows(x: float32[T, D] @ [S(0), R], g: float32[D], y: float32[T, D] @ [S(0), R]):
        for i in range(T // 4):
            total: float32 = 0
            for j in range(D):
                total += x[i, j] * x[i, j]
            scale: float32 = 1.0 / allo.sqrt(total / D + 0.00001)
            for j in range(D):
                y[i, j] = x[i, j] * scale * g[j]


@df.region()
def convolution(X: int32[10, 10], F: int32[3, 3], Y: int32[8, 8]):
    @df.kernel(mapping=[4], args=[X, F, Y])
    def rows(x: int32[10, 10], f: int32[3, 3], y: int32[8, 8]):
        p = df.get_pid()
        for i, j in allo.grid(2, 8):
            total: int32 = 0
            for a, b in allo.grid(3, 3):
                total += x[p * 2 + i + a, j + b] * f[a, b]
            y[p * 2 + i, j] = total


@df.region()
def cannon(X: int16[M, M], Y: int16[M, M], Z: int16[M, M]):
    left: Stream[int16[B, B], 2][P, P]
    up: Stream[int16[B, B], 2][P, P]

    @df.kernel(mapping=[P, P], args=[X, Y, Z])
    def cell(x: int16[M, M], y: int16[M, M], z: int16[M, M]):
        i, j = df.get_pid()
        a: int16[B, B] = 0
        b: int16[B, B] = 0
        for r, c in allo.grid(B, B):
            a[r, c] = x[i * B + r, (i + j) % P * B + c]
            b[r, c] = y[(i + j) % P * B + r, j * B + c]
        total: int16[B, B] = 0
        with allo.meta_for(P) as step:
            total[:, :] = allo.add(total, allo.matmul(a, b))
            with allo.meta_if(step < P - 1):
                left[i, (j + P - 1) % P].put(a)
                up[(i + P - 1) % P, j].put(b)
                a[:, :] = left[i, j].get()
                b[:, :] = up[i, j].get()
        for r, c in allo.grid(B, B):
            z[i * B + r, j * B + c] = total[r, c]


def test_swiglu() -> None:
    x, g, u, w, y = reals(T, D), reals(D, H), reals(D, H), reals(H, D), np.zeros((T, D), np.float32)
    built = df.build(swiglu, target="aie")
    built(x, g, u, w, y)
    gate = x @ g
    np.testing.assert_allclose(y, (gate / (1 + np.exp(-gate)) * (x @ u)) @ w, rtol=1e-4, atol=1e-6)
    assert built.timed(kernels="vector").cycles < built.timed().cycles


def test_attention() -> None:
    q, k, v = reals(2, T, D), reals(2, T, D) * 2, reals(2, T, D) * 3
    o = np.zeros((2, T, D), np.float32)
    df.build(attention, target="aie", mapping_primitives=[("bundle", ["value_0", "value_1"])])(q, k, v, o)
    raw = np.exp(q @ k.transpose(0, 2, 1))
    np.testing.assert_allclose(o, raw / raw.sum(-1, keepdims=True) @ v, rtol=1e-4, atol=1e-6)


def test_rms_norm() -> None:
    x, g, y = reals(T, D), reals(D), np.zeros((T, D), np.float32)
    df.build(rms_norm, target="aie")(x, g, y)
    np.testing.assert_allclose(y, x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * g, rtol=1e-5)


def test_convolution() -> None:
    x, f = (np.random.default_rng(k).integers(-99, 99, (n, n)).astype(np.int32) for k, n in enumerate((10, 3)))
    y = np.zeros((8, 8), np.int32)
    df.build(convolution, target="aie")(x, f, y)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3))
    np.testing.assert_array_equal(y, (windows * f).sum((2, 3)))


def test_cannon() -> None:
    x, y = (np.random.default_rng(k).integers(-99, 99, (M, M)).astype(np.int16) for k in range(2))
    z = np.zeros((M, M), np.int16)
    df.build(cannon, target="aie")(x, y, z)
    np.testing.assert_array_equal(z, x @ y)
