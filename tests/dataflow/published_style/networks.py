"""Networks of stages whose wires are lists of Python, powers and bits of the position; grids on a torus."""

# ruff: noqa: B007, E741, F821, SIM108 - kernels as users of published Allo write them
import numpy as np

import allo
import allo.dataflow as df
from allo.ir.types import Stream, int32

from .program import Program, ints, rng, z


def bitonic_sorter() -> Program:
    N, S = 8, 6
    KS = [2, 4, 4, 8, 8, 8]
    JS = [1, 2, 1, 4, 2, 1]

    @df.region()
    def top(A: int32[N], B: int32[N]):
        w: Stream[int32, 2][S + 1, N]

        @df.kernel(mapping=[1], args=[A])
        def load(A: int32[N]):
            with allo.meta_for(N) as i:
                w[0, i].put(A[i])

        @df.kernel(mapping=[S, N])
        def cmp():
            s, i = df.get_pid()
            with allo.meta_if((i & JS[s]) == 0):
                a: int32 = w[s, i].get()
                b: int32 = w[s, i + JS[s]].get()
                lo: int32 = a if a < b else b
                hi: int32 = b if a < b else a
                with allo.meta_if((i & KS[s]) == 0):
                    w[s + 1, i].put(lo)
                    w[s + 1, i + JS[s]].put(hi)
                with allo.meta_else():
                    w[s + 1, i].put(hi)
                    w[s + 1, i + JS[s]].put(lo)

        @df.kernel(mapping=[1], args=[B])
        def store(B: int32[N]):
            with allo.meta_for(N) as i:
                B[i] = w[S, i].get()

    A = ints(N)
    return top, (A, z(N)), {1: np.sort(A)}


def kogge_stone() -> Program:
    N, S = 8, 3

    @df.region()
    def top(A: int32[N], B: int32[N]):
        own: Stream[int32, 2][S + 1, N]
        far: Stream[int32, 2][S, N]

        @df.kernel(mapping=[N], args=[A])
        def load(A: int32[N]):
            i = df.get_pid()
            own[0, i].put(A[i])
            with allo.meta_if(i + 1 < N):
                far[0, i + 1].put(A[i])

        @df.kernel(mapping=[S, N])
        def add():
            s, i = df.get_pid()
            x: int32 = own[s, i].get()
            with allo.meta_if(i >= 2**s):
                x += far[s, i].get()
            own[s + 1, i].put(x)
            with allo.meta_if(s + 1 < S and i + 2 ** (s + 1) < N):
                far[s + 1, i + 2 ** (s + 1)].put(x)

        @df.kernel(mapping=[N], args=[B])
        def store(B: int32[N]):
            i = df.get_pid()
            B[i] = own[S, i].get()

    A = ints(N)
    return top, (A, z(N)), {1: np.cumsum(A)}


def halo_life_2d() -> Program:
    P, T = 4, 2

    @df.region()
    def top(A: int32[P, P], C: int32[P, P]):
        h: Stream[int32, 2][2, P, P]
        v: Stream[int32, 2][2, P, P]

        @df.kernel(mapping=[P, P], args=[A, C])
        def cell(A: int32[P, P], C: int32[P, P]):
            i, j = df.get_pid()
            me: int32 = A[i, j]
            for t in range(T):
                h[0, i, (j + 1) % P].put(me)
                h[1, i, (j - 1) % P].put(me)
                l: int32 = h[0, i, j].get()
                r: int32 = h[1, i, j].get()
                row: int32 = l + me + r
                v[0, (i + 1) % P, j].put(row)
                v[1, (i - 1) % P, j].put(row)
                n: int32 = v[0, i, j].get() + v[1, i, j].get() + l + r
                if n == 3 or (me == 1 and n == 2):
                    me = 1
                else:
                    me = 0
            C[i, j] = me

    A = rng.integers(0, 2, (P, P)).astype(np.int32)
    X = A
    for _ in range(T):
        n = sum(np.roll(np.roll(X, a, 0), b, 1) for a in (-1, 0, 1) for b in (-1, 0, 1)) - X
        X = ((n == 3) | ((X == 1) & (n == 2))).astype(np.int32)
    return top, (A, z(P, P)), {1: X}


def hypercube_allreduce() -> Program:
    D, P = 3, 8

    @df.region()
    def top(A: int32[P], B: int32[P]):
        s: Stream[int32, 2][D, P]

        @df.kernel(mapping=[P], args=[A, B])
        def node(A: int32[P], B: int32[P]):
            p = df.get_pid()
            x: int32 = A[p]
            with allo.meta_for(D) as d:
                s[d, p ^ (1 << d)].put(x)
                x = x + s[d, p].get()
            B[p] = x

    A = ints(P)
    return top, (A, z(P)), {1: np.full(P, A.sum())}
