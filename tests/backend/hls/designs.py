"""Ten small designs whose C++ is stored in `golden/`: schedules, layouts, streams, odd widths, structs, all numbers."""

from __future__ import annotations

import numpy as np

import allo
from allo.ir.types import (
    Fixed,
    Stateful,
    Struct,
    UFixed,
    UInt,
    bfloat16,
    float16,
    float32,
    int8,
    int32,
    uint5,
    uint8,
    uint16,
)
from allo.memory import Memory

M = N = K = 8
Point = Struct({"x": int32, "weight": Fixed(8, 4)})
Rounded = Fixed(8, 2, rounding="rnd", overflow="sat")


def gemm(A: float32[M, K], B: float32[K, N]) -> float32[M, N]:
    C: float32[M, N] = 0
    for i, j in allo.grid(M, N):
        for k in allo.reduction(K):
            C[i, j] += A[i, k] * B[k, j]
    return C


def blur(A: int32[10, 10]) -> int32[8, 8]:
    B: int32[8, 8] = 0
    for y, x in allo.grid(8, 8):
        v: int32 = 0
        for r, c in allo.reduction(3, 3):
            v += A[y + r, x + c]
        B[y, x] = v
    return B


def add_one(A: int32[M, M], B: int32[M, M]):
    for i, j in allo.grid(M, M):
        B[i, j] = A[i, j] + 1


def chain(A: int32[M, M], C: int32[M, M]):
    B: int32[M, M]
    add_one(A, B)  # noqa: F821
    for i, j in allo.grid(M, M, name="last"):
        C[i, j] = B[i, j] * 2  # noqa: F821


def bits(a: uint5, w: int8, n: int32) -> (UInt(7), int32):
    count: Stateful[int32] = 3
    x: UInt(7) = a + 3
    x[1:3] = a[0:2]
    count += n
    for i in range(4):
        if w > 2 or i == 2:
            x[0] = x[3]
            x[i] = w[i + 1]
    y: int32 = (x >> 2) * w - a // 3 + count % 5
    return x, y


def points(ps: Point[4], by: UFixed(6, 3)) -> Rounded:
    total: Rounded = 0
    for i in range(4):
        ps[i].x = ps[i].x + i
        ps[i].weight = ps[i].weight * by
        total += ps[i].weight / 3
    return total


def small_gemm(A: int32[2, 4], B: int32[4, 2], C: int32[2, 2]):
    for i, j in allo.grid(2, 2, name="PE"):
        for k in allo.reduction(4):
            C[i, j] += A[i, k] * B[k, j]


WEIGHTS = np.array([1, -2, 3, 4, -5, 6, 7, -8], np.int8)


def dot(x: int8[8], bias: int32) -> int32:
    W: int8[8] = WEIGHTS
    total: int32 = bias
    for i in range(8):
        total += x[i] * W[i]
    return total


def floats(x: float32[8], scale: float16) -> (bfloat16[8], uint8[8], int32):
    half: bfloat16[8] = 0
    level: uint8[8] = 0
    most: float32 = x[0]
    for i in range(8):
        half[i] = x[i] * scale
        level[i] = x[i] * 100
        most = max(most, half[i] / 3)
    whole: int32 = allo.exp(most)
    return half, level, whole


def histogram(keys: uint8[16], wanted: uint16) -> (int32[16], int32):
    counts: int32[16] = 0
    bins: int32[16] = 0
    for i in range(16, name="count"):
        bins[keys[i] % 16] += 1
    for i in range(16, name="copy"):
        counts[i] = bins[i]
    place: int32 = 0
    total: int32 = 0
    while total < wanted and place < 16:
        total += bins[place]
        place += 1
    return counts, place


def scheduled_small_gemm() -> allo.Schedule:
    s = allo.customize(small_gemm)
    a, b = s.buffer_at("A", "j"), s.buffer_at("B", "j")
    elements = s.unfold("PE", axes=[0, 1])
    s.partition("C")
    s.relay(a, elements, axis=1, depth=3)
    s.relay(b, elements, axis=0, depth=3)
    return s


def scheduled_dot() -> allo.Schedule:
    s = allo.customize(dot)
    s.pack("W", dim=1, factor=4)
    s.pack("x", dim=1, factor=4)
    s.pipeline("i")
    return s


def scheduled_floats() -> allo.Schedule:
    s = allo.customize(floats)
    s.unroll("i", 2)
    s.partition("half", partition_type=allo.Partition.Complete)
    return s


def scheduled_histogram() -> allo.Schedule:
    s = allo.customize(histogram)
    s.bind("bins", Memory(resource="BRAM", storage_type="RAM_2P"))
    s.partition("bins", partition_type=allo.Partition.Cyclic, factor=2)
    s.pipeline(s.get_loops()["count"]["i"], initiation_interval=2)
    s.parallel(s.get_loops()["copy"]["i"])
    return s


def scheduled_gemm() -> allo.Schedule:
    s = allo.customize(gemm)
    s.reorder("k", "j")
    s.buffer_at("C", axis="i")
    s.pipeline("j")
    s.partition("B", partition_type=allo.Partition.Cyclic, dim=2, factor=4)
    return s


def scheduled_blur() -> allo.Schedule:
    s = allo.customize(blur)
    lines = s.reuse_at("A", axis="y")
    window = s.reuse_at(lines, axis="x")
    s.partition(window)
    s.pipeline("x")
    return s


def scheduled_chain() -> allo.Schedule:
    s = allo.compose(chain, [allo.customize(add_one)])
    s.relay("B", "last", depth=2)
    s.dataflow("chain")
    return s


DESIGNS = {
    "gemm": lambda: allo.customize(gemm),
    "scheduled_gemm": scheduled_gemm,
    "blur": scheduled_blur,
    "chain": scheduled_chain,
    "bits": lambda: allo.customize(bits),
    "points": lambda: allo.customize(points),
    "systolic": scheduled_small_gemm,
    "dot": scheduled_dot,
    "floats": scheduled_floats,
    "histogram": scheduled_histogram,
}
# the designs whose C++ for other vendors is stored
WANTED = {
    "ihls": ("gemm", "histogram", "bits"),
    "catapult": ("scheduled_gemm", "chain", "points"),
    "tapa": ("scheduled_gemm", "chain", "blur"),
}
