"""Meaning of each template: the function of the same name, on NumPy arrays.

Sums and products are those of the dtypes of the arguments, so float64 arguments give a result to compare with.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def systolic(A: Array, B: Array, dtype: Any = None) -> Array:
    """A @ B, with sums of `dtype` (default: that of A @ B)."""
    result: Array = A.astype(dtype or A.dtype) @ B.astype(dtype or B.dtype)
    return result


def gemv(A: Array, x: Array, dtype: Any = None) -> Array:
    """A @ x, with sums of `dtype`."""
    return systolic(A, x, dtype)


def linear2d(X: Array, W: Array, b: Array) -> Array:
    """X @ W.T + b for matrices X (M, K) and weights (N, K)."""
    return X @ W.T + b


def linear3d(X: Array, W: Array, b: Array) -> Array:
    """X @ W.T + b for X (B, L, D) and weights (M, D)."""
    return X @ W.T + b


def relu2d(X: Array) -> Array:
    """The larger of x and 0."""
    return np.maximum(X, 0)


def relu3d(X: Array) -> Array:
    """The larger of x and 0."""
    return np.maximum(X, 0)


def relu4d(X: Array) -> Array:
    """The larger of x and 0."""
    return np.maximum(X, 0)


def residual_add(X1: Array, X2: Array) -> Array:
    """X1 + X2."""
    return X1 + X2


def GeLU(X: Array) -> Array:
    """The approximation of GeLU by tanh."""
    result: Array = 0.5 * X * (1 + np.tanh(math.sqrt(2 / math.pi) * (X + 0.044715 * X**3)))
    return result


def softmax2d(X: Array) -> Array:
    """Softmax along the last dimension."""
    exponentials: Array = np.exp(X - X.max(axis=-1, keepdims=True))
    result: Array = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return result


def softmax(X: Array) -> Array:
    """Softmax along the last dimension."""
    return softmax2d(X)


def log_softmax(X: Array) -> Array:
    """The logarithm of softmax along the last dimension."""
    shifted = X - X.max(axis=-1, keepdims=True)
    result: Array = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return result


def RoPE(X: Array, cos: Array, sin: Array) -> Array:
    """Rotary embedding of heads (H, L, D), whose halves turn by angles (L, D / 2)."""
    low, high = np.split(X, 2, axis=-1)
    result: Array = np.concatenate([low * cos - high * sin, high * cos + low * sin], axis=-1)
    return result


def modulate_fused(X: Array, shift: Array, scale: Array) -> Array:
    """X * (1 + scale) + shift for sequences (B, L, D), scales and shifts (B, D)."""
    result: Array = X * (1 + scale[:, None]) + shift[:, None]
    return result


def repeat_batch3d(X: Array, count: int) -> Array:
    """`count` copies of one sequence (1, L, D)."""
    return np.repeat(X, count, axis=0)


def concat(X0: Array, X1: Array) -> Array:
    """The positions of X1 (B, L, D) behind those of X0."""
    return np.concatenate([X0, X1], axis=1)


def layer_norm(X: Array, gamma: Array, beta: Array) -> Array:
    """Layer normalisation along the last dimension, with eps = 1e-5."""
    mean, variance = X.mean(axis=-1, keepdims=True), X.var(axis=-1, keepdims=True)
    return (X - mean) / np.sqrt(variance + 1e-5) * gamma + beta


def _windows(
    inp: Array, taps: tuple[int, int], strides: tuple[int, int], padding: tuple[int, int], fill: Any
) -> Array:
    """(B, C, Oh, Ow, Kh, Kw): the windows of images with a border of `fill`."""
    border = ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2)
    padded = np.pad(inp, border, constant_values=fill)
    found: Array = np.lib.stride_tricks.sliding_window_view(padded, taps, axis=(2, 3))
    return found[:, :, :: strides[0], :: strides[1]]


def conv2d(
    inp: Array,
    kernel: Array,
    bias: Array,
    strides: tuple[int, int] = (1, 1),
    padding: tuple[int, int] = (0, 0),
) -> Array:
    """Images (B, Cin, H, W) with filters (Cout, Cin, Kh, Kw)."""
    windows = _windows(inp, (kernel.shape[2], kernel.shape[3]), strides, padding, 0)
    result: Array = np.einsum("bcyxpq,ocpq->boyx", windows, kernel) + bias[:, None, None]
    return result


def maxpool2d(inp: Array, size: int, stride: int, padding: int = 0) -> Array:
    """The maximum of each window of size x size, without the border."""
    least = -np.inf if inp.dtype.kind == "f" else np.iinfo(inp.dtype).min
    windows = _windows(inp, (size, size), (stride, stride), (padding, padding), least)
    result: Array = windows.max(axis=(-1, -2))
    return result


def avgpool2d(inp: Array, size: int, stride: int, padding: int = 0) -> Array:
    """The mean of each window of size x size, where the border counts as zeros; of integers cut off toward zero."""
    windows = _windows(inp, (size, size), (stride, stride), (padding, padding), 0)
    if inp.dtype.kind == "f":
        return windows.mean(axis=(-1, -2))
    total = windows.sum(axis=(-1, -2), dtype=np.int64)
    result: Array = (np.sign(total) * (abs(total) // size**2)).astype(inp.dtype)
    return result


def batchnorm1d(
    X: Array, gamma: Array, beta: Array, eps: float, running_mean: Array, running_var: Array
) -> Array:
    """Batch normalisation of (B, C) with given statistics of each channel."""
    return (X - running_mean) * (gamma / np.sqrt(running_var + eps)) + beta


def batchnorm3d(
    X: Array, gamma: Array, beta: Array, eps: float, running_mean: Array, running_var: Array
) -> Array:
    """Batch normalisation of volumes (B, C, D, H, W) with given statistics of each channel."""
    scale, offset = (a[:, None, None, None] for a in (gamma / np.sqrt(running_var + eps), beta))
    result: Array = (X - running_mean[:, None, None, None]) * scale + offset
    return result


def batchnorm2d(
    X: Array, gamma: Array, beta: Array, eps: float, running_mean: Array, running_var: Array
) -> Array:
    """Batch normalisation of images (B, C, H, W) with given statistics of each channel."""
    scale = gamma / np.sqrt(running_var + eps)
    return (X - running_mean[:, None, None]) * scale[:, None, None] + beta[:, None, None]


def scaled_dot_product_attention(Q: Array, K: Array, V: Array, heads: int) -> Array:
    """Attention of each head, whose columns lie side by side in matrices (L, D)."""
    length, width = Q.shape
    size = width // heads
    q, k, v = (array.reshape(length, heads, size).transpose(1, 0, 2) for array in (Q, K, V))
    probabilities = softmax2d(q @ k.transpose(0, 2, 1) / math.sqrt(size))
    result: Array = (probabilities @ v).transpose(1, 0, 2).reshape(length, width)
    return result


def multi_head_attention(X: Array, *weights: Array, heads: int) -> Array:
    """The attention of X to itself; `weights` are Wq, bq, Wk, bk, Wv, bv, Wo, bo."""
    q, k, v = (linear2d(X, weights[n], weights[n + 1]) for n in (0, 2, 4))
    return linear2d(scaled_dot_product_attention(q, k, v, heads), weights[6], weights[7])


def ffn(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Array:
    """GeLU(X @ W1.T + b1) @ W2.T + b2."""
    return linear2d(GeLU(linear2d(X, W1, b1)), W2, b2)


weight_stationary = systolic
packed_doubled_systolic = systolic
packed_int8xint8_systolic = systolic
packed_int4xint8_systolic = systolic
packed_int8xint8_gemv = gemv
packed_int4xint8_gemv = gemv
