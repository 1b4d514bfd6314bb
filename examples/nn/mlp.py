"""A perceptron with 8-bit weights and activations: sums of 32 bits, which a shift brings back to 8 bits."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

from __future__ import annotations

import numpy as np

import allo
from allo.ir.types import index, int8, int32, uint8

BATCH, INPUTS, HIDDEN, CLASSES = 16, 784, 64, 10
SHIFT = 9


def hidden_layer[B: index, I: index, O: index](
    x: uint8[B, I], weights: int8[O, I], bias: int32[O], y: uint8[B, O]
):
    """A rectified layer whose sums are divided by 2 ** SHIFT and clamped to 0 ... 255."""
    for b, o in allo.grid(B, O, name="layer"):
        total: int32 = bias[o]
        for i in allo.reduction(I):
            total += x[b, i] * weights[o, i]
        y[b, o] = min(max(total >> SHIFT, 0), 255)


def scores[B: index, I: index, O: index](
    x: uint8[B, I], weights: int8[O, I], bias: int32[O], y: int32[B, O], best: uint8[B]
):
    """The sums of the last layer, and the class that has the largest."""
    for b in range(B, name="scores"):
        winner: uint8 = 0
        for o in range(O):
            total: int32 = bias[o]
            for i in allo.reduction(I):
                total += x[b, i] * weights[o, i]
            y[b, o] = total
            if total > y[b, winner]:
                winner = o
        best[b] = winner


def perceptron[B: index, I: index, H: index, C: index](
    x: uint8[B, I],
    weights1: int8[H, I],
    bias1: int32[H],
    weights2: int8[H, H],
    bias2: int32[H],
    weights3: int8[C, H],
    bias3: int32[C],
    y: int32[B, C],
    best: uint8[B],
):
    first: uint8[B, H]
    second: uint8[B, H]
    hidden_layer[B, I, H](x, weights1, bias1, first)
    hidden_layer[B, H, H](first, weights2, bias2, second)
    scores[B, H, C](second, weights3, bias3, y, best)


def parameters(inputs: int, hidden: int, classes: int) -> list[np.ndarray]:
    """Random weights and biases of the three layers."""
    generator = np.random.default_rng(20)
    arrays = []
    for rows, columns in (hidden, inputs), (hidden, hidden), (classes, hidden):
        arrays.append(generator.integers(-128, 128, (rows, columns), dtype=np.int8))
        arrays.append(generator.integers(-(2**12), 2**12, rows, dtype=np.int32))
    return arrays


def reference(x: np.ndarray, arrays: list[np.ndarray]) -> np.ndarray:
    """The scores, with 64-bit matrices."""
    for weights, bias in zip(arrays[0:4:2], arrays[1:4:2], strict=True):
        sums = x.astype(np.int64) @ weights.T.astype(np.int64) + bias
        x = np.clip(sums // 2**SHIFT, 0, 255)
    return x @ arrays[4].T.astype(np.int64) + arrays[5]


def check(batch: int = BATCH, inputs: int = INPUTS, hidden: int = HIDDEN, classes: int = CLASSES) -> None:
    x = np.random.default_rng(21).integers(0, 256, (batch, inputs), dtype=np.uint8)
    arrays = parameters(inputs, hidden, classes)
    wanted = reference(x, arrays)
    y, best = np.zeros((batch, classes), np.int32), np.zeros(batch, np.uint8)
    module = allo.customize(perceptron, instantiate=[batch, inputs, hidden, classes]).build()
    module(x, *arrays, y, best)
    np.testing.assert_array_equal(y, wanted)
    np.testing.assert_array_equal(best, wanted.argmax(axis=1))


def main() -> None:
    check()
    print(f"mlp: the scores of {BATCH} images of {INPUTS} pixels agree with NumPy")


if __name__ == "__main__":
    main()
