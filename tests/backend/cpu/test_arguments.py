"""What machine code gets for the arrays of its caller: the arrays themselves where they lie as it needs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
from allo.backend.arguments.arrays import tensor_argument
from allo.backend.arguments.parameters import Parameter
from allo.ir.types import Int, Struct, TensorType, float32, int8, int32, uint8

Array = np.ndarray[Any, Any]
PAIR = Struct({"re": float32, "im": float32})
RECORD = np.dtype([("re", "f4"), ("im", "f4")])
int4 = Int(4)


def shifted(array: Array, offset: int) -> Array:
    """The same elements at an address that is `offset` behind a multiple of 64."""
    room = np.zeros(array.nbytes + 128, np.uint8)
    start = -room.ctypes.data % 64 + offset
    made = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


def records() -> Array:
    A = np.zeros(6, RECORD)
    A["re"], A["im"] = np.arange(6), -np.arange(6)
    return A


@pytest.mark.parametrize("offset", [0, 16])
def test_arrays_of_structs_that_lie_well_are_passed_themselves(offset: int) -> None:
    A = shifted(records(), offset)
    passed, bring_back = tensor_argument(Parameter("A", TensorType(PAIR, (6,)), True), A)
    assert passed is A and bring_back is None


@pytest.mark.parametrize("offset", [1, 4, 8])
def test_arrays_of_structs_at_other_addresses_are_copied_there_and_back(offset: int) -> None:
    A = shifted(records(), offset)
    passed, bring_back = tensor_argument(Parameter("A", TensorType(PAIR, (6,)), True), A)
    assert bring_back is not None and not np.shares_memory(passed, A)
    assert passed.ctypes.data % 16 == 0 and passed.tobytes() == A.tobytes()
    passed[...] = passed[::-1].copy()
    bring_back()
    assert A.tobytes() == records()[::-1].tobytes()


def test_what_is_only_read_is_not_brought_back() -> None:
    _, bring_back = tensor_argument(Parameter("A", TensorType(PAIR, (6,)), False), shifted(records(), 8))
    assert bring_back is None


def test_strided_arrays_of_structs_are_copied() -> None:
    A = np.repeat(records(), 2)[::2]
    passed, bring_back = tensor_argument(Parameter("A", TensorType(PAIR, (6,)), True), A)
    assert bring_back is not None and passed.flags.c_contiguous


def test_arrays_of_one_type_are_passed_themselves() -> None:
    A = np.arange(6, dtype=np.int32)
    parameter = Parameter("A", TensorType(int32, (6,)), True)
    assert parameter.takes(A)
    assert tensor_argument(parameter, A)[0] is A


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6, dtype=np.int64),
        np.arange(12, dtype=np.int32)[::2],
        np.arange(5, dtype=np.int32),
        np.arange(6, dtype=np.int32).reshape(2, 3),
        list(range(6)),
    ],
    ids=["dtype", "strides", "extent", "rank", "list"],
)
def test_other_arrays_are_not_taken_at_once(value: Any) -> None:
    assert not Parameter("A", TensorType(int32, (6,)), False).takes(value)


def test_read_only_arrays_are_taken_if_they_are_only_read() -> None:
    A = np.arange(6, dtype=np.int32)
    A.flags.writeable = False
    assert Parameter("A", TensorType(int32, (6,)), False).takes(A)
    assert not Parameter("A", TensorType(int32, (6,)), True).takes(A)


def narrow(A: int4[3], B: int8[3]):
    for i in range(3):
        B[i] = A[i] * 2
        A[i] = A[i] + 1


@pytest.mark.parametrize(("values", "fits"), [((-8, 0, 7), True), ((-9, 0, 0), False), ((0, 0, 8), False)])
def test_values_of_narrow_types_are_in_their_range(values: tuple[int, ...], fits: bool) -> None:
    A, B = np.array(values, np.int8), np.zeros(3, np.int8)
    built = allo.customize(narrow).build()
    if not fits:
        with pytest.raises((ValueError, OverflowError), match="argument 'A'"):
            built(A, B)
        return
    built(A, B)
    assert B.tolist() == [2 * v for v in values]
    assert A.tolist() == [-7, 1, -8]


def double(A: uint8[4], B: int32[4]):
    for i in range(4):
        B[i] = A[i] * 2
        A[i] = 0


def test_arrays_that_convert_without_loss_are_copied_there_and_back() -> None:
    A, B = np.array([0, 1, 200, 255], np.uint8), np.zeros(4, np.int64)
    allo.customize(double).build()(A, B)
    assert B.tolist() == [0, 2, 400, 510] and A.tolist() == [0] * 4
    with pytest.raises(TypeError, match="argument 'A' must have dtype uint8, got int64"):
        allo.customize(double).build()(np.full(4, 256), B)
    with pytest.raises(TypeError, match="argument 'B' must have dtype int32, got int16"):
        allo.customize(double).build()(A, B.astype(np.int16))
