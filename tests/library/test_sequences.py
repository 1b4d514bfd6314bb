"""Layers on batches of sequences: positions, modulation, repetition, joining."""

import numpy as np
import pytest

import allo
from allo.ir.types import float32, float64, int8, int32
from allo.library import nn, reference

from .instances import built, floats, integers


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("kind, dtype, tolerance", [(float32, np.float32, 1e-6), (float64, np.float64, 1e-14)])
def test_positions(kind, dtype, tolerance, scheduled):
    angles = np.arange(5)[:, None] / 10000 ** (np.arange(3) / 3)
    X, cos, sin = floats(2, 5, 6, dtype=dtype), np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)
    got = built(nn.RoPE, [kind, 2, 5, 6], scheduled)(X, cos, sin)
    np.testing.assert_allclose(got, reference.RoPE(X, cos, sin), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose((got**2).sum(-1), (X**2).sum(-1), rtol=1e-5)  # turning keeps lengths


@pytest.mark.parametrize("scheduled", [False, True])
def test_modulation(scheduled):
    X, shift, scale = floats(2, 3, 4), floats(2, 4), floats(2, 4) / 2
    got = built(nn.modulate_fused, [float32, 2, 3, 4], scheduled)(X, shift, scale)
    np.testing.assert_allclose(got, reference.modulate_fused(X, shift, scale), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scheduled", [False, True])
def test_repetition_and_joining(scheduled):
    X0, X1 = integers(np.int32, 2, 3, 4), integers(np.int32, 2, 2, 4)
    got = built(nn.concat, [int32, 2, 3, 2, 4], scheduled)(X0, X1)
    np.testing.assert_array_equal(got, reference.concat(X0, X1))
    got = built(nn.repeat_batch3d, [int32, 3, 3, 4], scheduled)(X0[:1])
    np.testing.assert_array_equal(got, reference.repeat_batch3d(X0[:1], 3))


@pytest.mark.parametrize(
    "parameters, message",
    [([int8, 1, 2, 4], "RoPE computes with fractions"), ([float32, 1, 2, 5], "D = 5 is not a multiple of 2")],
)
def test_refusals(parameters, message):
    with pytest.raises(allo.KernelError) as caught:
        allo.customize(nn.RoPE, instantiate=parameters)
    assert message in str(caught.value)
