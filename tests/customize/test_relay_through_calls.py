"""relay of arrays that functions only pass on, and of results that a function has from another one."""

# ruff: noqa: F821 - kernels declare arrays without a value

import pytest

import allo
from allo import ScheduleError, customize
from allo.ir.types import int32

from .checks import assert_faithful


def add(A: int32[4, 6], B: int32[4, 6]):
    for i, j in allo.grid(4, 6):
        B[i, j] = A[i, j] + 1


def inner(A: int32[4, 6], B: int32[4, 6]):
    add(A, B)


def outer(A: int32[4, 6], B: int32[4, 6]):
    inner(A, B)


def chain(A: int32[4, 6], D: int32[4, 6]):
    B: int32[4, 6]
    C: int32[4, 6]
    outer(A, B)
    outer(B, C)
    inner(C, D)


def signatures(s, *names):
    """The first line of functions in the text of a schedule."""
    return [line for line in s.pseudocode().splitlines() if line.startswith(tuple(f"def {n}(" for n in names))]


def test_each_call_gets_functions_of_its_own_on_all_levels():
    s = customize(chain)
    s.relay("B", "outer", depth=2)
    s.relay("C", "inner", depth=3)
    assert signatures(s, "outer", "outer_1", "inner") == [
        "def inner(A: Stream[int32, 3], B: int32[4, 6]):",
        "def outer(A: Stream[int32, 2], B: Stream[int32, 3]):",
        "def outer_1(A: int32[4, 6], B: Stream[int32, 2]):",
    ]
    assert_faithful(chain, s)


def fork(A: int32[4, 6], C: int32[4, 6], D: int32[4, 6]):
    B: int32[4, 6]
    outer(A, B)
    outer(B, C)
    inner(B, D)


def test_an_array_that_others_read_too():
    """The producer fills the array and puts: both go through its callers."""
    s = customize(fork)
    s.relay("B", "outer")
    s.relay("B", "inner")
    assert str(s.module).count("allo.stream_create") == 2
    assert_faithful(fork, s)


def make(A: int32[4, 6]) -> int32[4, 6]:
    B: int32[4, 6]
    for i, j in allo.grid(4, 6):
        B[i, j] = A[i, j] + 1
    return B


def made(A: int32[4, 6]) -> int32[4, 6]:
    return make(A)


def results(A: int32[4, 6]) -> int32[4, 6]:
    C = made(A)
    E = made(C)
    D: int32[4, 6]
    for i, j in allo.grid(4, 6, name="last"):
        D[i, j] = C[i, j] * 2 + E[i, j]
    return D


def test_the_result_of_a_function_that_returns_that_of_a_call():
    s = customize(results)
    s.relay("E", "last")
    s.relay("C", "last")
    s.relay("C", "made_1")
    assert str(s.module).count("allo.stream_create") == 3
    assert_faithful(results, s)


def columns(A: int32[4, 6], B: int32[4, 6]):
    for j in range(6):
        for i in range(4):
            B[i, j] = A[i, j]


def passes_columns(A: int32[4, 6], B: int32[4, 6]):
    columns(A, B)


def wrong_order(A: int32[4, 6], C: int32[4, 6]):
    B: int32[4, 6]
    outer(A, B)
    passes_columns(B, C)


def test_orders_that_do_not_fit():
    s = customize(wrong_order)
    with pytest.raises(ScheduleError, match=r"B\[0, 1\] is written before B\[1, 0\], but read after it"):
        s.relay("B", "passes_columns")
    assert s.steps == ()
