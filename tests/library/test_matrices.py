"""Layers on matrices: linear, activations, softmax, normalisation."""

import numpy as np
import pytest

import allo
from allo.ir.types import Fixed, bfloat16, float16, float32, float64, int8, int16, int32
from allo.library import nn, reference

from .instances import built, floats, integers

SHAPES = [(5, 7), (1, 4), (6, 1), (16, 24)]
FLOATS = [(float32, np.float32, 1e-5), (float64, np.float64, 1e-12)]


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("kind, dtype, tolerance", FLOATS)
@pytest.mark.parametrize("M, N, K", [(5, 7, 6), (1, 4, 3), (4, 1, 1)])
def test_linear(M, N, K, kind, dtype, tolerance, scheduled):
    X, W, b = floats(M, K, dtype=dtype), floats(N, K, dtype=dtype), floats(N, dtype=dtype)
    got = built(nn.linear2d, [kind, kind, kind, M, N, K], scheduled)(X, W, b)
    np.testing.assert_allclose(got, reference.linear2d(X, W, b), rtol=tolerance, atol=tolerance)


def test_linear_of_integers_wraps():
    X, W, b = integers(np.int16, 3, 4), integers(np.int16, 5, 4), integers(np.int16, 5)
    got = built(nn.linear2d, [int16, int16, int16, 3, 5, 4], True)(X, W, b)
    np.testing.assert_array_equal(got, reference.linear2d(X, W, b))


def test_linear_of_fixed_point():
    X, W, b = (np.round(floats(*shape, dtype=np.float64) * 16) / 16 for shape in ((3, 4), (5, 4), (5,)))
    got = built(nn.linear2d, [Fixed(24, 8), Fixed(24, 8), Fixed(24, 8), 3, 5, 4], True)(X, W, b)
    np.testing.assert_array_equal(got, reference.linear2d(X, W, b))


@pytest.mark.parametrize("kind", [float16, bfloat16])
def test_linear_of_short_floats(kind):
    X, W, b = integers(np.int8, 3, 4, bits=4), integers(np.int8, 5, 4, bits=3), integers(np.int8, 5, bits=4)
    form = np.float16 if kind is float16 else __import__("ml_dtypes").bfloat16
    got = built(nn.linear2d, [kind, kind, kind, 3, 5, 4], True)(*(array.astype(form) for array in (X, W, b)))
    np.testing.assert_array_equal(
        got.astype(np.float32), reference.linear2d(*(a.astype(np.float32) for a in (X, W, b)))
    )


def test_linear_with_lanes():
    s = allo.customize(nn.linear2d, instantiate=[int32, int32, int32, 3, 8, 5])
    nn.schedule_linear2d(s, lanes=4)
    assert "cyclic 4" in str(s.module) and s.steps[0].name == "split"
    X, W, b = (
        integers(np.int32, 3, 5, bits=8),
        integers(np.int32, 8, 5, bits=8),
        integers(np.int32, 8, bits=8),
    )
    np.testing.assert_array_equal(s.build()(X, W, b), reference.linear2d(X, W, b))


@pytest.mark.parametrize("scheduled", [False, True])
def test_linear_of_batches(scheduled):
    X, W, b = floats(2, 3, 5), floats(4, 5), floats(4)
    got = built(nn.linear3d, [float32, 2, 3, 5, 4], scheduled)(X, W, b)
    np.testing.assert_allclose(got, reference.linear3d(X, W, b), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("kind, dtype", [(int8, np.int8), (int32, np.int32)])
def test_relu_and_sums_of_integers(kind, dtype, scheduled):
    X, Y = integers(dtype, 3, 4), integers(dtype, 3, 4)[::-1].copy()
    np.testing.assert_array_equal(built(nn.relu2d, [kind, 3, 4], scheduled)(X), reference.relu2d(X))
    got = built(nn.residual_add, [kind, 3, 4], scheduled)(X, Y)
    np.testing.assert_array_equal(got, reference.residual_add(X, Y))


def test_relu_of_batches():
    X = floats(2, 3, 4)
    np.testing.assert_array_equal(built(nn.relu3d, [float32, 2, 3, 4], True)(X), reference.relu3d(X))


def test_linear_of_mixed_types():
    X, W, b = integers(np.int8, 3, 4), integers(np.int16, 5, 4, bits=12), integers(np.int32, 5, bits=20)
    got = built(nn.linear2d, [int8, int16, int32, 3, 5, 4], True)(X, W, b)
    np.testing.assert_array_equal(got, reference.linear2d(X.astype(np.int32), W.astype(np.int32), b))


def test_relu_of_images():
    X = floats(2, 3, 4, 5)
    np.testing.assert_array_equal(built(nn.relu4d, [float32, 2, 3, 4, 5], True)(X), reference.relu4d(X))


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("kind, dtype, tolerance", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["GeLU", "softmax2d", "log_softmax", "relu2d"])
def test_activations(name, shape, kind, dtype, tolerance, scheduled):
    X = 3 * floats(*shape, dtype=dtype)
    got = built(getattr(nn, name), [kind, *shape], scheduled)(X)
    np.testing.assert_allclose(got, getattr(reference, name)(X), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("scheduled", [False, True])
def test_softmax_of_squares_and_large_numbers(scheduled):
    X = 100 * floats(6, 6)
    got = built(nn.softmax, [float32, 6], scheduled)(X)
    np.testing.assert_allclose(got, reference.softmax(X.astype(np.float64)), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(got.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("kind, dtype, tolerance", FLOATS)
@pytest.mark.parametrize("L, D", [(5, 7), (1, 4), (8, 32)])
def test_layer_norm(L, D, kind, dtype, tolerance, scheduled):
    X, gamma, beta = 3 + floats(L, D, dtype=dtype), floats(D, dtype=dtype), floats(D, dtype=dtype)
    got = built(nn.layer_norm, [kind, L, D], scheduled)(X, gamma, beta)
    np.testing.assert_allclose(
        got, reference.layer_norm(X, gamma, beta), rtol=10 * tolerance, atol=10 * tolerance
    )


@pytest.mark.parametrize("name, more", [("softmax2d", []), ("log_softmax", []), ("GeLU", []), ("layer_norm", [])])
def test_integers_have_no_fractions(name, more):
    with pytest.raises(allo.KernelError) as caught:
        allo.customize(getattr(nn, name), instantiate=[int8, 4, 4])
    assert f"{name} computes with fractions, and int8 has none; use a float or fixed-point type" in str(
        caught.value
    )


def test_fixed_point_activations():
    X = np.round(floats(3, 4, dtype=np.float64) * 256) / 256
    got = built(nn.softmax2d, [Fixed(24, 16), 3, 4], True)(X)
    np.testing.assert_allclose(got, reference.softmax2d(X), atol=1e-3)


def test_layers_pass_on_rows():
    """The result of each layer may go to the next one by a FIFO."""

    def chain(X: float32[4, 6], W: float32[8, 6], b: float32[8], g: float32[8], c: float32[8]) -> float32[4, 8]:
        P = nn.linear2d[float32, float32, float32, 4, 8, 6](X, W, b)
        Q = nn.layer_norm[float32, 4, 8](P, g, c)
        R = nn.GeLU[float32, 4, 8](Q)
        S = nn.relu2d[float32, 4, 8](R)
        return nn.softmax2d[float32, 4, 8](S)

    s = allo.customize(chain)
    for array, reader in (("P", "layer_norm"), ("Q", "GeLU"), ("R", "relu2d"), ("S", "softmax2d")):
        s.relay(array, reader, depth=2)
    X, W, b, g, c = floats(4, 6), floats(8, 6), floats(8), 1 + floats(8), floats(8)
    layers = reference.GeLU(reference.layer_norm(reference.linear2d(X, W, b), g, c))
    np.testing.assert_allclose(
        s.build()(X, W, b, g, c), reference.softmax2d(reference.relu2d(layers)), rtol=1e-4
    )
