"""Attention in blocks of queries and keys (FlashAttention), each pair of blocks a task; causal attention too."""

# Streams of regions are declared by annotations, which are read by the front end with the names around them.
# ruff: noqa: F821
# mypy: disable-error-code="valid-type, no-untyped-def, misc"

from collections.abc import Callable
from math import sqrt
from typing import Any

import allo.dataflow as df
from allo import exp, grid, matmul, meta_else, meta_if
from allo.errors import TargetError
from allo.ir.types import Stream, bfloat16, float32
from allo.memory import Layout

from .gemm import MappingStep

_S, _R = Layout.Shard, Layout.Replicate
_LEAST = -1e30  # instead of minus infinity, whose difference to itself is no number


def flash_attention(
    L: int, D: int, Pq: int, Pkv: int, Ty: Any = bfloat16, causal: bool = False
) -> tuple[Callable[..., Any], list[MappingStep]]:
    """The region `top(Q: Ty[L, D], K: Ty[L, D], V: Ty[L, D], O: float32[L, D])` and its `mapping_primitives`.

    O is `softmax(Q @ K.T / sqrt(D)) @ V`. Task `attend_i_j` goes on with queries of block i of `Pq` and keys of block j
    of `Pkv`; tasks of one i are a chain on one core, which keeps largest scores, sums and results (online softmax, as
    in the FlashAttention of the Dato paper). With `causal`, query r sees keys up to r: blocks ahead are no tasks' work.
    Raises TargetError if blocks do not divide L, or are not square though they are causal.
    """
    _demand_blocks(L, Pq, Pkv, causal)
    Tq, Tkv, scale = L // Pq, L // Pkv, 1 / sqrt(D)

    @df.region()
    def top(Q: Ty[L, D], K: Ty[L, D], V: Ty[L, D], O: float32[L, D]):  # noqa: E741
        kept: Stream[float32[Tq, D + 2], 2][Pq, Pkv]  # results, largest scores, sums

        @df.kernel(mapping=[Pq, Pkv], args=[Q, K, V, O])
        def attend(
            q: Ty[L, D] @ [_S(0), _R], k: Ty[L, D] @ [_S(1), _R], v: Ty[L, D] @ [_S(1), _R],
            o: float32[L, D] @ [_S(0), _R],
        ):  # fmt: skip
            i, j = df.get_pid()
            with meta_if(not causal or j <= i):
                state: float32[Tq, D + 2] = 0
                with meta_if(j > 0):
                    state[:, :] = kept[i, j - 1].get()
                with meta_else():
                    for first in range(Tq):
                        state[first, D] = _LEAST
                scores: float32[Tq, Tkv] = matmul(q, k.T)
                with meta_if(causal and j == i):
                    for row, ahead in grid(Tq, Tkv):
                        scores[row, ahead] = _LEAST if ahead > row else scores[row, ahead]
                weights: Ty[Tq, Tkv]
                for r in range(Tq):
                    most: float32 = state[r, D]
                    for c in range(Tkv):
                        most = max(most, scores[r, c] * scale)
                    less: float32 = exp(state[r, D] - most)
                    total: float32 = 0
                    for c in range(Tkv):
                        weight: float32 = exp(scores[r, c] * scale - most)
                        total += weight
                        weights[r, c] = weight
                    state[r, D] = most
                    state[r, D + 1] = state[r, D + 1] * less + total
                    for d in range(D):
                        state[r, d] = state[r, d] * less
                more: float32[Tq, D] = matmul(weights, v)
                for r, d in grid(Tq, D):
                    state[r, d] = state[r, d] + more[r, d]
                with meta_if(j < (i if causal else Pkv - 1)):
                    kept[i, j].put(state)
                with meta_else():
                    for r, d in grid(Tq, D):
                        o[r, d] = state[r, d] / state[r, D + 1]

    return top, _chains(Pq, Pkv, causal)


def _chains(Pq: int, Pkv: int, causal: bool) -> list[MappingStep]:
    """A chain for each block of queries."""
    steps: list[MappingStep] = []
    for i in range(Pq):
        chain = f"attend_{i}_0"
        for j in range(1, i + 1 if causal else Pkv):
            steps.append(("chain", [chain, f"attend_{i}_{j}"]))
            chain += f"-attend_{i}_{j}"
    return steps


def _demand_blocks(L: int, Pq: int, Pkv: int, causal: bool) -> None:
    for name, parts in (("Pq", Pq), ("Pkv", Pkv)):
        if parts < 1 or L % parts:
            raise TargetError(f"L = {L} is not made of {name} = {parts} equal blocks", hint="let blocks divide it")
    if causal and Pq != Pkv:
        raise TargetError(
            f"causal attention has as many blocks of queries as of keys; got {Pq} and {Pkv}",
            hint="let Pq and Pkv be the same",
        )
