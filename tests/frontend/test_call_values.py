"""Results of calls inside of expressions, computed once and in the order of Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
from allo.ir.types import Stateful, bool, float32, int8, int32, uint64

Agree = Callable[..., Any]


def ints() -> np.ndarray[Any, Any]:
    return np.arange(1, 5, dtype=np.int32)


def twice(A: int32[4]) -> int32[4]:
    B = int32[4](0)
    for i in range(4):
        B[i] = 2 * A[i]
    return B


def returned(A: int32[4]) -> int32[4]:
    return twice(A)


def nested(A: int32[4]) -> int32[4]:
    return twice(twice(A))


def element(A: int32[4]) -> int32:
    return twice(A)[2] + twice(twice(A))[1]


def operand(A: int32[4]) -> int32[4]:
    return twice(A) * A + 1


def by_name(A: int32[4]) -> int32[4]:
    return combine(by=3, X=A) + combine(A, by=1)


def combine(X: int32[4], by: int32) -> int32[4]:
    B = int32[4](by)
    B += X
    return B


def condition(A: int32[4]) -> int32:
    x: int32 = 0
    if twice(A)[0] > 1:
        x = 5
    return x


def bounds(A: int32[4]) -> int32:
    total: int32 = 0
    for i in range(twice(A)[1]):
        total += i
    return total


@pytest.mark.parametrize("kernel", [returned, nested, element, operand, by_name, condition, bounds])
def test_tensor_results_in_expressions(kernel: Any) -> None:
    got, expected = allo.customize(kernel).build()(ints()), kernel(ints())
    assert np.array_equal(got, expected)


def one_more(x: int32) -> int32:
    return x + 1


def filled() -> int32[6]:
    B: int32[6] = one_more(1)
    C: int32[6] = 0
    C = one_more(4)
    B += C
    return B


def test_a_scalar_result_fills_an_array() -> None:
    assert allo.customize(filled).build()().tolist() == [7] * 6


def converting() -> float32:
    x: float32 = 0.5
    x = one_more(2)
    y: float32[2] = 0
    y = pair()
    return x + y[1]


def pair() -> int32[2]:
    B: int32[2] = 4
    return B


def test_results_are_converted_by_assignments() -> None:
    assert allo.customize(converting).build()() == 7


def count() -> int32:
    calls: Stateful[int32] = 0
    calls += 1
    return calls


def whole_arrays(A: int32[4], B: int32[4, 4]):
    A[:] = A + count()
    A += count() + A
    B[count()] = 7
    B[0] = int32[4](count())


def test_a_call_in_a_whole_array_expression_happens_once() -> None:
    A, B = np.zeros(4, np.int32), np.zeros((4, 4), np.int32)
    allo.customize(whole_arrays).build()(A, B)
    assert A.tolist() == [4] * 4
    assert B.tolist() == [[4] * 4, [0] * 4, [0] * 4, [7] * 4]


def grid_extents(A: int32[4]) -> int32:
    rounds: int32 = 0
    for i, j in allo.grid(A[0], A[1] + 1):
        rounds += 1
        A[1] += i + j + 1
    for _i, k in allo.grid(2, rounds):
        rounds += k
    return rounds


def test_extents_of_a_grid_are_computed_once(agree: Agree) -> None:
    agree(grid_extents, ints() + 1, plain=True)


def uses_twice(A: int32[8]):
    A[0] = abs(count() - 3)
    A[1] = count() ** 3
    A[2] = 5 if 0 < count() < 5 else 6
    A[3] = count() or 9
    A[4] = count() and 9


def test_a_value_that_is_used_twice_is_computed_once() -> None:
    A = np.zeros(8, np.int32)
    allo.customize(uses_twice).build()(A)
    assert A.tolist() == [2, 8, 5, 4, 9, 0, 0, 0]


def clear(X: int32[2]) -> int32:
    total: int32 = X[0] + X[1]
    X[0] = 1
    X[1] = 1
    return total


def own_subscripts(A: int32[6]):
    clear(A[A[0] : A[0] + 2])
    A[A[2] + 1 : A[2] + 3] = A[2]


def order(A: int32[6], B: int32[6]):
    B[0] = clear(A[0:2]) + A[0] * 10
    B[1] = clear(A[2:4]) + clear(A[2:4])
    A[4] += clear(A[4:6])


@pytest.mark.parametrize("kernel", [own_subscripts, order])
def test_order(agree: Agree, kernel: Any) -> None:
    arrays = [np.arange(6, dtype=np.int32) * 0, np.zeros(6, np.int32)]
    if kernel is order:
        arrays[0] = np.arange(6, dtype=np.int32)
    agree(kernel, *arrays[: kernel.__code__.co_argcount], plain=True)


def add_part(X: int32[2], Y: int32[2]):
    X[:] = X + Y


def parts_that_differ(A: int32[10], n: int32):
    add_part(A[0:2], A[2:4])
    add_part(A[n : n + 2], A[n + 2 : n + 4])
    add_part(A[1:5:2], A[2:6:2])
    add_part(A[3:5], A[4:6].copy())
    for i in range(3):
        add_part(A[2 * i : 2 * i + 2], A[2 * i + 2 : 2 * i + 4])


def test_parts_that_have_nothing_in_common(agree: Agree) -> None:
    agree(parts_that_differ, np.arange(10, dtype=np.int32), 3, plain=True)


def moving(A: int32[10], B: int32[3]):
    for i in range(6):
        B += A[i + 1 : i + 4]
        B[:] = B + A[2 * i - i + 2 : i + 4 + 1]


def test_slices_of_constant_length(agree: Agree) -> None:
    agree(moving, np.arange(10, dtype=np.int32), np.zeros(3, np.int32), plain=True)


def logic(a: int32, b: int32, x: float32) -> (int32, int32, float32, int32, bool):
    return a or b, a and b, a or x, (a and b) or 7, a > 0 and b > 0


@pytest.mark.parametrize("a", [0, 3, -2])
@pytest.mark.parametrize("b", [0, 5])
def test_and_or_give_an_operand(agree: Agree, a: int, b: int) -> None:
    agree(logic, a, b, 1.5, plain=True)


def table(i: int32) -> int32:
    L: int32[3] = [10, 20, 30]
    return L[i]


def table_in_a_loop(A: int32[3]) -> int32:
    total: int32 = 0
    for i in range(3):
        L: int32[3] = [10, 20, 30]
        total += L[i] * A[i]
        K: int32[3] = [1, 1, 1]
        K[i] = total
    return total


def lists() -> (uint64[2], int8[3], bool[2]):
    large: uint64[2] = [18446744073709551615, 1]
    whole: int8[3] = [1.0, -1.0, 100]
    truth: bool[2] = [0, 1]
    return large, whole, truth


def test_lists_keep_their_numbers() -> None:
    large, whole, truth = allo.customize(lists).build()()
    assert large.tolist() == [2**64 - 1, 1] and whole.tolist() == [1, -1, 100] and truth.tolist() == [False, True]


def test_a_list_that_is_never_written_is_a_constant() -> None:
    text = str(allo.customize(table).module)
    assert "memref.global \"private\" constant @table_L : memref<3xi32> = dense<[10, 20, 30]>" in text
    assert "{allo.name = \"L\"}" in text and "memref.alloc" not in text
    assert allo.customize(table).build()(1) == 20
    s = allo.customize(table_in_a_loop)
    assert str(s.module).count("memref.alloc() {allo.name = \"K\"}") == 1
    assert s.build()(np.array([1, 2, 3], np.int32)) == 140


def test_the_transpose_of_a_result_calls_the_kernel_once(agree: Agree) -> None:
    def counted(A: int32[2, 3]) -> int32[2, 3]:
        calls: Stateful[int32] = 0
        calls += 1
        B: int32[2, 3] = A + calls
        return B

    def kernel(A: int32[2, 3]) -> int32[3, 2]:
        B: int32[3, 2] = counted(A).T
        C: int32[3, 2] = counted(A).T
        return B + 10 * C

    A = np.arange(6, dtype=np.int32).reshape(2, 3)
    result, _ = agree(kernel, A)
    np.testing.assert_array_equal(result, (A + 1 + 10 * (A + 2)).T)
