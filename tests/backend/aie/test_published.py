"""Programs written as published ones for the NPU are: options, sharded vectors, gather, layers, uneven GEMM."""

# Streams of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.errors import TargetError
from allo.ir.types import Stream, bfloat16, float32, int16, int32
from allo.library.aie import GEMM
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate
P, M, T, D = 4, 64, 16, 32
Ty = int32

type Numbers = np.ndarray[Any, Any]


@df.region()
def vector_scalar_add(A: Ty[M], B: Ty[M]):
    @df.kernel(mapping=[1], args=[A, B])
    def core(local_A: Ty[M], local_B: Ty[M]):
        local_B[:] = allo.add(local_A, 1)


@df.region()
def vector_mul(A: Ty[M], B: Ty[M]):
    @df.kernel(mapping=[P], args=[A, B])
    def core(a: Ty[M] @ [S(0)], b: Ty[M] @ [S(0)]):
        b[:] = allo.mul(a, a)


@df.region()
def scattered(A: Ty[M], B: Ty[M]):
    out: Stream[Ty[M // P], 2][P]
    back: Stream[Ty[M // P], 2][P]

    @df.kernel(mapping=[1], args=[A])
    def send(a: Ty[M]):
        df.scatter(a, out)

    @df.kernel(mapping=[P])
    def work():
        p = df.get_pid()
        back[p].put(out[p].get() + 1)

    @df.kernel(mapping=[1], args=[B])
    def receive(b: Ty[M]):
        b[:] = df.gather(back)


@df.region()
def rows_gathered(A: Ty[M], B: Ty[M]):
    pipe: Stream[Ty[M // P], 2][P]

    @df.kernel(mapping=[P], args=[A])
    def work(a: Ty[M] @ [S(0)]):
        p = df.get_pid()
        pipe[p].put(allo.add(a, 1))

    @df.kernel(mapping=[1], args=[B])
    def receive(b: Ty[M]):
        for i in range(P):
            b[i * 16 : (i + 1) * 16] = pipe[i].get()


@df.region()
def summed_squares(A: Ty[M], B: Ty[M // P]):
    pipe: Stream[Ty[M // P], 2][P]

    @df.kernel(mapping=[P], args=[A])
    def prod(a: Ty[M] @ [S(0)]):
        p = df.get_pid()
        pipe[p].put(allo.mul(a, a))

    @df.kernel(mapping=[1], args=[B])
    def cons(b: Ty[M // P]):
        acc: Ty[M // P] = 0
        with allo.meta_for(P) as i:
            acc[:] += pipe[i].get()
        b[:] = acc


@df.region()
def transposed(A: Ty[T, D], B: Ty[D, T]):
    @df.kernel(mapping=[1], args=[A, B])
    def core(a: Ty[T, D], b: Ty[D, T]):
        b[:, :] = allo.transpose(a, (1, 0))


@df.region()
def layer_norm(X: float32[T, D], G: float32[D], B: float32[D], Y: float32[T, D]):
    @df.kernel(mapping=[2], args=[X, G, B, Y])
    def core(
        x: float32[T, D] @ [S(0), R], g: float32[D] @ [R], b: float32[D] @ [R], y: float32[T, D] @ [S(0), R]
    ):
        y[:, :] = allo.layernorm(x, g, b)


@df.region()
def gelu(X: bfloat16[T, D], Y: bfloat16[T, D]):
    @df.kernel(mapping=[1], args=[X, Y])
    def core(x: bfloat16[T, D], y: bfloat16[T, D]):
        y[:, :] = allo.gelu(x)


@df.region()
def relu_layer(X: int16[T, D], W: int16[D, T], Y: int16[T, T]):
    hidden: Stream[int16[T, T], 2]

    @df.kernel(mapping=[1], args=[X, W])
    def gemm(x: int16[T, D], w: int16[D, T]):
        product: int16[T, T] = allo.matmul(x, w)
        hidden.put(product)

    @df.kernel(mapping=[1], args=[Y])
    def relu(y: int16[T, T]):
        y[:, :] = allo.relu(hidden.get())


def integers(*shape: int, kind: Any = np.int32) -> Numbers:
    return np.random.default_rng(sum(shape)).integers(-9, 9, shape).astype(kind)


def test_a_project_with_a_trace(tmp_path: Path) -> None:
    folder = tmp_path / "add.prj"
    built = df.build(
        vector_scalar_add, target="aie", project=str(folder), trace=[("core", (0,))], trace_size=65536, warmup=2,
        num_iters=3,
    )  # fmt: skip
    A, B = integers(M), np.zeros(M, np.int32)
    built(A, B)
    np.testing.assert_array_equal(B, A + 1)
    assert json.loads((folder / "trace.json").read_text())["traceEvents"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("region", "steps", "expected"),
    [
        (vector_mul, [], lambda a: a * a),
        (scattered, [], lambda a: a + 1),
        (rows_gathered, [("bundle", [f"work_{k}" for k in range(P)])], lambda a: a + 1),
        (summed_squares, [("bundle", [f"prod_{k}" for k in range(P)])], lambda a: (a * a).reshape(P, -1).sum(0)),
    ],
    ids=["mul", "scattered", "gathered", "squares"],
)
def test_vectors(region: Any, steps: Any, expected: Any) -> None:
    built, A = df.build(region, target="aie", mapping_primitives=steps), integers(M)
    B = np.zeros_like(expected(A))
    built(A, B)
    np.testing.assert_array_equal(B, expected(A))


@pytest.mark.slow
def test_layers() -> None:
    X, W, Y = integers(T, D, kind=np.int16), integers(D, T, kind=np.int16), np.zeros((T, T), np.int16)
    df.build(relu_layer, target="aie", mapping_primitives=[("chain", ["gemm_0", "relu_0"])])(X, W, Y)
    np.testing.assert_array_equal(Y, np.maximum(X @ W, 0))
    A, B = integers(T, D), np.zeros((D, T), np.int32)
    df.build(transposed, target="aie")(A, B)
    np.testing.assert_array_equal(B, A.T)
    x = np.random.default_rng(0).standard_normal((T, D)).astype(np.float32)
    G, C, y = np.ones(D, np.float32), np.zeros(D, np.float32), np.zeros_like(x)
    df.build(layer_norm, target="aie")(x, G, C, y)
    wanted = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(y, wanted, rtol=1e-3, atol=1e-3)
    half, made = x.astype(ml_dtypes.bfloat16), np.zeros((T, D), ml_dtypes.bfloat16)
    df.build(gelu, target="aie")(half, made)
    wide = half.astype(np.float64)
    wanted = wide / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
    np.testing.assert_allclose(made.astype(np.float64), wanted, atol=5e-2)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(20, 28, 16, 2, 2, 2), (36, 16, 18, 3, 1, 1)])
def test_uneven_products(shape: tuple[int, int, int, int, int, int]) -> None:
    rows, columns, terms = shape[:3]
    top, steps = GEMM(*shape, int16, int16)
    A, B = integers(rows, terms, kind=np.int16), integers(terms, columns, kind=np.int16)
    C = np.zeros((rows, columns), np.int16)
    df.build(top, target="aie", mapping_primitives=steps)(A, B, C)
    np.testing.assert_array_equal(C, A @ B)


def test_terms_are_shared_evenly() -> None:
    with pytest.raises(TargetError) as caught:
        GEMM(20, 28, 18, 2, 2, 2, int16, int16)
    assert str(caught.value) == (
        "K = 18 is not made of 2 equal parts of whole words: cores of a chain get parts of one shape\n"
        "  hint: let Pk divide K"
    )
