"""Softmax of rows that are cut: by what the refusal of `allo.softmax` says, gathered rows or reductions of parts."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import float32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate
M, N, P = 4, 16, 4


@df.region()
def gathered(A: float32[M, N], C: float32[M, N]):
    @df.kernel(mapping=[P], args=[A, C])
    def task(a: float32[M, N] @ [R, S(0)], c: float32[M, N] @ [R, S(0)]):
        c[:, :] = allo.softmax(allo.all_gather(a, dim=1))


@df.region()
def combined(A: float32[M, N], C: float32[M, N]):
    @df.kernel(mapping=[P], args=[A, C])
    def task(a: float32[M, N] @ [R, S(0)], c: float32[M, N] @ [R, S(0)]):
        largest: float32[M] = -1e30
        for i, j in allo.grid(M, N // P):
            largest[i] = max(largest[i], a[i, j])
        top: float32[M] = allo.allreduce(largest, op="max", axis=0)
        part: float32[M, N // P]
        sums: float32[M] = 0
        for i, j in allo.grid(M, N // P):
            part[i, j] = allo.exp(a[i, j] - top[i])
            sums[i] += part[i, j]
        total: float32[M] = allo.allreduce(sums, op="+", axis=0)
        for i, j in allo.grid(M, N // P):
            c[i, j] = part[i, j] / total[i]


@pytest.mark.parametrize("target", ["llvm", "aie"])
@pytest.mark.parametrize("region", [gathered, combined], ids=lambda region: region.__name__)
def test_softmax(region, target):
    A = np.random.default_rng(0).standard_normal((M, N)).astype(np.float32)
    C = np.zeros_like(A)
    df.build(region, target=target)(A, C)
    weights = np.exp(A - A.max(1, keepdims=True))
    np.testing.assert_allclose(C, weights / weights.sum(1, keepdims=True), rtol=1e-5)
