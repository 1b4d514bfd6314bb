"""Types of values, closures, scalars and whole arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import allo
from allo.ir.types import Int, UInt, bfloat16, float32, index, int1, int8, int16, int32, int64, uint8, uint64
from allo.ir.types import bool as bool_type

Agree = Callable[..., Any]
int5, uint12 = Int(5), UInt(12)


def odd_widths(A: int5[3], B: uint12[3]):
    for i in range(3):
        A[i] = A[i] + 1
        B[i] = B[i] * B[i]


def test_odd_widths_wrap_when_they_are_stored() -> None:
    A, B = np.array([-16, 15, 3], np.int8), np.array([1, 4095, 77], np.uint16)
    allo.customize(odd_widths).build()(A, B)
    assert A.tolist() == [-15, -16, 4] and B.tolist() == [1, 4095**2 % 4096, 77**2 % 4096]


def one_bit(a: int1) -> int32:
    return a + a


def test_the_one_bit_of_a_signed_integer_is_its_sign(agree: Agree) -> None:
    assert agree(one_bit, -1) == [-2]


def truths(A: bool_type[4], B: int8[4]) -> bool_type:
    for i in range(4):
        B[i] = A[i] + A[0]
        A[i] = not A[i]
    return A[1] and A[3]


def test_bool_arrays() -> None:
    A, B = np.array([True, False, True, False]), np.zeros(4, np.int8)
    assert allo.customize(truths).build()(A, B) is True
    assert A.tolist() == [False, True, False, True] and B.tolist() == [2, 0, 1, 0]


def brain_scalar(a: bfloat16, n: int32) -> bfloat16:
    return a * n


def test_bfloat16_scalar() -> None:
    third = float(ml_dtypes.bfloat16(1 / 3))
    assert allo.customize(brain_scalar).build()(1 / 3, 3) == float(ml_dtypes.bfloat16(third * 3))


def large_unsigned(A: uint64[2]):
    A[0] = 2**63 + 5
    A[1] = A[1] // 3


def test_constants_use_all_bits_of_uint64() -> None:
    A = np.array([0, 2**64 - 1], np.uint64)
    allo.customize(large_unsigned).build()(A)
    assert A.tolist() == [2**63 + 5, (2**64 - 1) // 3]


SCALE, OFFSET, HALF, FLAG = np.float32(2.5), np.int64(7), np.float16(0.5), np.bool_(True)
TABLE = np.array([[1, 2], [3, 4]], np.int16)
NARROW = np.array([1.5, -2.5], ml_dtypes.bfloat16)
MASK = np.array([True, False])
BIG = np.array([2**63 + 1, 3], np.uint64)


class Settings:
    width = 4
    weights = np.array([0.5, 0.25], np.float32)


def closure(R: float32[8]):
    R[0] = SCALE
    R[1] = OFFSET
    R[2] = HALF
    R[3] = FLAG
    R[4] = math.pi
    R[5] = -math.inf
    R[6] = Settings.width
    R[7] = Settings.weights[1]


def test_constants_of_the_program(agree: Agree) -> None:
    agree(closure, np.zeros(8, np.float32), plain=True)


def constant_arrays(R: float32[6], S: uint64[2]):
    for i in range(2):
        R[i] = TABLE[1, i]
        R[i + 2] = NARROW[i]
        R[i + 4] = MASK[i]
        S[i] = BIG[i]


def test_arrays_of_the_program(agree: Agree) -> None:
    agree(constant_arrays, np.zeros(6, np.float32), np.zeros(2, np.uint64), plain=True)


OTHER_ORDER, COLUMNS, EVERY_SECOND, SINGLE = (
    np.arange(3, dtype=">i4"),
    np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
    np.arange(12, dtype=np.int32)[::2],
    np.array(9),
)


def other_layouts(A: int32[4]):
    A[0] = OTHER_ORDER[2]
    A[1] = COLUMNS[1, 0]
    A[2] = EVERY_SECOND[3]
    A[3] = SINGLE


def test_arrays_of_other_layouts(agree: Agree) -> None:
    agree(other_layouts, np.zeros(4, np.int32), plain=True)


def result_constant() -> int16[2, 2]:
    return TABLE


def test_a_returned_constant_is_a_copy() -> None:
    built = allo.customize(result_constant).build()
    built()[...] = 0
    assert built().tolist() == TABLE.tolist()


def text_annotations(A: "int32[4]", n: "int32") -> "int32":  # noqa: UP037
    x: "int64" = A[1]  # noqa: UP037
    return x + n


def test_annotations_as_text(agree: Agree) -> None:
    assert agree(text_annotations, np.arange(4, dtype=np.int32), 5)[0] == 6


def assigned_argument(n: uint8) -> int32:
    n = n + 1
    n += 1
    return n


@pytest.mark.parametrize(("n", "result"), [(3, 5), (254, 0)])
def test_an_argument_keeps_its_type_when_it_is_assigned(n: int, result: int) -> None:
    assert allo.customize(assigned_argument).build()(n) == result


def inferred(A: int32[4]) -> (int32, float32):
    for i in range(4):
        last = i
        A[i] = last
    whole = 3
    real = 0.5
    whole = whole / 2
    real = real + whole
    return whole, real


def test_a_variable_has_the_type_of_its_first_value() -> None:
    assert allo.customize(inferred).build()(np.zeros(4, np.int32)) == (1, 1.5)


def initial_values() -> (int32[2, 2], float32[3], int32[2, 2]):
    A: int32[2, 2] = [[1, 2], [3, 4]]
    B: float32[3] = 1.5
    C: int32[2, 2] = A
    C[0, 0] = 9
    return A, B, C


def test_initial_values_of_arrays(agree: Agree) -> None:
    A, B, C, *_ = agree(initial_values)
    assert (A.tolist(), B.tolist(), C.tolist()) == ([[1, 2], [3, 4]], [1.5] * 3, [[9, 2], [3, 4]])


def whole_arrays(A: int32[4], B: float32[4]):
    C: int32[4] = 5
    A = C
    B = A  # noqa: F841 - the array of the caller
    C = 1


def test_whole_arrays_are_copied_and_converted() -> None:
    A, B = np.zeros(4, np.int32), np.zeros(4, np.float32)
    allo.customize(whole_arrays).build()(A, B)
    assert A.tolist() == [5] * 4 and B.tolist() == [5.0] * 4


def conversions(x: float32, n: int32) -> (int32, float32, int8, bool_type, index):
    return int(x), float(n), int8(n), n, x


@pytest.mark.parametrize("x", [2.75, -2.75])
def test_conversions(x: float) -> None:
    assert allo.customize(conversions).build()(x, 300) == (int(x), 300.0, 44, True, int(x))


def several(A: int32[4]) -> (int32[4], int32[4], int32[4], int32):
    B: int32[4] = 3
    return A, B, B, A[1]


def test_results_are_arrays_of_their_own() -> None:
    A = np.arange(4, dtype=np.int32)
    first, second, third, fourth = allo.customize(several).build()(A)
    assert not any(np.may_share_memory(x, y) for x, y in [(A, first), (second, third)])
    assert (first.tolist(), second.tolist(), third.tolist(), fourth) == ([0, 1, 2, 3], [3] * 4, [3] * 4, 1)


def unit_extents(A: int32[1, 1, 1]) -> int32[1]:
    B: int32[1] = A[0, 0, 0]
    return B


def test_extents_of_one(agree: Agree) -> None:
    assert agree(unit_extents, np.full((1, 1, 1), 7, np.int32))[0].tolist() == [7]


def no_arguments() -> int32:
    return 3


def nothing():
    """A kernel that does nothing."""


def test_kernels_without_arguments(agree: Agree) -> None:
    assert agree(no_arguments, plain=True) == [3] and agree(nothing, plain=True) == [None]


def mixed_choice(n: int32) -> (float32, int32, int64):
    return 1.5 if n > 0 else n, -1 if n > 0 else 255, n if n > 5 else 2**40


@pytest.mark.parametrize("n", [3, -3, 7])
def test_both_sides_of_a_choice_have_one_type(agree: Agree, n: int) -> None:
    agree(mixed_choice, n, plain=True)


DEPTH = 0


def dead_branch(n: int32) -> int32:
    return n // DEPTH if DEPTH != 0 else -1


def test_a_branch_that_is_never_taken_is_not_checked(agree: Agree) -> None:
    assert agree(dead_branch, 5) == [-1]
