"""Programs as users of published Allo and Dato write them, on cores of their own and shared, beside NumPy."""

# Streams of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import Stream, float32, int32
from allo.memory import Layout

type Numbers = np.ndarray[Any, Any]

S, R = Layout.Shard, Layout.Replicate
N, P, M, T, W = 32, 4, 4, 6, 8
RNG = np.random.default_rng(5)


@df.region()
def softmax_of_cut_rows(X: float32[M, N], Y: float32[M, N]):
    """The largest element and the sum of a row, of which each position has a part."""

    @df.kernel(mapping=[P], args=[X, Y])
    def f(x: float32[M, N] @ [R, S(0)], y: float32[M, N] @ [R, S(0)]):
        most: float32[M] = -1e30
        for i, j in allo.grid(M, N // P):
            most[i] = max(most[i], x[i, j])
        best: float32[M] = allo.allreduce(most, op="max", axis=0)
        part: float32[M] = 0
        e: float32[M, N // P] = 0
        for i, j in allo.grid(M, N // P):
            e[i, j] = allo.exp(x[i, j] - best[i])
            part[i] += e[i, j]
        total: float32[M] = allo.allreduce(part, op="+", axis=0)
        for i, j in allo.grid(M, N // P):
            y[i, j] = e[i, j] / total[i]


def softmax(x: Numbers) -> Numbers:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@df.region()
def prefix_sums(X: int32[N], Y: int32[N]):
    carry: Stream[int32, 2][P + 1]

    @df.kernel(mapping=[P], args=[X, Y])
    def scan(x: int32[N] @ [S(0)], y: int32[N] @ [S(0)]):
        p = df.get_pid()
        total: int32 = 0
        for i in range(N // P):
            total += x[i]
            y[i] = total
        base: int32 = 0
        with allo.meta_if(p > 0):
            base = carry[p].get()
        with allo.meta_if(p < P - 1):
            carry[p + 1].put(base + total)
        for i in range(N // P):
            y[i] += base


@df.region()
def heat(X: int32[N], Y: int32[N]):
    """Neighbours on a ring exchange what is at their borders."""
    right: Stream[int32, 2][P]
    left: Stream[int32, 2][P]

    @df.kernel(mapping=[P], args=[X, Y])
    def cell(x: int32[N] @ [S(0)], y: int32[N] @ [S(0)]):
        p = df.get_pid()
        u: int32[N // P + 2] = 0
        w: int32[N // P + 2] = 0
        for i in range(N // P):
            u[i + 1] = x[i]
        for _t in range(T):
            right[(p + 1) % P].put(u[N // P])
            left[(p + P - 1) % P].put(u[1])
            u[0] = right[p].get()
            u[N // P + 1] = left[p].get()
            for i in range(N // P):
                w[i + 1] = (u[i] + 2 * u[i + 1] + u[i + 2]) >> 2
            for i in range(N // P):
                u[i + 1] = w[i + 1]
        for i in range(N // P):
            y[i] = u[i + 1]


def heated(x: Numbers) -> Numbers:
    for _ in range(T):
        x = (np.roll(x, 1) + 2 * x + np.roll(x, -1)) >> 2
    return x


@df.region()
def sorted_line(X: int32[8], Y: int32[8]):
    """Neighbours exchange an element in even and in odd rounds."""
    up: Stream[int32, 1][9]
    down: Stream[int32, 1][9]

    @df.kernel(mapping=[8], args=[X, Y])
    def cell(x: int32[8] @ [S(0)], y: int32[8] @ [S(0)]):
        p = df.get_pid()
        v: int32 = x[0]
        for _t in range(4):
            with allo.meta_if(p % 2 == 0):
                up[p + 1].put(v)
                v = down[p + 1].get()
            with allo.meta_else():
                o: int32 = up[p].get()
                down[p].put(min(o, v))
                v = max(o, v)
            with allo.meta_if(p % 2 == 1), allo.meta_if(p < 7):
                up[p + 1].put(v)
                v = down[p + 1].get()
            with allo.meta_else(), allo.meta_if(p > 0):
                q: int32 = up[p].get()
                down[p].put(min(q, v))
                v = max(q, v)
        y[0] = v


@df.region()
def credits(X: int32[T, W], Y: int32[T, W]):
    """At most two requests are out; who answers gives a credit back."""
    requests: Stream[int32[W], 2]
    back: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[X])
    def ask(x: int32[T, W]):
        for t in range(T):
            if t >= 2:
                back.get()
            o: int32[W] = 0
            for i in range(W):
                o[i] = x[t, i]
            requests.put(o)

    @df.kernel(mapping=[1], args=[Y])
    def answer(y: int32[T, W]):
        for t in range(T):
            v: int32[W] = requests.get()
            for i in range(W):
                y[t, i] = v[i] * 2
            if t < T - 2:
                back.put(1)


@df.region()
def delayed(X: int32[T, W], Y: int32[T, W]):
    """A delay line of two that a task keeps in a stream to itself."""
    line: Stream[int32[W], 3]

    @df.kernel(mapping=[1], args=[X, Y])
    def f(x: int32[T, W], y: int32[T, W]):
        z: int32[W] = 0
        line.put(z)
        line.put(z)
        for t in range(T):
            old: int32[W] = line.get()
            o: int32[W] = 0
            for i in range(W):
                o[i] = x[t, i]
                y[t, i] = o[i] + old[i]
            line.put(o)
        for _k in range(2):
            rest: int32[W] = line.get()
            for i in range(W):
                y[T - 1, i] += rest[i]


def with_delay(x: Numbers) -> Numbers:
    y = x.copy()
    y[2:] += x[:-2]
    y[-1] += x[-1] + x[-2]
    return y


def some(*shape: int) -> Numbers:
    return RNG.integers(-50, 50, shape).astype(np.int32)


def names(task: str, count: int) -> list[str]:
    return [f"{task}_{p}" for p in range(count)]


CELLS, EIGHT = names("cell", P), names("cell", 8)
def square(v: int32) -> int32:
    return v * v


@df.region()
def function_of_elements(X: int32[N], Y: int32[N]):
    """A function of single elements of a part that a layout says."""

    @df.kernel(mapping=[P], args=[X, Y])
    def f(x: int32[N] @ [S(0)], y: int32[N] @ [S(0)]):
        for i in range(N // P):
            y[i] = square(x[i]) + square(x[i] - 1)


@df.region()
def sums_scattered(X: int32[N], Y: int32[N]):
    """Sums of rows of a square, of which each position gets a part: streams up and down a line of positions."""

    @df.kernel(mapping=[P], args=[X, Y])
    def f(x: int32[N] @ [S(0)], y: int32[N] @ [S(0)]):
        p = df.get_pid()
        own: int32[N] = 0
        for i in range(N):
            own[i] = x[i % (N // P)] * (p + i)
        y[:] = allo.reduce_scatter(own, op="+", axis=0, dim=0)


def scattered(x: Numbers) -> Numbers:
    i = np.arange(N)
    return sum(x[p * (N // P) + i % (N // P)] * (p + i) for p in range(P)).astype(np.int32)


PROGRAMS: list[tuple[Callable[..., Any], Numbers, Callable[[Numbers], Numbers], list[Any]]] = [
    (softmax_of_cut_rows, RNG.standard_normal((M, N)).astype(np.float32), softmax, [[]]),
    (prefix_sums, some(N), np.cumsum, [[], [("bundle", names("scan", P))]]),
    (heat, some(N), heated, [[], [("bundle", CELLS)], [("bundle", CELLS[:2]), ("bundle", CELLS[2:])]]),
    (sorted_line, RNG.permutation(8).astype(np.int32), np.sort,
     [[], [("bundle", EIGHT)], [("bundle", EIGHT[:4]), ("bundle", EIGHT[4:])]]),
    (credits, some(T, W), lambda x: 2 * x, [[], [("chain", ["ask_0", "answer_0"])]]),
    (delayed, some(T, W), with_delay, [[]]),
    (function_of_elements, some(N), lambda x: x * x + (x - 1) ** 2, [[], [("bundle", names("f", P))]]),
    (sums_scattered, some(N), scattered,
     [[], [("bundle", ["f_0", "f_2"]), ("bundle", ["f_1", "f_3"])], [("bundle", names("f", P))]]),
]  # fmt: skip
RUNS = [(region, X, meant, steps) for region, X, meant, mapped in PROGRAMS for steps in mapped]


@pytest.mark.parametrize(
    ("region", "X", "meant", "steps"), RUNS, ids=[f"{own[0].__name__}-{len(own[3])}" for own in RUNS]
)
def test_programs(region: Callable[..., Any], X: Numbers, meant: Callable[[Numbers], Numbers], steps: Any) -> None:
    Y = np.zeros_like(X)
    built = df.build(region, target="aie", mapping_primitives=steps)
    built(X, Y)
    np.testing.assert_allclose(Y, meant(X), rtol=1e-5)
    assert built.timed().cycles > 0 and "aie.core(" in built.mlir
