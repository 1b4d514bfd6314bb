"""Attention and feed-forward networks: templates that are composed of templates."""

import numpy as np
import pytest

import allo
from allo.ir.types import float32, float64, int8
from allo.library import nn, reference

from .instances import built, floats


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("H, L, D, M0, M1", [(2, 6, 8, 4, 4), (1, 4, 4, 2, 2), (4, 3, 8, 2, 4)])
def test_scaled_dot_product(H, L, D, M0, M1, scheduled):
    Q, K, V = floats(L, D), 2 * floats(L, D)[::-1].copy(), floats(D, L).T.copy()
    got = built(nn.scaled_dot_product_attention, [float32, H, L, D, M0, M1], scheduled)(Q, K, V)
    np.testing.assert_allclose(got, reference.scaled_dot_product_attention(Q, K, V, H), rtol=1e-4, atol=1e-5)


def test_both_products_may_share_the_array():
    """Heads as wide as the sequence is long: the two products are one instance of the tile."""
    s = allo.customize(nn.attention, instantiate=[float64, 2, 4, 8, 2, 2])
    nn.schedule_scaled_dot_product_attention(s)
    assert sum(step.name == "unfold" for step in s.steps) == 1
    Q, K, V = (floats(4, 8, dtype=np.float64) * n for n in (1, 2, 3))
    np.testing.assert_allclose(s.build()(Q, K, V), reference.scaled_dot_product_attention(Q, K, V, 2))


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize(
    "kind, dtype, tolerance", [(float32, np.float32, 1e-4), (float64, np.float64, 1e-10)]
)
def test_multi_head(kind, dtype, tolerance, scheduled):
    H, L, D = 2, 5, 6
    X = floats(L, D, dtype=dtype)
    weights = [(floats(*shape, dtype=dtype) + n) / 3 for n in range(4) for shape in ((D, D), (D,))]
    got = built(nn.multi_head_attention, [kind, H, L, D, 4, 2], scheduled)(X, *weights)
    wanted = reference.multi_head_attention(X, *weights, heads=H)
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("L, D, F", [(6, 8, 12), (1, 3, 2), (4, 4, 16)])
def test_feed_forward(L, D, F, scheduled):
    arrays = floats(L, D), floats(F, D), floats(F), floats(D, F), floats(D)
    got = built(nn.ffn, [float32, L, D, F], scheduled)(*arrays)
    np.testing.assert_allclose(got, reference.ffn(*arrays), rtol=1e-4, atol=1e-4)


def test_feed_forward_with_lanes_is_a_chain_of_stages():
    s = allo.customize(nn.ffn, instantiate=[float32, 4, 8, 16])
    nn.schedule_ffn(s, lanes=4)
    assert "fifo_U: Stream[float32, 2]" in s.pseudocode() and "fifo_G: Stream[float32, 2]" in s.pseudocode()
    arrays = floats(4, 8), floats(16, 8), floats(16), floats(8, 16), floats(8)
    np.testing.assert_allclose(s.build()(*arrays), reference.ffn(*arrays), rtol=1e-4, atol=1e-4)


def test_heads_divide_the_width():
    with pytest.raises(allo.KernelError, match="D = 8 is not a multiple of 3"):
        allo.customize(nn.attention, instantiate=[float32, 3, 4, 8, 2, 2])
    with pytest.raises(allo.KernelError, match="scaled_dot_product_attention computes with fractions"):
        allo.customize(nn.attention, instantiate=[int8, 2, 4, 8, 2, 2])
