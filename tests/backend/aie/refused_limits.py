"""More regions that arrays of processors cannot run: what they need too much of, or has no place there."""

# Streams and arrays of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

import allo
import allo.dataflow as df
from allo.ir.types import (
    Fixed,
    Stateful,
    Stream,
    Struct,
    float64,
    int8,
    int16,
    int32,
    int64,
)
from allo.memory import Layout

N = 16


@df.region()
def gives_a_number(A: int32[N]) -> int32:
    @df.kernel(args=[A])
    def f(a: int32[N]):
        for i in range(N):
            a[i] = 1

    return 3


@df.region()
def large(A: int32[8192], B: int32[8192]):
    @df.kernel(args=[A, B])
    def f(a: int32[8192], b: int32[8192]):
        for i in range(8192):
            b[i] = a[8191 - i]


@df.region()
def large_inside(A: int32[N], B: int32[N]):
    @df.kernel(args=[A, B])
    def f(a: int32[N], b: int32[N]):
        table: int32[64, 64, 4] = 0
        for i in range(N):
            table[a[i] % 64, i, 0] += i
        for i in range(N):
            b[i] = table[i, i, 0]


@df.region()
def deep(A: int32[4096], B: int32[4096]):
    s: Stream[int32[1024], 16]

    @df.kernel(args=[A])
    def f(a: int32[4096]):
        for i in range(4):
            x: int32[1024] = a[i * 1024 : i * 1024 + 1024]
            s.put(x)

    @df.kernel(args=[B])
    def g(b: int32[4096]):
        for i in range(4):
            b[i * 1024 : i * 1024 + 1024] = s.get()


@df.region()
def many(A: int32[17, 4], B: int32[17, 4]):
    @df.kernel(mapping=[17], args=[A, B])
    def f(a: int32[17, 4] @ Layout("S0R"), b: int32[17, 4] @ Layout("S0R")):
        for i in range(4):
            b[0, i] = a[0, i]


@df.region()
def three_inputs(A: int32[4], B: int32[8], C: int32[16], D: int32[4]):
    @df.kernel(args=[A, B, C, D])
    def f(a: int32[4], b: int32[8], c: int32[16], d: int32[4]):
        for i in range(4):
            d[i] = a[i] + b[2 * i + 1] + c[4 * i + 3]


@df.region()
def three_outputs(A: int32[4], B: int32[4], C: int32[8], D: int32[16]):
    @df.kernel(args=[A, B, C, D])
    def f(a: int32[4], b: int32[4], c: int32[8], d: int32[16]):
        for i in range(4):
            b[i] = a[i]
        for i in range(8):
            c[i] = a[i % 4]
        for i in range(16):
            d[i] = a[i % 4]


@df.region()
def last_elements(A: int32[N], B: int32[N]):
    @df.kernel(mapping=[2], args=[A, B])
    def f(a: int32[N], b: int32[N]):
        p = df.get_pid()
        for i in range(N // 2):
            b[(2 - p) * i + p] = a[2 * i + p]


@df.region()
def counts(A: int32[N]):
    @df.kernel(args=[A])
    def f(a: int32[N]):
        seen: Stateful(int32) = 0
        seen += 1
        for i in range(N):
            a[i] = seen


Pixel = Struct({"r": int8, "g": int8})


@df.region()
def pixels(A: Pixel[N]):
    @df.kernel(args=[A])
    def f(a: Pixel[N]):
        for i in range(N):
            a[i] = a[N - 1 - i]


@df.region()
def fixed_array(A: Fixed(16, 4)[N]):
    @df.kernel(args=[A])
    def f(a: Fixed(16, 4)[N]):
        for i in range(N):
            a[i] = a[i] + 1


@df.region()
def wide_array(A: int64[N]):
    @df.kernel(args=[A])
    def f(a: int64[N]):
        for i in range(N):
            a[i] = a[i] + 1


@df.region()
def of_any_length(A: int32[...], B: int32[N]):
    @df.kernel(args=[A, B])
    def f(a: int32[...], b: int32[N]):
        for i in range(N):
            b[i] = a[i]


@df.region()
def column(A: int16[8, 8], B: int16[8, 8]):
    @df.kernel(mapping=[8], args=[A, B])
    def f(a: int16[8, 8] @ Layout("RS0"), b: int16[8, 8] @ Layout("RS0")):
        for i in range(8):
            b[i, 0] = a[i, 0]


@df.region()
def puts_when_it_can(A: int32[N], B: int32[N]):
    pipe: Stream[int32, 4]

    @df.kernel(args=[A])
    def f(a: int32[N]):
        i: int32 = 0
        while i < N:
            if pipe.try_put(a[i]):
                i += 1

    @df.kernel(args=[B])
    def g(b: int32[N]):
        for i in range(N):
            b[i] = pipe.get()


@df.region()
def asks_first(A: int32[N], B: int32[N]):
    pipe: Stream[int32, 4]

    @df.kernel(args=[A])
    def f(a: int32[N]):
        for i in range(N):
            pipe.put(a[i])

    @df.kernel(args=[B])
    def g(b: int32[N]):
        k: int32 = 0
        while k < N:
            if not pipe.empty():
                b[k] = pipe.get()
                k += 1


@df.region()
def interleaved(A: int16[N], B: int16[N]):
    @df.kernel(mapping=[2], args=[A, B])
    def f(a: int16[N], b: int16[N]):
        p = df.get_pid()
        for i in range(N // 2):
            b[2 * i + p] = a[2 * i + p]


@df.region()
def to_itself(A: int32[N]):
    s: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[A])
    def f(a: int32[N]):
        for i in range(N):
            for _ in range(i + 1):
                s.put(a[i])
            for _ in range(i + 1):
                a[i] += s.get()


@df.region()
def doubles_inside(A: int32[N]):
    @df.kernel(args=[A])
    def f(a: int32[N]):
        x: float64[N] = 0
        for i in range(N):
            x[i] = a[N - 1 - i]
        for i in range(N):
            a[i] = x[i] * 0.5


@df.region()
def star(A: int32[4], B: int32[32]):
    rays: Stream[int32[4], 1][8]

    @df.kernel(args=[A])
    def centre(a: int32[4]):
        with allo.meta_for(8) as k:
            rays[k].put(a)

    @df.kernel(mapping=[8], args=[B])
    def ends(b: int32[32] @ Layout("S0")):
        p = df.get_pid()
        b[:] = rays[p].get()


@df.region()
def funnel(A: int32[32], B: int32[4]):
    rays: Stream[int32[4], 1][8]

    @df.kernel(mapping=[8], args=[A])
    def ends(a: int32[32] @ Layout("S0")):
        p = df.get_pid()
        rays[p].put(a)

    @df.kernel(args=[B])
    def centre(b: int32[4]):
        total: int32[4] = 0
        with allo.meta_for(8) as k:
            total[:] = allo.add(total, rays[k].get())
        b[:] = total


@df.region()
def many_outputs(A: int32[4], B: int32[48], C: int32[96]):
    """More streams out of cores than there are ports down to the memory tiles, whatever their ways."""

    @df.kernel(mapping=[12], args=[A, B, C])
    def f(a: int32[4], b: int32[48] @ Layout("S0"), c: int32[96] @ Layout("S0")):
        for i in range(4):
            b[i] = a[i] + 1
        for i in range(8):
            c[i] = a[i // 2]
