"""Six small designs whose C++ is stored in `golden/`: schedules, layouts, streams, odd widths, structs, fixed point."""

from __future__ import annotations

import allo
from allo.ir.types import Fixed, Stateful, Struct, UFixed, UInt, float32, int8, int32, uint5

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
}
