"""Branches on the position, loops that are unrolled by the compiler, regions in tasks."""

# ruff: noqa: E741, F821, SIM117 - kernels as users of published Allo write them
import numpy as np

import allo
import allo.dataflow as df
from allo.ir.types import Stream, int16, int32

from .program import Program, ints, z


def meta_for_fan_out() -> Program:
    n, W = 4, 3

    @df.region()
    def top(A: int32[W, n], B: int32[n]):
        lane: Stream[int32, 4][W]

        @df.kernel(mapping=[W], args=[A])
        def give(A: int32[W, n]):
            w = df.get_pid()
            for i in range(n):
                lane[w].put(A[w, i])

        @df.kernel(mapping=[1], args=[B])
        def add(B: int32[n]):
            for i in range(n):
                t: int32 = 0
                with allo.meta_for(W) as w:
                    t += lane[w].get()
                B[i] = t

    A = ints(W, n)
    return top, (A, z(n)), {1: A.sum(0)}


def meta_for_of_a_list() -> Program:
    n = 4
    weights = [3, 5, 7]

    @df.region()
    def top(A: int32[n], B: int32[n]):
        lane: Stream[int32, 4][3]

        @df.kernel(mapping=[1], args=[A])
        def give(A: int32[n]):
            for i in range(n):
                with allo.meta_for(3) as w:
                    lane[w].put(A[i] * weights[w])

        @df.kernel(mapping=[1], args=[B])
        def add(B: int32[n]):
            for i in range(n):
                t: int32 = 0
                with allo.meta_for([2, 0, 1]) as w:
                    t = t * 2 + lane[w].get()
                B[i] = t

    A = ints(n)
    return top, (A, z(n)), {1: A * (((7) * 2 + 3) * 2 + 5)}


def meta_nested() -> Program:
    a, b = 3, 3

    @df.region()
    def top(X: int32[a, b]):
        @df.kernel(mapping=[a, b], args=[X])
        def f(X: int32[a, b]):
            i, j = df.get_pid()
            with allo.meta_if(i == j):
                X[i, j] = 1
            with allo.meta_elif(i < j):
                with allo.meta_if(j - i == 2):
                    X[i, j] = 3
                with allo.meta_else():
                    X[i, j] = 2
            with allo.meta_else():
                with allo.meta_for(i) as q:
                    X[i, j] = X[i, j] + 10 + q

    E = np.array([[1, 2, 3], [10, 1, 2], [21, 21, 1]])
    return top, (z(a, b),), {0: E}


def unused_positions_pass() -> Program:
    n = 4

    @df.region()
    def top(A: int32[n, n], B: int32[n, n]):
        s: Stream[int32, 2][n + 2, n + 2]

        @df.kernel(mapping=[n + 2, n + 2], args=[A, B])
        def f(A: int32[n, n], B: int32[n, n]):
            i, j = df.get_pid()
            with allo.meta_if(i in {0, n + 1} or j in {0, n + 1}):
                pass
            with allo.meta_elif((i + j) % 2 == 0):
                s[i, j].put(A[i - 1, j - 1])
                B[i - 1, j - 1] = s[i, j].get()
            with allo.meta_else():
                B[i - 1, j - 1] = -A[i - 1, j - 1]

    A = ints(n, n)
    i, j = np.indices((n, n))
    return top, (A, z(n, n)), {1: np.where((i + j) % 2 == 0, A, -A)}


def checkerboard_with_or() -> Program:
    """Branches that are no single affine set: 'or', remainders, positions that do nothing."""
    n = 4

    @df.region()
    def top(A: int32[n, n], B: int32[n, n]):
        @df.kernel(mapping=[n + 2, n + 2], args=[A, B])
        def f(A: int32[n, n], B: int32[n, n]):
            i, j = df.get_pid()
            with allo.meta_if(i in {0, n + 1} or j in {0, n + 1}):
                pass
            with allo.meta_elif((i * 3 + j) % 4 == 1 or i == j):
                B[i - 1, j - 1] = A[i - 1, j - 1] * 2
            with allo.meta_else():
                B[i - 1, j - 1] = A[i - 1, j - 1] - 1

    A = ints(n, n)
    i, j = np.indices((n, n)) + 1
    return top, (A, z(n, n)), {1: np.where(((i * 3 + j) % 4 == 1) | (i == j), A * 2, A - 1)}


def inner_region_template() -> Program:
    """A region with type parameters called twice from tasks."""
    n = 8

    @df.region()
    def inner[T, L](X: "T[L]", Y: "T[L]"):
        s: Stream[T, 4]

        @df.kernel(mapping=[1], args=[X])
        def give(x: T[L]):
            for i in range(L):
                s.put(x[i])

        @df.kernel(mapping=[1], args=[Y])
        def take(y: T[L]):
            for i in range(L):
                y[i] = s.get() + 1

    @df.region()
    def top(A: int32[n], B: int32[n], C: int16[4], D: int16[4]):
        @df.kernel(mapping=[1], args=[A, B])
        def one(a: int32[n], b: int32[n]):
            inner[int32, n](a, b)

        @df.kernel(mapping=[1], args=[C, D])
        def two(c: int16[4], d: int16[4]):
            inner[int16, 4](c, d)

    A, C = ints(n), ints(4, dtype=np.int16)
    return top, (A, z(n), C, z(4, dtype=np.int16)), {1: A + 1, 3: C + 1}


def regions_in_a_kernel() -> Program:
    n = 8

    @df.region()
    def double(X: int32[n], Y: int32[n]):
        s: Stream[int32, 4]

        @df.kernel(mapping=[1], args=[X])
        def give(x: int32[n]):
            for i in range(n):
                s.put(x[i])

        @df.kernel(mapping=[1], args=[Y])
        def take(y: int32[n]):
            for i in range(n):
                y[i] = s.get() * 2

    def top(A: int32[n], B: int32[n]):
        t: int32[n] = 0
        double(A, t)
        double(t, B)

    A = ints(n)
    return top, (A, z(n)), {1: A * 4}


def hier_grid() -> Program:
    """A grid of tasks, each of which is a region of its own."""
    n, W = 8, 2

    @df.region()
    def row(X: int32[n], Y: int32[n]):
        s: Stream[int32, 4]

        @df.kernel(mapping=[1], args=[X])
        def give(x: int32[n]):
            for i in range(n):
                s.put(x[i])

        @df.kernel(mapping=[1], args=[Y])
        def take(y: int32[n]):
            for i in range(n):
                y[i] = s.get() * 2

    @df.region()
    def top(A: int32[W, n], B: int32[W, n]):
        @df.kernel(mapping=[W], args=[A, B])
        def each(a: int32[W, n], b: int32[W, n]):
            p = df.get_pid()
            x: int32[n] = a[p]
            y: int32[n] = 0
            row(x, y)
            b[p, :] = y

    A = ints(W, n)
    return top, (A, z(W, n)), {1: A * 2}


def older_spelling() -> Program:
    n, Pn = 8, 2

    @df.region()
    def top(A: int16[Pn, n], B: int16[Pn, n]):
        pipe = df.array(df.pipe(dtype=int16, shape=(), depth=4), shape=(Pn,))

        @df.kernel(mapping=[Pn], args=[A])
        def give(A: int16[Pn, n]):
            p = df.get_pid()
            for i in range(n):
                pipe[p].put(A[p, i])

        @df.kernel(mapping=[Pn], args=[B])
        def take(B: int16[Pn, n]):
            p = df.get_pid()
            for i in range(n):
                B[p, i] = pipe[p].get() + 1

    A = ints(Pn, n, dtype=np.int16)
    return top, (A, z(Pn, n, dtype=np.int16)), {1: A + 1}


def prefix_sum_tree() -> Program:
    n = 8

    @df.region()
    def top(A: int32[n], B: int32[n]):
        lane: Stream[int32, 2][4, n]

        @df.kernel(mapping=[n], args=[A])
        def give(A: int32[n]):
            i = df.get_pid()
            lane[0, i].put(A[i])

        @df.kernel(mapping=[1], args=[B])
        def scan(B: int32[n]):
            run: int32 = 0
            for i in range(n):
                run += lane[0, i].get()
                B[i] = run
            for l, i in allo.grid(3, n):
                lane[l + 1, i].put(0)

        @df.kernel()
        def drop():
            for l, i in allo.grid(3, n):
                lane[l + 1, i].get()

    A = ints(n)
    return top, (A, z(n)), {1: np.cumsum(A)}
