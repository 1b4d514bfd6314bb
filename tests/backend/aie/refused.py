"""Regions that arrays of processors cannot run, each with one mistake."""

# Streams and arrays of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

import numpy as np

import allo.dataflow as df
from allo.ir.types import Fixed, Int, Stream, bool, float64, int8, int16, int32
from allo.memory import Layout

N = 16
CHOSEN = np.array([True, False, True, True])


def no_region(A: int32[N]):
    for i in range(N):
        A[i] = 1


@df.region()
def outside(A: int32[N], B: int32[N]):
    between: int32[N]

    @df.kernel(args=[A, between])
    def first(a: int32[N], b: int32[N]):
        for i in range(N):
            b[i] = a[i]

    @df.kernel(args=[between, B])
    def second(a: int32[N], b: int32[N]):
        for i in range(N):
            b[i] = a[i]


@df.region()
def doubles(A: float64[N]):
    @df.kernel(args=[A])
    def f(a: float64[N]):
        for i in range(N):
            a[i] = a[i] * 2.0


@df.region()
def odd_array(A: int32[N]):
    @df.kernel(args=[A])
    def f(a: int32[N]):
        x: Int(72)[N] = 0
        for i in range(N):
            x[i] = a[i]
        for i in range(N):
            a[i] = (x[i] >> 8) + (x[N - 1 - i] >> 9)


@df.region()
def fixed_point(A: int32[N]):
    @df.kernel(args=[A])
    def f(a: int32[N]):
        for i in range(N):
            x: Fixed(16, 4) = a[i]
            a[i] = x * x


@df.region()
def truth_values(A: int32[4]):
    @df.kernel(args=[A])
    def f(a: int32[4]):
        chosen: bool[4] = CHOSEN
        for i in range(4):
            if chosen[i]:
                a[i] = 0


@df.region()
def asks(A: int32[N], B: int32[N]):
    pipe: Stream[int32, 4]

    @df.kernel(args=[A])
    def f(a: int32[N]):
        for i in range(N):
            pipe.put(a[i])

    @df.kernel(args=[B])
    def g(b: int32[N]):
        k: int32 = 0
        while k < N:
            x, ok = pipe.try_get()
            if ok:
                b[k] = x
                k += 1


@df.region()
def by_data(A: int32[N], B: int32[N]):
    pipe: Stream[int32, 4]

    @df.kernel(args=[A])
    def f(a: int32[N]):
        for i in range(N):
            if a[i] > 0:
                pipe.put(a[i])

    @df.kernel(args=[A, B])
    def g(a: int32[N], b: int32[N]):
        for i in range(N):
            if a[i] > 0:
                b[i] = pipe.get()


@df.region()
def races(A: int32[N], B: int32[N]):
    pipe: Stream[int32, 4]

    @df.kernel(args=[A])
    def f(a: int32[N]):
        for i in range(N):
            pipe.put(a[i])

    @df.kernel(args=[A, B])
    def g(a: int32[N], b: int32[N]):
        for i in range(N):
            b[i] = pipe.get()
            a[i] = 0


@df.region()
def halves(A: int16[6], B: int16[6]):
    @df.kernel(mapping=[2], args=[A, B])
    def f(a: int16[6] @ Layout("S0"), b: int16[6] @ Layout("S0")):
        for i in range(3):
            b[i] = a[i]


@df.region()
def crossed(A: int32[N], B: int32[N]):
    there: Stream[int32[4], 1]
    back: Stream[int32[4], 1]

    @df.kernel(args=[A])
    def f(a: int32[N]):
        for i in range(4):
            x: int32[4] = a[i * 4 : i * 4 + 4]
            there.put(x)

    @df.kernel()
    def g():
        for _i in range(4):
            x: int32[4] = there.get()
            back.put(x)

    @df.kernel(args=[B])
    def h(b: int32[N]):
        for i in range(4):
            b[i * 4 : i * 4 + 4] = back.get()


@df.region()
def bytes_apart(A: int8[N], B: int8[N]):
    x: Stream[int8, 4]
    y: Stream[int8, 4]
    z: Stream[int8, 4]

    @df.kernel(args=[A])
    def f(a: int8[N]):
        for i in range(N):
            x.put(a[i])
            z.put(a[i])

    @df.kernel()
    def g():
        for _i in range(N):
            y.put(x.get() + 1)

    @df.kernel(args=[B])
    def h(b: int8[N]):
        for i in range(N):
            b[i] = y.get() + z.get()


@df.region()
def growing(A: int32[N], B: int32[N]):
    there: Stream[int32, 2]
    back: Stream[int32, 2]

    @df.kernel(args=[A])
    def f(a: int32[N]):
        for i in range(N):
            for _ in range(i + 1):
                there.put(a[i])
            a[i] = back.get()

    @df.kernel(args=[B])
    def g(b: int32[N]):
        for i in range(N):
            total: int32 = 0
            for _ in range(i + 1):
                total += there.get()
            b[i] = total
            back.put(total)


@df.region()
def late_choice(A: int32[N], B: int32[N]):
    s: Stream[int32, 16][2]

    @df.kernel(args=[A])
    def f(a: int32[N]):
        for i in range(N):
            s[i % 2].put(a[i])

    @df.kernel(args=[B])
    def g(b: int32[N]):
        for i in range(N):
            b[i] = s[i % 2].get()
