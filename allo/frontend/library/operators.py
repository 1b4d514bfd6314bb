"""Meaning of the library operators in plain Python, on NumPy arrays; kernels call them by these names and arguments.

Integers are computed in 64 bits, so that an assignment to an integer array of at most 64 bits gives what a compiled
kernel gives; floats are computed in their own type.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np


def named[R](function: Callable[..., R]) -> Callable[..., R]:
    """An operator that takes `name=`, the name of its loop nest in a compiled kernel."""

    @wraps(function)
    def operator(*arguments: Any, name: str | None = None, **keywords: Any) -> R:
        return function(*arguments, **keywords)

    return operator


def _wide(*values: Any) -> list[Any]:
    """Integers as 64-bit ones, all signed if one is; floats as they are; Python numbers as they are."""
    kinds = {np.asarray(value).dtype.kind for value in values}
    if builtins.all(isinstance(value, int | float) for value in values) or not kinds <= set("iub"):
        return list(values)
    return [np.asarray(value).astype(np.int64 if "i" in kinds else np.uint64) for value in values]


@named
def matmul(A: Any, B: Any) -> Any:
    """The matrix product over the last dimension of `A` and the last but one of `B`; as `A @ B`."""
    return np.matmul(*_wide(A, B))


@named
def bmm(A: Any, B: Any) -> Any:
    """The product of two batches of matrices: `A[b] @ B[b]` for each b."""
    return np.matmul(*_wide(A, B))


@named
def linear(X: Any, W: Any, b: Any = None) -> Any:
    """`X @ W.T + b`: a layer with weights `W` of shape (outputs, inputs) and, if given, a bias for each output."""
    product = np.matmul(*_wide(X, np.asarray(W).T))
    return product if b is None else add(product, b)


@named
def conv2d(inp: Any, filter: Any, stride: int | tuple[int, int] = 1, padding: int | tuple[int, int] = 0) -> Any:
    """The convolution of images `inp` (N, C, H, W) with `filter` (F, C, KH, KW): (N, F, OH, OW), without flipping."""
    (sh, sw), (ph, pw) = pair(stride), pair(padding)
    images, weights = _wide(inp, filter)
    images = np.pad(images, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    windows = np.lib.stride_tricks.sliding_window_view(images, np.shape(weights)[2:], axis=(2, 3))
    return np.einsum("nchwij,fcij->nfhw", windows[:, :, ::sh, ::sw], weights)


def _windows(inp: Any, window: Any, stride: int | tuple[int, int]) -> Any:
    sh, sw = pair(stride)
    views = np.lib.stride_tricks.sliding_window_view(np.asarray(inp), np.shape(window), axis=(2, 3))
    return views[:, :, ::sh, ::sw]


@named
def maxpool(inp: Any, window: Any, stride: int | tuple[int, int] = 1) -> Any:
    """The maximum of each window of images `inp` (N, C, H, W); the window has the shape of the array `window`."""
    return np.max(_windows(inp, window, stride), axis=(-2, -1))


@named
def sumpool(inp: Any, window: Any, stride: int | tuple[int, int] = 1) -> Any:
    """The sum of each window of images `inp` (N, C, H, W); the window has the shape of the array `window`."""
    return np.sum(_windows(_wide(inp)[0], window, stride), axis=(-2, -1))


def pair(value: int | tuple[int, int]) -> tuple[int, int]:
    """A number for both directions, or one for each."""
    return (value, value) if isinstance(value, int) else (value[0], value[1])


@named
def add(A: Any, B: Any) -> Any:
    """A + B, element by element."""
    first, second = _wide(A, B)
    return first + second


@named
def sub(A: Any, B: Any) -> Any:
    """A - B, element by element."""
    first, second = _wide(A, B)
    if isinstance(first, np.ndarray) and first.dtype == np.uint64:
        first, second = first.view(np.int64), second.view(np.int64)
    return first - second


@named
def mul(A: Any, B: Any) -> Any:
    """A * B, element by element."""
    first, second = _wide(A, B)
    return first * second


@named
def div(A: Any, B: Any) -> Any:
    """A / B, element by element; between integers truncated toward zero, as in kernels."""
    first, second = _wide(A, B)
    if isinstance(first, int) and isinstance(second, int):
        return int(div(np.array(first), np.array(second)))
    if np.asarray(first).dtype.kind == "f" or np.asarray(second).dtype.kind == "f":
        return first / second
    return np.sign(first) * np.sign(second) * (np.abs(first) // np.abs(second))


@named
def abs(A: Any) -> Any:
    """The absolute value of each element."""
    return builtins.abs(_wide(A)[0])


@named
def relu(A: Any) -> Any:
    """The larger of each element and 0."""
    return np.maximum(A, np.asarray(A).dtype.type(0))


@named
def gelu(A: Any) -> Any:
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))) of each element of a float array."""
    x = np.asarray(A)
    half, cubic, root = (x.dtype.type(value) for value in (0.5, 0.044715, 0.7978845608028654))
    return half * x * (1 + np.tanh(root * (x + cubic * x * x * x)))


@named
def softmax(A: Any) -> Any:
    """exp(x) divided by its sum along the last dimension, computed relative to the maximum."""
    x = np.asarray(A)
    exponentials = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return exponentials / np.sum(exponentials, axis=-1, keepdims=True)


@named
def layernorm(A: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    """(x - mean) / sqrt(variance + eps) * gamma + beta, along the last dimension."""
    x = np.asarray(A)
    centred = x - np.mean(x, axis=-1, keepdims=True)
    variance = np.mean(centred * centred, axis=-1, keepdims=True)
    return centred / np.sqrt(variance + x.dtype.type(eps)) * gamma + beta


@named
def copy(A: Any) -> Any:
    """A new array with the elements of `A`."""
    return np.array(A)


@named
def transpose(A: Any, axes: tuple[int, ...] | None = None) -> Any:
    """Dimension d of the result is dimension `axes[d]` of `A`; without `axes` the dimensions are reversed."""
    return np.transpose(A, axes)


@named
def view(A: Any, shape: tuple[int, ...]) -> Any:
    """The elements of `A` in row-major order, as an array of `shape`."""
    return np.reshape(A, shape)


@named
def concat(A: Any, B: Any, axis: int = 0) -> Any:
    """`B` behind `A` in dimension `axis`."""
    return np.concatenate([A, B], axis=axis)


@named
def tril(A: Any) -> Any:
    """The elements of `A` on and below the diagonal of the last two dimensions; 0 above."""
    return np.tril(A)


def _filled(shape: Any, dtype: Any, value: int) -> Any:
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    python = {None: np.float32, float: np.float32, int: np.int32, bool: np.bool_}
    return np.full(extents, value, python[dtype]) if dtype in python else dtype[extents](value)


@named
def zeros(shape: int | tuple[int, ...], dtype: Any = None) -> Any:
    """An array of zeros: of the type `dtype`, else of the type that it is assigned to, else `float32`."""
    return _filled(shape, dtype, 0)


@named
def ones(shape: int | tuple[int, ...], dtype: Any = None) -> Any:
    """An array of ones: of the type `dtype`, else of the type that it is assigned to, else `float32`."""
    return _filled(shape, dtype, 1)
