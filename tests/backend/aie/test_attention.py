"""Attention of the library on cores of the model, causal and not, against NumPy; what it refuses."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import allo.dataflow as df
from allo.errors import TargetError
from allo.library.aie import flash_attention

L, D = 16, 8

type Numbers = np.ndarray[Any, Any]


def attention(q: Numbers, k: Numbers, v: Numbers, *, causal: bool) -> Numbers:
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ k.T / np.sqrt(D)
    if causal:
        scores = np.where(np.tril(np.ones_like(scores)) > 0, scores, -np.inf)
    power = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(power / power.sum(1, keepdims=True) @ v)


@pytest.mark.parametrize(
    ("causal", "kernels"),
    [
        (True, "scalar"),
        pytest.param(False, "scalar", marks=pytest.mark.slow),
        pytest.param(True, "vector", marks=pytest.mark.slow),
        pytest.param(False, "vector", marks=pytest.mark.slow),
    ],
)
def test_attention(causal: bool, kernels: str) -> None:
    top, steps = flash_attention(L, D, 2, 2, causal=causal)
    built = df.build(top, target="aie", mapping_primitives=steps, kernels=kernels)
    assert [len(core.nodes) for core in built.plan.mapping.cores] == ([1, 2] if causal else [2, 2])
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((L, D)).astype(ml_dtypes.bfloat16) for _ in range(3))
    O = np.zeros((L, D), np.float32)  # noqa: E741
    built(q, k, v, O)
    np.testing.assert_allclose(O, attention(q, k, v, causal=causal), atol=1e-2)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((16, 8, 3, 2), "L = 16 is not made of Pq = 3 equal blocks\n  hint: let blocks divide it"),
        (
            (16, 8, 4, 2),
            "causal attention has as many blocks of queries as of keys; got 4 and 2\n"
            "  hint: let Pq and Pkv be the same",
        ),
    ],
)
def test_blocks_that_do_not_fit(shape: tuple[int, int, int, int], message: str) -> None:
    with pytest.raises(TargetError) as caught:
        flash_attention(*shape, causal=True)
    assert str(caught.value) == message
