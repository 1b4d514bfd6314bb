"""Calls of other kernels: arrays by reference, scalars by value, results of every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
from allo.ir.types import bool, float32, int8, int32, uint8

Agree = Callable[..., Any]


def ints() -> np.ndarray[Any, Any]:
    return np.arange(4, dtype=np.int32)


def one() -> int32:
    return 1


def increase(A: int32[4], by: int32):
    for i in range(4):
        A[i] += by


def by_reference(A: int32[4]):
    increase(A, 3)
    increase(A, A[0])


def test_arrays_go_by_reference(agree: Agree) -> None:
    assert agree(by_reference, ints(), plain=True)[1].tolist() == [6, 7, 8, 9]


def assign_own(n: int32) -> int32:
    n = n + 1
    return n


def by_value(n: int32) -> int32:
    m: int32 = assign_own(n)
    return 10 * n + m


def test_scalars_go_by_value(agree: Agree) -> None:
    assert agree(by_value, 4) == [45]


def narrow(x: int8) -> uint8:
    return x


def converted(x: int32) -> int32:
    return narrow(x + 250)


def test_arguments_and_results_are_converted() -> None:
    assert allo.customize(converted).build()(0) == (250 - 256) % 256


def in_expressions(A: int32[4]) -> int32:
    A[one()] = 7 + one() * 2 if assign_own(A[2]) > 2 else one()
    return A[one()]


def test_calls_in_expressions(agree: Agree) -> None:
    assert agree(in_expressions, ints(), plain=True)[0] == 9


def swap(a: int32, b: float32) -> (float32, int32, bool):
    return b, a, a > b


def several_results() -> (float32, int32, int32):
    x, y, larger = swap(3, 1.5)
    x, z, larger = swap(y, x)
    return x, z, 1 if larger else 0


def test_several_results(agree: Agree) -> None:
    assert agree(several_results, plain=True) == [1.5, 3, 1]


def doubled(A: int32[4]) -> int32[4]:
    B: int32[4] = 0
    for i in range(4):
        B[i] = 2 * A[i]
    return B


def array_results(A: int32[4]) -> int32[4]:
    B: int32[4] = doubled(A)
    C = doubled(B)
    B = doubled(C)
    A = B
    return C


def test_array_results() -> None:
    A = ints()
    assert allo.customize(array_results).build()(A).tolist() == [0, 4, 8, 12]
    assert A.tolist() == [0, 8, 16, 24]


def unused_results(A: int32[4]):
    one()
    doubled(A)
    swap(1, 2.5)
    increase(A, 1)


def test_results_may_stay_unused(agree: Agree) -> None:
    assert agree(unused_results, ints())[1].tolist() == [1, 2, 3, 4]


def call_in_loop(A: int32[4]):
    for i in range(4):
        B: int32[4] = doubled(A)
        A[i] = B[i] + one()


def test_calls_in_loops(agree: Agree) -> None:
    assert agree(call_in_loop, ints())[1].tolist() == [1, 3, 5, 7]


def writer(position: int) -> Callable[..., Any]:
    def kernel(A: int32[4]):
        A[position] = 10 + position

    return kernel


first, second = writer(1), writer(2)


def kernel(A: int32[4]):
    first(A)
    second(A)
    first(A)


def test_kernels_of_the_same_name_are_told_apart(agree: Agree) -> None:
    assert agree(kernel, ints(), plain=True)[1].tolist() == [0, 11, 12, 3]
    names = [f.name.value for f in allo.customize(kernel).ir.functions()]
    assert len(names) == len(set(names)) == 3


def left(A: int32[4]):
    increase(A, 1)


def right(A: int32[4]):
    increase(A, 2)


def diamond(A: int32[4]):
    left(A)
    right(A)


def test_a_kernel_called_twice_is_there_once() -> None:
    names = [f.name.value for f in allo.customize(diamond).ir.functions()]
    assert names == ["increase", "left", "right", "diamond"]


TABLE = np.array([5, 6], np.int32)


def f(A: int32[4]):
    A[0] = TABLE[1]
    f_TABLE(A)


def f_TABLE(A: int32[4]):
    A[1] = TABLE[0]


def test_names_of_constants_and_kernels_do_not_clash(agree: Agree) -> None:
    assert agree(f, ints(), plain=True)[1].tolist() == [6, 5, 2, 3]


def test_arguments_by_name() -> None:
    built, A = allo.customize(increase).build(), ints()
    built(by=2, A=A)
    built(A, by=1)
    assert A.tolist() == [3, 4, 5, 6]
    for given, named, message in (
        ((A,), {"b": 1}, r"increase\(\) has no argument 'b'; its arguments are A, by"),
        ((A, 1), {"by": 1}, r"increase\(\) got two values for argument 'by'"),
        ((), {"by": 1}, r"increase\(\) is not given 'A'"),
    ):
        with pytest.raises(TypeError, match=message):
            built(*given, **named)
