"""A small convolutional network in the manner of LeNet: two convolutions with pooling, three dense layers, softmax."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

from __future__ import annotations

import numpy as np

import allo
from allo.ir.types import ConstExpr, float32, index, int32

BATCH, SIDE, CLASSES = 4, 28, 10
CHANNELS = (6, 16)
DENSE = (120, 84)
TAPS = 5


def convolution[I: index, O: index, S: index, K: index](
    x: float32[I, S, S], weights: float32[O, I, K, K], bias: float32[O], y: float32[O, S - K + 1, S - K + 1]
):
    """A rectified convolution without padding."""
    for o, row, column in allo.grid(O, S - K + 1, S - K + 1, name="convolution"):
        total: float32 = bias[o]
        for i, p, q in allo.reduction(I, K, K):
            total += x[i, row + p, column + q] * weights[o, i, p, q]
        y[o, row, column] = max(total, 0.0)


def pool[C: index, S: index](x: float32[C, S, S], y: float32[C, S // 2, S // 2]):
    """The largest of each 2 x 2 values."""
    for c, row, column in allo.grid(C, S // 2, S // 2, name="pool"):
        upper: float32 = max(x[c, 2 * row, 2 * column], x[c, 2 * row, 2 * column + 1])
        lower: float32 = max(x[c, 2 * row + 1, 2 * column], x[c, 2 * row + 1, 2 * column + 1])
        y[c, row, column] = max(upper, lower)


def dense[I: index, O: index, Rectified: int32](
    x: float32[I], weights: float32[O, I], bias: float32[O], y: float32[O]
):
    for o in range(O, name="dense"):
        total: float32 = bias[o]
        for i in allo.reduction(I):
            total += weights[o, i] * x[i]
        with allo.meta_if(Rectified == 1):
            y[o] = max(total, 0.0)
        with allo.meta_else():
            y[o] = total


def softmax[N: index](x: float32[N]):
    """In place; the largest value is subtracted first, so that no exponential overflows."""
    largest: float32 = x[0]
    for i in range(1, N, name="largest"):
        largest = max(largest, x[i])
    x[:] = allo.exp(x - largest)
    total: float32 = 0.0
    for i in range(N, name="total"):
        total += x[i]
    x[:] = x / total


def lenet[B: index, S: index, C1: index, C2: index, D1: index, D2: index, N: index](
    images: float32[B, 1, S, S],
    weights1: float32[C1, 1, TAPS, TAPS],
    bias1: float32[C1],
    weights2: float32[C2, C1, TAPS, TAPS],
    bias2: float32[C2],
    weights3: float32[D1, C2 * ((S - 12) // 4) * ((S - 12) // 4)],
    bias3: float32[D1],
    weights4: float32[D2, D1],
    bias4: float32[D2],
    weights5: float32[N, D2],
    bias5: float32[N],
) -> float32[B, N]:
    half: ConstExpr[index] = (S - 4) // 2
    quarter: ConstExpr[index] = (half - 4) // 2
    result: float32[B, N]
    for b in range(B, name="images"):
        maps1: float32[C1, S - 4, S - 4]
        pooled1: float32[C1, half, half]
        maps2: float32[C2, half - 4, half - 4]
        pooled2: float32[C2, quarter, quarter]
        convolution[1, C1, S, TAPS](images[b], weights1, bias1, maps1)
        pool[C1, S - 4](maps1, pooled1)
        convolution[C1, C2, half, TAPS](pooled1, weights2, bias2, maps2)
        pool[C2, half - 4](maps2, pooled2)
        flat: float32[C2 * quarter * quarter]
        for c, row, column in allo.grid(C2, quarter, quarter, name="flatten"):
            flat[(c * quarter + row) * quarter + column] = pooled2[c, row, column]
        dense1: float32[D1]
        dense2: float32[D2]
        scores: float32[N]
        dense[C2 * quarter * quarter, D1, 1](flat, weights3, bias3, dense1)
        dense[D1, D2, 1](dense1, weights4, bias4, dense2)
        dense[D2, N, 0](dense2, weights5, bias5, scores)
        softmax[N](scores)
        result[b] = scores
    return result


def parameters(
    side: int, channels: tuple[int, int], widths: tuple[int, int], classes: int
) -> list[np.ndarray]:
    """Random weights and biases of the five layers."""
    generator = np.random.default_rng(22)
    c1, c2 = channels
    d1, d2 = widths
    flat = c2 * ((side - 12) // 4) ** 2
    shapes = [(c1, 1, TAPS, TAPS), (c2, c1, TAPS, TAPS), (d1, flat), (d2, d1), (classes, d2)]
    arrays = []
    for shape in shapes:
        scale = (2 / np.prod(shape[1:])) ** 0.5
        arrays.append((generator.standard_normal(shape) * scale).astype(np.float32))
        arrays.append(generator.uniform(-0.1, 0.1, shape[0]).astype(np.float32))
    return arrays


def reference(images: np.ndarray, arrays: list[np.ndarray]) -> np.ndarray:
    """The probabilities, in float64."""
    x = images.astype(np.float64)
    weights, biases = arrays[0::2], arrays[1::2]
    for kernel, bias in zip(weights[:2], biases[:2], strict=True):
        windows = np.lib.stride_tricks.sliding_window_view(x, (TAPS, TAPS), axis=(2, 3))
        maps = np.einsum("birspq,oipq->bors", windows, kernel) + bias[:, None, None]
        batch, channels, side, _ = maps.shape
        x = np.maximum(maps, 0).reshape(batch, channels, side // 2, 2, side // 2, 2).max(axis=(3, 5))
    x = x.reshape(len(images), -1)
    for matrix, bias in zip(weights[2:4], biases[2:4], strict=True):
        x = np.maximum(x @ matrix.T + bias, 0)
    likelihood = np.exp(x @ weights[4].T + biases[4])
    return likelihood / likelihood.sum(axis=1, keepdims=True)


def check(
    batch: int = BATCH,
    side: int = SIDE,
    channels: tuple[int, int] = CHANNELS,
    widths: tuple[int, int] = DENSE,
    classes: int = CLASSES,
) -> None:
    arrays = parameters(side, channels, widths, classes)
    images = np.random.default_rng(23).uniform(0, 1, (batch, 1, side, side)).astype(np.float32)
    module = allo.customize(lenet, instantiate=[batch, side, *channels, *widths, classes]).build()
    np.testing.assert_allclose(module(images, *arrays), reference(images, arrays), rtol=1e-4, atol=1e-6)


def main() -> None:
    check()
    print(f"lenet: the probabilities for {BATCH} images of {SIDE} x {SIDE} pixels agree with NumPy")


if __name__ == "__main__":
    main()
