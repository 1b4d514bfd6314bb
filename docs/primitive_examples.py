"""One small kernel for each primitive, on which the reference shows what the primitive does.

A function is named after its primitive; the last step of the schedule that it returns is the one to show.
"""

# A kernel of an example is not called; its variables look unused, its arrays undefined.
# ruff: noqa: F821

from __future__ import annotations

import allo
import allo.dataflow as df
from allo import Partition, Schedule
from allo.ir.types import Stream, float32, int32, uint8
from allo.memory import Memory


def add(A: float32[10], B: float32[10]):
    for i in range(10):
        B[i] = A[i] + 1.0


def transpose(A: float32[8, 6], B: float32[6, 8]):
    for i, j in allo.grid(8, 6):
        B[j, i] = A[i, j]


def row_sums(A: float32[8, 6], B: float32[8]):
    for i in range(8):
        B[i] = 0.0
        for j in range(6):
            B[i] += A[i, j]


def gemm(A: float32[8, 16], B: float32[16, 4], C: float32[8, 4]):
    for i, j in allo.grid(8, 4):
        for k in range(16):
            C[i, j] += A[i, k] * B[k, j]


def blur(A: int32[10], B: int32[8]):
    for x in range(8):
        B[x] = (A[x] + A[x + 1] + A[x + 2]) / 3


def double(A: float32[8], B: float32[8]):
    for i in range(8):
        B[i] = A[i] * 2.0


def increment(B: float32[8], C: float32[8]):
    for i in range(8):
        C[i] = B[i] + 1.0


def chain(A: float32[8], C: float32[8]):
    B: float32[8]
    double(A, B)
    increment(B, C)


def two_nests(A: float32[8], C: float32[8]):
    B: float32[8]
    for i in range(8):
        B[i] = A[i] * 2.0
    for j in range(8):
        C[j] = B[j] + 1.0


def two_rows(A: int32[8, 6], C: int32[7, 6]):
    B: int32[8, 6]
    for y, x in allo.grid(8, 6):
        B[y, x] = A[y, x] * 2
    for r, q in allo.grid(7, 6):
        C[r, q] = B[r, q] + B[r + 1, q]


def seidel(A: int32[8, 8]):
    for i in range(1, 7):
        for j in range(1, 7):
            A[i, j] = A[i - 1, j] + A[i, j - 1] + A[i - 1, j + 1]


def bytes_sum(A: uint8[16], B: uint8[16]):
    for i in range(16):
        B[i] = A[i] + 1


def split() -> Schedule:
    s = allo.customize(add)
    s.split("i", 4)
    return s


def reorder() -> Schedule:
    s = allo.customize(row_sums)
    s.reorder("j", "i")
    return s


def compute_at() -> Schedule:
    s = allo.customize(two_rows)
    s.compute_at("y", "r")
    return s


def skew() -> Schedule:
    s = allo.customize(seidel)
    s.skew("i", "j", 2)
    return s


def peel() -> Schedule:
    s = allo.customize(add)
    s.peel("i", front=1)
    return s


def fuse() -> Schedule:
    s = allo.customize(transpose)
    s.fuse("i", "j")
    return s


def fission() -> Schedule:
    s = allo.customize(row_sums)
    s.fission("i")
    return s


def unroll() -> Schedule:
    s = allo.customize(add)
    s.unroll("i", 5)
    return s


def pipeline() -> Schedule:
    s = allo.customize(gemm)
    s.pipeline("k", initiation_interval=2)
    return s


def parallel() -> Schedule:
    s = allo.customize(gemm)
    s.parallel("i")
    return s


def inline() -> Schedule:
    s = allo.customize(chain)
    s.inline("double")
    return s


def partition() -> Schedule:
    s = allo.customize(gemm)
    s.partition("B", partition_type=Partition.Cyclic, dim=1, factor=4)
    return s


@df.region()
def scaled_rows(A: float32[2, 8], F: float32[8], B: float32[2, 8]):
    @df.kernel(mapping=[2], args=[A, F, B])
    def row(A: float32[2, 8], F: float32[8], B: float32[2, 8]):
        p = df.get_pid()
        for i in range(8):
            B[p, i] = A[p, i] * F[i]


def distribute() -> Schedule:
    s = df.customize(scaled_rows)
    s.distribute("F")
    return s


def buffer_at() -> Schedule:
    s = allo.customize(gemm)
    s.buffer_at("C", axis="i")
    return s


def reuse_at() -> Schedule:
    s = allo.customize(blur)
    s.reuse_at("A", axis="x")
    return s


def reshape() -> Schedule:
    s = allo.customize(add)
    s.reshape("A", (2, 5))
    return s


def pack() -> Schedule:
    s = allo.customize(bytes_sum)
    s.pack("A", dim=1, factor=4)
    return s


def bind() -> Schedule:
    s = allo.customize(two_nests)
    s.bind("B", Memory(resource="URAM"))
    return s


def unfold() -> Schedule:
    s = allo.customize(gemm)
    s.unfold("S_i_j_0", axes=[1])
    return s


@df.region()
def counted(A: int32[64], B: int32[64]):
    pipe: Stream[int32, 64]

    @df.kernel(mapping=[1], args=[A])
    def squares(A: int32[64]):
        for i in range(64):
            pipe.put(A[i] * A[i])

    @df.kernel(mapping=[1], args=[B])
    def pairs(B: int32[64]):
        for i in range(32):
            first: int32 = pipe.get()
            second: int32 = pipe.get()
            B[2 * i] = first + second
            B[2 * i + 1] = first - second


def size_fifos() -> Schedule:
    s = df.customize(counted)
    s.pipeline("squares:i")
    s.pipeline("pairs:i")
    s.size_fifos()
    return s


def relay() -> Schedule:
    s = allo.customize(chain)
    s.relay("B", "increment", depth=4)
    return s


def transposed(A: float32[8, 4], B: float32[4, 8]):
    C: float32[8, 4]
    for i, j in allo.grid(8, 4, name="double"):
        C[i, j] = 2.0 * A[i, j]
    for h, j, i in allo.grid(2, 4, 4, name="store"):
        B[j, 4 * h + i] = C[4 * h + i, j]


def column_sums(A: float32[8, 4], B: float32[4]):
    C: float32[8, 4]
    for i, j in allo.grid(8, 4, name="double"):
        C[i, j] = 2.0 * A[i, j]
    D: float32[8, 4]
    for i, j in allo.grid(8, 4, name="square"):
        D[i, j] = C[i, j] * C[i, j]
    for j, i in allo.grid(4, 8, name="sum"):
        B[j] += D[i, j]


def delayed(A: float32[65536], B: float32[65536]):
    kept: float32[65536]
    taps: float32[16]
    for i in range(65536):
        kept[i] = A[i]
    for i in range(16):
        taps[i] = A[i]
    for i in range(65536):
        B[i] = kept[i] * taps[i % 16]


def place_arrays() -> Schedule:
    s = allo.customize(delayed)
    s.place_arrays("u280")
    return s


def place_arguments() -> Schedule:
    s = allo.customize(delayed)
    s.place_arguments("u280")
    return s


def fuse_streams() -> Schedule:
    s = allo.customize(column_sums)
    s.fuse_streams("column_sums", budget=256)
    return s


def rows(A: float32[8, 16], W: float32[16, 32], B: float32[8, 32]):
    T: float32[8, 16]
    for i, j in allo.grid(8, 16, name="double"):
        T[i, j] = 2.0 * A[i, j]
    for i, k, j in allo.grid(8, 16, 32, name="product"):
        B[i, j] += T[i, k] * W[k, j]


def product_rows(A: float32[8, 16], W: float32[16, 32], B: float32[8, 32]):
    for i, j, k in allo.grid(8, 32, 16, name="product"):
        B[i, j] += A[i, k] * W[k, j]


def interleave_sums() -> Schedule:
    s = allo.customize(product_rows)
    s.interleave_sums("product_rows")
    return s


def widen() -> Schedule:
    s = allo.customize(rows)
    s.relay("T", "product", depth=8)
    s.widen("fifo_T", 4)
    return s


def place_stages() -> Schedule:
    s = allo.customize(rows)
    s.fuse_streams("rows")
    s.place_stages("rows", fixed={"double": "SLR0", "product": "SLR1"})
    return s


def unroll_stages() -> Schedule:
    s = allo.customize(rows)
    s.fuse_streams("rows")
    s.unroll_stages("rows", dsp=30)
    return s


def convert() -> Schedule:
    s = allo.customize(transposed)
    s.convert("C", "store", depth=4)
    return s


def dataflow() -> Schedule:
    s = allo.customize(chain)
    s.dataflow("chain")
    return s


def halves(A: float32[8], B: float32[8], C: float32[8]):
    chain(A, B)
    increment(B, C)


def double_then_increment(A: float32[8], C: float32[8]):
    B: float32[8]
    double(A, B)
    increment(B, C)


def unify() -> Schedule:
    s = allo.customize(double_then_increment)
    s.unify("double", "increment", loop_num=1)
    return s


def specialize() -> Schedule:
    s = allo.customize(halves)
    s.specialize("increment", callers=["chain"], name="increment_chain")
    return s


@df.region()
def rows_of(A: int32[4, 8], B: int32[4, 8]):
    @df.kernel(mapping=[4], args=[A, B])
    def row(A: int32[4, 8], B: int32[4, 8]):
        i = df.get_pid()
        for j in range(8):
            B[i, j] = A[i, j] + 1


def separate() -> Schedule:
    s = df.customize(rows_of)
    s.separate("row", "1:3")
    return s
