"""Elements that nothing has written, state, accesses that leave arrays, and loops that may never end."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import allo
from allo.ir.types import Fixed, Stateful, Struct, UInt, float32, int32
from allo.verify import Different, Equivalent, Unknown

POINT = Struct({"x": int32, "w": Fixed(8, 4), "y": float32})

type Kernel = Callable[..., Any]


def case(name: str, first: Kernel, second: Kernel) -> Any:
    return pytest.param(first, second, id=name)



def threshold_of_nothing(x: int32[4], z: int32[4]):
    t: int32[4]
    for i in range(4):
        z[i] = 1 if t[i] > 100 else 0  # false for most of what may be there


def two(x: int32[4], z: int32[4]):
    for i in range(4):
        z[i] = 2


def field_of_nothing(x: int32[4], z: int32[4]):
    t: POINT[4]
    for i in range(4):
        z[i] = t[i].x


def written_where_read(x: int32[4], z: int32[4]):
    t: int32[4]
    for i in range(4):
        if x[i] > 0:
            t[i] = x[i]
    for i in range(4):
        z[i] = t[i] if x[i] > 0 else 0


def positive_part(x: int32[4], z: int32[4]):
    for i in range(4):
        z[i] = x[i] if x[i] > 0 else 0


def from_zero_on(x: int32) -> int32:
    total: int32 @ Stateful = 0
    total = total + x
    return total


def from_one_on(x: int32) -> int32:
    total: int32 @ Stateful = 1
    total = total + x
    return total


def clamped(index: int32[4], x: int32[8], z: int32[4]):
    for i in range(4):
        z[i] = x[index[i]] if index[i] < 7 else x[7]


def gathered(index: int32[4], x: int32[8], z: int32[4]):
    for i in range(4):
        z[i] = x[index[i]]


def some(n: int32, x: int32[8]):
    for i in range(n):
        x[i] = i


def at_most_all(n: int32, x: int32[8]):
    for i in range(8):
        if i < n:
            x[i] = i


def added(index: UInt(3)[3], x: int32[3], z: int32[8]):
    for i in range(3):
        z[index[i]] = x[i]


def added_backwards(index: UInt(3)[3], x: int32[3], z: int32[8]):
    for i in range(3):
        z[index[2 - i]] = x[2 - i]


def once_or_for_ever(x: int32[1], y: int32[1]):
    while x[0] == 7:
        y[0] = 1


def once(x: int32[1], y: int32[1]):
    if x[0] == 7:
        y[0] = 1


EQUAL = [
    case("an element that is read where it was written", written_where_read, positive_part),
    case("the reverse", positive_part, written_where_read),
]
DIFFERENT = [
    case("nothing written", two, threshold_of_nothing),
    case("no field written", two, field_of_nothing),
    case("start of a variable", from_zero_on, from_one_on),
    case("scattered backwards", added, added_backwards),
    case("outside of the array", at_most_all, some),
]
NOT_DIFFERENT = [  # equal wherever the first one has a meaning; the methods may not see it
    case("decision on what nothing has written", threshold_of_nothing, two),
    case("a field that nothing has written", field_of_nothing, two),
    case("inside of the array", some, at_most_all),
    case("index in range", gathered, clamped),
]


@pytest.mark.parametrize(("first", "second"), EQUAL)
def test_equal(first: Kernel, second: Kernel) -> None:
    assert isinstance(allo.verify(first, second), Equivalent)
    assert not isinstance(allo.verify(first, second, method="differential"), Different)


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_different(first: Kernel, second: Kernel) -> None:
    assert isinstance(allo.verify(first, second), Different)
    for method in ("affine", "concrete"):
        assert not isinstance(allo.verify(first, second, method=method), Equivalent)


@pytest.mark.parametrize(("first", "second"), NOT_DIFFERENT)
def test_not_different(first: Kernel, second: Kernel) -> None:
    for method in ("auto", "differential"):
        assert not isinstance(allo.verify(first, second, method=method), Different)


def test_a_loop_that_may_never_end_is_not_proven() -> None:
    assert isinstance(allo.verify(once, once_or_for_ever, timeout=1), Unknown)


def test_the_start_of_a_variable_is_told() -> None:
    result = allo.verify(from_zero_on, from_one_on)
    assert isinstance(result, Different)
    assert result.counterexample.reason == "the stateful variable 'total' starts with other values"
    assert dict(result.counterexample.inputs)["total"] == "0 in the first program, 1 in the second"
