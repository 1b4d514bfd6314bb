"""Arguments of one call that share an array are refused when the callee writes it."""

import numpy as np
import pytest

import allo
from allo.ir.types import float32

N = 4


def add(A: float32[N], B: float32[N]):
    for i in range(N):
        B[i] += A[i]


def total(A: float32[N], B: float32[N]) -> float32:
    s: float32 = 0
    for i in range(N):
        s += A[i] * B[i]
    return s


def twice(X: float32[N]):
    add(X, X)


def square(X: float32[N]) -> float32:
    return total(X, X)


def test_written_twice() -> None:
    with pytest.raises(allo.KernelError) as caught:
        allo.customize(twice)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == "arguments 'A' and 'B' of 'add' are the same array, and 'add' writes 'B'"
    assert diagnostic.hint == "pass a copy for one of them"
    assert diagnostic.at is not None and diagnostic.at.line == twice.__code__.co_firstlineno + 1


def test_read_twice_is_fine() -> None:
    x = np.arange(4, dtype=np.float32)
    assert allo.customize(square).build()(x) == 14.0
