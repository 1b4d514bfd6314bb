"""Collectives and layouts through all doors, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import int32
from tests.dataflow import collectives as c

from .doors import in_c, through

rng = np.random.default_rng(11)


def numbers(*shape: int, dtype: type = np.int16) -> np.ndarray:
    return rng.integers(-9, 9, shape).astype(dtype)


def test_split_k_of_the_paper() -> None:
    A, B, C = numbers(c.M, c.K), numbers(c.K, c.N), np.zeros((c.M, c.N), np.int16)
    np.testing.assert_array_equal(through(c.split_k, A, B, C, csim=False).arguments[2], A @ B)


def test_gemv_of_columns() -> None:
    A, x = rng.random((c.W, c.W), np.float32), rng.random(c.W, np.float32)
    found = through(c.gemv, A, x, np.zeros_like(x), csim=False).arguments[2]
    parts = []
    for p in range(c.P):
        part = np.zeros(c.W, np.float32)
        for k in range(2 * p, 2 * p + 2):
            part += A[:, k] * x[k]
        parts.append(part)
    np.testing.assert_array_equal(found, ((parts[0] + parts[1]) + parts[2]) + parts[3])


@pytest.mark.parametrize("region", [c.ffn, pytest.param(c.gathered_ffn, marks=pytest.mark.slow)])
def test_feed_forward_layers(region: Callable[..., Any]) -> None:
    X, W1, W2 = numbers(c.M, c.N), numbers(c.N, c.H), numbers(c.H, c.N)
    hidden = np.maximum(X @ W1, 0).astype(np.int32)
    found = through(region, X, W1, W2, np.zeros((c.M, c.N), np.int32), csim=False).arguments[3]
    np.testing.assert_array_equal(found, hidden @ W2)


def test_heads_of_attention() -> None:
    Q, K = numbers(c.LENGTH, c.HEADS * c.WIDTH), numbers(c.LENGTH, c.HEADS * c.WIDTH)
    V = numbers(c.HEADS * c.LENGTH, c.WIDTH)
    Y, Z = np.zeros((c.HEADS * c.LENGTH, c.WIDTH), np.int32), np.zeros((c.LENGTH, c.LENGTH), np.int32)
    q, k = (np.moveaxis(x.reshape(c.LENGTH, c.HEADS, c.WIDTH), 1, 0).astype(np.int32) for x in (Q, K))
    v = V.reshape(c.HEADS, c.LENGTH, c.WIDTH).astype(np.int32)
    scores = np.maximum(q @ k.swapaxes(1, 2), 0)
    wanted = (scores + np.maximum(v @ v.swapaxes(1, 2), 0)) @ v
    arguments = (Q, K, V, Y, Z)
    found = through(c.heads, *arguments, csim=False).arguments
    on_cores = [array.copy() for array in arguments]
    df.build(c.heads, target="aie")(*on_cores)
    for *_, some, total in (found, on_cores):
        np.testing.assert_array_equal(some, wanted.reshape(Y.shape))
        np.testing.assert_array_equal(total, scores.sum(0))


def test_products_of_blocks() -> None:
    A, B = numbers(4, 4), numbers(4, 4)
    np.testing.assert_array_equal(through(c.blocks, A, B, np.zeros_like(A), csim=False).arguments[2], A @ B)


def test_numbers() -> None:
    A = numbers(3, 4, dtype=np.int8)
    found = through(c.norms, A, np.zeros(3, np.int8), np.zeros((3, 4), np.int32), csim=False).arguments
    np.testing.assert_array_equal(found[1], A.max(1))
    np.testing.assert_array_equal(found[2], [A.sum(dtype=np.int32) * np.arange(4)] * 3)


@in_c
def test_scatter_and_gather(csim: bool) -> None:
    A = numbers(c.P, 2, 3)
    found = through(c.farm, A, np.zeros((c.P * 2, 3), np.int16), csim=csim).arguments
    np.testing.assert_array_equal(found[1], 2 * A.reshape(-1, 3))
    A = numbers(2, 3)
    found = through(c.columns, A, np.zeros_like(A), np.zeros(3, np.int16), csim=False).arguments
    np.testing.assert_array_equal(found[1], A)
    np.testing.assert_array_equal(found[2], A[1] + 1 + [A[0, 0] + 1, 0, 0])


def test_parts_of_what_is_whole() -> None:
    A, b = numbers(c.M, c.N), numbers(c.N)
    np.testing.assert_array_equal(through(c.whole_and_parts, A, b, np.zeros_like(A), csim=False).arguments[2], A + b)
    np.testing.assert_array_equal(through(c.transposed_parts, A, np.zeros_like(A.T), csim=False).arguments[1], A.T)


def test_regions_of_parts() -> None:
    A = numbers(c.M, c.N)
    found = through(c.regions_of_parts, A, np.zeros_like(A), csim=False).arguments[1]
    np.testing.assert_array_equal(found, A + 1)
    assert "hls::stream" in df.build(c.regions_of_parts, target="vhls").hls_code


BUILDS = {
    "split_k": (c.split_k, [numbers(c.M, c.K), numbers(c.K, c.N), np.zeros((c.M, c.N), np.int16)]),
    "gemv": (c.gemv, [numbers(c.W, c.W, dtype=np.float32), numbers(c.W, dtype=np.float32), np.zeros(c.W, np.float32)]),
    "ffn": (
        c.ffn, [numbers(c.M, c.N), numbers(c.N, c.H), numbers(c.H, c.N), np.zeros((c.M, c.N), np.int32)]
    ),
}  # fmt: skip
SLOW = pytest.mark.slow


@pytest.mark.parametrize("name", ["split_k", pytest.param("gemv", marks=SLOW), pytest.param("ffn", marks=SLOW)])
def test_simulation_of_the_hls_code_gives_the_same(name: str) -> None:
    region, arguments = BUILDS[name]
    one, other = ([a.copy() for a in arguments] for _ in range(2))
    df.build(region)(*one)
    df.build(region, target="vitis_hls", mode="csim")(*other)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


def test_costs_of_collectives_are_in_the_estimate() -> None:
    s = df.customize(c.gemv)
    found = allo.estimate(s)
    assert found.cycles is not None
    loops = {loop.name for loop in found.loops}
    assert all(f"reduce_scatter_0_{way}_0" in loops for way in ("first_up", "middle_up", "last_up", "last_part"))
    assert "part_reduce_scatter_0_up" in str(s.ir)


def test_module_does_not_grow_with_the_grid() -> None:
    def design(P: int):
        @df.region()
        def top(A: int32[P * 2], B: int32[P * 2]):
            @df.kernel(mapping=[P], args=[A, B])
            def f(a: int32[P * 2] @ c.Layout("S"), b: int32[P * 2] @ c.Layout("S")):
                total: int32[2] = allo.allreduce(a, "+", 0)
                every: int32[P * 2] = allo.all_gather(total)
                b[:] = allo.reduce_scatter(every, "max", 0)

        return top

    small, large = (str(df.customize(design(P)).ir) for P in (4, 64))
    assert small.count("\n") == large.count("\n")
