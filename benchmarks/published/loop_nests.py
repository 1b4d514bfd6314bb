"""Designs of Allo, HeteroCL, POM, HIDA, ScaleHLS: nests of loops, with unroll factors that follow from their DSPs."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import allo
from allo.ir.types import float32 as T

from .stages import banks

ALPHA, BETA = 0.1, 0.1


def _row_product(A: T[200, 240], B: T[240, 220], AB: T[200, 220]):
    for i in range(200):
        for k in range(240):
            for j in range(220):
                AB[i, j] += A[i, k] * B[k, j]


def _element_sum(AB: T[200, 220], C: T[200, 220], out: T[200, 220]):
    for i, j in allo.grid(200, 220):
        out[i, j] = ALPHA * AB[i, j] + BETA * C[i, j]


def _gemm(A: T[200, 240], B: T[240, 220], AB: T[200, 220], C: T[200, 220], out: T[200, 220]):
    _row_product(A, B, AB)
    _element_sum(AB, C, out)


def gemm_allo() -> allo.Schedule:
    """A row of sums in registers, all of them in an iteration of `k`; then one element a cycle."""
    product = allo.customize(_row_product)
    row = product.buffer_at("AB", "i")
    product.pipeline("k")
    product.unroll("j_init")
    product.unroll("j_back")
    product.partition("AB", dim=2)
    product.partition(row)
    last = allo.customize(_element_sum)
    last.pipeline("j")
    s = allo.customize(_gemm)
    s.compose([product, last])
    s.partition("B", dim=2)
    return s


def _gemm_in_one_nest(A: T[200, 240], B: T[240, 220], AB: T[200, 220], C: T[200, 220], out: T[200, 220]):
    row: T[220]
    for i, k in allo.grid(200, 240):
        for j in range(220):
            if k == 0:
                row[j] = 0.0
            row[j] += A[i, k] * B[k, j]
            if k == 239:
                AB[i, j] = row[j]
    for i1, j1 in allo.grid(200, 220):
        out[i1, j1] = ALPHA * AB[i1, j1] + BETA * C[i1, j1]


def gemm_heterocl() -> allo.Schedule:
    """The same, with no cycle between rows."""
    s = allo.customize(_gemm_in_one_nest)
    s.pipeline("k")
    s.pipeline("j1")
    s.partition("row")
    for array in ("AB", "B"):
        s.partition(array, dim=2)
    return s


def _gemm_in_place(A: T[200, 240], B: T[240, 220], C: T[200, 220]):
    for i, j in allo.grid(200, 220):
        C[i, j] = BETA * C[i, j]
    for k in range(240):
        for i1 in range(200):
            for j1 in range(220):
                C[i1, j1] += ALPHA * A[i1, k] * B[k, j1]


def gemm_pom() -> allo.Schedule:
    """Four elements a cycle to begin with, then eight products."""
    s = allo.customize(_gemm_in_place)
    s.pipeline(s.split("j", 4)[0])
    _tile(s, ("i1", 2), ("j1", 4), ())
    banks(s, "C", 2, 4)
    banks(s, "B", 1, 4)
    return s


def _bicg(A: T[410, 390], A_too: T[410, 390], r: T[410], s: T[390], p: T[390], q: T[410]):
    for i in range(410):
        for j in range(390):
            s[j] += r[i] * A[i, j]
    for j1 in range(390):
        for i1 in range(410):
            q[i1] += A_too[i1, j1] * p[j1]


def bicg(interval: int) -> allo.Schedule:
    """All sums of both nests in registers, one term of each in an iteration."""
    s = allo.customize(_bicg)
    s.pipeline("i", initiation_interval=interval)
    s.pipeline("j1", initiation_interval=interval)
    s.partition("A", dim=2)
    s.partition("A_too", dim=1)
    s.partition("s")
    s.partition("q")
    return s


def bicg_tiled(rows: int, columns: int) -> allo.Schedule:
    """A tile of the matrix a cycle for each nest, terms of a sum in a tree."""
    s = allo.customize(_bicg)
    _tile(s, ("i", rows), ("j", columns), ())
    _tile(s, ("j1", columns), ("i1", rows), ())
    for array in ("A", "A_too"):
        banks(s, array, rows, columns)
    for array, lanes in (("s", columns), ("q", rows), ("r", rows), ("p", columns)):
        banks(s, array, lanes)
    return s


def _mvt(A: T[400, 400], A_too: T[400, 400], y1: T[400], y2: T[400], x1: T[400], x2: T[400]):
    for i in range(400):
        for j in range(400):
            x1[i] += A[i, j] * y1[j]
    for i1 in range(400):
        for j1 in range(400):
            x2[i1] += A_too[j1, i1] * y2[j1]


def mvt_allo() -> allo.Schedule:
    """A whole sum an iteration, in a tree."""
    s = allo.customize(_mvt)
    s.pipeline("i")
    s.pipeline("i1")
    s.partition("A", dim=2)
    s.partition("A_too", dim=1)
    s.partition("y1")
    s.partition("y2")
    return s


def mvt_tiled(rows: int, terms: int) -> allo.Schedule:
    """A tile of each matrix a cycle, terms of a sum in a tree."""
    s = allo.customize(_mvt)
    _tile(s, ("j", terms), ("i", rows), ("i.inner", "j.inner"))
    _tile(s, ("j1", terms), ("i1", rows), ("i1.inner", "j1.inner"))
    banks(s, "A", rows, terms)
    banks(s, "A_too", terms, rows)
    for array, lanes in (("x1", rows), ("x2", rows), ("y1", terms), ("y2", terms)):
        banks(s, array, lanes)
    return s


def _mvt_of_one_matrix(A: T[400, 400], y1: T[400], y2: T[400], x1: T[400], x2: T[400]):
    for i in range(400):
        for j in range(400):
            x1[i] += A[i, j] * y1[j]
    for i1 in range(400):
        for j1 in range(400):
            x2[i1] += A[j1, i1] * y2[j1]


def mvt_in_turn(rows: int, terms: int, interval: int) -> allo.Schedule:
    """Two nests that read one matrix, a tile in so many cycles."""
    s = allo.customize(_mvt_of_one_matrix)
    _tile(s, ("j", terms), ("i", rows), (), interval)
    _tile(s, ("j1", terms), ("i1", rows), (), interval)
    for dim in (1, 2):
        s.partition("A", dim=dim, factor=max(rows, terms))
    for array, lanes in (("x1", rows), ("x2", rows), ("y1", terms), ("y2", terms)):
        banks(s, array, lanes)
    return s


def _mvt_in_one_nest(A: T[400, 400], y1: T[400], y2: T[400], x1: T[400], x2: T[400]):
    for j, i in allo.grid(400, 400):
        x1[i] += A[i, j] * y1[j]
        x2[i] += A[j, i] * y2[j]


def mvt_pom() -> allo.Schedule:
    """Four terms of each product a cycle."""
    s = allo.customize(_mvt_in_one_nest)
    s.pipeline(s.split("i", 4)[0])
    banks(s, "A", 4, 4)
    banks(s, "x1", 4)
    banks(s, "x2", 4)
    return s


def _sums(A: T[250, 250], x: T[250], a: T[250]):
    for j in range(250):
        for i in range(250):
            a[i] += A[i, j] * x[j]


def _scaled(a: T[250], y: T[250]):
    for i in range(250):
        y[i] = ALPHA * a[i]


def _scaled_too(b: T[250], y: T[250]):
    for i in range(250):
        y[i] += BETA * b[i]


def _gesummv(A: T[250, 250], B: T[250, 250], x: T[250], x_too: T[250], a: T[250], b: T[250], y: T[250]):
    _sums(A, x, a)
    _sums(B, x_too, b)
    _scaled(a, y)
    _scaled_too(b, y)


def _zeroed(y: T[250]):
    for i in range(250):
        y[i] = 0.0


def _gesummv_from_zero(A: T[250, 250], B: T[250, 250], x: T[250], x_too: T[250], a: T[250], b: T[250], y: T[250]):
    _zeroed(a)
    _zeroed(b)
    _sums(A, x, a)
    _sums(B, x_too, b)
    _scaled(a, y)
    _scaled_too(b, y)


def gesummv_allo() -> allo.Schedule:
    """Both products at once, their sums in registers; then two loops over the result."""
    return _gesummv_of_loops(allo.customize(_gesummv), ("_scaled", "_scaled_too"))


def gesummv_heterocl() -> allo.Schedule:
    """The same, with loops before that give the sums their first values."""
    return _gesummv_of_loops(allo.customize(_gesummv_from_zero), ("_zeroed", "_scaled", "_scaled_too"))


def _gesummv_of_loops(s: allo.Schedule, functions: tuple[str, ...]) -> allo.Schedule:
    product = allo.customize(_sums)
    product.pipeline("j")
    s.compose(product)
    for function in functions:
        s.pipeline(f"{function}:i")
    for matrix, sums in (("A", "a"), ("B", "b")):
        s.partition(matrix, dim=1)
        s.partition(sums)
    return s


def _gesummv_fused(A: T[250, 250], B: T[250, 250], x: T[250], a: T[250], b: T[250], y: T[250]):
    for j in range(250):
        for i in range(250):
            a[i] += A[i, j] * x[j]
            b[i] += B[i, j] * x[j]
    for i1 in range(250):
        y[i1] = ALPHA * a[i1] + BETA * b[i1]


def gesummv_pom() -> allo.Schedule:
    """Ten terms of a sum of each product a cycle, one after the other; then one element of the result."""
    s = allo.customize(_gesummv_fused)
    s.split("j", 10)
    s.reorder("j.outer", "i", "j.inner")
    s.pipeline("i")
    s.pipeline("i1")
    banks(s, "A", 1, 10)
    banks(s, "B", 1, 10)
    banks(s, "x", 10)
    return s


def _gesummv_in_one_nest(A: T[250, 250], B: T[250, 250], x: T[250], y: T[250]):
    for j in range(250):
        for i in range(250):
            y[i] += ALPHA * A[i, j] * x[j] + BETA * B[i, j] * x[j]


def gesummv_in_one_nest() -> allo.Schedule:
    """Ten terms of a sum a cycle, one after the other."""
    s = allo.customize(_gesummv_in_one_nest)
    s.split("j", 10)
    s.reorder("j.outer", "i", "j.inner")
    s.pipeline("i")
    banks(s, "A", 1, 10)
    banks(s, "B", 1, 10)
    banks(s, "x", 10)
    return s


def _rows_first(A: T[390, 410], x: T[410], tmp: T[390]):
    for i in range(390):
        for j in range(410):
            tmp[i] += A[i, j] * x[j]


def _columns(A: T[390, 410], tmp: T[390], y: T[410]):
    for i in range(390):
        for j in range(410):
            y[j] += A[i, j] * tmp[i]


def _atax(A: T[390, 410], A_too: T[390, 410], x: T[410], y: T[410]):
    tmp: T[390]
    _rows_first(A, x, tmp)
    _columns(A_too, tmp, y)


def atax_stages(rows: int, columns: int) -> allo.Schedule:
    """Two stages, each of a tile of the matrix a cycle, with all of `tmp` between them; terms of a sum in a tree."""
    first, second = allo.customize(_rows_first), allo.customize(_columns)
    _tile(first, ("j", columns), ("i", rows), ("i.inner", "j.inner"))
    _tile(second, ("i", rows), ("j", columns), ("j.inner", "i.inner"))
    s = allo.customize(_atax)
    s.compose([first, second])
    for array in ("A", "A_too"):
        banks(s, array, rows, columns)
    for array, lanes in (("x", columns), ("tmp", rows), ("y", columns)):
        banks(s, array, lanes)
    s.dataflow("_atax")
    return s


def _tile(
    s: allo.Schedule, outer: tuple[str, int], inner: tuple[str, int], order: tuple[str, ...], interval: int = 1
) -> None:
    """A pipeline over tiles of two loops, the second inside."""
    names = [name for name, _ in (outer, inner)]
    for name, factor in (outer, inner):
        s.split(name, factor)
    inside = order or tuple(f"{name}.inner" for name in names)
    s.reorder(*(f"{name}.outer" for name in names), *inside)
    s.pipeline(f"{names[1]}.outer", initiation_interval=interval)
