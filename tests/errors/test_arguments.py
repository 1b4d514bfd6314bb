"""What is said when a built module is called with arguments that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
from allo.ir.types import Int, UInt, float32, index, int8, int32, uint8
from allo.ir.types import bool as bool_

int5, uint12 = Int(5), UInt(12)


def fill(A: float32[2, 3], n: int32):
    A[0, 0] = n


def add(A: float32[4], B: float32[4]) -> float32[4]:
    C: float32[4] = 0
    for i in range(4):
        C[i] = A[i] + B[i]
    return C


def copy(A: int32[4], B: int32[4]):
    for i in range(4):
        B[i] = A[i]


def narrow(A: int5[3], B: uint12[3]) -> int5:
    return A[0] + B[0]


def scalars(flag: bool_, small: int8, positive: uint8, place: index, real: float32) -> int32:
    return 1 if flag else small + positive + place + real


def nothing():
    pass


def refusal(kernel: Any, *arguments: Any) -> str:
    """The type and the text of the error of a call."""
    with pytest.raises((TypeError, ValueError)) as caught:
        allo.customize(kernel).build()(*arguments)
    return f"{type(caught.value).__name__}: {caught.value}"


ZEROS = np.zeros((2, 3), np.float32)
INTS = np.arange(4, dtype=np.int32)
READ_ONLY = np.zeros((2, 3), np.float32)
READ_ONLY.flags.writeable = False
NARROW = np.ones(3, np.int8), np.ones(3, np.uint16)

TENSORS = {
    "count": (fill, (ZEROS,), "TypeError: fill() takes 2 arguments (A: float32[2, 3], n: int32), got 1"),
    "count_of_none": (nothing, (1,), "TypeError: nothing() takes no arguments, got 1"),
    "list": (
        fill,
        ([[1.0] * 3] * 2, 1),
        "TypeError: argument 'A' must be a NumPy array of shape (2, 3) and dtype float32, "
        "got list [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]",
    ),
    "long_list": (
        copy,
        (list(range(1000)), INTS),
        "TypeError: argument 'A' must be a NumPy array of shape (4,) and dtype int32, got list [0, 1, 2, 3, 4, 5, ...]",
    ),
    "none": (
        fill,
        (None, 1),
        "TypeError: argument 'A' must be a NumPy array of shape (2, 3) and dtype float32, got NoneType None",
    ),
    "shape": (fill, (ZEROS.T, 1), "ValueError: argument 'A' must have shape (2, 3), got (3, 2)"),
    "rank": (fill, (ZEROS.ravel(), 1), "ValueError: argument 'A' must have shape (2, 3), got (6,)"),
    "read_only": (
        fill,
        (READ_ONLY, 1),
        "ValueError: argument 'A' is written by the kernel, but the array is read-only",
    ),
    "dtype": (
        add,
        (np.full(4, 0.1), np.zeros(4, np.float32)),
        "TypeError: argument 'A' must have dtype float32, got float64, which does not convert without loss",
    ),
    "dtype_of_written": (
        fill,
        (np.zeros((2, 3), np.float16), 1),
        "TypeError: argument 'A' must have dtype float32, got float16, which does not convert without loss",
    ),
    "dtype_of_objects": (
        copy,
        (np.array([None] * 4), INTS),
        "TypeError: argument 'A' must have dtype int32, got object, which does not convert without loss",
    ),
    "values_too_large": (
        copy,
        (np.full(4, 1 << 40), INTS),
        "TypeError: argument 'A' must have dtype int32, got int64, which does not convert without loss",
    ),
    "strides": (
        copy,
        (np.arange(8, dtype=np.int32)[::2], INTS),
        "ValueError: argument 'A' must be C-contiguous, got strides (8,); pass np.ascontiguousarray(...)",
    ),
    "narrow_signed": (
        narrow,
        (np.array([0, 16, -1], np.int8), NARROW[1]),
        "ValueError: argument 'A' has elements from -1 to 16, but int5 holds -16 to 15",
    ),
    "narrow_unsigned": (
        narrow,
        (NARROW[0], np.array([0, 4096, 1], np.uint16)),
        "ValueError: argument 'B' has elements from 0 to 4096, but uint12 holds 0 to 4095",
    ),
    "shared": (
        copy,
        (INTS, INTS),
        "ValueError: arguments 'A' and 'B' share memory, and the kernel writes to it; pass a copy",
    ),
}


@pytest.mark.parametrize(("kernel", "arguments", "message"), TENSORS.values(), ids=TENSORS)
def test_tensor(kernel: Any, arguments: tuple[Any, ...], message: str) -> None:
    assert refusal(kernel, *arguments) == message


SCALARS = {
    "bool": ((1, 0, 0, 0, 0), "TypeError: argument 'flag' must be a bool, got int 1"),
    "float_for_int": ((True, 1.0, 0, 0, 0), "TypeError: argument 'small' must be an integer for int8, got float 1.0"),
    "text": ((True, "1", 0, 0, 0), "TypeError: argument 'small' must be an integer for int8, got str '1'"),
    "array": (
        (True, np.zeros(2, np.int8), 0, 0, 0),
        "TypeError: argument 'small' must be an integer for int8, got ndarray array([0, 0], dtype=int8)",
    ),
    "range": ((True, 256, 0, 0, 0), "ValueError: argument 'small' must be an integer for int8 (-128 to 127), got 256"),
    "negative": (
        (True, 0, -1, 0, 0),
        "ValueError: argument 'positive' must be an integer for uint8 (0 to 255), got -1",
    ),
    "index": (
        (True, 0, 0, 1 << 63, 0),
        "ValueError: argument 'place' must be an integer for index "
        "(-9223372036854775808 to 9223372036854775807), got 9223372036854775808",
    ),
    "complex": ((True, 0, 0, 0, 1j), "TypeError: argument 'real' must be a number for float32, got complex 1j"),
    "bool_for_float": ((True, 0, 0, 0, True), "TypeError: argument 'real' must be a number for float32, got bool True"),
    "huge": (
        (True, 0, 0, 0, 10**400),
        "ValueError: argument 'real' must be a number for float32, got an integer of 1329 bits",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), SCALARS.values(), ids=SCALARS)
def test_scalar(arguments: tuple[Any, ...], message: str) -> None:
    assert refusal(scalars, *arguments) == message


def test_what_converts_without_loss_is_accepted() -> None:
    A, B = np.arange(4, dtype=np.int64), np.zeros(4, np.int64)
    allo.customize(copy).build()(A, B)
    assert B.tolist() == [0, 1, 2, 3]


def test_arrays_of_the_other_byte_order_are_converted() -> None:
    C = allo.customize(add).build()(np.ones(4, ">f4"), np.ones(4, np.float16))
    assert C.dtype == np.float32 and C.tolist() == [2.0] * 4


def test_numpy_scalars_are_numbers() -> None:
    module = allo.customize(scalars).build()
    assert module(np.bool_(False), np.int64(3), np.array(4), np.uint8(5), np.float64(0.5)) == 12


def test_read_only_arrays_may_be_read() -> None:
    A = np.ones(4, np.float32)
    A.flags.writeable = False
    assert allo.customize(add).build()(A, A).tolist() == [2.0] * 4


def test_a_refused_call_changes_nothing() -> None:
    A = np.zeros((2, 3), np.float32)
    assert refusal(fill, A, 1.5) == "TypeError: argument 'n' must be an integer for int32, got float 1.5"
    assert not A.any()
