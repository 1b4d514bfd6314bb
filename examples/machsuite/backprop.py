"""Training of a network with two hidden layers by gradient descent, one example at a time."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

from __future__ import annotations

import numpy as np

import allo
from allo.ir.types import float64, index

INPUTS, HIDDEN, OUTPUTS, EXAMPLES = 13, 64, 3, 163
RATE = 0.01


def forward[A: index, B: index](
    weights: float64[A, B], bias: float64[B], x: float64[A], active: float64[B], slope: float64[B]
):
    """A layer with sigmoids, and their derivatives."""
    for j in range(B, name="forward"):
        total: float64 = bias[j]
        for i in range(A):
            total += weights[i, j] * x[i]
        active[j] = 1.0 / (1.0 + allo.exp(-total))
        slope[j] = active[j] * (1.0 - active[j])


def backward[A: index, B: index](
    weights: float64[A, B], delta: float64[B], slope: float64[A], below: float64[A]
):
    """The error of the layer below from the error of a layer."""
    for i in range(A, name="backward"):
        total: float64 = 0.0
        for j in range(B):
            total += weights[i, j] * delta[j]
        below[i] = total * slope[i]


def update[A: index, B: index](weights: float64[A, B], bias: float64[B], x: float64[A], delta: float64[B]):
    """One step against the gradient; the weights and the bias are then scaled to length 1."""
    squares: float64 = 0.0
    for i, j in allo.grid(A, B, name="weights"):
        weights[i, j] -= RATE * x[i] * delta[j]
        squares += weights[i, j] ** 2
    length: float64 = allo.sqrt(squares)
    for i, j in allo.grid(A, B, name="normalise"):
        weights[i, j] /= length
    squares = 0.0
    for j in range(B, name="bias"):
        bias[j] -= RATE * delta[j]
        squares += bias[j] ** 2
    length = allo.sqrt(squares)
    for j in range(B, name="normalise_bias"):
        bias[j] /= length


def train[I: index, H: index, O: index, E: index](
    weights1: float64[I, H],
    weights2: float64[H, H],
    weights3: float64[H, O],
    bias1: float64[H],
    bias2: float64[H],
    bias3: float64[O],
    data: float64[E, I],
    wanted: float64[E, O],
):
    active1: float64[H]
    active2: float64[H]
    active3: float64[O]
    slope1: float64[H]
    slope2: float64[H]
    slope3: float64[O]
    delta1: float64[H]
    delta2: float64[H]
    delta3: float64[O]
    for example in range(E, name="examples"):
        x: float64[I] = data[example]
        forward[I, H](weights1, bias1, x, active1, slope1)
        forward[H, H](weights2, bias2, active1, active2, slope2)
        forward[H, O](weights3, bias3, active2, active3, slope3)
        likelihood: float64[O]
        total: float64 = 0.0
        for k in range(O):
            likelihood[k] = allo.exp(active3[k])
            total += likelihood[k]
        for k in range(O):
            delta3[k] = (likelihood[k] / total - wanted[example, k]) * slope3[k]
        backward[H, O](weights3, delta3, slope2, delta2)
        backward[H, H](weights2, delta2, slope1, delta1)
        update[H, O](weights3, bias3, active2, delta3)
        update[H, H](weights2, bias2, active1, delta2)
        update[I, H](weights1, bias1, x, delta1)


def reference(
    weights: list[np.ndarray], biases: list[np.ndarray], data: np.ndarray, wanted: np.ndarray
) -> None:
    """The same training with matrices, in place."""
    for x, target in zip(data, wanted, strict=True):
        values = [x]
        for matrix, bias in zip(weights, biases, strict=True):
            values.append(1 / (1 + np.exp(-(values[-1] @ matrix + bias))))
        likelihood = np.exp(values[-1]) / np.exp(values[-1]).sum()
        errors = [(likelihood - target) * values[3] * (1 - values[3])]
        for layer in (2, 1):
            errors.insert(0, weights[layer] @ errors[0] * values[layer] * (1 - values[layer]))
        for matrix, bias, value, error in zip(weights, biases, values[:3], errors, strict=True):
            matrix -= RATE * np.outer(value, error)
            matrix /= np.linalg.norm(matrix)
            bias -= RATE * error
            bias /= np.linalg.norm(bias)


def check(
    examples: int = EXAMPLES, inputs: int = INPUTS, hidden: int = HIDDEN, outputs: int = OUTPUTS
) -> None:
    generator = np.random.default_rng(14)
    shapes = [(inputs, hidden), (hidden, hidden), (hidden, outputs)]
    weights = [generator.uniform(-1, 1, shape) for shape in shapes]
    biases = [generator.uniform(-1, 1, shape[1]) for shape in shapes]
    data = generator.standard_normal((examples, inputs))
    wanted = np.eye(outputs)[generator.integers(0, outputs, examples)]
    got = [array.copy() for array in (*weights, *biases)]
    allo.customize(train, instantiate=[inputs, hidden, outputs, examples]).build()(*got, data, wanted)
    before = weights[0].copy()
    reference(weights, biases, data, wanted)
    assert not np.allclose(weights[0], before, rtol=1e-3)
    for ours, theirs in zip(got, (*weights, *biases), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def main() -> None:
    check()
    print(f"backprop: the weights after {EXAMPLES} examples agree with NumPy")


if __name__ == "__main__":
    main()
