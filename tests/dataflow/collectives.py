"""Designs whose tasks combine values of positions: by collectives, by streams that are gathered, by layouts."""

from __future__ import annotations

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array; tasks are compiled where they stand
import allo
import allo.dataflow as df
from allo.ir.types import Stream, float32, int8, int16, int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate
Pk, Pm, Pn = 2, 2, 2
M, K, N = 4, 6, 4
LyA, LyB, LyC = Layout("S1S2"), Layout("S2S0"), Layout("S1S0")


def split_k():
    """Fig. 7a of the Dato paper."""

    @df.task(mapping=[Pk, Pm, Pn])
    def gemm(A: int16[M, K] @ LyA, B: int16[K, N] @ LyB, C: int16[M, N] @ LyC):
        part_C = allo.matmul(A, B)
        C[:, :] = allo.allreduce(part_C, op="+")


P, W = 4, 8


@df.region()
def gemv(A: float32[W, W], x: float32[W], y: float32[W]):
    """Each position has columns of the matrix; the result is cut into parts again."""

    @df.kernel(mapping=[P], args=[A, x, y])
    def part(A: float32[W, W] @ [R, S(0)], x: float32[W] @ [S(0)], y: float32[W] @ [S(0)]):
        sums: float32[W] = 0
        for i, k in allo.grid(W, W // P):
            sums[i] += A[i, k] * x[k]
        y[:] = allo.reduce_scatter(sums, op="+", axis=0)


H = 8


@df.region()
def ffn(X: int16[M, N], W1: int16[N, H], W2: int16[H, N], Y: int32[M, N]):
    """Data-parallel along axis 0, tensor-parallel along axis 1: hidden columns, then partial sums."""

    @df.kernel(mapping=[2, 2], args=[X, W1, W2, Y])
    def layer(
        X: int16[M, N] @ [S(0), R],
        W1: int16[N, H] @ [R, S(1)],
        W2: int16[H, N] @ [S(1), R],
        Y: int32[M, N] @ [S(0), R],
    ):
        hidden: int16[M // 2, H // 2] = allo.relu(allo.matmul(X, W1))
        Y[:, :] = allo.allreduce(allo.matmul(hidden, W2))


@df.region()
def gathered_ffn(X: int16[M, N], W1: int16[N, H], W2: int16[H, N], Y: int32[M, N]):
    """The hidden layer is gathered, and each position computes columns of the result."""

    @df.kernel(mapping=[2, 2], args=[X, W1, W2, Y])
    def layer(
        X: int16[M, N] @ [S(0), R],
        W1: int16[N, H] @ [R, S(1)],
        W2: int16[H, N] @ [R, S(1)],
        Y: int32[M, N] @ [S(0), S(1)],
    ):
        part: int16[M // 2, H // 2] = allo.relu(allo.matmul(X, W1))
        hidden = allo.all_gather(part, dim=1)
        Y[:, :] = allo.matmul(hidden, W2)


HEADS, LENGTH, WIDTH = 2, 4, 3


@df.region()
def heads(
    Q: int16[LENGTH, HEADS * WIDTH],
    K: int16[LENGTH, HEADS * WIDTH],
    V: int16[HEADS * LENGTH, WIDTH],
    Y: int32[HEADS * LENGTH, WIDTH],
    Z: int32[LENGTH, LENGTH],
):
    """Each position has the scores of one head: products of its own columns, and of its own rows, of two matrices."""

    @df.kernel(mapping=[HEADS], args=[Q, K, V, Y, Z])
    def head(
        Q: int16[LENGTH, HEADS * WIDTH] @ [R, S(0)],
        K: int16[LENGTH, HEADS * WIDTH] @ [R, S(0)],
        V: int16[HEADS * LENGTH, WIDTH] @ [S(0), R],
        Y: int32[HEADS * LENGTH, WIDTH] @ [S(0), R],
        Z: int32[LENGTH, LENGTH] @ [R, R],
    ):
        scores: int16[LENGTH, LENGTH] = allo.relu(allo.matmul(Q, K.T))
        others = allo.relu(allo.matmul(V, V.T))
        Y[:, :] = allo.matmul(scores + others, V)
        Z[:, :] = allo.allreduce(scores, op="+", axis=0)


@df.region()
def blocks(A: int16[4, 4], B: int16[4, 4], C: int16[4, 4]):
    """Positions exchange blocks with their neighbours, and add up two products of blocks."""
    rows: Stream[int16[2, 2], 2][2, 2]
    columns: Stream[int16[2, 2], 2][2, 2]

    @df.kernel(mapping=[2, 2], args=[A, B, C])
    def block(A: int16[4, 4] @ [S(0), S(1)], B: int16[4, 4] @ [S(0), S(1)], C: int16[4, 4] @ [S(0), S(1)]):
        i, j = df.get_pid()
        rows[i, 1 - j].put(A)
        columns[1 - i, j].put(B)
        other_A: int16[2, 2] = rows[i, j].get()
        other_B: int16[2, 2] = columns[i, j].get()
        with allo.meta_if(i == j):
            C[:, :] = allo.add(allo.matmul(A, B), allo.matmul(other_A, other_B))
        with allo.meta_else():
            C[:, :] = allo.add(allo.matmul(other_A, B), allo.matmul(A, other_B))


@df.region()
def norms(A: int8[3, 4], most: int8[3], total: int32[3, 4]):
    """Numbers: the largest of each row, and a sum over the grid."""

    @df.kernel(mapping=[3, 4], args=[A, most, total])
    def each(A: int8[3, 4], most: int8[3] @ [S(0)], total: int32[3, 4]):
        i, j = df.get_pid()
        largest = allo.allreduce(A[i, j], "max", 1)
        most[0] = largest
        everything: int32 = allo.allreduce(A[i, j], axis=[0, 1])
        total[i, j] = everything * j


@df.region()
def farm(A: int16[P, 2, 3], B: int16[P * 2, 3]):
    """Blocks scattered to workers, and gathered from them."""
    work: Stream[int16[2, 3], 2][P]
    done: Stream[int16[2, 3], 2][P]

    @df.kernel(mapping=[1], args=[A])
    def give(A: int16[P, 2, 3]):
        rows: int16[P * 2, 3]
        for p, i, j in allo.grid(P, 2, 3):
            rows[2 * p + i, j] = A[p, i, j]
        df.scatter(rows, work)

    @df.kernel(mapping=[P])
    def double():
        p = df.get_pid()
        block: int16[2, 3] = work[p].get()
        done[p].put(block + block)

    @df.kernel(mapping=[1], args=[B])
    def take(B: int16[P * 2, 3]):
        B[:, :] = df.gather(done[:].get())


@df.region()
def columns(A: int16[2, 3], B: int16[2, 3], C: int16[3]):
    """Numbers of a grid of streams, and of one row of it."""
    fifo: Stream[int16, 2][2, 3]

    @df.kernel(mapping=[2, 3], args=[A])
    def put(A: int16[2, 3]):
        i, j = df.get_pid()
        fifo[i, j].put(A[i, j])
        fifo[i, j].put(A[i, j] + 1)

    @df.kernel(mapping=[1], args=[B, C])
    def get(B: int16[2, 3], C: int16[3]):
        B[:, :] = df.gather(fifo)
        C[:] = df.gather([fifo[1, k].get() for k in range(3)])
        others = df.gather(fifo[0, :])
        C[0] += others[0]


@df.region()
def whole_and_parts(A: int16[M, N], b: int16[N], C: int16[M, N]):
    """What is whole at all positions is cut where it meets what is cut."""

    @df.kernel(mapping=[2, 2], args=[A, b, C])
    def add(A: int16[M, N] @ [S(0), R], b: int16[N] @ [S(1)], C: int16[M, N] @ [S(0), S(1)]):
        C[:, :] = A + b


@df.region()
def transposed_parts(A: int16[M, N], C: int16[N, M]):
    @df.kernel(mapping=[2, 1], args=[A, C])
    def turn(A: int16[M, N] @ [S(0), R], C: int16[N, M] @ [R, S(0)]):
        C[:, :] = A.T


@df.region()
def joined_halves(X: int16[2, 2], Y: int16[2, 2]):
    """A region for parts of arrays, with a collective of its own; all positions have all of the result."""

    @df.kernel(mapping=[2], args=[X, Y])
    def add(X: int16[2, 2] @ [S(0), R], Y: int16[2, 2] @ [R, R]):
        Y[:, :] = allo.all_gather(X) + 1


@df.region()
def regions_of_parts(A: int16[M, N], C: int16[M, N]):
    @df.kernel(mapping=[2, 2], args=[A, C])
    def outer(X: int16[M, N] @ [S(0), S(1)], Y: int16[M, N] @ [S(0), S(1)]):
        joined_halves(X, Y)
