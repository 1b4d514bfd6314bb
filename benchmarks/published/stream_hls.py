"""Designs of Stream-HLS: stages that FIFOs connect."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import allo
from allo.ir.types import float32 as T

from .stages import banks, connected, outer, product, regrouped, second, sum_of_two, transposed, update

type Tile = tuple[int, int, int]  # rows and columns of a tile, and terms of each of its sums


def _tiled(s: allo.Schedule, stage: str, tile: Tile) -> None:
    """A tile a cycle, of arguments in as many banks as that takes."""
    P, C, R = tile
    s.pipeline(f"{stage}:co")
    kind = stage.partition("_")[0]
    if kind != "outer":
        banks(s, f"{stage}:sums", 1, 0, 0)
    if kind == "product":
        banks(s, f"{stage}:X", P, R)
        banks(s, f"{stage}:Y", R, C)
    elif kind == "transposed":
        banks(s, f"{stage}:X", C, R)
        banks(s, f"{stage}:Y", R, P)
    elif kind == "second":
        banks(s, f"{stage}:X", 0, 0)
        banks(s, f"{stage}:Y", R, C)
    else:
        banks(s, f"{stage}:column", 0, 0)
        banks(s, f"{stage}:rows", 1, 0, 0)
        banks(s, f"{stage}:D", P, C)


def _regrouped(s: allo.Schedule, stage: str, P: int, C: int, Q: int) -> None:
    """C columns a cycle in, Q out."""
    s.pipeline(f"{stage}:co")
    s.pipeline(f"{stage}:qo")
    banks(s, f"{stage}:rows", 0, C * Q)


def gemm(tile: Tile) -> allo.Schedule:
    """D = alpha A B + beta D."""
    M, N, K = 200, 220, 240
    P, C, _ = tile
    first, last = product(M, N, K, tile), update(M, N, P, C)

    def gemm(A: T[M, K], B: T[K, N], D: T[M, N]):
        words: T[M // P, N // C, P, C]
        first(A, B, words)
        last(words, D)

    s = allo.customize(gemm)
    _tiled(s, "product", tile)
    s.pipeline("update:co")
    banks(s, "update:D", P, C)
    connected(s, {"words": "update"})
    return s


def two_mm(one: Tile, two: Tile) -> allo.Schedule:
    """D = alpha A B C + beta D; tiles of A B are as the second product takes them."""
    M, N, K, L = 180, 190, 210, 220
    P, Q, R = two[0], one[1], two[2]
    make, use, last = product(M, N, K, one), second(M, L, N, two), update(M, L, P, two[1])
    between = regrouped(M, N, P, Q, R)
    W = two[1]

    def fitting(A: T[M, K], B: T[K, N], C: T[N, L], D: T[M, L]):
        tmp: T[M // P, N // R, P, R]
        words: T[M // P, L // W, P, W]
        make(A, B, tmp)
        use(tmp, C, words)
        last(words, D)

    def through_rows(A: T[M, K], B: T[K, N], C: T[N, L], D: T[M, L]):
        tmp0: T[M // P, N // Q, P, Q]
        tmp: T[M // P, N // R, P, R]
        words: T[M // P, L // W, P, W]
        make(A, B, tmp0)
        between(tmp0, tmp)
        use(tmp, C, words)
        last(words, D)

    s = allo.customize(fitting if Q == R else through_rows)
    _tiled(s, "product", one)
    _tiled(s, "second", two)
    s.pipeline("update:co")
    banks(s, "update:D", P, W)
    links = {"tmp": "second", "words": "update"}
    if Q != R:
        _regrouped(s, "regrouped", P, Q, R)
        links |= {"tmp0": "regrouped"}
    connected(s, links)
    return s


def three_mm(one: Tile, two: Tile, three: Tile) -> allo.Schedule:
    """G = (A B) (C D): A B comes by columns, C D by rows, as many of each in a tile as the last product takes."""
    M, N, K, L, H = 180, 190, 200, 210, 220
    P, C, R = three
    E_made, F_made, last = transposed(N, M, K, one), product(N, L, H, two), outer(M, L, N, three)
    E_between, F_between = regrouped(N, M, R, one[1], P), regrouped(N, L, R, two[1], C)
    E, F = one[1], two[1]

    def three_mm(A: T[M, K], B: T[K, N], X: T[N, H], Y: T[H, L], G: T[M, L]):
        E0: T[N // R, M // E, R, E]
        E1: T[N // R, M // P, R, P]
        F0: T[N // R, L // F, R, F]
        F1: T[N // R, L // C, R, C]
        E_made(A, B, E0)
        F_made(X, Y, F0)
        E_between(E0, E1)
        F_between(F0, F1)
        last(E1, F1, G)

    s = allo.customize(three_mm)
    _tiled(s, "transposed", one)
    _tiled(s, "product", two)
    _tiled(s, "outer", three)
    _regrouped(s, "regrouped", R, E, P)
    _regrouped(s, "regrouped_1", R, F, C)
    connected(s, {"E0": "regrouped", "F0": "regrouped_1", "E1": "outer", "F1": "outer"})
    return s


def gesummv(rows: int, terms: int) -> allo.Schedule:
    """y = alpha A x + beta B x: both products at once."""
    N = 250
    tile = (1, rows, terms)
    left, right, last = product(1, N, N, tile), product(1, N, N, tile), sum_of_two(N, rows)

    def gesummv(A: T[N, N], B: T[N, N], x: T[1, N], x_too: T[1, N], y: T[N]):
        a: T[1, N // rows, 1, rows]
        b: T[1, N // rows, 1, rows]
        left(x, A, a)
        right(x_too, B, b)
        last(a, b, y)

    s = allo.customize(gesummv)
    for stage in ("product", "product_1"):
        _tiled(s, stage, tile)
    s.pipeline("sum_of_two:co")
    banks(s, "sum_of_two:y", rows)
    connected(s, {"a": "sum_of_two", "b": "sum_of_two"})
    return s
