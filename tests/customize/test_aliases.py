"""Arguments of one call that share an array are refused when the callee writes it."""

import numpy as np
import pytest

import allo
from allo.ir.types import float32, int32

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


def write_first(X: int32[...], Y: int32[4]):
    X[0] = Y[1]


def give_twice(A: int32[4]):
    write_first(A, A)


def test_an_array_seen_with_other_extents_is_the_same_array() -> None:
    message = "arguments 'X' and 'Y' of 'write_first' are the same array, and 'write_first' writes 'X'"
    with pytest.raises(allo.KernelError, match=message):
        allo.customize(give_twice)


def give_to_any_extent(A: int32[4], B: int32[4]):
    write_first(A, B)


def test_what_a_kernel_for_any_extent_writes_is_written() -> None:
    A = np.zeros(4, np.int64)  # converted on the way in, and on the way out if it is written
    allo.customize(give_to_any_extent).build()(A, np.full(4, 7, np.int32))
    assert A.tolist() == [7, 0, 0, 0]
