"""Every type of argument can be compared and run: numbers of all kinds, structs, scalars, extents known at run time."""

import numpy as np
import pytest

import allo
from allo.ir.types import (
    Fixed,
    Struct,
    UFixed,
    UInt,
    bfloat16,
    bool,
    float16,
    float64,
    index,
    int8,
    int32,
    uint8,
)
from allo.verify import Different, Equivalent, Unknown, load
from allo.verify.run.inputs import directed_inputs

POINT = Struct({"x": int32, "w": Fixed(16, 8)})
MORE = [uint8, int32, UInt(5), float16, float64, Fixed(16, 8), bool, index]
TYPES = [int8, UInt(100), bfloat16, UFixed(70, 3), POINT, *(pytest.param(T, marks=pytest.mark.slow) for T in MORE)]


def copied(T):
    def kernel(x: T[6], y: T[6]):
        for i in range(6):
            y[i] = x[i]

    return kernel


def backwards(T):
    def kernel(x: T[6], y: T[6]):
        for i in range(6):
            y[5 - i] = x[5 - i]

    return kernel


def swapped(T):
    def kernel(x: T[6], y: T[6]):
        for i in range(6):
            y[i] = x[5 - i]

    return kernel


@pytest.mark.parametrize("T", TYPES, ids=str)
def test_arrays_of_each_type(T):
    assert isinstance(allo.verify(copied(T), backwards(T)), Equivalent)
    assert isinstance(allo.verify(copied(T), swapped(T)), Different)
    assert isinstance(allo.verify(copied(T), backwards(T), method="differential"), Unknown)


@pytest.mark.parametrize("T", TYPES, ids=str)
def test_inputs_of_each_type_are_taken(T):
    build = allo.customize(copied(T)).build()
    for inputs in directed_inputs(load(copied(T)).arguments):
        x, y = inputs.values
        build(x, y)
        assert x.tobytes() == y.tobytes() or x.dtype == object


def test_scalars_that_bound_loops():
    def first(n: int32, x: int32[8]):
        for i in range(n):
            x[i] = i

    def second(n: int32, x: int32[8]):
        for i in range(n):
            x[n - 1 - i] = n - 1 - i

    def third(n: int32, x: int32[8]):
        for i in range(n - 1):
            x[i] = i

    assert not isinstance(allo.verify(first, second), Different)
    assert isinstance(allo.verify(first, third), Different)


def test_extents_known_at_run_time():
    def first(x: int32[...], y: int32[...]):
        for i in range(5):
            y[i] = x[i] + 1

    def second(x: int32[...], y: int32[...]):
        for i in range(5):
            y[i] = x[i] + 2

    assert not isinstance(allo.verify(first, first), Different)
    assert isinstance(allo.verify(first, second), Different)


def test_results_of_several_kinds():
    def first(x: int32[4]) -> (int32[4], int32):
        y: int32[4] = 0
        total: int32 = 0
        for i in range(4):
            y[i] = x[i] + 1
            total += x[i]
        return y, total

    def second(x: int32[4]) -> (int32[4], int32):
        y: int32[4] = 0
        total: int32 = 0
        for i in range(4):
            y[i] = x[i] + 1
            total += y[i]
        return y, total

    result = allo.verify(first, second)
    assert isinstance(result, Different) and result.counterexample.output == "result 1"
    assert allo.verify(first, first)


def test_templates():
    def scaled[T, N: index](x: "T[N]", y: "T[N]"):
        for i in range(N):
            y[i] = x[i] * 3

    def tripled[T, N: index](x: "T[N]", y: "T[N]"):
        for i in range(N):
            y[i] = x[i] + x[i] + x[i]

    assert allo.verify(scaled, tripled, instantiate=[int32, 8])


def test_stateful_variables_are_inputs_and_outputs():
    from allo.ir.types import Stateful

    def counted(x: int32[4]) -> int32:
        total: int32 @ Stateful = 0
        for i in range(4):
            total += x[i]
        return total

    def forgetful(x: int32[4]) -> int32:
        total: int32 @ Stateful = 0
        sum: int32 = total
        for i in range(4):
            sum += x[i]
        return sum

    assert allo.verify(counted, counted)
    result = allo.verify(counted, forgetful)
    assert isinstance(result, Different) and result.counterexample.output == "total"


def test_no_time():
    result = allo.verify(copied(int32), swapped(int32), timeout=0)
    assert isinstance(result, Unknown | Different)
    assert np.isfinite(result.seconds)
