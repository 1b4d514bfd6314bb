"""Matrix-vector product: P rows at a time, each element of the vector read once for them."""

from __future__ import annotations

import allo
from allo.customize import Partition, Schedule
from allo.ir.types import ConstExpr, Int, index, int4, int8, int32

from ..ir.walk import constant_bounds
from .demands import groups, quotient, signed_product
from .pipelines import called, pipelines


def gemv[TyA, TyX, TyY, M: index, N: index, P: index](A: TyA[M, N], x: TyX[N], y: TyY[M]):
    """y = A @ x, with the sums of P rows at a time; the last rows may be fewer."""
    count: ConstExpr[index] = groups(M, P, "M")
    for r in range(count, name="rows"):
        sums: TyY[P] = 0
        for j in range(N, name="product"):
            v: TyX = x[j]
            for p in range(P):
                with allo.meta_if(M % P == 0):
                    sums[p] += A[r * P + p, j] * v
                with allo.meta_else():
                    if r * P + p < M:
                        sums[p] += A[r * P + p, j] * v
        for q in range(P, name="end"):
            with allo.meta_if(M % P == 0):
                y[r * P + q] = sums[q]
            with allo.meta_else():
                if r * P + q < M:
                    y[r * P + q] = sums[q]


def doubled_gemv[TyA, TyX, TyY, M: index, N: index, P: index](A: TyA[M, N], x: TyX[N], y: TyY[M]):
    """y = A @ x as `gemv`, with two products a multiplier as in `systolic.doubled_tile`; P is even and divides M."""
    width: ConstExpr[index] = signed_product(TyA, TyX)
    count: ConstExpr[index] = quotient(M, P, "M")
    pairs: ConstExpr[index] = quotient(P, 2, "P")
    for r in range(count, name="rows"):
        sums: TyY[P] = 0
        for j in range(N, name="product"):
            v: TyX = x[j]
            for p in range(pairs):
                word: Int(TyA.bits * 2 + TyX.bits + 1) = A[r * P + 2 * p, j] + (
                    A[r * P + 2 * p + 1, j] << width
                )
                product: Int((TyA.bits + TyX.bits) * 2 + 1) = word * v
                low: Int(TyA.bits + TyX.bits) = product
                sums[2 * p] += low
                sums[2 * p + 1] += (product - low) >> width
        for q in range(P, name="end"):
            y[r * P + q] = sums[q]


def packed_int8xint8_gemv[M: index, N: index, P: index](A: int8[M, N], x: int8[N], y: int32[M]):
    """y = A @ x for 8-bit matrices and vectors, two products a multiplier of 25 x 8 bits."""
    doubled_gemv[int8, int8, int32, M, N, P](A, x, y)


def packed_int4xint8_gemv[M: index, N: index, P: index](A: int4[M, N], x: int8[N], y: int32[M]):
    """y = A @ x for 4-bit matrices and 8-bit vectors, two products a multiplier of 17 x 8 bits."""
    doubled_gemv[int4, int8, int32, M, N, P](A, x, y)


def schedule_gemv(s: Schedule, function: str = "") -> Schedule:
    """P rows in each cycle: the sums are registers, and the rows lie in different banks."""
    name = function or s.top_func_name
    sizes = {
        view.name: constant_bounds(view.op) for view in s.ir.loops(name) if view.nest == "rows"
    }
    bounds = sizes["q"]
    assert bounds is not None
    s.unroll(f"{name}:product.p")
    s.partition(f"{name}:sums", dim=1)
    if bounds[1] > 1:
        s.partition(f"{name}:A", partition_type=Partition.Cyclic, dim=1, factor=bounds[1])
    return pipelines(s, name, "product.j", "end.q")


def schedule_doubled_gemv(s: Schedule, function: str = "") -> Schedule:
    """As `schedule_gemv`."""
    return schedule_gemv(s, function)


def schedule_packed_int8xint8_gemv(s: Schedule, function: str = "") -> Schedule:
    """As `schedule_gemv`."""
    return schedule_gemv(s, called(s, function or s.top_func_name, "doubled_gemv"))


def schedule_packed_int4xint8_gemv(s: Schedule, function: str = "") -> Schedule:
    """As `schedule_gemv`."""
    return schedule_gemv(s, called(s, function or s.top_func_name, "doubled_gemv"))


mat_vec = gemv
int8xint8_mat_vec = packed_int8xint8_gemv
