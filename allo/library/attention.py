"""Attention and feed-forward networks, composed of products, softmax and layers on matrices."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

from __future__ import annotations

import math

import allo
from allo.customize import Schedule
from allo.ir.types import ConstExpr, index

from .demands import fractional, quotient
from .matrices import GeLU, linear2d, schedule_GeLU, schedule_linear2d, schedule_softmax2d, softmax2d
from .pipelines import called, pipelines
from .systolic import schedule_systolic_tile, systolic


def scaled_dot_product_attention[T, H: index, L: index, D: index, M0: index, M1: index](
    Q: T[L, D], K: T[L, D], V: T[L, D]
) -> T[L, D]:
    """softmax(Q @ K.T / sqrt(D / H)) @ V for each of the H heads, whose columns lie side by side.

    Both products are on systolic arrays of M0 x M1 elements.
    """
    _checked: ConstExpr[index] = fractional(T, "scaled_dot_product_attention")
    size: ConstExpr[index] = quotient(D, H, "D")
    scale: ConstExpr[T] = 1 / math.sqrt(D // H)
    Z: T[L, D]
    for h in range(H, name="head"):
        Q_h: T[L, size]
        K_h: T[size, L]
        V_h: T[L, size]
        for i, j in allo.grid(L, size, name="split"):
            Q_h[i, j] = Q[i, h * size + j] * scale
            K_h[j, i] = K[i, h * size + j]
            V_h[i, j] = V[i, h * size + j]
        Y: T[L, L]
        systolic[T, T, T, L, D // H, L, M0, M1, "QKT"](Q_h, K_h, Y)
        P = softmax2d[T, L, L](Y)
        Z_h: T[L, size]
        systolic[T, T, T, L, L, D // H, M0, M1, "YV"](P, V_h, Z_h)
        for i_end, j_end in allo.grid(L, size, name="merge"):
            Z[i_end, h * size + j_end] = Z_h[i_end, j_end]
    return Z


def multi_head_attention[T, H: index, L: index, D: index, M0: index, M1: index](
    X: T[L, D],
    Wq: T[D, D],
    bq: T[D],
    Wk: T[D, D],
    bk: T[D],
    Wv: T[D, D],
    bv: T[D],
    Wo: T[D, D],
    bo: T[D],
) -> T[L, D]:
    """The attention of X to itself: linear layers for queries, keys and values, H heads, and a linear layer."""
    Q = linear2d[T, T, T, L, D, D, "Q"](X, Wq, bq)
    K = linear2d[T, T, T, L, D, D, "K"](X, Wk, bk)
    V = linear2d[T, T, T, L, D, D, "V"](X, Wv, bv)
    A = scaled_dot_product_attention[T, H, L, D, M0, M1](Q, K, V)
    Z = linear2d[T, T, T, L, D, D, "O"](A, Wo, bo)
    return Z


def ffn[T, L: index, D: index, F: index](X: T[L, D], W1: T[F, D], b1: T[F], W2: T[D, F], b2: T[D]) -> T[L, D]:
    """GeLU(X @ W1.T + b1) @ W2.T + b2."""
    U = linear2d[T, T, T, L, F, D, "up"](X, W1, b1)
    G = GeLU[T, L, F](U)
    Y = linear2d[T, T, T, L, D, F, "down"](G, W2, b2)
    return Y


def schedule_scaled_dot_product_attention(s: Schedule, function: str = "") -> Schedule:
    """Systolic arrays for both products, pipelines for the rest."""
    name = function or s.top_func_name
    pipelines(s, name, "split.j", "merge.j_end")
    products = [called(s, name, "systolic_QKT"), called(s, name, "systolic_YV")]
    for product in products:
        pipelines(s, product, "load_A_tile.ai", "load_B_tile.bj", "store_C_tile.si")
    for tile in dict.fromkeys(called(s, product, "systolic_tile") for product in products):
        schedule_systolic_tile(s, tile)
    return schedule_softmax2d(s, called(s, name, "softmax2d"))


def schedule_multi_head_attention(s: Schedule, function: str = "") -> Schedule:
    """A unit for each of the four linear layers, and the schedule of the attention."""
    name = function or s.top_func_name
    for layer in ("Q", "K", "V", "O"):
        schedule_linear2d(s, called(s, name, f"linear2d_{layer}"))
    return schedule_scaled_dot_product_attention(s, called(s, name, "scaled_dot_product_attention"))


def schedule_ffn(s: Schedule, function: str = "", lanes: int = 1) -> Schedule:
    """Three stages that pass on each element as soon as it is there, by FIFOs of two elements.

    `lanes` products in each cycle of each linear layer; `lanes` divides D and F.
    """
    name = function or s.top_func_name
    up, gelu, down = (called(s, name, kernel) for kernel in ("linear2d_up", "GeLU", "linear2d_down"))
    for layer in (up, down):
        schedule_linear2d(s, layer, lanes)
    schedule_GeLU(s, gelu)
    s.relay(f"{name}:U", gelu, depth=2)
    s.relay(f"{name}:G", down, depth=2)
    s.dataflow(name)
    return s
