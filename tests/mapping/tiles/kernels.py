"""Tile programs of small sizes, with what they compute in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import allo
from allo import tile
from allo.ir.types import float32, index, int32

M, N, K = 64, 48, 32


@tile.kernel
def gemm[BM: index, BN: index, BK: index](A: float32[M, K], B: float32[K, N], C: float32[M, N]):
    for m, n in tile.programs(M // BM, N // BN):
        acc: float32[BM, BN] = 0
        for k in range(K // BK):
            a: float32[BM, BK] = A[m * BM : (m + 1) * BM, k * BK : (k + 1) * BK]
            b: float32[BK, BN] = B[k * BK : (k + 1) * BK, n * BN : (n + 1) * BN]
            acc += allo.matmul(a, b)
        C[m * BM : (m + 1) * BM, n * BN : (n + 1) * BN] = acc


@tile.kernel
def integers(A: int32[M, K], B: int32[K, N], C: int32[M, N]):
    for m, n in tile.programs(8, 6):
        acc: int32[8, 8] = 0
        for k in range(4):
            a: int32[8, 8] = A[m * 8 : (m + 1) * 8, k * 8 : (k + 1) * 8]
            b: int32[8, 8] = B[k * 8 : (k + 1) * 8, n * 8 : (n + 1) * 8]
            acc += allo.matmul(a, b)
        C[m * 8 : (m + 1) * 8, n * 8 : (n + 1) * 8] = acc


@tile.kernel
def batched(A: float32[3, 32, 16], B: float32[3, 16, 24], C: float32[3, 32, 24]):
    for batch, m, n in tile.programs(3, 4, 3):
        acc: float32[8, 8] = 0
        for k in range(2):
            a: float32[8, 8] = A[batch, m * 8 : (m + 1) * 8, k * 8 : (k + 1) * 8]
            b: float32[8, 8] = B[batch, k * 8 : (k + 1) * 8, n * 8 : (n + 1) * 8]
            acc += allo.matmul(a, b)
        C[batch, m * 8 : (m + 1) * 8, n * 8 : (n + 1) * 8] = acc


@tile.kernel
def split_k(A: float32[32, 64], B: float32[64, 24], P: float32[4, 32, 24]):
    for part, m, n in tile.programs(4, 4, 3):
        acc: float32[8, 8] = 0
        for k in range(2):
            a: float32[8, 8] = A[m * 8 : (m + 1) * 8, part * 16 + k * 8 : part * 16 + (k + 1) * 8]
            b: float32[8, 8] = B[part * 16 + k * 8 : part * 16 + (k + 1) * 8, n * 8 : (n + 1) * 8]
            acc += allo.matmul(a, b)
        P[part, m * 8 : (m + 1) * 8, n * 8 : (n + 1) * 8] = acc


@tile.kernel
def softmax(X: float32[40, 24], Y: float32[40, 24]):
    for m in tile.programs(10):
        Y[m * 4 : (m + 1) * 4] = allo.softmax(X[m * 4 : (m + 1) * 4])


@tile.kernel
def layernorm(X: float32[40, 24], G: float32[24], B: float32[24], Y: float32[40, 24]):
    for m in tile.programs(10):
        x: float32[4, 24] = X[m * 4 : (m + 1) * 4]
        gamma: float32[24] = G[:]
        beta: float32[24] = B[:]
        Y[m * 4 : (m + 1) * 4] = allo.layernorm(x, gamma, beta)


@tile.kernel
def mlp(X: float32[32, 16], W: float32[16, 24], V: float32[24, 16], Y: float32[32, 16]):
    for m in tile.programs(4):
        x: float32[8, 16] = X[m * 8 : (m + 1) * 8]
        acc: float32[8, 16] = 0
        for h in range(3):
            w: float32[16, 8] = W[:, h * 8 : (h + 1) * 8]
            v: float32[8, 16] = V[h * 8 : (h + 1) * 8]
            hidden: float32[8, 8] = allo.matmul(x, w)
            acc += allo.matmul(allo.relu(hidden), v)
        Y[m * 8 : (m + 1) * 8] = acc


@tile.kernel
def convolution(X: float32[18, 18], F: float32[3, 3], Y: float32[16, 16]):
    for i, j in tile.programs(4, 4):
        x: float32[6, 6] = X[i * 4 : i * 4 + 6, j * 4 : j * 4 + 6]
        f: float32[3, 3] = F[:, :]
        y: float32[4, 4] = 0
        for r, c, p, q in allo.grid(4, 4, 3, 3):
            y[r, c] += x[r + p, c + q] * f[p, q]
        Y[i * 4 : (i + 1) * 4, j * 4 : (j + 1) * 4] = y


HEADS, LENGTH, DEPTH, BLOCK = 2, 32, 8, 8


@tile.kernel
def attention[CAUSAL: index](
    Q: float32[HEADS, LENGTH, DEPTH],
    K: float32[HEADS, LENGTH, DEPTH],
    V: float32[HEADS, LENGTH, DEPTH],
    O: float32[HEADS, LENGTH, DEPTH],  # noqa: E741
):
    for head, m in tile.programs(HEADS, LENGTH // BLOCK):
        q: float32[BLOCK, DEPTH] = Q[head, m * BLOCK : (m + 1) * BLOCK]
        acc: float32[BLOCK, DEPTH] = 0
        largest: float32[BLOCK] = -1e30
        total: float32[BLOCK] = 0
        for n in range((m + 1) if CAUSAL else LENGTH // BLOCK):
            k: float32[BLOCK, DEPTH] = K[head, n * BLOCK : (n + 1) * BLOCK]
            v: float32[BLOCK, DEPTH] = V[head, n * BLOCK : (n + 1) * BLOCK]
            s: float32[BLOCK, BLOCK] = allo.matmul(q, k.T)
            for i in range(BLOCK):
                new: float32 = largest[i]
                for j in range(BLOCK):
                    with allo.meta_if(CAUSAL):
                        if n * BLOCK + j > m * BLOCK + i:
                            s[i, j] = -1e30
                    new = max(new, s[i, j])
                scale: float32 = allo.exp(largest[i] - new)
                largest[i] = new
                total[i] *= scale
                for j in range(BLOCK):
                    s[i, j] = allo.exp(s[i, j] - new)
                    total[i] += s[i, j]
                for j in range(DEPTH):
                    acc[i, j] *= scale
            acc += allo.matmul(s, v)
        for i, j in allo.grid(BLOCK, DEPTH):
            acc[i, j] /= total[i]
        O[head, m * BLOCK : (m + 1) * BLOCK] = acc


def _softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _layernorm(x: Any, gamma: Any, beta: Any) -> Any:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * gamma + beta


def _convolved(x: Any, f: Any) -> Any:
    return sum(x[p : p + 16, q : q + 16] * f[p, q] for p in range(3) for q in range(3))


def _attended(causal: bool) -> Callable[..., Any]:
    def attended(q: Any, k: Any, v: Any) -> Any:
        scores = q @ k.transpose(0, 2, 1)
        return _softmax(np.where(np.tri(LENGTH, dtype=bool), scores, -np.inf) if causal else scores) @ v

    return attended


@dataclass(frozen=True)
class Case:
    """A tile program, values of its template, and its last argument as a function of the others."""

    kernel: Any
    expected: Callable[..., Any]
    values: dict[str, int] | None = None

    def arrays(self, seed: int) -> list[Any]:
        """Random arguments, and zeros for the result."""
        random = np.random.default_rng(seed)
        program = tile.plan(self.kernel, "mesh8x8", self.values).program
        made = []
        for array in program.arrays[:-1]:
            if array.element == int32:
                made.append(random.integers(-99, 99, array.shape).astype(np.int32))
            else:
                made.append(random.standard_normal(array.shape).astype(np.float32))
        last = program.arrays[-1]
        return [*made, np.zeros(last.shape, np.int32 if last.element == int32 else np.float32)]


CASES = {
    "gemm": Case(gemm, np.matmul, {"BM": 8, "BN": 8, "BK": 8}),
    "integers": Case(integers, np.matmul),
    "batched": Case(batched, np.matmul),
    "split_k": Case(split_k, lambda a, b: np.einsum("mpk,pkn->pmn", a.reshape(32, 4, 16), b.reshape(4, 16, 24))),
    "softmax": Case(softmax, _softmax),
    "layernorm": Case(layernorm, _layernorm),
    "mlp": Case(mlp, lambda x, w, v: np.maximum(x @ w, 0) @ v),
    "convolution": Case(convolution, _convolved),
    "attention": Case(attention, _attended(False), {"CAUSAL": 0}),
    "causal": Case(attention, _attended(True), {"CAUSAL": 1}),
}
