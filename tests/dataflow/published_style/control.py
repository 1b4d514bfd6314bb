"""Puts and gets whose number or order data or conditions decide, windows, feedback."""

# ruff: noqa: E741, F821, B007 - kernels as users of published Allo write them
import numpy as np

import allo
import allo.dataflow as df
from allo.ir.types import Stream, float32, int1, int32

from .program import Program, ints, rng, z


def stencil_line() -> Program:
    N = 16

    @df.region()
    def top(A: float32[N], B: float32[N]):
        s: Stream[float32, 4]

        @df.kernel(args=[A])
        def load(a: float32[N]):
            for i in range(N):
                s.put(a[i])

        @df.kernel(args=[B])
        def blur(b: float32[N]):
            w: float32[3] = 0.0
            for i in range(N):
                w[0] = w[1]
                w[1] = w[2]
                w[2] = s.get()
                b[i] = (w[0] + w[1] + w[2]) / 3.0

    A = ints(N, dtype=np.float32)
    E = z(N, dtype=np.float32)
    w = [np.float32(0)] * 3
    for i in range(N):
        w = [w[1], w[2], A[i]]
        E[i] = (w[0] + w[1] + w[2]) / np.float32(3)
    return top, (A, z(N, dtype=np.float32)), {1: E}


def run_time_trip_counts() -> Program:
    N = 16

    @df.region()
    def top(n: int32, A: int32[N], B: int32[N]):
        s: Stream[int32, 4]

        @df.kernel(mapping=[1], args=[n, A])
        def give(n: int32, A: int32[N]):
            for i in range(n):
                s.put(A[i])

        @df.kernel(mapping=[1], args=[n, B])
        def take(n: int32, B: int32[N]):
            for i in range(n):
                B[i] = s.get() * 3

    A = ints(N)
    E = z(N)
    E[:11] = A[:11] * 3
    return top, (11, A, z(N)), {2: E}


def length_in_front() -> Program:
    N = 16

    @df.region()
    def top(n: int32[1], A: int32[N], B: int32[N]):
        s: Stream[int32, 4]
        c: Stream[int32, 1]

        @df.kernel(mapping=[1], args=[n, A])
        def give(n: int32[1], A: int32[N]):
            m: int32 = n[0]
            c.put(m)
            for i in range(m):
                s.put(A[i])

        @df.kernel(mapping=[1], args=[B])
        def take(B: int32[N]):
            m: int32 = c.get()
            for i in range(m):
                B[i] = s.get() * 3

    A = ints(N)
    E = z(N)
    E[:5] = A[:5] * 3
    return top, (np.array([5], np.int32), A, z(N)), {2: E}


def end_marker_while() -> Program:
    N = 8

    @df.region()
    def top(A: int32[N], B: int32[1]):
        s: Stream[int32, 4]

        @df.kernel(mapping=[1], args=[A])
        def give(A: int32[N]):
            for i in range(N):
                s.put(A[i])
            s.put(-1000)

        @df.kernel(mapping=[1], args=[B])
        def take(B: int32[1]):
            x: int32 = s.get()
            t: int32 = 0
            while x != -1000:
                t += x
                x = s.get()
            B[0] = t

    A = ints(N)
    return top, (A, z(1)), {1: np.array([A.sum()])}


def round_robin() -> Program:
    N, W = 12, 3

    @df.region()
    def top(A: int32[N], B: int32[N]):
        work: Stream[int32, 2][W]
        done: Stream[int32, 2][W]

        @df.kernel(mapping=[1], args=[A])
        def deal(A: int32[N]):
            for i in range(N):
                work[i % W].put(A[i])

        @df.kernel(mapping=[W])
        def worker():
            w = df.get_pid()
            for i in range(N // W):
                x: int32 = work[w].get()
                done[w].put(x * x)

        @df.kernel(mapping=[1], args=[B])
        def collect(B: int32[N]):
            for i in range(N):
                B[i] = done[i % W].get()

    A = ints(N)
    return top, (A, z(N)), {1: A * A}


def dispatch_by_data() -> Program:
    N = 10

    @df.region()
    def top(A: int32[N], B: int32[N]):
        neg: Stream[int32, 16]
        pos: Stream[int32, 16]
        sign: Stream[int1, 16]

        @df.kernel(mapping=[1], args=[A])
        def deal(A: int32[N]):
            for i in range(N):
                if A[i] < 0:
                    sign.put(1)
                    neg.put(A[i])
                else:
                    sign.put(0)
                    pos.put(A[i])

        @df.kernel(mapping=[1], args=[B])
        def collect(B: int32[N]):
            for i in range(N):
                q: int1 = sign.get()
                if q != 0:
                    B[i] = -neg.get()
                else:
                    B[i] = pos.get() * 10

    A = ints(N)
    return top, (A, z(N)), {1: np.where(A < 0, -A, A * 10)}


def try_put_and_get() -> Program:
    N = 8

    @df.region()
    def top(A: int32[N], B: int32[N]):
        s: Stream[int32, 2]

        @df.kernel(mapping=[1], args=[A])
        def give(A: int32[N]):
            i: int32 = 0
            while i < N:
                ok: int1 = s.try_put(A[i])
                if ok:
                    i += 1

        @df.kernel(mapping=[1], args=[B])
        def take(B: int32[N]):
            i: int32 = 0
            while i < N:
                x, ok = s.try_get()
                if ok:
                    B[i] = x
                    i += 1

    A = ints(N)
    return top, (A, z(N)), {1: A}


def empty_and_full() -> Program:
    N = 8

    @df.region()
    def top(A: int32[N], B: int32[N]):
        s: Stream[int32, 2]

        @df.kernel(mapping=[1], args=[A])
        def give(A: int32[N]):
            for i in range(N):
                while s.full():
                    pass
                s.put(A[i])

        @df.kernel(mapping=[1], args=[B])
        def take(B: int32[N]):
            for i in range(N):
                while s.empty():
                    pass
                B[i] = s.get()

    A = ints(N)
    return top, (A, z(N)), {1: A}


def feedback_with_a_seed() -> Program:
    N = 6

    @df.region()
    def top(B: int32[N]):
        go: Stream[int32, 2]
        back: Stream[int32, 2]

        @df.kernel(mapping=[1], args=[B])
        def seed(B: int32[N]):
            go.put(1)
            for i in range(N):
                x: int32 = back.get()
                B[i] = x
                if i < N - 1:
                    go.put(x)

        @df.kernel(mapping=[1])
        def triple():
            for i in range(N):
                back.put(go.get() * 3)

    return top, (z(N),), {0: np.array([3 ** (i + 1) for i in range(N)])}


def spmv_csr() -> Program:
    Rn, NNZ, C = 4, 8, 6

    @df.region()
    def top(ptr: int32[Rn + 1], col: int32[NNZ], val: int32[NNZ], x: int32[C], y: int32[Rn]):
        prod: Stream[int32, 4]
        cnt: Stream[int32, 4]

        @df.kernel(mapping=[1], args=[ptr])
        def lens(ptr: int32[Rn + 1]):
            for r in range(Rn):
                cnt.put(ptr[r + 1] - ptr[r])

        @df.kernel(mapping=[1], args=[col, val, x])
        def mul(col: int32[NNZ], val: int32[NNZ], x: int32[C]):
            for i in range(NNZ):
                prod.put(val[i] * x[col[i]])

        @df.kernel(mapping=[1], args=[y])
        def add(y: int32[Rn]):
            for r in range(Rn):
                n: int32 = cnt.get()
                t: int32 = 0
                for i in range(n):
                    t += prod.get()
                y[r] = t

    ptr = np.array([0, 3, 3, 6, 8], np.int32)
    col = rng.integers(0, C, NNZ).astype(np.int32)
    val, x = ints(NNZ), ints(C)
    dense = np.zeros((Rn, C), np.int32)
    for r in range(Rn):
        for i in range(ptr[r], ptr[r + 1]):
            dense[r, col[i]] += val[i]
    return top, (ptr, col, val, x, z(Rn)), {4: dense @ x}


def image_two_d_window() -> Program:
    H, W = 6, 8

    @df.region()
    def top(I: int32[H, W], O: int32[H, W]):
        px: Stream[int32, 4]

        @df.kernel(mapping=[1], args=[I])
        def scan(I: int32[H, W]):
            for r, c in allo.grid(H, W):
                px.put(I[r, c])

        @df.kernel(mapping=[1], args=[O])
        def vertical(O: int32[H, W]):
            line: int32[2, W] = 0
            for r, c in allo.grid(H, W):
                x: int32 = px.get()
                O[r, c] = x + line[0, c] + line[1, c]
                line[1, c] = line[0, c]
                line[0, c] = x

    I = ints(H, W)
    p = np.pad(I, ((2, 0), (0, 0)))
    return top, (I, z(H, W)), {1: p[2:] + p[1:-1] + p[:-2]}
