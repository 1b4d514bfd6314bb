"""Dataflow designs: each with its arguments, and what NumPy says that it gives."""

from __future__ import annotations

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array; tasks are compiled where they stand
import allo
import allo.dataflow as df
from allo.ir.types import ConstExpr, Stream, index, int8, int16, int32
from allo.memory import Layout

M, N, K = 4, 4, 6
P0, P1 = M + 2, N + 2
L = 8


@df.region()
def producer_consumer():
    pipe: Stream[int32, 4]

    @df.kernel(mapping=[1])
    def producer(A: int32[M, N]):
        for i, j in allo.grid(M, N):
            out: int32 = A[i, j]
            pipe.put(out)

    @df.kernel(mapping=[1])
    def consumer(B: int32[M, N]):
        for i, j in allo.grid(M, N):
            data = pipe.get()
            B[i, j] = data + 1


@df.region()
def systolic(A: int16[M, K], B: int16[K, N], C: int16[M, N]):
    fifo_A: Stream[int16, 4][P0, P1]
    fifo_B: Stream[int16, 4][P0, P1]

    @df.kernel(mapping=[P0, P1], args=[A, B, C])
    def gemm(A: int16[M, K], B: int16[K, N], C: int16[M, N]):
        i, j = df.get_pid()
        with allo.meta_if(i in {0, M + 1} and j in {0, N + 1}):
            pass
        with allo.meta_elif(j == 0):
            for k in range(K):
                fifo_A[i, j + 1].put(A[i - 1, k])
        with allo.meta_elif(i == 0):
            for k in range(K):
                fifo_B[i + 1, j].put(B[k, j - 1])
        with allo.meta_elif(i == M + 1 and j > 0):
            for _k in range(K):
                b: int16 = fifo_B[i, j].get()
        with allo.meta_elif(j == N + 1 and i > 0):
            for _k in range(K):
                a: int16 = fifo_A[i, j].get()
        with allo.meta_else():
            c: int16 = 0
            for _k in range(K):
                a: int16 = fifo_A[i, j].get()
                b: int16 = fifo_B[i, j].get()
                c += a * b
                fifo_A[i, j + 1].put(a)
                fifo_B[i + 1, j].put(b)
            C[i - 1, j - 1] = c


@df.region()
def blocks(A: int16[L, 4], B: int16[L, 4]):
    rows: Stream[int16[4], 2]
    doubled: Stream[int16[4], 2]

    @df.kernel(mapping=[1], args=[A])
    def load(X: int16[L, 4]):
        for i in range(L):
            rows.put(X[i])

    @df.kernel()
    def double():
        for _i in range(L):
            row: int16[4] = rows.get()
            doubled.put(row + row)

    @df.kernel(mapping=[1], args=[B])
    def store(Y: int16[L, 4]):
        for i in range(L):
            Y[i, :] = doubled.get()


@df.region()
def fork_join(A: int32[L], B: int32[L]):
    left: Stream[int32, 2]
    right: Stream[int32, 2]
    squared: Stream[int32, 2]
    cubed: Stream[int32, 2]

    @df.task(mapping=[1], args=[A])
    def fork(A: int32[L]):
        for i in range(L):
            left.put(A[i])
            right.put(A[i])

    @df.task()
    def square():
        for _i in range(L):
            x = left.get()
            squared.put(x * x)

    @df.task()
    def cube():
        for _i in range(L):
            x = right.get()
            cubed.put(x * x * x)

    @df.task(mapping=[1], args=[B])
    def join(B: int32[L]):
        for i in range(L):
            B[i] = squared.get() - cubed.get()


@df.region()
def feedback(A: int16[L], B: int16[L]):
    asked: Stream[int16, 2]
    answered: Stream[int16, 2]

    @df.kernel(mapping=[1], args=[A, B])
    def client(A: int16[L], B: int16[L]):
        for i in range(L):
            asked.put(A[i])
            B[i] = answered.get()

    @df.kernel()
    def server():
        for _i in range(L):
            x = asked.get()
            answered.put(x * x)


@df.region()
def chain(A: int16[L], B: int16[L], step: int16):
    pipe: Stream[int16, 2][5]

    @df.kernel(mapping=[4], args=[A, B])
    def stage(A: int16[L], B: int16[L]):
        p = df.get_pid()
        with allo.meta_if(p == 0):
            for i in range(L):
                pipe[p + 1].put(A[i])
        with allo.meta_elif(p == 3):
            for i in range(L):
                B[i] = pipe[p].get()
        with allo.meta_else():
            for _i in range(L):
                pipe[p + 1].put(pipe[p].get() + step * p)


@df.region()
def doubling[T, W: index](A: T[W], B: T[W]):
    pipe: Stream[T, 4]

    @df.kernel(mapping=[1], args=[A])
    def load(X: T[W]):
        for i in range(W):
            pipe.put(X[i] * 2)

    @df.kernel(mapping=[1], args=[B])
    def store(Y: T[W]):
        for i in range(W):
            Y[i] = pipe.get() + 1


@df.region()
def regions_in_a_task(A: int16[L], B: int16[L]):
    @df.kernel(mapping=[1], args=[A, B])
    def outer(X: int16[L], Y: int16[L]):
        T: int16[L] = 0
        doubling[int16, L](X, T)
        doubling[int16, L](T, Y)


@df.region()
def regions_in_a_region(A: int16[L], B: int16[L]):
    T: int16[L]
    doubling[int16, L](A, T)
    doubling[int16, L](T, B)


FACTORS = [3, 1, 4, 1]


def factor(p: int) -> int:
    return FACTORS[p]


@df.region()
def constants(A: int16[4, L], B: int16[4, L]):
    @df.kernel(mapping=[4], args=[A, B])
    def scale(A: int16[4, L], B: int16[4, L]):
        p = df.get_pid()
        q: ConstExpr[int32] = 3 - p
        h: ConstExpr[int32] = factor(p)
        for i in range(L):
            B[q, i] = A[p, i] * h
        with allo.meta_for(p) as k:
            B[q, k] = 0
        with allo.meta_if(factor(p) == 1):
            B[q, 7] = 77
        with allo.meta_else():
            B[q, 6] = 66
        if p == 2:
            B[q, 5] = 55


@df.region()
def diagonal(A: int8[6, 6], B: int8[6, 6]):
    @df.kernel(mapping=[6, 6], args=[A, B])
    def f(A: int8[6, 6], B: int8[6, 6]):
        i, j = df.get_tid()
        with allo.meta_if(i == j):
            B[i, j] = 1
        with allo.meta_elif(i + j == 5):
            B[i, j] = 2
        with allo.meta_else():
            B[i, j] = A[i, j]


@df.region()
def streams_as_arguments(A: int16[L], B: int16[L]):
    pipe: Stream[int16, 4]

    @df.kernel(mapping=[1], args=[A, pipe])
    def load(X: int16[L], out: Stream[int16, 4]):
        for i in range(L):
            out.put(X[i])

    @df.kernel(mapping=[1], args=[pipe, B])
    def store(given: Stream[int16, 4], Y: int16[L]):
        for i in range(L):
            Y[i] = given.get()


R, S = Layout.Replicate, Layout.Shard


@df.region()
def shards_of_vectors():
    pipes: Stream[int16[L // 2], 2][2]

    @df.task(mapping=[2])
    def producer(A: int16[L] @ Layout("S")):
        place = df.get_tid()
        pipes[place].put(A[:])

    @df.task(mapping=[2])
    def consumer(B: int16[L] @ Layout("S")):
        place = df.get_tid()
        B[:] = pipes[place].get() + 1


@df.region()
def shards_as_wholes(A: int16[M, K], B: int16[K, N], C: int16[M, N]):
    @df.kernel(mapping=[2, 2], args=[A, B, C])
    def gemm(A: int16[M, K] @ [S(0), R], B: int16[K, N] @ [R, S(1)], C: int16[M, N] @ [S(0), S(1)]):
        C[:, :] = allo.matmul(A, B)


@df.region()
def shards_by_elements(A: int16[M, K], B: int16[K, N], C: int16[M, N]):
    @df.kernel(mapping=[2, 2], args=[A, B, C])
    def gemm(A: int16[M, K] @ [S(0), R], B: int16[K, N] @ [R, S(1)], C: int16[M, N] @ [S(0), S(1)]):
        for i, j in allo.grid(M // 2, N // 2):
            total: int16 = 0
            for k in range(K):
                total += A[i, k] * B[k, j]
            C[i, j] = total


@df.region()
def shards_of_both_kinds(A: int16[L]):
    @df.kernel(mapping=[2], args=[A])
    def turn(A: int16[L] @ [S(0)]):
        twice: int16[L // 2] = A + A
        for i in range(L // 2):
            A[i] = twice[L // 2 - 1 - i]


@df.region()
def exchange(A: int16[2 * L], B: int16[2 * L]):
    """Two tasks that work on halves of the same arrays, and pass each other their elements."""
    forth: Stream[int16, 2]
    back: Stream[int16, 2]

    @df.kernel(args=[A, B])
    def first(A: int16[2 * L], B: int16[2 * L]):
        for i in range(L):
            forth.put(A[i])
            B[i] = back.get()

    @df.kernel(args=[A, B])
    def second(A: int16[2 * L], B: int16[2 * L]):
        for i in range(L):
            back.put(A[L + i])
            B[L + i] = forth.get()
