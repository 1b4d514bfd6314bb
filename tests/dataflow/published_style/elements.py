"""What streams carry: numbers of all types, structs, words, blocks."""

# ruff: noqa: F821, B007 - kernels as users of published Allo write them
import ml_dtypes
import numpy as np

import allo
import allo.dataflow as df
from allo.ir.types import (
    Fixed,
    Stream,
    Struct,
    UInt,
    bfloat16,
    float32,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint64,
)

from .program import Program, ints, rng, z


def fixed_point() -> Program:
    N = 8
    T = Fixed(16, 6)

    @df.region()
    def top(A: float32[N], B: float32[N]):
        s: Stream[T, 4]

        @df.kernel(mapping=[1], args=[A])
        def give(A: float32[N]):
            for i in range(N):
                v: T = A[i]
                s.put(v * v)

        @df.kernel(mapping=[1], args=[B])
        def take(B: float32[N]):
            for i in range(N):
                B[i] = s.get()

    A = (ints(N) / 4).astype(np.float32)
    return top, (A, z(N, dtype=np.float32)), {1: A * A}


def structs() -> Program:
    N = 8
    Pair = Struct({"key": int16, "value": int32})

    @df.region()
    def top(A: int16[N], B: int32[N], C: int32[N]):
        s: Stream[Pair, 4]

        @df.kernel(mapping=[1], args=[A, B])
        def give(A: int16[N], B: int32[N]):
            for i in range(N):
                p: Pair = {"key": A[i], "value": B[i]}
                s.put(p)

        @df.kernel(mapping=[1], args=[C])
        def take(C: int32[N]):
            for i in range(N):
                p: Pair = s.get()
                C[i] = p.key * p.value

    A, B = ints(N, dtype=np.int16), ints(N)
    return top, (A, B, z(N)), {2: A.astype(np.int32) * B}


def unsigned_wrap() -> Program:
    N = 8

    @df.region()
    def top(A: uint8[N], B: uint8[N]):
        s: Stream[uint8, 4]

        @df.kernel(mapping=[1], args=[A])
        def give(A: uint8[N]):
            for i in range(N):
                s.put(A[i] + 200)

        @df.kernel(mapping=[1], args=[B])
        def take(B: uint8[N]):
            for i in range(N):
                B[i] = s.get() >> 1

    A = rng.integers(0, 255, N).astype(np.uint8)
    return top, (A, z(N, dtype=np.uint8)), {1: ((A.astype(int) + 200) % 256 >> 1).astype(np.uint8)}


def packed_words_by_hand() -> Program:
    N, Pk = 8, 4

    @df.region()
    def top(A: UInt(Pk * 8)[N], B: UInt(Pk * 8)[N]):
        s: Stream[UInt(Pk * 8), 4]

        @df.kernel(mapping=[1], args=[A])
        def give(A: UInt(Pk * 8)[N]):
            for i in range(N):
                s.put(A[i])

        @df.kernel(mapping=[1], args=[B])
        def rev(B: UInt(Pk * 8)[N]):
            for i in range(N):
                w: UInt(Pk * 8) = s.get()
                o: UInt(Pk * 8) = 0
                with allo.meta_for(Pk) as k:
                    o[k * 8 : (k + 1) * 8] = w[(Pk - 1 - k) * 8 : (Pk - k) * 8]
                B[i] = o

    A = rng.integers(0, 2**32, N).astype(np.uint32)
    return top, (A, z(N, dtype=np.uint32)), {1: A.byteswap()}


def packed_stream_type() -> Program:
    N, Pk = 8, 4

    @df.region()
    def top(A: int8[N, Pk], B: int32[N]):
        s: Stream[int8, 8, Pk]

        @df.kernel(mapping=[1], args=[A])
        def give(A: int8[N, Pk]):
            for i in range(N):
                s.put(A[i])

        @df.kernel(mapping=[1], args=[B])
        def add(B: int32[N]):
            for i in range(N):
                w: int8[Pk] = s.get()
                t: int32 = 0
                for k in range(Pk):
                    t += w[k]
                B[i] = t

    A = ints(N, Pk, dtype=np.int8)
    return top, (A, z(N)), {1: A.astype(np.int32).sum(1)}


def bfloat16_dot() -> Program:
    N = 8

    @df.region()
    def top(A: bfloat16[N], B: bfloat16[N], C: float32[1]):
        s: Stream[bfloat16, 4]

        @df.kernel(mapping=[1], args=[A])
        def give(A: bfloat16[N]):
            for i in range(N):
                s.put(A[i])

        @df.kernel(mapping=[1], args=[B, C])
        def mac(B: bfloat16[N], C: float32[1]):
            t: float32 = 0.0
            for i in range(N):
                a: float32 = s.get()
                b: float32 = B[i]
                t += a * b
            C[0] = t

    A, B = ints(N).astype(ml_dtypes.bfloat16), ints(N).astype(ml_dtypes.bfloat16)
    return top, (A, B, z(1, dtype=np.float32)), {2: np.array([A.astype(np.float32) @ B.astype(np.float32)])}


def wide_words() -> Program:
    N = 4

    @df.region()
    def top(A: int64[N], B: int64[N]):
        s: Stream[UInt(96), 2]

        @df.kernel(mapping=[1], args=[A])
        def give(A: int64[N]):
            for i in range(N):
                w: UInt(96) = 0
                w[32:96] = A[i]
                w[0:8] = i
                s.put(w)

        @df.kernel(mapping=[1], args=[B])
        def take(B: int64[N]):
            for i in range(N):
                w: UInt(96) = s.get()
                t: uint64 = w[32:96]
                B[i] = t

    A = rng.integers(0, 2**60, N).astype(np.int64)
    return top, (A, z(N, dtype=np.int64)), {1: A}


def blocks_transposed() -> Program:
    h, w, n = 2, 4, 3

    @df.region()
    def top(A: int16[n * h, w], B: int16[w, n * h]):
        s: Stream[int16[h, w], 2]

        @df.kernel(mapping=[1], args=[A])
        def give(A: int16[n * h, w]):
            for t in range(n):
                blk: int16[h, w] = 0
                for i, j in allo.grid(h, w):
                    blk[i, j] = A[t * h + i, j]
                s.put(blk)

        @df.kernel(mapping=[1], args=[B])
        def take(B: int16[w, n * h]):
            for t in range(n):
                got: int16[h, w] = s.get()
                for i, j in allo.grid(h, w):
                    B[j, t * h + i] = got[i, j]

    A = ints(n * h, w, dtype=np.int16)
    return top, (A, z(w, n * h, dtype=np.int16)), {1: A.T}


def blocks_sliced() -> Program:
    h, w, n = 2, 4, 3

    @df.region()
    def top(A: int16[n * h, w], B: int16[n * h, w]):
        s: Stream[int16[h, w], 2]

        @df.kernel(mapping=[1], args=[A])
        def give(A: int16[n * h, w]):
            for t in range(n):
                s.put(A[t * h : (t + 1) * h, 0:w])

        @df.kernel(mapping=[1], args=[B])
        def take(B: int16[n * h, w]):
            for t in range(n):
                B[t * h : (t + 1) * h, :] = s.get()

    A = ints(n * h, w, dtype=np.int16)
    return top, (A, z(n * h, w, dtype=np.int16)), {1: A}


def library_in_tasks() -> Program:
    N = 4

    @df.region()
    def top(A: float32[N, N], B: float32[N, N], C: float32[N, N]):
        s: Stream[float32[N, N], 2]

        @df.kernel(mapping=[1], args=[A, B])
        def first(A: float32[N, N], B: float32[N, N]):
            s.put(allo.matmul(A, B))

        @df.kernel(mapping=[1], args=[C])
        def second(C: float32[N, N]):
            x: float32[N, N] = s.get()
            C[:, :] = allo.relu(x)

    A, B = ints(N, N, dtype=np.float32), ints(N, N, dtype=np.float32)
    return top, (A, B, z(N, N, dtype=np.float32)), {2: np.maximum(A @ B, 0)}


def softmax_rows() -> Program:
    M, N = 4, 8

    @df.region()
    def top(X: float32[M, N], Y: float32[M, N]):
        rows: Stream[float32[N], 2]

        @df.kernel(mapping=[1], args=[X])
        def give(X: float32[M, N]):
            for i in range(M):
                rows.put(X[i])

        @df.kernel(mapping=[1], args=[Y])
        def soft(Y: float32[M, N]):
            for i in range(M):
                r: float32[N] = rows.get()
                m: float32 = r[0]
                for j in range(N):
                    m = max(m, r[j])
                t: float32 = 0.0
                for j in range(N):
                    r[j] = allo.exp(r[j] - m)
                    t += r[j]
                for j in range(N):
                    Y[i, j] = r[j] / t

    X = rng.random((M, N)).astype(np.float32)
    E = np.exp(X - X.max(1, keepdims=True))
    E /= E.sum(1, keepdims=True)
    return top, (X, z(M, N, dtype=np.float32)), {1: E}


def matmul_tiles_with_caches() -> Program:
    M = N = K = 8
    T = 4

    @df.region()
    def top(A: int16[M, K], B: int16[K, N], C: int32[M, N]):
        sa: Stream[int16[T, T], 2]
        sb: Stream[int16[T, T], 2]
        sc: Stream[int32[T, T], 2]

        @df.kernel(mapping=[1], args=[A])
        def la(A: int16[M, K]):
            for m, n, k in allo.grid(M // T, N // T, K // T):
                t: int16[T, T] = 0
                for i, j in allo.grid(T, T):
                    t[i, j] = A[m * T + i, k * T + j]
                sa.put(t)

        @df.kernel(mapping=[1], args=[B])
        def lb(B: int16[K, N]):
            for m, n, k in allo.grid(M // T, N // T, K // T):
                t: int16[T, T] = 0
                for i, j in allo.grid(T, T):
                    t[i, j] = B[k * T + i, n * T + j]
                sb.put(t)

        @df.kernel(mapping=[1])
        def mm():
            for m, n in allo.grid(M // T, N // T):
                acc: int32[T, T] = 0
                for k in range(K // T):
                    a: int16[T, T] = sa.get()
                    b: int16[T, T] = sb.get()
                    for i, j, q in allo.grid(T, T, T):
                        acc[i, j] += a[i, q] * b[q, j]
                sc.put(acc)

        @df.kernel(mapping=[1], args=[C])
        def st(C: int32[M, N]):
            for m, n in allo.grid(M // T, N // T):
                t: int32[T, T] = sc.get()
                for i, j in allo.grid(T, T):
                    C[m * T + i, n * T + j] = t[i, j]

    A, B = ints(M, K, dtype=np.int16), ints(K, N, dtype=np.int16)
    return top, (A, B, z(M, N)), {2: A.astype(np.int32) @ B}


def stream_of_rows_to_a_grid() -> Program:
    """Blocks are dealt to a grid in turn, and collected in order."""
    n, W = 6, 3

    @df.region()
    def top(A: int16[n, 4], B: int32[n]):
        rows: Stream[int16[4], 2][W]
        sums: Stream[int32, 2][W]

        @df.kernel(mapping=[1], args=[A])
        def deal(A: int16[n, 4]):
            for t in range(n // W):
                with allo.meta_for(W) as w:
                    rows[w].put(A[t * W + w])

        @df.kernel(mapping=[W])
        def add():
            w = df.get_pid()
            for t in range(n // W):
                r: int16[4] = rows[w].get()
                s: int32 = 0
                for k in range(4):
                    s += r[k] * r[k]
                sums[w].put(s)

        @df.kernel(mapping=[1], args=[B])
        def collect(B: int32[n]):
            for t in range(n // W):
                with allo.meta_for(W) as w:
                    B[t * W + w] = sums[w].get()

    A = ints(n, 4, dtype=np.int16)
    return top, (A, z(n)), {1: (A.astype(np.int32) ** 2).sum(1)}
