"""Grids whose positions pass values to their neighbours."""

# ruff: noqa: E741, F821, F841, B007 - kernels as users of published Allo write them
import numpy as np

import allo
import allo.dataflow as df
from allo.ir.types import Stream, float32, int8, int32, uint1
from allo.memory import Layout

from .program import Program, ints, rng, z

S, R = Layout.Shard, Layout.Replicate


def ring_shift() -> Program:
    n = 4

    @df.region()
    def top(A: int32[n], B: int32[n]):
        link: Stream[int32, 2][n]

        @df.kernel(mapping=[n], args=[A, B])
        def node(A: int32[n], B: int32[n]):
            i = df.get_pid()
            link[(i + 1) % n].put(A[i])
            B[i] = link[i].get()

    A = ints(n)
    return top, (A, z(n)), {1: np.roll(A, 1)}


def odd_even_sort() -> Program:
    n = 6

    @df.region()
    def top(A: int32[n], B: int32[n]):
        right: Stream[int32, 2][n]
        left: Stream[int32, 2][n]

        @df.kernel(mapping=[n], args=[A, B])
        def cell(A: int32[n], B: int32[n]):
            i = df.get_pid()
            x: int32 = A[i]
            for t in range(n):
                if (t + i) % 2 == 0:
                    with allo.meta_if(i < n - 1):
                        right[i].put(x)
                        o: int32 = left[i + 1].get()
                        x = min(x, o)
                else:
                    with allo.meta_if(i > 0):
                        left[i].put(x)
                        q: int32 = right[i - 1].get()
                        x = max(x, q)
            B[i] = x

    A = ints(n)
    return top, (A, z(n)), {1: np.sort(A)}


def cannon_int8() -> Program:
    n = 3

    @df.region()
    def top(A: int8[n, n], B: int8[n, n], C: int32[n, n]):
        ra: Stream[int8, 2][n, n]
        rb: Stream[int8, 2][n, n]

        @df.kernel(mapping=[n, n], args=[A, B, C])
        def pe(A: int8[n, n], B: int8[n, n], C: int32[n, n]):
            i, j = df.get_pid()
            a: int8 = A[i, (i + j) % n]
            b: int8 = B[(i + j) % n, j]
            c: int32 = 0
            for k in range(n):
                c += a * b
                ra[i, (j + n - 1) % n].put(a)
                rb[(i + n - 1) % n, j].put(b)
                a = ra[i, j].get()
                b = rb[i, j].get()
            C[i, j] = c

    A, B = ints(n, n, dtype=np.int8), ints(n, n, dtype=np.int8)
    return top, (A, B, z(n, n)), {2: A.astype(np.int32) @ B}


def summa_broadcast() -> Program:
    n = 3

    @df.region()
    def top(A: int32[n, n], B: int32[n, n], C: int32[n, n]):
        ra: Stream[int32, 2][n, n]
        rb: Stream[int32, 2][n, n]

        @df.kernel(mapping=[n], args=[A])
        def feed_a(A: int32[n, n]):
            i = df.get_pid()
            for k in range(n):
                with allo.meta_for(n) as j:
                    ra[i, j].put(A[i, k])

        @df.kernel(mapping=[n], args=[B])
        def feed_b(B: int32[n, n]):
            j = df.get_pid()
            for k in range(n):
                for i in range(n):
                    rb[i, j].put(B[k, j])

        @df.kernel(mapping=[n, n], args=[C])
        def pe(C: int32[n, n]):
            i, j = df.get_pid()
            c: int32 = 0
            for k in range(n):
                c += ra[i, j].get() * rb[i, j].get()
            C[i, j] = c

    A, B = ints(n, n), ints(n, n)
    return top, (A, B, z(n, n)), {2: A @ B}


def weight_stationary_column() -> Program:
    K, T = 4, 6

    @df.region()
    def top(W: int32[K], X: int32[T, K], Y: int32[T]):
        down: Stream[int32, 4][K + 1]

        @df.kernel(mapping=[1])
        def zero():
            for t in range(T):
                down[0].put(0)

        @df.kernel(mapping=[K], args=[W, X])
        def pe(W: int32[K], X: int32[T, K]):
            k = df.get_pid()
            w: int32 = W[k]
            for t in range(T):
                down[k + 1].put(down[k].get() + w * X[t, k])

        @df.kernel(mapping=[1], args=[Y])
        def out(Y: int32[T]):
            for t in range(T):
                Y[t] = down[K].get()

    W, X = ints(K), ints(T, K)
    return top, (W, X, z(T)), {2: X @ W}


def systolic_1d_fir() -> Program:
    TAPS, N = 4, 12

    @df.region()
    def top(X: int32[N], H: int32[TAPS], Y: int32[N]):
        xs: Stream[int32, 2][TAPS + 1]
        ys: Stream[int32, 2][TAPS + 1]

        @df.kernel(mapping=[1], args=[X])
        def feed(X: int32[N]):
            for i in range(N):
                xs[0].put(X[i])
                ys[0].put(0)

        @df.kernel(mapping=[TAPS], args=[H])
        def tap(H: int32[TAPS]):
            t = df.get_pid()
            h: int32 = H[t]
            old: int32[2] = 0
            for i in range(N):
                x: int32 = xs[t].get()
                ys[t + 1].put(ys[t].get() + h * x)
                xs[t + 1].put(old[0])
                old[0] = x

        @df.kernel(mapping=[1], args=[Y])
        def drain(Y: int32[N]):
            for i in range(N):
                Y[i] = ys[TAPS].get()
                d: int32 = xs[TAPS].get()

    X, H = ints(N), ints(TAPS)
    return top, (X, H, z(N)), {2: np.convolve(X, H)[:N]}


def skewed_start() -> Program:
    n = 4

    @df.region()
    def top(A: int32[n, n], B: int32[n]):
        d: Stream[int32, 2][n + 1]

        @df.kernel(mapping=[n], args=[A, B])
        def f(A: int32[n, n], B: int32[n]):
            i = df.get_pid()
            acc: int32 = 0
            for k in range(n):
                x: int32 = A[i, k]
                with allo.meta_if(i > 0):
                    x += d[i].get()
                acc += x
                with allo.meta_if(i < n - 1):
                    d[i + 1].put(x)
            B[i] = acc

    A = ints(n, n)
    return top, (A, z(n)), {1: np.cumsum(A, 0).sum(1)}


def min_plus_path() -> Program:
    n = 4

    @df.region()
    def top(D: int32[n, n], out: int32[n]):
        s: Stream[int32, 2][n, n + 1]

        @df.kernel(mapping=[n, n], args=[D, out])
        def relax(D: int32[n, n], out: int32[n]):
            i, j = df.get_pid()
            best: int32 = 1000
            with allo.meta_if(j > 0):
                best = s[i, j].get()
            best = min(best, D[i, j])
            with allo.meta_if(j < n - 1):
                s[i, j + 1].put(best)
            with allo.meta_else():
                out[i] = best

    D = ints(n, n)
    return top, (D, z(n)), {1: D.min(1)}


def game_of_life_row() -> Program:
    N = 8

    @df.region()
    def top(A: uint1[N], B: uint1[N]):
        l: Stream[uint1, 2][N + 1]
        r: Stream[uint1, 2][N + 1]

        @df.kernel(mapping=[N], args=[A, B])
        def cell(A: uint1[N], B: uint1[N]):
            i = df.get_pid()
            me: uint1 = A[i]
            with allo.meta_if(i > 0):
                l[i].put(me)
            with allo.meta_if(i < N - 1):
                r[i].put(me)
            left: uint1 = 0
            right: uint1 = 0
            with allo.meta_if(i > 0):
                left = r[i - 1].get()
            with allo.meta_if(i < N - 1):
                right = l[i + 1].get()
            B[i] = left ^ (me | right)

    A = rng.integers(0, 2, N).astype(np.bool_)
    p = np.pad(A, 1)
    return top, (A.astype(np.uint8), z(N, dtype=np.uint8)), {1: (p[:-2] ^ (p[1:-1] | p[2:])).astype(np.uint8)}


def three_d_grid() -> Program:
    a, b, c = 2, 2, 3

    @df.region()
    def top(A: int32[a, b, c], B: int32[a, b, c]):
        s: Stream[int32, 2][a, b, c]

        @df.kernel(mapping=[a, b, c], args=[A])
        def give(A: int32[a, b, c]):
            i, j, k = df.get_pid()
            s[i, j, k].put(A[i, j, k])

        @df.kernel(mapping=[a, b, c], args=[B])
        def take(B: int32[a, b, c]):
            i, j, k = df.get_pid()
            B[i, j, k] = s[a - 1 - i, j, c - 1 - k].get()

    A = ints(a, b, c)
    return top, (A, z(a, b, c)), {1: A[::-1, :, ::-1]}


def triangular_solve() -> Program:
    """Forward substitution: each position waits for the results of all before it."""
    n = 4

    @df.region()
    def top(L: float32[n, n], b: float32[n], x: float32[n]):
        down: Stream[float32, n][n + 1]

        @df.kernel(mapping=[n], args=[L, b, x])
        def row(L: float32[n, n], b: float32[n], x: float32[n]):
            i = df.get_pid()
            rest: float32 = b[i]
            for j in range(i):
                known: float32 = down[i].get()
                rest -= L[i, j] * known
                with allo.meta_if(i < n - 1):
                    down[i + 1].put(known)
            own: float32 = rest / L[i, i]
            x[i] = own
            with allo.meta_if(i < n - 1):
                down[i + 1].put(own)

    L = np.tril(rng.integers(1, 4, (n, n))).astype(np.float32)
    want = rng.integers(-4, 4, n).astype(np.float32)
    return top, (L, (L @ want).astype(np.float32), z(n, dtype=np.float32)), {2: want}


def pipelined_tree_of_adders() -> Program:
    """A tree: level by level, positions add what two of the level before give."""
    L, T = 3, 5
    n = 1 << L

    @df.region()
    def top(A: int32[T, n], B: int32[T]):
        wire: Stream[int32, 2][L + 1, n]

        @df.kernel(mapping=[n], args=[A])
        def leaf(A: int32[T, n]):
            i = df.get_pid()
            for t in range(T):
                wire[0, i].put(A[t, i])

        @df.kernel(mapping=[L, n // 2])
        def node():
            l, i = df.get_pid()
            with allo.meta_if(i < n // 2 ** (l + 1)):
                for t in range(T):
                    wire[l + 1, i].put(wire[l, 2 * i].get() + wire[l, 2 * i + 1].get())

        @df.kernel(mapping=[1], args=[B])
        def root(B: int32[T]):
            for t in range(T):
                B[t] = wire[L, 0].get()

    A = ints(T, n)
    return top, (A, z(T)), {1: A.sum(1)}


def allreduce_max() -> Program:
    N, W = 8, 4

    @df.region()
    def top(A: int32[N], B: int32[W]):
        @df.kernel(mapping=[W], args=[A, B])
        def f(A: int32[N] @ [S(0)], B: int32[W] @ [S(0)]):
            m: int32 = -1000
            for i in range(N // W):
                m = max(m, A[i])
            B[0] = allo.allreduce(m, op="max")

    A = ints(N)
    return top, (A, z(W)), {1: np.full(4, A.max())}


def gather_scatter() -> Program:
    N, W = 8, 4

    @df.region()
    def top(A: int32[W], B: int32[W]):
        a: Stream[int32, 2][W]
        b: Stream[int32, 2][W]

        @df.kernel(mapping=[1], args=[A])
        def give(A: int32[W]):
            df.scatter(A, a)

        @df.kernel(mapping=[W])
        def f():
            w = df.get_pid()
            b[w].put(a[w].get() * w)

        @df.kernel(mapping=[1], args=[B])
        def take(B: int32[W]):
            B[:] = df.gather(b)

    A = ints(W)
    return top, (A, z(W)), {1: A * np.arange(W)}
