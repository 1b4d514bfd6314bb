"""Searches of layers beside schedules by hand: a convolution, matrix-vector products, a block of a transformer.

    python -m benchmarks.search_layers [SECONDS] [KERNEL ...] [--workers N] [--points N] [--lut] [--profile NAME]

Kernels are plain loops, searched without a schedule; by hand are the library's `schedule_conv2d` and `schedule_gemv`
(rows of so many sums at a time), and the block of `examples/transformer.py`, at the DSPs of these. Estimates are those
of the rules of Allo, or of a tool (`--profile vitis_hls_2023.2`).
"""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import allo
from allo.ir.types import float32
from allo.library.gemv import gemv, schedule_gemv
from allo.library.nn import conv2d, schedule_conv2d
from examples.transformer import schedule_block

from .search import HEADER, arguments, compared

C, M, SIDE, OUT = 8, 16, 16, 14  # channels in and out of a convolution by 3 x 3, its images, its results
N = 256  # of a matrix-vector product
L, D, H, F = 16, 32, 4, 128  # tokens, their width, heads, hidden width of a block
K = D // H


def convolution(A: float32[C, SIDE, SIDE], W: float32[M, C, 3, 3], b: float32[M], Z: float32[M, OUT, OUT]):
    """A layer of a convolutional network."""
    for o, y, x in allo.grid(M, OUT, OUT, name="bias"):
        Z[o, y, x] = b[o]
    for o, y, x, c, p, q in allo.grid(M, OUT, OUT, C, 3, 3, name="taps"):
        Z[o, y, x] += A[c, y + p, x + q] * W[o, c, p, q]


def matrix_vector(A: float32[N, N], x: float32[N], y: float32[N]):
    """y = A x."""
    for i in range(N):
        y[i] = 0
        for j in range(N):
            y[i] += A[i, j] * x[j]


def block(
    X: float32[L, D],
    Wq: float32[D, D],
    Wk: float32[D, D],
    Wv: float32[D, D],
    Wo: float32[D, D],
    W1: float32[F, D],
    b1: float32[F],
    W2: float32[D, F],
    b2: float32[D],
    g1: float32[D],
    h1: float32[D],
    g2: float32[D],
    h2: float32[D],
    Y: float32[L, D],
):
    """Attention and a feed-forward network, each of normalised data, and their results added to the data."""
    mean1: float32[L] = 0
    spread1: float32[L] = 0
    N1: float32[L, D]
    for i, j in allo.grid(L, D, name="means1"):
        mean1[i] += X[i, j]
    for i, j in allo.grid(L, D, name="spreads1"):
        spread1[i] += (X[i, j] - mean1[i] / D) * (X[i, j] - mean1[i] / D)
    for i, j in allo.grid(L, D, name="norms1"):
        N1[i, j] = (X[i, j] - mean1[i] / D) / allo.sqrt(spread1[i] / D + 1e-5) * g1[j] + h1[j]
    Q: float32[L, D] = 0
    keys: float32[L, D] = 0
    V: float32[L, D] = 0
    for i, j, k in allo.grid(L, D, D, name="queries"):
        Q[i, j] += N1[i, k] * Wq[j, k]
    for i, j, k in allo.grid(L, D, D, name="keys_"):
        keys[i, j] += N1[i, k] * Wk[j, k]
    for i, j, k in allo.grid(L, D, D, name="values"):
        V[i, j] += N1[i, k] * Wv[j, k]
    S: float32[H, L, L] = 0
    for h, i, j, k in allo.grid(H, L, L, K, name="scores"):
        S[h, i, j] += Q[i, h * K + k] * keys[j, h * K + k]
    E: float32[H, L, L]
    T: float32[H, L] = 0
    for h, i, j in allo.grid(H, L, L, name="exponentials"):
        E[h, i, j] = allo.exp(S[h, i, j] * 0.35355339)
    for h, i, j in allo.grid(H, L, L, name="totals"):
        T[h, i] += E[h, i, j]
    P: float32[H, L, L]
    for h, i, j in allo.grid(H, L, L, name="weights"):
        P[h, i, j] = E[h, i, j] / T[h, i]
    A: float32[L, D] = 0
    for h, i, k, j in allo.grid(H, L, K, L, name="context"):
        A[i, h * K + k] += P[h, i, j] * V[j, h * K + k]
    R: float32[L, D]
    for i, j in allo.grid(L, D, name="copy"):
        R[i, j] = X[i, j]
    for i, j, k in allo.grid(L, D, D, name="output"):
        R[i, j] += A[i, k] * Wo[j, k]
    mean2: float32[L] = 0
    spread2: float32[L] = 0
    N2: float32[L, D]
    for i, j in allo.grid(L, D, name="means2"):
        mean2[i] += R[i, j]
    for i, j in allo.grid(L, D, name="spreads2"):
        spread2[i] += (R[i, j] - mean2[i] / D) * (R[i, j] - mean2[i] / D)
    for i, j in allo.grid(L, D, name="norms2"):
        N2[i, j] = (R[i, j] - mean2[i] / D) / allo.sqrt(spread2[i] / D + 1e-5) * g2[j] + h2[j]
    U: float32[L, F]
    for i, j in allo.grid(L, F, name="bias1"):
        U[i, j] = b1[j]
    for i, j, k in allo.grid(L, F, D, name="up"):
        U[i, j] += N2[i, k] * W1[j, k]
    G: float32[L, F]
    for i, j in allo.grid(L, F, name="gelu"):
        u: float32 = U[i, j]
        G[i, j] = 0.5 * u * (1.0 + allo.tanh(0.7978845608 * (u + 0.044715 * u * u * u)))
    for i, j in allo.grid(L, D, name="bias2"):
        Y[i, j] = R[i, j] + b2[j]
    for i, j, k in allo.grid(L, D, F, name="down"):
        Y[i, j] += G[i, k] * W2[j, k]


def convolution_by_hand() -> allo.Schedule:
    """The library's, which adds up the nine terms of a channel in a pipeline."""
    s = allo.customize(conv2d, instantiate=[float32, 1, C, M, SIDE, SIDE, 3, 3, OUT, OUT, 1, 1, 0, 0])
    return schedule_conv2d(s)


def matrix_vector_by_hand(rows: int) -> allo.Schedule:
    """The library's, with the sums of so many rows at a time."""
    return schedule_gemv(allo.customize(gemv, instantiate=[float32, float32, float32, N, N, rows]))


DESIGNS: dict[str, tuple[Any, str, Callable[[], allo.Schedule]]] = {
    "convolution": (convolution, "schedule_conv2d", convolution_by_hand),
    "gemv12": (matrix_vector, "schedule_gemv, 12 rows", lambda: matrix_vector_by_hand(12)),
    "gemv32": (matrix_vector, "schedule_gemv, 32 rows", lambda: matrix_vector_by_hand(32)),
    "block": (block, "examples/transformer.py", lambda: schedule_block(L, D, H)),
}


def main() -> None:
    """Print the rows of the layers that are named, or of all, as they are known."""
    parser = arguments(__doc__, list(DESIGNS))
    parser.add_argument("--profile", help="of a tool")
    given = parser.parse_args()
    options = {"profile": given.profile} if given.profile else {}
    print(*HEADER, sep=" | ", flush=True)
    for name in given.kernels:
        kernel, title, by_hand = DESIGNS[name]
        print(name, title, *compared(kernel, by_hand(), given, options), sep=" | ", flush=True)


if __name__ == "__main__":
    main()
