"""Processes of a dataflow region that return arrays: they run beside the others, on the CPU and in C simulation."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

import numpy as np
import pytest

import allo
from allo.ir.types import float32

N = 48


def both(X: float32[N], A: float32[N], B: float32[N]):
    for i in range(N):
        A[i] = X[i] + 1.0
        B[i] = X[i] * 2.0


def doubled(A: float32[N]) -> float32[N]:
    C: float32[N] = 0
    for i in range(N):
        C[i] = A[i] * 2.0
    return C


def halved(B: float32[N]) -> float32[N]:
    D: float32[N] = 0
    for i in range(N):
        D[i] = B[i] / 2.0
    return D


def top(X: float32[N]) -> float32[N]:
    A: float32[N] = 0
    B: float32[N] = 0
    both(X, A, B)
    C = doubled(A)
    D = halved(B)
    Y: float32[N]
    for i in range(N):
        Y[i] = C[N - 1 - i] - D[i]
    return Y


@pytest.mark.parametrize("target", ["llvm", "vitis_hls"])
def test_two_readers_of_one_writer(target: str) -> None:
    """One after the other, the first would leave the FIFO of the second full, and the writer waiting."""
    s = allo.customize(top)
    s.relay("A", "doubled", depth=2)
    s.relay("B", "halved", depth=2)
    assert s.verify()
    module = s.build() if target == "llvm" else s.build(target=target, mode="csim")
    x = np.arange(N, dtype=np.float32)
    np.testing.assert_array_equal(module(x), ((x + 1) * 2)[::-1] - x)
