# ruff: noqa: F821, B007 (streams of regions are declarations, not variables of Python)
"""Grids that are no square of equal elements, in simulation: as arrays they do what their modules do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import Fixed, Stream, Struct, UFixed, float32, int32

from ..simulated import assert_as_predicted
from .test_grids import assert_same, both

N, T = 12, 10


@df.region()
def two_kinds(A: int32[N], B: int32[N], W: int32[T]):
    p: Stream[int32, 2][T + 1]
    q: Stream[int32, 4][T]

    @df.kernel(mapping=[1], args=[A])
    def source(A: int32[N]):
        for i in range(N):
            p[0].put(A[i])

    @df.kernel(mapping=[T], args=[W])
    def multiply(W: int32[T]):
        t = df.get_pid()
        for i in range(N):
            q[t].put(p[t].get() * W[t] + t)

    @df.kernel(mapping=[T])
    def add():
        t = df.get_pid()
        n: int32 = 0
        for i in range(N):
            x: int32 = q[t].get()
            n += x
            p[t + 1].put(x + n)

    @df.kernel(mapping=[1], args=[B])
    def sink(B: int32[N]):
        for i in range(N):
            B[i] = p[T].get()


@df.region()
def ring(A: int32[T], B: int32[T]):
    p: Stream[int32, 2][T]

    @df.kernel(mapping=[T], args=[A, B])
    def node(A: int32[T], B: int32[T]):
        t = df.get_pid()
        x: int32 = A[t]
        total: int32 = 0
        for i in range(T):
            p[(t + 1) % T].put(x)
            x = p[t].get()
            total += x * (i + 1)
        B[t] = total


@df.region()
def rows_of_arrays(A: int32[T, N], B: int32[T, N]):
    p: Stream[int32, 3][T, 2]

    @df.kernel(mapping=[T], args=[A])
    def read(A: int32[T, N]):
        t = df.get_pid()
        for i in range(N):
            p[t, 0].put(A[t, i])
            if A[t, i] % 3 == 0:
                p[t, 1].put(A[t, N - 1 - i])

    @df.kernel(mapping=[T], args=[B])
    def write(B: int32[T, N]):
        t = df.get_pid()
        for i in range(N):
            x: int32 = p[t, 0].get()
            if x % 3 == 0:
                x += p[t, 1].get()
            B[t, i] = x


def steps_of_two_kinds(s: allo.Schedule) -> None:
    s.partition("two_kinds:W")
    for task in ("source", "multiply", "add", "sink"):
        s.pipeline(f"{task}:i")


def steps_of_ring(s: allo.Schedule) -> None:
    s.partition("ring:A")
    s.partition("ring:B")


def steps_of_rows(s: allo.Schedule) -> None:
    s.partition("rows_of_arrays:A", dim=1)
    s.partition("rows_of_arrays:B", dim=1)
    s.pipeline("read:i")
    s.pipeline("write:i")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("region", "steps", "shapes"),
    [
        (two_kinds, steps_of_two_kinds, ((N,), (N,), (T,))),
        (ring, steps_of_ring, ((T,), (T,))),
        (rows_of_arrays, steps_of_rows, ((T, N), (T, N))),
    ],
)
def test_odd_grids(
    monkeypatch: pytest.MonkeyPatch,
    region: Any,
    steps: Callable[[allo.Schedule], None],
    shapes: tuple[tuple[int, ...], ...],
) -> None:
    s = df.customize(region)
    steps(s)
    one, other = both(monkeypatch, s)
    draw = np.random.default_rng(6)
    for _ in range(2):
        arguments = [draw.integers(-50, 50, shape).astype(np.int32) for shape in shapes]
        assert_same(one, other, *arguments)
        own, wanted = ([array.copy() for array in arguments] for _ in range(2))
        one(*own)
        s.build()(*wanted)
        np.testing.assert_equal(own, wanted)
        assert one.predicted_cycles in (None, one.cycles)
    if region is not rows_of_arrays:  # where data decide
        assert one.predicted_cycles is not None


Sample = Struct({"n": Fixed(9, 2), "v": float32, "q": UFixed(10, 4)})


def chain(A: Sample[5], W: Sample[3, 2], C: Sample[5]):
    X: Sample[4, 5]
    for t in range(5, name="load"):
        X[0, t] = A[t]
    for p in range(3, name="PE"):
        w: Sample = W[p, 1]
        for t in range(5):
            x: Sample = X[p, t]
            X[p + 1, t] = Sample(n=x.n + w.n, v=x.v * w.v, q=x.q * w.q)
    for t in range(5, name="store"):
        C[t] = X[3, t]


@pytest.mark.parametrize("dim", [1, 0], ids=["banks", "registers"])
def test_elements_of_words_that_are_no_integers(dim: int) -> None:
    """What elements take and pass on becomes words while one of each class is rewritten."""
    s = allo.customize(chain)
    pe = s.unfold("PE", axes=[0])
    s.relay("X", dst=pe, axis=0)
    s.partition("W", dim=dim)
    draw = np.random.default_rng(3)
    A, W, C = (np.zeros(shape, [("n", "f8"), ("v", "f4"), ("q", "f8")]) for shape in (5, (3, 2), 5))
    for array in (A, W):
        for name in array.dtype.names or ():
            array[name] = draw.integers(0, 40, array.shape) / 4
    assert_as_predicted(s, A, W, C)
    assert C["v"].all()
