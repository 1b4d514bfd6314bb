"""Programs as published ones for the NPU are written: elementwise, GEMM, pipelines, tensor parallel, collectives."""

# Streams and arrays of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

from pathlib import Path

import allo
import allo.dataflow as df
from allo.backend.aie.external_kernel import ExternalModule
from allo.ir.types import Int, Stream, bfloat16, int8, int16, int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate
N = 256
M, K, P, Q = 32, 16, 4, 4
Ty = int16
LyA, LyB, LyC = Layout("S1R"), Layout("RS0"), Layout("S1S0")


@df.region()
def vector_scale(A: int32[N], B: int32[N]):
    @df.kernel(mapping=[4], args=[A, B])
    def core(a: int32[N] @ Layout("S0"), b: int32[N] @ Layout("S0")):
        b[:] = a * 3


@df.region()
def vector_add(A: int32[N], B: int32[N], C: int32[N]):
    @df.kernel(mapping=[16], args=[A, B, C])
    def core(a: int32[N] @ Layout("S0"), b: int32[N] @ Layout("S0"), c: int32[N] @ Layout("S0")):
        c[:] = allo.add(a, b)


@df.region()
def in_place(A: int32[N]):
    @df.kernel(mapping=[4], args=[A])
    def core(a: int32[N] @ Layout("S0")):
        for i in range(N // 4):
            a[i] = a[i] * 2 + 1


@df.region()
def matrix_add(A: int16[M, K], B: int16[M, K], C: int16[M, K]):
    @df.kernel(mapping=[2, 2], args=[A, B, C])
    def core(
        a: int16[M, K] @ Layout("S1S0"), b: int16[M, K] @ Layout("S1S0"), c: int16[M, K] @ Layout("S1S0")
    ):
        c[:, :] = allo.add(a, b)


@df.region()
def producer_consumer(A: int32[M, K], B: int32[M, K]):
    pipe: Stream[int32[K], 2]

    @df.kernel(mapping=[1], args=[A])
    def producer(a: int32[M, K]):
        for i in range(M):
            row: int32[K] = a[i, :]
            pipe.put(row)

    @df.kernel(mapping=[1], args=[B])
    def consumer(b: int32[M, K]):
        for i in range(M):
            b[i, :] = pipe.get() + 1


@df.region()
def gemm[T, P0, P1](A: T[M, K], B: T[K, M], C: T[M, M]):
    @df.kernel(mapping=[P0, P1], args=[A, B, C])
    def tile(a: T[M, K] @ Layout("S1R"), b: T[K, M] @ Layout("RS0"), c: T[M, M] @ Layout("S1S0")):
        c[:, :] = allo.matmul(a, b)


@df.region()
def split_k(A: int16[M, K], B: int16[K, M], C: int16[M, M]):
    pipe: Stream[int16[M, M], 2][4]

    @df.kernel(mapping=[4], args=[A, B])
    def gemm(a: int16[M, K] @ [R, S(0)], b: int16[K, M] @ [S(0), R]):
        p = df.get_pid()
        part: int16[M, M] = allo.matmul(a, b)
        pipe[p].put(part)

    @df.kernel(mapping=[1], args=[C])
    def acc(c: int16[M, M]):
        total: int16[M, M] = 0
        with allo.meta_for(4) as k:
            part: int16[M, M] = pipe[k].get()
            for i, j in allo.grid(M, M):
                total[i, j] += part[i, j]
        c[:, :] = total


@df.region()
def tensor_parallel(X: int16[M, K], W1: int16[K, M], W2: int16[M, K], Y: int16[M, K]):
    hidden: Stream[int16[M, M // 2], 2][2]
    partial: Stream[int16[M, K], 2][2]

    @df.kernel(mapping=[2], args=[X, W1])
    def first(x: int16[M, K], w: int16[K, M] @ [R, S(0)]):
        p = df.get_pid()
        h: int16[M, M // 2] = allo.matmul(x, w)
        hidden[p].put(h)

    @df.kernel(mapping=[2], args=[W2])
    def second(w: int16[M, K] @ [S(0), R]):
        p = df.get_pid()
        h: int16[M, M // 2] = hidden[p].get()
        y: int16[M, K] = allo.matmul(h, w)
        partial[p].put(y)

    @df.kernel(mapping=[1], args=[Y])
    def reduce(y: int16[M, K]):
        y[:, :] = partial[0].get() + partial[1].get()


@df.region()
def collective(A: int16[M, K], B: int16[K, M], C: int16[M, M]):
    @df.kernel(mapping=[2, 2], args=[A, B, C])
    def tile(a: int16[M, K] @ [S(0), S(1)], b: int16[K, M] @ [S(1), R], c: int16[M, M] @ [S(0), R]):
        part: int16[M // 2, M] = allo.matmul(a, b)
        c[:, :] = allo.allreduce(part, op="+", axis=1)


@df.region()
def systolic(A: int32[4, K], B: int32[K, 4], C: int32[4, 4]):
    right: Stream[int32, 4][4, 5]
    down: Stream[int32, 4][5, 4]

    @df.kernel(mapping=[4, 4], args=[A, B, C])
    def cell(a: int32[4, K], b: int32[K, 4], c: int32[4, 4]):
        i, j = df.get_pid()
        total: int32 = 0
        for k in range(K):
            x: int32 = 0
            y: int32 = 0
            with allo.meta_if(j == 0):
                x = a[i, k]
            with allo.meta_else():
                x = right[i, j].get()
            with allo.meta_if(i == 0):
                y = b[k, j]
            with allo.meta_else():
                y = down[i, j].get()
            total += x * y
            with allo.meta_if(j < 3):
                right[i, j + 1].put(x)
            with allo.meta_if(i < 3):
                down[i + 1, j].put(y)
        c[i, j] = total


@df.region()
def ping_pong[Pk, P0, P1](A: int16[M, K], B: int16[K, M], C: int32[M, M]):
    """A product whose partial sums go from position to position along the first axis of the grid."""
    pipe: Stream[int32[M // P0, M // P1], 2][Pk - 1, P0, P1]

    @df.kernel(mapping=[Pk, P0, P1], args=[A, B, C])
    def gemm(
        a: int16[M, K] @ Layout("S1S2"), b: int16[K, M] @ Layout("S2S0"), c: int32[M, M] @ Layout("S1S0")
    ):
        pk, pm, pn = df.get_pid()
        before: int32[M // P0, M // P1] = 0
        with allo.meta_if(pk > 0):
            before[:, :] = pipe[pk - 1, pm, pn].get()
        after: int32[M // P0, M // P1] = allo.add(allo.matmul(a, b), before)
        with allo.meta_if(pk < Pk - 1):
            pipe[pk, pm, pn].put(after)
        with allo.meta_else():
            c[:, :] = after


@df.region()
def halves(A: int16[N], B: int32[N]):
    @df.kernel(mapping=[1], args=[A, B])
    def shifted(a: int16[N], b: int32[N]):
        x: Int(36)[N] = 0
        for i in range(N):
            x[i] = a[i] << 20
        for i in range(N):
            b[i] = (x[i] >> 16) + (x[N - 1 - i] >> 18)


def scale_in_cpp(folder: Path) -> ExternalModule:
    """A function of C++ that scales 64 numbers by 3."""
    source = folder / "scale.cc"
    source.write_text('extern "C" void scale(const int *a, int *b) { for (int i = 0; i < 64; ++i) b[i] = 3 * a[i]; }')
    return ExternalModule("scale", str(source), input_idx=[0], output_idx=[1], signature=["int32[64]"] * 2)


TYPES = {"i8": int8, "i16": int16, "bf16": bfloat16, "i32": int32}
