"""Elements that nothing has written, state, accesses that leave arrays, and loops that may never end."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import allo
from allo.ir.types import Fixed, Stateful, Struct, UInt, float32, int32
from allo.verify import Different, Equivalent, Stuck, Unknown, load
from allo.verify.affine import prove

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


def difference_of_nothing(x: int32[4], y: int32[4], z: int32[4]):
    t: int32[4]
    for i in range(4):
        z[i] = t[i] - t[i]  # 0, whatever is there


def difference(x: int32[4], y: int32[4], z: int32[4]):
    for i in range(4):
        z[i] = x[i] - y[i]


def order_of_nothing(x: int32[4], y: int32[4], z: int32[4]):
    t: int32[4]
    for i in range(4):
        z[i] = 1 if t[i] < t[i] else 2


def order(x: int32[4], y: int32[4], z: int32[4]):
    for i in range(4):
        z[i] = 1 if x[i] < y[i] else 2


def negative_of_nothing(x: int32[4], y: int32[4], z: int32[4]):
    t: int32[4]
    for i in range(4):
        z[i] = -t[i]


def negative(x: int32[4], y: int32[4], z: int32[4]):
    for i in range(4):
        z[i] = -y[i]


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


def kept(x: float32) -> float32:
    total: Stateful[float32] = 0
    total += x
    return total


def sum_and_double(x: int32) -> (int32, int32):
    once: Stateful[int32] = 0
    twice: Stateful[int32] = 0
    once += x
    twice += 2 * x
    return once, twice


def double_and_sum(x: int32) -> (int32, int32):
    twice: Stateful[int32] = 0
    once: Stateful[int32] = 0
    twice += 2 * x
    once += x
    return once, twice


def sum_and_double_of_others(x: int32) -> (int32, int32):
    first: Stateful[int32] = 0
    second: Stateful[int32] = 0
    first += x
    second += 2 * x
    return first, second


def doubles(x: int32) -> (int32, int32):
    once: Stateful[int32] = 0
    twice: Stateful[int32] = 0
    twice += 2 * x
    once += 2 * x
    return once, twice


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
    case("variables used in another order", sum_and_double, double_and_sum),
    case("variables of other names", sum_and_double, sum_and_double_of_others),
]
DIFFERENT = [
    case("nothing written", two, threshold_of_nothing),
    case("no field written", two, field_of_nothing),
    case("start of a variable", from_zero_on, from_one_on),
    case("twice the same nothing", difference_of_nothing, difference),
    case("nothing compared with itself", order_of_nothing, order),
    case("variables used in another order, wrongly", sum_and_double, doubles),
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


def test_what_nothing_has_written_may_be_anything_once() -> None:
    assert isinstance(allo.verify(negative_of_nothing, negative, method="affine"), Equivalent)
    found = prove(load(difference_of_nothing), load(difference))
    assert found == Stuck("an element that nothing has written would need two values")


def test_a_loop_that_may_never_end_is_not_proven() -> None:
    assert isinstance(allo.verify(once, once_or_for_ever, timeout=1), Unknown)


def test_the_start_of_a_variable_is_told() -> None:
    result = allo.verify(from_zero_on, from_one_on)
    assert isinstance(result, Different)
    assert result.counterexample.reason == "the stateful variable 'total' starts with other values"
    assert dict(result.counterexample.inputs)["total"] == "0 in the first program, 1 in the second"


def test_floats_that_are_kept_are_inputs() -> None:
    result = allo.verify(kept, kept, method="differential")
    assert isinstance(result, Unknown)
    assert result.reason == "no method that proves was asked; 12 inputs agreed"
