"""Two-dimensional convolutions of several shapes and strides with line and window buffers, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import allo
from allo import Schedule, customize
from allo.ir.types import int32

type Array = np.ndarray[Any, Any]


def reference(images: Array, weights: Array, stride: int) -> Array:
    """Batch and channels first, no padding."""
    windows = sliding_window_view(images, weights.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
    return np.einsum("nchwrs,ocrs->nohw", windows, weights)


def random_inputs(*shapes: tuple[int, ...]) -> list[Array]:
    random = np.random.default_rng(7)
    return [random.integers(-8, 8, shape).astype(np.int32) for shape in shapes]


def buffered(kernel: Callable[..., None], loops: tuple[str, ...]) -> Schedule:
    s = customize(kernel)
    handle = s.A
    for loop in loops:
        handle = s.reuse_at(handle, loop)
    return s


def plain(size: int, stride: int) -> tuple[Callable[..., None], int]:
    """A convolution of a 15 x 16 image, and the rows of its result."""
    rows, columns = (15 - size) // stride + 1, (16 - size) // stride + 1

    def convolution(A: int32[15, 16], W: int32[size, size], B: int32[rows, columns]):
        for y, x in allo.grid(rows, columns):
            v: int32 = 0
            for r, c in allo.reduction(size, size):
                v += A[stride * y + r, stride * x + c] * W[r, c]
            B[y, x] = v

    return convolution, columns


@pytest.mark.parametrize("loops", [("y",), ("x",), ("y", "x")])
@pytest.mark.parametrize(("size", "stride"), [(2, 1), (3, 1), (3, 2), (5, 1), (5, 2), (5, 3), (7, 4)])
def test_sizes_and_strides(size: int, stride: int, loops: tuple[str, ...]) -> None:
    kernel, columns = plain(size, stride)
    image, weights = random_inputs((15, 16), (size, size))
    result = np.zeros(((15 - size) // stride + 1, columns), np.int32)
    buffered(kernel, loops).build()(image, weights, result)
    np.testing.assert_array_equal(result, reference(image[None, None], weights[None, None], stride)[0, 0])


def channels_inside(A: int32[2, 3, 13, 12], W: int32[4, 3, 3, 3], B: int32[2, 4, 6, 10]):
    for n, oc, y, x in allo.grid(2, 4, 6, 10):
        v: int32 = 0
        for ic, r, c in allo.reduction(3, 3, 3):
            v += A[n, ic, 2 * y + r, x + c] * W[oc, ic, r, c]
        B[n, oc, y, x] = v


def channels_outside(A: int32[2, 3, 13, 12], W: int32[4, 3, 3, 3], B: int32[2, 4, 6, 10]):
    for n, ic, y, x in allo.grid(2, 3, 6, 10):
        for oc in range(4):
            v: int32 = 0
            for r, c in allo.reduction(3, 3):
                v += A[n, ic, 2 * y + r, x + c] * W[oc, ic, r, c]
            B[n, oc, y, x] += v


@pytest.mark.parametrize("kernel", [channels_inside, channels_outside])
@pytest.mark.parametrize("loops", [("y",), ("x",), ("y", "x")])
def test_channels(kernel: Callable[..., None], loops: tuple[str, ...]) -> None:
    images, weights = random_inputs((2, 3, 13, 12), (4, 3, 3, 3))
    result = np.zeros((2, 4, 6, 10), np.int32)
    buffered(kernel, loops).build()(images, weights, result)
    windows = sliding_window_view(images, (3, 3), axis=(2, 3))[:, :, ::2]
    np.testing.assert_array_equal(result, np.einsum("nchwrs,ocrs->nohw", windows, weights))


def dilated(A: int32[14, 14], W: int32[3, 3], B: int32[10, 10]):
    for y, x in allo.grid(10, 10):
        v: int32 = 0
        for r, c in allo.reduction(3, 3):
            v += A[y + 2 * r, x + 2 * c] * W[r, c]
        B[y, x] = v


def test_dilated() -> None:
    image, weights = random_inputs((14, 14), (3, 3))
    result = np.zeros((10, 10), np.int32)
    buffered(dilated, ("y", "x")).build()(image, weights, result)
    windows = sliding_window_view(image, (5, 5))[:, :, ::2, ::2]
    np.testing.assert_array_equal(result, np.einsum("yxrc,rc->yx", windows, weights))


def same_size(A: int32[9, 11], W: int32[3, 3], B: int32[9, 11]):
    for y, x in allo.grid(9, 11):
        v: int32 = 0
        for r, c in allo.reduction(3, 3):
            if y + r > 0 and y + r < 10 and x + c > 0 and x + c < 12:
                v += A[y + r - 1, x + c - 1] * W[r, c]
        B[y, x] = v


@pytest.mark.parametrize("loops", [("y",), ("x",), ("y", "x")])
def test_zero_padding(loops: tuple[str, ...]) -> None:
    image, weights = random_inputs((9, 11), (3, 3))
    result = np.zeros((9, 11), np.int32)
    buffered(same_size, loops).build()(image, weights, result)
    padded = np.pad(image, 1)
    np.testing.assert_array_equal(result, reference(padded[None, None], weights[None, None], 1)[0, 0])


def pooled(A: int32[12, 12], B: int32[10, 10]):
    for y, x in allo.grid(10, 10):
        v: int32 = A[y, x]
        for r, c in allo.reduction(3, 3):
            v = max(v, A[y + r, x + c])
        B[y, x] = v


def test_overlapping_pooling() -> None:
    (image,) = random_inputs((12, 12))
    result = np.zeros((10, 10), np.int32)
    buffered(pooled, ("y", "x")).build()(image, result)
    np.testing.assert_array_equal(result, sliding_window_view(image, (3, 3)).max((2, 3)))


def test_packed_input() -> None:
    """The image comes in words of two pixels; the line buffer takes them apart once."""
    kernel, columns = plain(3, 1)
    s = customize(kernel)
    lines = s.reuse_at("A", "y")
    s.reuse_at(lines, "x")
    s.pack("A", dim=2, factor=2)
    image, weights = random_inputs((15, 16), (3, 3))
    result = np.zeros((13, columns), np.int32)
    s.build()(image.view(np.uint64), weights, result)
    np.testing.assert_array_equal(result, reference(image[None, None], weights[None, None], 1)[0, 0])
