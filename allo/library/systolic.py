"""Systolic arrays that multiply matrices: output- or weight-stationary, tiled, with packed words or products."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

from __future__ import annotations

import allo
from allo.customize import Schedule
from allo.ir.types import ConstExpr, Int, index, int4, int8, int32

from ..ir.walk import constant_bounds
from .demands import integral, quotient, signed_product, tiles
from .pipelines import called, pipelines


def systolic_tile[TyA, TyB, TyC, K: index, Mt: index, Nt: index](
    A: TyA[Mt, K], B: TyB[K, Nt], C: TyC[Mt, Nt]
):
    """C = A @ B for the Mt x Nt elements of one array; its schedule is that of Fig. 5 of the Allo paper."""
    for i, j in allo.grid(Mt, Nt, name="PE"):
        total: TyC = 0
        for k in range(K):
            total += A[i, k] * B[k, j]
        C[i, j] = total


def systolic[TyA, TyB, TyC, M: index, K: index, N: index, Mt: index, Nt: index](
    A: TyA[M, K], B: TyB[K, N], C: TyC[M, N]
):
    """C = A @ B, tile by tile on one array of Mt x Nt elements (Fig. 7); tiles at the edges may be cut off.

    Rows of A are loaded once, column by column, which is the order in which C is stored: so the C of one product can
    be relayed to the A of the next.
    """
    rows: ConstExpr[index] = tiles(M, Mt)
    columns: ConstExpr[index] = tiles(N, Nt)
    for mi in range(rows, name="outer_tile"):
        local_A: TyA[Mt, K]
        for ak, ai in allo.grid(K, Mt, name="load_A_tile"):
            with allo.meta_if(M % Mt == 0):
                local_A[ai, ak] = A[mi * Mt + ai, ak]
            with allo.meta_else():
                if mi * Mt + ai < M:
                    local_A[ai, ak] = A[mi * Mt + ai, ak]
        for ni in range(columns):
            local_B: TyB[K, Nt]
            local_C: TyC[Mt, Nt]
            for bk, bj in allo.grid(K, Nt, name="load_B_tile"):
                with allo.meta_if(N % Nt == 0):
                    local_B[bk, bj] = B[bk, ni * Nt + bj]
                with allo.meta_else():
                    if ni * Nt + bj < N:
                        local_B[bk, bj] = B[bk, ni * Nt + bj]
            systolic_tile[TyA, TyB, TyC, K, Mt, Nt](local_A, local_B, local_C)
            for sj, si in allo.grid(Nt, Mt, name="store_C_tile"):
                with allo.meta_if(M % Mt == 0 and N % Nt == 0):
                    C[mi * Mt + si, ni * Nt + sj] = local_C[si, sj]
                with allo.meta_else():
                    if mi * Mt + si < M and ni * Nt + sj < N:
                        C[mi * Mt + si, ni * Nt + sj] = local_C[si, sj]


def packed_systolic[TyA, TyB, TyC, M: index, K: index, N: index, Mt: index, Nt: index, P: index](
    A: Int(TyA.bits * P)[M // P, K], B: Int(TyB.bits * P)[K, N // P], C: Int(TyC.bits * P)[M // P, N]
):
    """C = A @ B as `systolic`, with integers in words of P: of A and C P rows, of B P columns, the first lowest.

    P divides Mt and Nt, which divide M and N.
    """
    bits_A: ConstExpr[index] = integral(TyA, "packed_systolic")
    bits_B: ConstExpr[index] = integral(TyB, "packed_systolic")
    bits_C: ConstExpr[index] = integral(TyC, "packed_systolic")
    row_words: ConstExpr[index] = quotient(Mt, P, "Mt")
    column_words: ConstExpr[index] = quotient(Nt, P, "Nt")
    rows: ConstExpr[index] = quotient(M, Mt, "M")
    columns: ConstExpr[index] = quotient(N, Nt, "N")
    for mi in range(rows, name="outer_tile"):
        local_A: TyA[Mt, K]
        for ak, ai in allo.grid(K, row_words, name="load_A_tile"):
            for ap in range(P):
                local_A[ai * P + ap, ak] = A[mi * row_words + ai, ak][ap * bits_A : (ap + 1) * bits_A]
        for ni in range(columns):
            local_B: TyB[K, Nt]
            local_C: TyC[Mt, Nt]
            for bk, bj in allo.grid(K, column_words, name="load_B_tile"):
                for bp in range(P):
                    local_B[bk, bj * P + bp] = B[bk, ni * column_words + bj][bp * bits_B : (bp + 1) * bits_B]
            systolic_tile[TyA, TyB, TyC, K, Mt, Nt](local_A, local_B, local_C)
            for sj, si in allo.grid(Nt, row_words, name="store_C_tile"):
                word: Int(TyC.bits * P) = 0
                for sp in range(P):
                    word[sp * bits_C : (sp + 1) * bits_C] = local_C[si * P + sp, sj]
                C[mi * row_words + si, ni * Nt + sj] = word


def doubled_tile[TyA, TyB, TyC, K: index, Mt: index, Nt: index](
    A: TyA[Mt, K], B: Int(TyA.bits + TyB.bits * 2 + 1)[K, Nt // 2], C: TyC[Mt, Nt]
):
    """C = A @ B with Mt x Nt / 2 elements, each of which makes two products by one multiplication.

    With w the width of a product, B holds the words b1 * 2**w + b0 of columns 2 j and 2 j + 1. Then a * B holds a * b0
    in its lower w bits, and a * b1 above them once the sign of the lower ones is taken off. For int8 that is one
    multiplier of 25 x 8 bits, a DSP block of an FPGA; the products are exact.
    """
    width: ConstExpr[index] = signed_product(TyA, TyB)
    pairs: ConstExpr[index] = quotient(Nt, 2, "Nt")
    for i, j in allo.grid(Mt, pairs, name="PE"):
        left: TyC = 0
        right: TyC = 0
        for k in range(K):
            product: Int((TyA.bits + TyB.bits) * 2 + 1) = A[i, k] * B[k, j]
            low: Int(TyA.bits + TyB.bits) = product
            left += low
            right += (product - low) >> width
        C[i, 2 * j] = left
        C[i, 2 * j + 1] = right


def doubled_systolic[TyA, TyB, TyC, M: index, K: index, N: index, Mt: index, Nt: index](
    A: TyA[M, K], B: TyB[K, N], C: TyC[M, N]
):
    """C = A @ B as `systolic`, on Mt x Nt / 2 elements with two products a multiplier; Mt and Nt divide M and N."""
    width: ConstExpr[index] = signed_product(TyA, TyB)
    rows: ConstExpr[index] = quotient(M, Mt, "M")
    columns: ConstExpr[index] = quotient(N, Nt, "N")
    pairs: ConstExpr[index] = quotient(Nt, 2, "Nt")
    for mi in range(rows, name="outer_tile"):
        local_A: TyA[Mt, K]
        for ak, ai in allo.grid(K, Mt, name="load_A_tile"):
            local_A[ai, ak] = A[mi * Mt + ai, ak]
        for ni in range(columns):
            local_B: Int(TyA.bits + TyB.bits * 2 + 1)[K, Nt // 2]
            local_C: TyC[Mt, Nt]
            for bk, bj in allo.grid(K, pairs, name="load_B_tile"):
                local_B[bk, bj] = B[bk, ni * Nt + 2 * bj] + (B[bk, ni * Nt + 2 * bj + 1] << width)
            doubled_tile[TyA, TyB, TyC, K, Mt, Nt](local_A, local_B, local_C)
            for sj, si in allo.grid(Nt, Mt, name="store_C_tile"):
                C[mi * Mt + si, ni * Nt + sj] = local_C[si, sj]


def packed_doubled_systolic[TyA, TyB, TyC, M: index, K: index, N: index, Mt: index, Nt: index, P: index](
    A: Int(TyA.bits * P)[M // P, K], B: Int(TyB.bits * P)[K, N // P], C: Int(TyC.bits * P)[M // P, N]
):
    """C = A @ B as `doubled_systolic`, with integers in words of P as `packed_systolic`; P is 1 or even."""
    bits_A: ConstExpr[index] = integral(TyA, "packed_doubled_systolic")
    bits_B: ConstExpr[index] = integral(TyB, "packed_doubled_systolic")
    bits_C: ConstExpr[index] = integral(TyC, "packed_doubled_systolic")
    width: ConstExpr[index] = signed_product(TyA, TyB)
    row_words: ConstExpr[index] = quotient(Mt, P, "Mt")
    lanes: ConstExpr[index] = 2 if P == 1 else P  # columns of B that are loaded at once
    halves: ConstExpr[index] = quotient(lanes, 2, "P")
    loads: ConstExpr[index] = quotient(Nt, lanes, "Nt")
    rows: ConstExpr[index] = quotient(M, Mt, "M")
    columns: ConstExpr[index] = quotient(N, Nt, "N")
    for mi in range(rows, name="outer_tile"):
        local_A: TyA[Mt, K]
        for ak, ai in allo.grid(K, row_words, name="load_A_tile"):
            with allo.meta_for(P) as ap:
                local_A[ai * P + ap, ak] = A[mi * row_words + ai, ak][ap * bits_A : (ap + 1) * bits_A]
        for ni in range(columns):
            local_B: Int(TyA.bits + TyB.bits * 2 + 1)[K, Nt // 2]
            local_C: TyC[Mt, Nt]
            for bk, bj in allo.grid(K, loads, name="load_B_tile"):
                with allo.meta_for(halves) as bp:
                    low: TyB = 0
                    high: TyB = 0
                    with allo.meta_if(P == 1):
                        low = B[bk, ni * Nt + 2 * bj]
                        high = B[bk, ni * Nt + 2 * bj + 1]
                    with allo.meta_else():
                        word: Int(TyB.bits * P) = B[bk, ni * loads + bj]
                        low = word[2 * bp * bits_B : (2 * bp + 1) * bits_B]
                        high = word[(2 * bp + 1) * bits_B : (2 * bp + 2) * bits_B]
                    local_B[bk, bj * halves + bp] = low + (high << width)
            doubled_tile[TyA, TyB, TyC, K, Mt, Nt](local_A, local_B, local_C)
            for sj, si in allo.grid(Nt, row_words, name="store_C_tile"):
                result: Int(TyC.bits * P) = 0
                with allo.meta_for(P) as sp:
                    result[sp * bits_C : (sp + 1) * bits_C] = local_C[si * P + sp, sj]
                C[mi * row_words + si, ni * Nt + sj] = result


def packed_int8xint8_systolic[M: index, K: index, N: index, Mt: index, Nt: index, PP: index](
    A: Int(8 * PP)[M // PP, K], B: Int(8 * PP)[K, N // PP], C: Int(32 * PP)[M // PP, N]
):
    """C = A @ B for 8-bit data and weights in words of PP, two products a multiplier of 25 x 8 bits (PP: 1 or even)."""
    packed_doubled_systolic[int8, int8, int32, M, K, N, Mt, Nt, PP](A, B, C)


def packed_int4xint8_systolic[M: index, K: index, N: index, Mt: index, Nt: index, PP: index](
    A: Int(8 * PP)[M // PP, K], B: Int(4 * PP)[K, N // PP], C: Int(32 * PP)[M // PP, N]
):
    """C = A @ B for 8-bit data and 4-bit weights in words of PP, two products a multiplier of 17 x 8 bits."""
    packed_doubled_systolic[int8, int4, int32, M, K, N, Mt, Nt, PP](A, B, C)


def weight_stationary_tile[TyA, TyB, TyC, M: index, Kt: index, Nt: index](
    A: TyA[M, Kt], B: TyB[Kt, Nt], C: TyC[M, Nt]
):
    """C = A @ B on Kt x Nt elements, each of which keeps one weight of B, while data go right and sums down."""
    sums: TyC[M, Kt + 1, Nt]
    for m, n in allo.grid(M, Nt, name="start"):
        sums[m, 0, n] = 0
    for k, n in allo.grid(Kt, Nt, name="PE"):
        weight: TyB = B[k, n]
        for m in range(M):
            sums[m, k + 1, n] = sums[m, k, n] + A[m, k] * weight
    for m, n in allo.grid(M, Nt, name="end"):
        C[m, n] = sums[m, Kt, n]


def weight_stationary[TyA, TyB, TyC, M: index, K: index, N: index, Kt: index, Nt: index](
    A: TyA[M, K], B: TyB[K, N], C: TyC[M, N]
):
    """C = A @ B, tile of weights by tile on one array of Kt x Nt elements; tiles at the edges are filled with 0."""
    depths: ConstExpr[index] = tiles(K, Kt)
    columns: ConstExpr[index] = tiles(N, Nt)
    for ni in range(columns, name="outer_tile"):
        local_C: TyC[M, Nt] = 0
        for ki in range(depths):
            local_A: TyA[M, Kt] = 0
            local_B: TyB[Kt, Nt] = 0
            for am, ak in allo.grid(M, Kt, name="load_A_tile"):
                if ki * Kt + ak < K:
                    local_A[am, ak] = A[am, ki * Kt + ak]
            for bk, bj in allo.grid(Kt, Nt, name="load_B_tile"):
                if ki * Kt + bk < K and ni * Nt + bj < N:
                    local_B[bk, bj] = B[ki * Kt + bk, ni * Nt + bj]
            product: TyC[M, Nt]
            weight_stationary_tile[TyA, TyB, TyC, M, Kt, Nt](local_A, local_B, product)
            for cm, cj in allo.grid(M, Nt, name="add_tile"):
                local_C[cm, cj] += product[cm, cj]
        for sm, sj in allo.grid(M, Nt, name="store_C_tile"):
            if ni * Nt + sj < N:
                C[sm, ni * Nt + sj] = local_C[sm, sj]


def schedule_systolic_tile(s: Schedule, function: str = "") -> Schedule:
    """The eight lines of Fig. 5, for `systolic_tile` or `doubled_tile`; all elements run at once, a product a cycle."""
    name = function or s.top_func_name
    rows, columns = _processing_elements(s, name)
    buf_A = s.buffer_at(f"{name}:A", f"{name}:PE.j")
    buf_B = s.buffer_at(f"{name}:B", f"{name}:PE.j")
    elements = s.unfold(f"{name}:PE", axes=[0, 1])
    s.partition(f"{name}:C", dim=0)
    s.partition(f"{name}:A", dim=1)
    s.partition(f"{name}:B", dim=2)
    s.relay(buf_A, elements, axis=1, depth=rows + 1)
    s.relay(buf_B, elements, axis=0, depth=columns + 1)
    pipelines(s, name, "PE.k")
    s.dataflow(name)
    return s


def schedule_doubled_tile(s: Schedule, function: str = "") -> Schedule:
    """As `schedule_systolic_tile`."""
    return schedule_systolic_tile(s, function)


def schedule_systolic(s: Schedule, function: str = "") -> Schedule:
    """One array for all tiles, which are loaded and stored element by element in pipelines."""
    return _tiled(s, function or s.top_func_name, "systolic_tile")


def schedule_doubled_systolic(s: Schedule, function: str = "") -> Schedule:
    """As `schedule_systolic`."""
    return _tiled(s, function or s.top_func_name, "doubled_tile")


def schedule_packed_doubled_systolic(s: Schedule, function: str = "") -> Schedule:
    """As `schedule_packed_systolic`."""
    return _tiled(s, function or s.top_func_name, "doubled_tile")


def schedule_packed_int8xint8_systolic(s: Schedule, function: str = "") -> Schedule:
    """As `schedule_packed_systolic`."""
    return schedule_packed_doubled_systolic(s, called(s, function or s.top_func_name, "packed_doubled_systolic"))


def schedule_packed_int4xint8_systolic(s: Schedule, function: str = "") -> Schedule:
    """As `schedule_packed_systolic`."""
    return schedule_packed_doubled_systolic(s, called(s, function or s.top_func_name, "packed_doubled_systolic"))


def schedule_packed_systolic(s: Schedule, function: str = "") -> Schedule:
    """As `schedule_systolic`, with one word loaded or stored in each cycle."""
    name = function or s.top_func_name
    for part in ("load_A_tile.ap", "load_B_tile.bp", "store_C_tile.sp"):
        s.unroll(f"{name}:{part}")
    return _tiled(s, name, "systolic_tile")


def _tiled(s: Schedule, name: str, tile: str) -> Schedule:
    pipelines(s, name, "load_A_tile.ai", "load_B_tile.bj", "store_C_tile.si")
    return schedule_systolic_tile(s, called(s, name, tile))


def schedule_weight_stationary_tile(s: Schedule, function: str = "") -> Schedule:
    """Kt x Nt elements that keep their weight, with FIFOs of two elements between neighbours."""
    name = function or s.top_func_name
    data = s.buffer_at(f"{name}:A", f"{name}:PE.n")
    elements = s.unfold(f"{name}:PE", axes=[0, 1])
    s.partition(f"{name}:A", dim=2)
    s.partition(f"{name}:B", dim=0)
    s.partition(f"{name}:C", dim=2)
    s.relay(f"{name}:sums", elements, axis=0, depth=2)
    s.relay(data, elements, axis=1, depth=2)
    pipelines(s, name, "PE.m")
    s.dataflow(name)
    return s


def schedule_weight_stationary(s: Schedule, function: str = "") -> Schedule:
    """One array for all tiles of weights, whose operands are loaded and stored in pipelines."""
    name = function or s.top_func_name
    pipelines(s, name, "load_A_tile.ak", "load_B_tile.bj", "add_tile.cj", "store_C_tile.sj")
    return schedule_weight_stationary_tile(s, called(s, name, "weight_stationary_tile"))


def _processing_elements(s: Schedule, function: str) -> tuple[int, int]:
    """The extents of the two loops of the processing elements."""
    bounds = {
        view.name: constant_bounds(view.op) for view in s.ir.loops(function) if view.nest == "PE"
    }
    rows, columns = bounds["i"], bounds["j"]
    assert rows is not None and columns is not None
    return rows[1], columns[1]


tile = systolic_tile
schedule = schedule_systolic
