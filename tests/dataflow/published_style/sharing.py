"""Programs whose tasks read, and write parts of, the arguments of their region."""

# ruff: noqa: F821 - kernels as users of published Allo write them
import numpy as np

import allo
import allo.dataflow as df
from allo.ir.types import ConstExpr, Stateful, Stream, float32, int16, int32, uint8
from allo.memory import Layout

from .program import Program, ints, rng, z

S, R = Layout.Shard, Layout.Replicate


def saxpy() -> Program:
    N = 16

    @df.region()
    def top(alpha: float32, X: float32[N], Y: float32[N], Z: float32[N]):
        px: Stream[float32, 4]
        py: Stream[float32, 4]

        @df.kernel(mapping=[1], args=[X, Y])
        def load(x: float32[N], y: float32[N]):
            for i in range(N):
                px.put(x[i])
                py.put(y[i])

        @df.kernel(mapping=[1], args=[alpha, Z])
        def compute(a: float32, z: float32[N]):
            for i in range(N):
                z[i] = a * px.get() + py.get()

    x, y = ints(N, dtype=np.float32), ints(N, dtype=np.float32)
    return top, (2.5, x, y, z(N, dtype=np.float32)), {3: np.float32(2.5) * x + y}


def shared_reads() -> Program:
    """Four positions read one argument freely, unpartitioned."""
    N, W = 8, 4

    @df.region()
    def top(A: int32[N], Y: int32[W, N]):
        @df.kernel(mapping=[W], args=[A, Y])
        def work(a: int32[N], y: int32[W, N]):
            p = df.get_pid()
            for i in range(N):
                y[p, i] = a[(i + p) % N] * (p + 1)

    A = ints(N)
    return top, (A, z(W, N)), {1: np.stack([np.roll(A, -p) * (p + 1) for p in range(W)])}


def shared_reads_by_three_tasks() -> Program:
    N = 8

    @df.region()
    def top(A: int32[N, N], X: int32[N], Y: int32[N], Z: int32[1]):
        @df.kernel(mapping=[1], args=[A, X])
        def rows(a: int32[N, N], x: int32[N]):
            for i in range(N):
                s: int32 = 0
                for j in range(N):
                    s += a[i, j]
                x[i] = s

        @df.kernel(mapping=[1], args=[A, Y])
        def cols(a: int32[N, N], y: int32[N]):
            for j in range(N):
                s: int32 = 0
                for i in range(N):
                    s += a[i, j]
                y[j] = s

        @df.kernel(mapping=[1], args=[A, Z])
        def trace(a: int32[N, N], zz: int32[1]):
            s: int32 = 0
            for i in range(N):
                s += a[i, i]
            zz[0] = s

    A = ints(N, N)
    return top, (A, z(N), z(N), z(1)), {1: A.sum(1), 2: A.sum(0), 3: np.array([np.trace(A)])}


def data_dependent_shared_reads() -> Program:
    """Two positions look up one table with subscripts that data decide."""
    N, T = 8, 16

    @df.region()
    def top(table: int32[T], idx: int32[2, N], out: int32[2, N]):
        @df.kernel(mapping=[2], args=[table, idx, out])
        def look(t: int32[T], ix: int32[2, N], o: int32[2, N]):
            p = df.get_pid()
            for i in range(N):
                o[p, i] = t[ix[p, i]]

    t = ints(T)
    ix = rng.integers(0, T, (2, N)).astype(np.int32)
    return top, (t, ix, z(2, N)), {2: t[ix]}


def matrix_vector_rows() -> Program:
    M, N, Pn = 8, 8, 4

    @df.region()
    def top(A: int16[M, N], x: int16[N], y: int32[M]):
        @df.kernel(mapping=[Pn], args=[A, x, y])
        def dot(A: int16[M, N] @ [S(0), R], x: int16[N] @ [R], y: int32[M] @ [S(0)]):
            for i in range(M // Pn):
                acc: int32 = 0
                for k in range(N):
                    acc += A[i, k] * x[k]
                y[i] = acc

    A, x = ints(M, N, dtype=np.int16), ints(N, dtype=np.int16)
    return top, (A, x, z(M)), {2: A.astype(np.int32) @ x}


def constant_weights() -> Program:
    N = 4
    W = np.arange(16, dtype=np.int32).reshape(4, 4)

    @df.region()
    def top(A: int32[N], B: int32[N]):
        s: Stream[int32, 8]

        @df.kernel(mapping=[1], args=[A])
        def give(A: int32[N]):
            for i in range(N):
                s.put(A[i])

        @df.kernel(mapping=[1], args=[B])
        def take(B: int32[N]):
            w: int32[4, 4] = W
            x: int32[4] = 0
            for i in range(N):
                x[i] = s.get()
            for i in range(N):
                t: int32 = 0
                for k in range(4):
                    t += w[i, k] * x[k]
                B[i] = t

    A = ints(N)
    return top, (A, z(N)), {1: W @ A}


def array_between_tasks() -> Program:
    """A buffer of the region, which one task fills and the next one reads."""
    N = 8

    @df.region()
    def top(A: int32[N], B: int32[N]):
        buf: int32[N]

        @df.kernel(mapping=[1], args=[A])
        def give(A: int32[N]):
            for i in range(N):
                buf[i] = A[i] * 2

        @df.kernel(mapping=[1], args=[B])
        def take(B: int32[N]):
            for i in range(N):
                B[i] = buf[N - 1 - i]

    A = ints(N)
    return top, (A, z(N)), {1: (A * 2)[::-1]}


def position_as_value() -> Program:
    n = 4

    @df.region()
    def top(A: float32[n], B: int32[n, n]):
        @df.kernel(mapping=[n], args=[A, B])
        def f(A: float32[n], B: int32[n, n]):
            i = df.get_pid()
            A[i] = i * 0.5
            for j in range(i + 1):
                B[i, j] = i + j if j % 2 == 0 else i - j

    B = np.zeros((n, n), np.int32)
    for i in range(n):
        for j in range(i + 1):
            B[i, j] = i + j if j % 2 == 0 else i - j
    return top, (z(n, dtype=np.float32), z(n, n)), {0: (np.arange(n) * 0.5).astype(np.float32), 1: B}


def constexpr_in_tasks() -> Program:
    n = 4

    def pick(i):
        return [2, 7, 1, 8][i]

    @df.region()
    def top(A: int32[n]):
        @df.kernel(mapping=[n], args=[A])
        def f(A: int32[n]):
            i = df.get_pid()
            c: ConstExpr[int32] = pick(i)
            A[i] = c

    return top, (z(n),), {0: np.array([2, 7, 1, 8])}


def histogram_partial() -> Program:
    N, W, BINS = 32, 4, 8

    @df.region()
    def top(A: uint8[N], H: int32[BINS]):
        part: Stream[int32[BINS], 2][W]

        @df.kernel(mapping=[W], args=[A])
        def count(A: uint8[N] @ [S(0)]):
            w = df.get_pid()
            h: int32[BINS] = 0
            for i in range(N // W):
                h[A[i]] += 1
            part[w].put(h)

        @df.kernel(mapping=[1], args=[H])
        def merge(H: int32[BINS]):
            for b in range(BINS):
                H[b] = 0
            with allo.meta_for(W) as w:
                h: int32[BINS] = part[w].get()
                for b in range(BINS):
                    H[b] += h[b]

    A = rng.integers(0, BINS, N).astype(np.uint8)
    return top, (A, z(BINS)), {1: np.bincount(A, minlength=BINS)}


def array_kernel_args_without_args() -> Program:
    n = 4

    @df.region()
    def top():
        s: Stream[int32, 4]

        @df.kernel(mapping=[1])
        def give(A: int32[n]):
            for i in range(n):
                s.put(A[i])

        @df.kernel(mapping=[1])
        def take(B: int32[n]):
            for i in range(n):
                B[i] = s.get()

    A = ints(n)
    return top, (A, z(n)), {1: A}


def stream_args_of_tasks() -> Program:
    N = 8

    @df.region()
    def top(A: int32[N], B: int32[N]):
        s: Stream[int32, 4]
        t: Stream[int32, 4]

        @df.kernel(mapping=[1], args=[A, s])
        def give(a: int32[N], out: Stream[int32, 4]):
            for i in range(N):
                out.put(a[i])

        @df.kernel(mapping=[1], args=[s, t])
        def mid(i0: Stream[int32, 4], o0: Stream[int32, 4]):
            for i in range(N):
                o0.put(i0.get() + i)

        @df.kernel(mapping=[1], args=[t, B])
        def take(i0: Stream[int32, 4], b: int32[N]):
            for i in range(N):
                b[i] = i0.get()

    A = ints(N)
    return top, (A, z(N)), {1: A + np.arange(N)}


def helper_functions() -> Program:
    N = 8

    def square(x: int32) -> int32:
        return x * x

    def send(v: int32, out: Stream[int32, 4]):
        out.put(square(v))

    @df.region()
    def top(A: int32[N], B: int32[N]):
        s: Stream[int32, 4]

        @df.kernel(mapping=[1], args=[A])
        def give(A: int32[N]):
            for i in range(N):
                send(A[i], s)

        @df.kernel(mapping=[1], args=[B])
        def take(B: int32[N]):
            for i in range(N):
                B[i] = s.get()

    A = ints(N)
    return top, (A, z(N)), {1: A * A}


def stateful_counter() -> Program:
    N = 8

    @df.region()
    def top(A: int32[N], B: int32[N]):
        s: Stream[int32, 4]

        @df.kernel(mapping=[1], args=[A])
        def give(A: int32[N]):
            for i in range(N):
                s.put(A[i])

        @df.kernel(mapping=[1], args=[B])
        def take(B: int32[N]):
            total: int32 @ Stateful = 0
            for i in range(N):
                total += s.get()
                B[i] = total

    A = ints(N)
    return top, (A, z(N)), {1: np.cumsum(A)}


def region_constants() -> Program:
    """Variables of the region that are constants."""
    n = 4

    @df.region()
    def top(B: int32[n]):
        pipe: Stream[int32, n]
        start = 5
        step: int32 = -2

        @df.task()
        def count():
            for i in range(n):
                pipe.put(start + step * i)

        @df.task()
        def take(B: int32[n]):
            for i in range(n):
                B[i] = pipe.get() + start

    return top, (z(n),), {0: 10 - 2 * np.arange(n)}


def two_scalars_and_a_stream_argument() -> Program:
    n = 8

    @df.region()
    def top(low: int32, high: int32, A: int32[n], B: int32[n]):
        kept: Stream[int32, 8]

        @df.kernel(mapping=[1], args=[A, kept, low, high])
        def clip(A: int32[n], out: Stream[int32, 8], low: int32, high: int32):
            for i in range(n):
                out.put(min(max(A[i], low), high))

        @df.kernel(mapping=[1], args=[kept, B, low])
        def shift(inp: Stream[int32, 8], B: int32[n], low: int32):
            for i in range(n):
                B[i] = inp.get() - low

    A = ints(n)
    return top, (-3, 4, A, z(n)), {3: np.clip(A, -3, 4) + 3}
