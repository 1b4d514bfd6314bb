"""Designs of the literature against NumPy, in simulator, reference, verifier and estimate; C simulation (slow)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from tests.dataflow.designs import elements as e
from tests.dataflow.designs import systolic as s
from tests.dataflow.designs import tiles as t
from tests.published.doors import ran
from tests.seeds import sampled

from .doors import through

rng = np.random.default_rng(20)


def numbers(*shape: int, dtype: type = np.int16) -> np.ndarray:
    return rng.integers(-9, 9, shape).astype(dtype)


def reals(*shape: int) -> np.ndarray:
    return (rng.random(shape) - 0.5).astype(np.float32)


@dataclass(frozen=True)
class Design:
    """A region, its arguments, and by their numbers what they are afterwards."""

    region: Callable[..., Any]
    arguments: tuple[Any, ...]
    wanted: dict[int, np.ndarray]
    reads: Callable[[np.ndarray], np.ndarray] = np.asarray  # what a result means
    provable: bool = True

    def check(self, seen: tuple[Any, ...]) -> None:
        for number, wanted in self.wanted.items():
            found = self.reads(seen[number])
            if wanted.dtype.kind == "f":
                np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-5)
            else:
                np.testing.assert_array_equal(found, wanted)


def matrices(*shapes: tuple[int, ...], dtype: type = np.int16) -> list[np.ndarray]:
    return [numbers(*shape, dtype=dtype) for shape in shapes]


def one_dimension() -> Design:
    A, x = matrices((s.M, s.K), (s.K,))
    return Design(s.one_dimension, (A, x, np.zeros(s.M, np.int16)), {2: A @ x})


def weight_stationary() -> Design:
    X, W = matrices((s.M, s.K), (s.K, s.N))
    return Design(s.weight_stationary, (X, W, np.zeros((s.M, s.N), np.int16)), {2: X @ W})


def words(rows: np.ndarray) -> np.ndarray:
    """Columns of four rows each, packed: `[m, k]` becomes `[m // 4, k]`."""
    count, length = rows.shape
    return np.ascontiguousarray(rows.reshape(count // 4, 4, length).transpose(0, 2, 1)).view(np.uint32)[..., 0]


def packed() -> Design:
    X, W = matrices((s.M, s.K), (s.K, s.PACKED), dtype=np.int8)
    Z = np.zeros((s.M, s.PACKED // 4), np.uint32)
    return Design(s.packed, (words(X), W.view(np.uint32), Z), {2: X @ W}, lambda z: z.view(np.int8))


def daisy_chain() -> Design:
    A, B = matrices((s.DM, s.DK), (s.DK, s.DN), dtype=np.int8)
    columns = np.ascontiguousarray(B.reshape(s.DK, s.DN // 4, 4).transpose(1, 0, 2)).view(np.uint32)

    def read(C: np.ndarray) -> np.ndarray:  # [mt, nt, n, m]
        tiles = C.view(np.int8).reshape(s.DM // 4, s.DN // 4, 4, 4)
        return tiles.transpose(0, 3, 1, 2).reshape(s.DM, s.DN)

    C = np.zeros(s.DM * s.DN // 4, np.uint32)
    return Design(s.daisy_chain, (words(A).reshape(-1), columns.reshape(-1), C), {2: A @ B}, read)


def convolution() -> Design:
    X, F = matrices((s.H, s.H), (s.TAPS, s.TAPS), dtype=np.int32)
    windows = np.lib.stride_tricks.sliding_window_view(X, F.shape)
    Y = np.einsum("ijab,ab->ij", windows, F).astype(np.int32)
    return Design(s.convolution, (X, F, np.zeros_like(Y)), {2: Y})


def unified() -> Design:
    X, W, G = matrices((2, e.T, e.R), (2, e.T, e.C), (2, e.R, e.C))
    Y, Z = np.zeros((2, e.R, e.C), np.int16), np.zeros((2, e.T, e.C), np.int16)
    sums, kept = G[0] + X[0].T @ W[0], W[1] + X[1] @ G[1]
    wanted = {4: np.stack([sums, G[1]]), 5: np.stack([W[0], kept])}
    return Design(e.unified, (np.array([False, True]), X, W, G, Y, Z), wanted, provable=False)


def sparse() -> Design:
    A, B = matrices((e.SM, e.SK // 2), (e.SK, e.SN), dtype=np.int8)
    place = rng.integers(0, 4, A.shape).astype(np.int8)
    dense = np.zeros((e.SM, e.SK), np.int32)
    for m, h in np.ndindex(*A.shape):
        dense[m, h // 2 * 4 + place[m, h]] += A[m, h]
    Y = np.zeros((e.SM, e.SN), np.int32)
    return Design(e.sparse, (A, place, B, Y), {3: dense @ B.astype(np.int32)})


def smith_waterman() -> Design:
    query, text = (rng.integers(0, 3, n).astype(np.int8) for n in (e.QUERY, e.TEXT))
    score = np.zeros((e.QUERY + 1, e.TEXT + 1), np.int16)
    for q, x in np.ndindex(e.QUERY, e.TEXT):
        match = e.MATCH if query[q] == text[x] else e.MISMATCH
        ways = (score[q, x] + match, score[q, x + 1] + e.GAP, score[q + 1, x] + e.GAP, 0)
        score[q + 1, x + 1] = max(ways)
    return Design(e.smith_waterman, (query, text, np.zeros(e.QUERY, np.int16)), {2: score[1:].max(axis=1)})


def torus(region: Callable[..., Any]) -> Design:
    size = (e.P * e.B, e.P * e.B)
    X, Y = matrices(size, size, dtype=np.int32)
    return Design(region, (X, Y, np.zeros_like(X)), {2: X @ Y})


def gemm(region: Callable[..., Any]) -> Design:
    A, B = matrices((t.M, t.K), (t.K, t.N))
    return Design(region, (A, B, np.zeros((t.M, t.N), np.int16)), {2: A @ B})


def hierarchy() -> Design:
    A, B, C = matrices(*[(t.TM, t.TM)] * 3, dtype=np.int32)
    return Design(t.hierarchy, (A, B, C, np.zeros_like(A)), {3: A @ B @ C})


def feed_forward() -> Design:
    X, W1, W2 = reals(t.S, t.D), reals(t.D, t.H), reals(t.H, t.D)
    return Design(t.feed_forward, (X, W1, W2, np.zeros_like(X)), {3: np.maximum(X @ W1, 0) @ W2})


def attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    scores = np.exp(Q @ K)
    return (scores / scores.sum(axis=-1, keepdims=True)) @ V


def multi_head() -> Design:
    Q, K, V = reals(t.HEADS, t.L, t.E), reals(t.HEADS, t.E, t.L), reals(t.HEADS, t.L, t.E)
    return Design(t.multi_head, (Q, K, V, np.zeros_like(Q)), {3: attention(Q, K, V)})


def flash_attention() -> Design:
    Q, K, V = reals(t.NT, t.DT), reals(t.DT, t.NT), reals(t.NT, t.DT)
    return Design(t.flash_attention, (Q, K, V, np.zeros_like(Q)), {3: attention(Q, K, V)})


DESIGNS = {
    "one_dimension": one_dimension,
    "weight_stationary": weight_stationary,
    "packed": packed,
    "daisy_chain": daisy_chain,
    "convolution": convolution,
    "unified": unified,
    "sparse": sparse,
    "smith_waterman": smith_waterman,
    "cannon": lambda: torus(e.cannon),
    "summa": lambda: torus(e.summa),
    "tiled_gemm": lambda: gemm(t.tiled_gemm),
    "multi_cache": lambda: gemm(t.multi_cache),
    "hierarchy": hierarchy,
    "feed_forward": feed_forward,
    "multi_head": multi_head,
    "flash_attention": flash_attention,
}


LONG_PROOFS = ("summa", "cannon", "flash_attention", "daisy_chain", "multi_head", "multi_cache")


@pytest.mark.parametrize("name", sampled(list(DESIGNS)))
def test_design(name: str) -> None:
    design = DESIGNS[name]()
    if design.provable and name not in LONG_PROOFS:
        design.check(through(design.region, *design.arguments, csim=False).arguments)
    else:
        design.check(ran(df.build(design.region), design.arguments).arguments)
        design.check(ran(allo.interpret(design.region), design.arguments).arguments)
    cycles = allo.estimate(df.customize(design.region)).cycles
    assert cycles is not None and cycles > 0
    assert "#pragma HLS dataflow" in df.build(design.region, target="vhls").hls_code


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG_PROOFS)
def test_design_whose_proof_takes_long(name: str) -> None:
    design = DESIGNS[name]()
    design.check(through(design.region, *design.arguments, csim=False).arguments)


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_design_in_c_simulation(name: str) -> None:
    design = DESIGNS[name]()
    simulated = ran(df.build(design.region, target="vitis_hls", mode="csim"), design.arguments)
    for one, other in zip(simulated.arguments, ran(df.build(design.region), design.arguments).arguments, strict=True):
        np.testing.assert_array_equal(one, other)
    design.check(simulated.arguments)


def test_the_position_that_runs_longest_is_counted() -> None:
    estimate = allo.estimate(df.customize(s.daisy_chain))
    assert [note for note in estimate.notes if "position" in note] == [
        "gemm_systolic: how often loop 'ind_1' runs depends on the position of the task: counted is the most, 3 times",
        "daisy_chain: positions of a grid do not do the same at the same time: the latency is that of a run without "
        "data, put by put",
    ]
