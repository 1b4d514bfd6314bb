"""`allo.check_python` finds the first place at which plain Python does something else than the kernel means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
from allo.errors import CheckError, KernelError
from allo.ir.types import Fixed, Stateful, UInt, float32, float64, index, int8, int32, uint8, uint32
from allo.utils import get_np_struct_type

from . import test_both_ways as both

N = both.N


def dot(A: int8[4], B: int8[4]) -> int32:
    total: int32 = 0
    for i in range(4):
        total += A[i] * B[i]
    return total


def difference(A: uint8[2]) -> int32:
    return A[0] - A[1]


def declared(x: int32) -> int32:
    y: int8 = x
    return y


def third(A: float64[2], B: float32[2]):
    for i in range(2):
        B[i] = A[i] / 3.0
    z: float32 = 0.1
    B[1] = z


def fixed(x: float32) -> float32:
    y: Fixed(8, 4) = x
    return y


def branch(A: uint8[2]) -> int32:
    found: int32 = 0
    if A[0] - A[1] < 0:  # noqa: SIM108
        found = 1
    else:
        found = 2
    return found


def place(A: uint8[2], B: int32[600]):
    B[A[0] + A[1]] = 1


def longer(A: uint8[2]) -> int32:
    found: int32 = 0
    for i in range((A[0] - A[1]) // 2 + 4):
        found += i
    return found


def bit(x: int32) -> int32:
    x[0] = 1
    return x


def squared(A: int8[4]):
    for i in range(4):
        A[i] = A[i] * A[i] / 100


def caller(A: int8[4], B: int8[4]):
    for i in range(4):
        B[i] = A[i]
    squared(B)


def u8(*values: int) -> Any:
    return np.array(values, np.uint8)


@pytest.mark.parametrize(
    ("kernel", "inputs", "line", "told"),
    [
        (
            dot,
            (np.full(4, 100, np.int8),) * 2,
            3,
            "'total' is 16 in plain Python, and 10000 in the kernel | the kernel computes each operation in a type "
            "for its result, the last one in int33; NumPy in int8, where it wraps",
        ),
        (
            difference,
            (u8(1, 5),),
            1,
            "the result is 252 in plain Python, and -4 in the kernel | "
            "it is computed in other types, or not converted to the declared one",
        ),
        (
            declared,
            (300,),
            1,
            "'y' is 300 in plain Python, and 44 in the kernel | "
            "plain Python does not convert to int8, the type of 'y'",
        ),
        (
            third,
            (np.ones(2), np.ones(2, np.float32)),
            3,
            "'z' is 0.1 in plain Python, and 0.10000000149011612 in the kernel | "
            "plain Python does not convert to float32, the type of 'z'",
        ),
        (
            fixed,
            (0.3,),
            1,
            "'y' is 0.3 in plain Python, and 0.25 in the kernel | "
            "plain Python does not convert to Fixed(8, 4), the type of 'y'",
        ),
        (
            branch,
            (u8(1, 5),),
            3,
            "the next assignment is in line {5} in plain Python, and in line {3} in the kernel | "
            "a condition or the bounds of a loop in front of here have other values",
        ),
        (
            place,
            (u8(200, 100), np.zeros(600, np.int32)),
            1,
            "the place in 'B' is [44] in plain Python, and [300] in the kernel | they are computed in other types",
        ),
        (
            longer,
            (u8(1, 5),),
            2,
            "the next assignment is in line {2} in plain Python, and at its end in the kernel | "
            "a condition or the bounds of a loop in front of here have other values",
        ),
        (
            bit,
            (4,),
            1,
            "the statement is an error (TypeError: 'int' object does not support item assignment) in plain Python, "
            "and no error in the kernel | plain Python does not run this statement",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_first_difference(kernel: Callable[..., Any], inputs: tuple[Any, ...], line: int, told: str) -> None:
    found = allo.check_python(kernel, inputs)
    assert found is not None and found.at is not None
    first = kernel.__code__.co_firstlineno
    for number in range(9):
        told = told.replace(f"{{{number}}}", str(first + number))
    assert f"{found.name} is {found.python} in plain Python, and {found.kernel} in the kernel | {found.why}" == told
    assert found.at.file == __file__ and found.at.line == first + line


def test_in_a_kernel_that_is_called() -> None:
    found = allo.check_python(caller, (np.array([1, 2, 3, 12], np.int8), np.zeros(4, np.int8)))
    assert found is not None
    assert str(found) == (
        f'File "{__file__}", line {squared.__code__.co_firstlineno + 2}, column 9: '
        "'A[3]' is -1 in plain Python, and 1 in the kernel\n"
        "    A[i] = A[i] * A[i] / 100\n"
        "    ^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  why: the kernel computes each operation in a type for its result, the last one in int16; "
        "NumPy in int8, where it wraps"
    )


@pytest.mark.parametrize(
    "kernel",
    [both.loops, both.branches, both.conditions, both.leaves, both.whole, both.calls, both.run_time_extents],
)
def test_no_difference(kernel: Callable[..., Any]) -> None:
    random = np.random.default_rng(3)
    inputs = [random.integers(-9, 10, (N, N)).astype(np.int32) for _ in range(2)]
    before = [array.copy() for array in inputs]
    assert allo.check_python(kernel, inputs) is None
    assert all(np.array_equal(a, b) for a, b in zip(before, inputs, strict=True))  # it works on copies


def test_no_difference_in_floats() -> None:
    assert allo.check_python(both.floats, (np.random.default_rng(0).standard_normal(N), 0.75, N)) is None


def length[T: (int8, int32), M: index](A: "T[M]") -> int32:  # noqa: UP037
    squares = T[M](0)
    total: int32 = 0
    for i in range(M):
        squares[i] = A[i]
        total += squares[i] * squares[i]
    return total


def test_instances_of_a_template() -> None:
    wide = np.array([1, 12, 3], np.int32)
    assert allo.check_python(length, (wide,), instantiate=[int32, 3]) is None
    found = allo.check_python(length, (wide.astype(np.int8),), instantiate={"M": 3, "T": int8})
    assert found is not None and (found.name, found.python, found.kernel) == ("'total'", -111, 145)


def test_the_rules_of_types() -> None:
    def below(a: uint8, b: uint32) -> int32:
        found: int32 = 0
        if a - 1 < b:
            found = 1
        return found

    assert allo.check_python(below, (0, 5)) is None
    found = allo.check_python(below, (0, 5), typing_rule_set="cpp")  # the difference is unsigned there
    assert found is not None and found.kernel == "at its end"


@pytest.mark.parametrize("run", [allo.interpret, lambda k, **more: allo.check_python(k, (), **more)])
def test_what_is_no_list_of_arguments(run: Callable[..., Any]) -> None:
    message = "instantiate is a list of values, or a dictionary of them by name, got 5"
    with pytest.raises(KernelError, match=message):
        run(length, instantiate=5)
    with pytest.raises(KernelError, match=r"template 'length' has 2 parameters \(T, M\), got 0"):
        run(length)


def test_python_that_never_ends_is_left() -> None:
    def counts(A: uint8[2]) -> int32:
        n: int32 = 0
        while (A[0] - A[1]) // 2 + n != 0:
            n += 1
        return n

    found = allo.check_python(counts, (u8(1, 5),))
    assert found is not None and found.kernel == "at its end"


def test_wide_integers_are_compared_as_numbers() -> None:
    def moved(A: UInt(100)[2], B: UInt(100)[2]):
        for i in range(2):
            B[i] = A[1 - i]

    arrays = [np.zeros(2, get_np_struct_type(100)) for _ in range(2)]
    arrays[0].view(np.uint8)[:] = 7
    assert allo.check_python(moved, arrays) is None


def counted(x: int32) -> int32:
    calls: Stateful[int32] = 0
    calls += x
    return calls


def twice(x: int32) -> int32:
    first: int32 = counted(x)
    second: int32 = counted(x)
    return first + second


def test_plain_python_keeps_no_state() -> None:
    found = allo.check_python(twice, (3,))
    assert found is not None and (found.name, found.python, found.kernel) == ("'calls'", 3, 6)


def test_what_has_no_meaning_is_an_error() -> None:
    def outside(A: int32[4], n: int32):
        A[n] = 1

    assert allo.check_python(outside, (np.zeros(4, np.int32), 3)) is None
    with pytest.raises(CheckError, match="subscript 4 is outside of dimension 0 of 'A', which has 4 elements"):
        allo.check_python(outside, (np.zeros(4, np.int32), 4))
    with pytest.raises(KernelError, match="a kernel must be a Python function"):
        allo.check_python(3, ())  # type: ignore[arg-type]
