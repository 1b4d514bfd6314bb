"""Layers on images: convolution, pooling, batch normalisation."""

import numpy as np
import pytest

import allo
from allo.ir.types import Fixed, float32, float64, int8, int16, int32
from allo.library import nn, reference

from .instances import built, floats, integers

# batch, channels, filters, height, width, window, strides, padding
CONVOLUTIONS = [
    (2, 3, 4, 8, 9, (3, 3), (1, 1), (0, 0)),
    (1, 2, 3, 7, 6, (3, 3), (1, 1), (1, 1)),
    (1, 2, 2, 9, 8, (3, 2), (2, 1), (0, 1)),
    (1, 3, 5, 5, 4, (1, 1), (1, 1), (0, 0)),
    (2, 1, 1, 6, 6, (2, 2), (2, 2), (0, 0)),
]


def convolution(case, kind):
    """The parameters of an instance."""
    B, Cin, Cout, H, W, window, strides, padding = case
    extents = ((H, window[0], strides[0], padding[0]), (W, window[1], strides[1], padding[1]))
    out = [(extent + 2 * p - k) // s + 1 for extent, k, s, p in extents]
    return [kind, B, Cin, Cout, H, W, *window, *out, *strides, *padding]


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolution(case, scheduled):
    X, W, b = floats(case[0], case[1], case[3], case[4]), floats(case[2], case[1], *case[5]), floats(case[2])
    got = built(nn.conv2d, convolution(case, float32), scheduled)(X, W, b)
    np.testing.assert_allclose(got, reference.conv2d(X, W, b, case[6], case[7]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", CONVOLUTIONS[:3])
def test_convolution_with_line_and_window_buffers(case):
    s = allo.customize(nn.conv2d, instantiate=convolution(case, int32))
    nn.schedule_conv2d_with_reuse(s)
    assert str(s.module).count('allo.name = "inp_reuse') == 2
    X = integers(np.int32, case[0], case[1], case[3], case[4], bits=8)
    W, b = integers(np.int32, case[2], case[1], *case[5], bits=8), integers(np.int32, case[2], bits=8)
    np.testing.assert_array_equal(s.build()(X, W, b), reference.conv2d(X, W, b, case[6], case[7]))


def test_windows_that_do_not_overlap_are_not_kept():
    s = allo.customize(nn.conv2d, instantiate=convolution(CONVOLUTIONS[4], float32))
    with pytest.raises(allo.ScheduleError, match="reuse_at"):
        nn.schedule_conv2d_with_reuse(s)


# batch, channels, height, width, window, stride, padding
POOLS = [(2, 3, 6, 8, 2, 2, 0), (1, 2, 7, 7, 3, 2, 1), (1, 1, 5, 6, 3, 1, 0), (1, 1, 4, 4, 4, 1, 2)]


def pool(case, kind):
    B, C, H, W, K, S, P = case
    return [kind, B, C, H, W, K, (H + 2 * P - K) // S + 1, (W + 2 * P - K) // S + 1, S, P]


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("case", POOLS)
@pytest.mark.parametrize("name", ["maxpool2d", "avgpool2d"])
def test_pools_of_floats(name, case, scheduled):
    X = floats(*case[:4]) - 2
    got = built(getattr(nn, name), pool(case, float32), scheduled)(X)
    np.testing.assert_allclose(got, getattr(reference, name)(X, *case[4:]), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind, dtype", [(int8, np.int8), (int16, np.int16)])
@pytest.mark.parametrize("case", POOLS)
@pytest.mark.parametrize("name", ["maxpool2d", "avgpool2d"])
def test_pools_of_integers(name, case, kind, dtype):
    X = integers(dtype, *case[:4])
    got = built(getattr(nn, name), pool(case, kind), True)(X)
    np.testing.assert_array_equal(got, getattr(reference, name)(X, *case[4:]))


@pytest.mark.parametrize("name", ["maxpool2d", "avgpool2d"])
def test_pools_of_fixed_point(name):
    X = np.round(floats(1, 2, 6, 6, dtype=np.float64) * 64) / 64 - 2
    got = built(getattr(nn, name), pool((1, 2, 6, 6, 2, 2, 0), Fixed(12, 8)), True)(X)
    np.testing.assert_array_equal(got, getattr(reference, name)(X, 2, 2))


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("kind, dtype", [(float32, np.float32), (float64, np.float64)])
def test_batch_normalisation(kind, dtype, scheduled):
    X, gamma, beta, mean = floats(2, 3, 4, 5, dtype=dtype), *(floats(3, dtype=dtype) + n for n in range(3))
    variance = 0.5 + abs(floats(3, dtype=dtype))
    got = built(nn.batchnorm2d, [kind, 2, 3, 4, 5], scheduled)(X, gamma, beta, 1e-3, mean, variance)
    np.testing.assert_allclose(
        got, reference.batchnorm2d(X, gamma, beta, 1e-3, mean, variance), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("name, shape", [("batchnorm1d", (5, 3)), ("batchnorm3d", (2, 3, 2, 3, 4))])
def test_batch_normalisation_of_vectors_and_volumes(name, shape, scheduled):
    X, gamma, beta, mean = floats(*shape), *(floats(3) + n for n in range(3))
    variance = 0.5 + abs(floats(3))
    got = built(getattr(nn, name), [float32, *shape], scheduled)(X, gamma, beta, 1e-3, mean, variance)
    wanted = getattr(reference, name)(X, gamma, beta, 1e-3, mean, variance)
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "kernel, parameters, message",
    [
        (
            nn.conv2d,
            [float32, 1, 1, 1, 8, 8, 3, 3, 7, 6, 1, 1, 0, 0],
            "Oh = 7, but 6 windows of 3 with stride 1 fit into 8 elements with padding 0",
        ),
        (nn.maxpool2d, [float32, 1, 1, 4, 4, 2, 3, 3, 2, 0], "OH = 3, but 2 windows"),
        (nn.maxpool2d, [float32, 1, 1, 4, 4, 3, 4, 4, 2, 2], "padding 2 is more than half of the window 3"),
        (
            nn.avgpool2d,
            [float32, 1, 1, 4, 4, 2, 2, 2, 0, 0],
            "window 2, stride 0 and padding 0 do not make windows",
        ),
        (nn.batchnorm2d, [int8, 1, 1, 4, 4], "batchnorm2d computes with fractions, and int8 has none"),
    ],
)
def test_refusals(kernel, parameters, message):
    with pytest.raises(allo.KernelError) as caught:
        allo.customize(kernel, instantiate=parameters)
    assert message in str(caught.value)
