"""Designs of dataflow regions, and layers of networks, on cores of the model: the bits of the simulator, and NumPy."""

# Streams of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import Stream, float32, int8, int16, int32
from allo.memory import Layout
from allo.verify import Different, Equivalent
from tests.dataflow.doors import ran
from tests.dataflow.test_designs import DESIGNS

S, R = Layout.Shard, Layout.Replicate
T, D, H = 8, 8, 16  # tokens, width of the model, of the inner layer
M, K, N = 8, 16, 8
P = 2  # cores a side
B = M // P

type Numbers = np.ndarray[Any, Any]


def reals(*shape: int) -> Numbers:
    return np.random.default_rng(sum(shape)).random(shape, np.float32) - 0.5


def integers(low: int, high: int, *shape: int) -> Numbers:
    return np.random.default_rng(sum(shape)).integers(low, high, shape)


MAPPED = ["convolution", "packed", "tiled_gemm", "hierarchy", "feed_forward", "multi_head", "flash_attention"]


@pytest.mark.parametrize("name", MAPPED)
def test_designs_show_the_bits_of_the_simulator(name: str) -> None:
    design = DESIGNS[name]()
    built = df.build(design.region, target="aie")
    seen = ran(built, design.arguments).arguments
    design.check(seen)
    for one, other in zip(seen, ran(df.build(design.region), design.arguments).arguments, strict=True):
        np.testing.assert_array_equal(one, other)
    assert built.timed().cycles > 0


@df.region()
def handed_on(A: int32[16], C: int32[4, 4]):
    rows: Stream[int32, 4][5]

    @df.kernel(mapping=[1], args=[A])
    def source(a: int32[16]):
        for i in range(16):
            rows[0].put(a[i])

    @df.kernel(mapping=[4], args=[C])
    def cache(c: int32[4, 4]):
        i = df.get_pid()
        for j in range(4):
            c[i, j] = rows[i].get()
        for _j in range(12 - 4 * i):
            rows[i + 1].put(rows[i].get())


def test_the_last_of_a_chain_hands_nothing_on() -> None:
    A, C = np.arange(16, dtype=np.int32), np.zeros((4, 4), np.int32)
    built = df.build(handed_on, target="aie")
    built(A, C)
    np.testing.assert_array_equal(C, A.reshape(4, 4))
    assert [stream.name for stream in built.graph.streams] == ["rows_0", "rows_1", "rows_2", "rows_3"]


def normalise(x: float32[T, D], n: float32[T, D]):
    for i in range(T):
        mean: float32 = 0
        for j in range(D):
            mean += x[i, j]
        mean = mean / D
        spread: float32 = 0
        for j in range(D):
            spread += (x[i, j] - mean) * (x[i, j] - mean)
        scale: float32 = 1.0 / allo.sqrt(spread / D + 0.00001)
        for j in range(D):
            n[i, j] = (x[i, j] - mean) * scale


@df.region()
def layer_norm(X: float32[T, D], G: float32[D], O: float32[D], Y: float32[T, D]):  # noqa: E741
    @df.kernel(mapping=[4], args=[X, G, O, Y])
    def rows(x: float32[T, D] @ [S(0), R], g: float32[D], o: float32[D], y: float32[T, D] @ [S(0), R]):
        for i in range(T // 4):
            mean: float32 = 0
            for j in range(D):
                mean += x[i, j]
            mean = mean / D
            spread: float32 = 0
            for j in range(D):
                spread += (x[i, j] - mean) * (x[i, j] - mean)
            scale: float32 = 1.0 / allo.sqrt(spread / D + 0.00001)
            for j in range(D):
                y[i, j] = (x[i, j] - mean) * scale * g[j] + o[j]


def normalised(x: Numbers) -> Numbers:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)


def test_layer_norm() -> None:
    x, g, o, y = reals(T, D), reals(D), reals(D) * 2, np.zeros((T, D), np.float32)
    df.build(layer_norm, target="aie")(x, g, o, y)
    np.testing.assert_allclose(y, normalised(x) * g + o, rtol=1e-4, atol=1e-6)


@df.region()
def summa(X: int16[M, M], Y: int16[M, M], Z: int16[M, M]):
    along: Stream[int16[B, B], 2][P, P]
    across: Stream[int16[B, B], 2][P, P]

    @df.kernel(mapping=[P, P], args=[X, Y, Z])
    def cell(x: int16[M, M] @ [S(0), S(1)], y: int16[M, M] @ [S(0), S(1)], z: int16[M, M] @ [S(0), S(1)]):
        i, j = df.get_pid()
        a: int16[B, B] = 0
        b: int16[B, B] = 0
        total: int16[B, B] = 0
        with allo.meta_for(P) as k:
            with allo.meta_if(j == k):
                a[:, :] = x
                along[i, (j + 1) % P].put(a)
            with allo.meta_else():
                a[:, :] = along[i, j].get()
            with allo.meta_if(i == k):
                b[:, :] = y
                across[(i + 1) % P, j].put(b)
            with allo.meta_else():
                b[:, :] = across[i, j].get()
            total[:, :] = allo.add(total, allo.matmul(a, b))
        z[:, :] = total


def test_summa() -> None:
    x, y = (integers(-99, 99, M, M + k)[:, :M].astype(np.int16) for k in range(2))
    z = np.zeros((M, M), np.int16)
    df.build(summa, target="aie")(x, y, z)
    np.testing.assert_array_equal(z, x @ y)


@df.region()
def low_bits(A: int8[M, K], W: int8[K, N // 2], C: int32[M, N]):
    """Weights of 4 bits, two a byte: the low one first."""

    @df.kernel(mapping=[2], args=[A, W, C])
    def core(a: int8[M, K] @ [S(0), R], w: int8[K, N // 2], c: int32[M, N] @ [S(0), R]):
        weights: int8[K, N] = 0
        for k, n in allo.grid(K, N // 2):
            both: int8 = w[k, n]
            low: int8 = both << 4  # shifts widen
            weights[k, 2 * n] = low >> 4
            weights[k, 2 * n + 1] = both >> 4
        c[:, :] = allo.matmul(a, weights)


def test_weights_of_four_bits() -> None:
    a, w = integers(-128, 128, M, K).astype(np.int8), integers(-8, 8, K, N)
    packed = ((w[:, 0::2] & 15) | (w[:, 1::2] << 4)).astype(np.int8)
    c = np.zeros((M, N), np.int32)
    df.build(low_bits, target="aie")(a, packed, c)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ w)


@df.region()
def batched(A: int16[6, M, K], W: int16[6, K, N], C: int16[6, M, N]):
    @df.kernel(mapping=[6], args=[A, W, C])
    def one(a: int16[6, M, K] @ [S(0), R, R], w: int16[6, K, N] @ [S(0), R, R], c: int16[6, M, N] @ [S(0), R, R]):
        c[:, :, :] = allo.bmm(a, w)


@pytest.mark.parametrize("cores", [6, 3, 2])
def test_batches_by_mapping(cores: int) -> None:
    """As many products on a core as there are for each."""
    a, w, c = integers(-99, 99, 6, M, K), integers(-99, 99, 6, K, N), np.zeros((6, M, N), np.int16)
    a, w = a.astype(np.int16), w.astype(np.int16)
    share = 6 // cores
    steps = [("bundle", [f"one_{p * share + k}" for k in range(share)]) for p in range(cores) if share > 1]
    built = df.build(batched, target="aie", mapping_primitives=steps)
    built(a, w, c)
    np.testing.assert_array_equal(c, a @ w)
    assert len(built.plan.mapping.cores) == cores


@df.region()
def gpt2_block(
    X: float32[T, D], QKV: float32[3, D, D], W: float32[D, D], U: float32[D, H], V: float32[H, D], Y: float32[T, D]
):
    """Pre-norm: attention with a causal mask and one head, then two layers with GELU; both are added to what came."""
    parts: Stream[float32[T, D], 2][3]
    for_heads: Stream[float32[T, D], 2][3]
    attended: Stream[float32[T, D], 2]
    rest: Stream[float32[T, D], 2]
    projected: Stream[float32[T, D], 2]
    around: Stream[float32[T, D], 2]
    second: Stream[float32[T, D], 2]
    inner: Stream[float32[T, H], 2]

    @df.kernel(mapping=[1], args=[X])
    def enter(x: float32[T, D]):
        n: float32[T, D] = 0
        normalise(x, n)
        with allo.meta_for(3) as k:
            parts[k].put(n)
        rest.put(x)

    @df.kernel(mapping=[3], args=[QKV])
    def project(w: float32[3, D, D]):
        p = df.get_pid()
        n: float32[T, D] = parts[p].get()
        o: float32[T, D] = 0
        for i, j in allo.grid(T, D):
            for k in range(D):
                o[i, j] += n[i, k] * w[p, k, j]
        for_heads[p].put(o)

    @df.kernel(mapping=[1])
    def attend():
        q: float32[T, D] = for_heads[0].get()
        k: float32[T, D] = for_heads[1].get()
        v: float32[T, D] = for_heads[2].get()
        o: float32[T, D] = 0
        for i in range(T):
            weights: float32[T] = 0
            total: float32 = 0
            for j in range(T):
                if j <= i:
                    score: float32 = 0
                    for d in range(D):
                        score += q[i, d] * k[j, d]
                    weights[j] = allo.exp(score * 0.35355339)
                    total += weights[j]
            for d in range(D):
                for j in range(T):
                    o[i, d] += weights[j] / total * v[j, d]
        attended.put(o)

    @df.kernel(mapping=[1], args=[W])
    def out(w: float32[D, D]):
        projected.put(allo.matmul(attended.get(), w))

    @df.kernel(mapping=[1])
    def add():
        a: float32[T, D] = projected.get()
        x: float32[T, D] = rest.get()
        s: float32[T, D] = 0
        for i, j in allo.grid(T, D):
            s[i, j] = x[i, j] + a[i, j]
        around.put(s)
        n: float32[T, D] = 0
        normalise(s, n)
        second.put(n)

    @df.kernel(mapping=[1], args=[U])
    def widen(u: float32[D, H]):
        h: float32[T, H] = allo.matmul(second.get(), u)
        for i, j in allo.grid(T, H):
            x: float32 = h[i, j]
            h[i, j] = 0.5 * x * (1.0 + allo.tanh(0.79788456 * (x + 0.044715 * x * x * x)))
        inner.put(h)

    @df.kernel(mapping=[1], args=[V, Y])
    def narrow(v: float32[H, D], y: float32[T, D]):
        x: float32[T, D] = around.get()
        h: float32[T, H] = inner.get()
        for i, j in allo.grid(T, D):
            total: float32 = x[i, j]
            for k in range(H):
                total += h[i, k] * v[k, j]
            y[i, j] = total


def test_a_block_of_gpt2() -> None:
    x, qkv, w, u, v = reals(T, D), reals(3, D, D), reals(D, D) * 2, reals(D, H), reals(H, D)
    y = np.zeros((T, D), np.float32)
    built = df.build(gpt2_block, target="aie")
    built(x, qkv, w, u, v, y)
    q, k, values = (normalised(x) @ own for own in qkv)
    scores = np.where(np.tri(T, dtype=bool), np.exp(q @ k.T / np.sqrt(D)), 0)
    s = x + scores / scores.sum(-1, keepdims=True) @ values @ w
    h = normalised(s) @ u
    h = 0.5 * h * (1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h**3)))
    np.testing.assert_allclose(y, s + h @ v, rtol=1e-3, atol=1e-5)
    assert len(built.plan.mapping.cores) == 9


@df.region()
def joined(A: int16[4, 4], C: int16[4]):
    sums: Stream[int16[4], 2][2]

    @df.kernel(mapping=[2], args=[A])
    def half(a: int16[4, 4] @ [S(0), R]):
        p = df.get_pid()
        total: int16[4] = 0
        for i, j in allo.grid(2, 4):
            total[j] += a[i, j]
        sums[p].put(total)

    @df.kernel(mapping=[1], args=[C])
    def add(c: int16[4]):
        c[:] = allo.add(sums[0].get(), sums[1].get())


def all_rows(A: int16[4, 4], C: int16[4]):
    for j in range(4):
        total: int16 = 0
        for i in range(4):
            total += A[i, j]
        C[j] = total


def three_rows(A: int16[4, 4], C: int16[4]):
    for j in range(4):
        C[j] = A[0, j] + A[1, j] + A[2, j]


@pytest.mark.parametrize("steps", [[], [("bundle", ["half_0", "half_1"]), ("chain", ["half_0x2", "add_0"])]])
def test_mapped_programs_are_verified(steps: Any) -> None:
    """With their transfers, descriptors, credits and FIFOs, against the region and against a plain kernel."""
    built = df.build(joined, target="aie", mapping_primitives=steps)
    assert isinstance(allo.verify(joined, built), Equivalent)
    assert isinstance(allo.verify(all_rows, built), Equivalent)
    assert isinstance(allo.verify(three_rows, built), Different)
