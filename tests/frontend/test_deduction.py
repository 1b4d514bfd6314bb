"""Template parameters that follow from the arguments of a call, or from defaults."""

import ast

import numpy as np
import pytest

import allo
from allo.frontend.read.source import read_kernel
from allo.frontend.read.templates import instantiate, parameters_of
from allo.ir.types import Stateful, float32, index, int8, int16, int32


def total[T: (int8, int32, float32), N: index](A: "T[N]", start: "T") -> "T":
    s: T = start
    for i in range(N):
        s += A[i]
    return s


def deduced(A: int32[4], B: float32[3], C: int8[2, 4]) -> (int32, float32, int8):
    return total(A, 1), total(start=0.5, A=B), total(C[1], C[0, 0])


def test_from_the_types_of_arguments() -> None:
    s = allo.customize(deduced)
    a, b, c = np.ones(4, np.int32), np.ones(3, np.float32), np.ones((2, 4), np.int8)
    assert s.build()(a, b, c) == (5, 3.5, 5)
    assert [f.name.value for f in s.ir.functions()] == ["total", "total_1", "total_2", "deduced"]


def partly[R, T, N: index](A: "T[N]") -> "R":
    return A[0] + A[N - 1]


def the_rest(A: int16[4]) -> (int32, int32):
    return partly[int32](A), partly[int32, "again"](A)


def test_the_rest_of_the_parameters() -> None:
    s = allo.customize(the_rest)
    assert s.build()(np.array([1, 2, 3, 4], np.int16)) == (5, 5)
    assert [f.name.value for f in s.ir.functions()] == ["partly", "partly_again", "the_rest"]


def nested(A: int32[3]) -> int32:
    def first[N: index](B: "int32[N]") -> int32:
        return B[0]

    return first(A)


def test_nested_templates() -> None:
    assert allo.customize(nested).build()(np.array([7, 8, 9], np.int32)) == 7


def with_defaults[T, N: index](A: "T[N]"):
    A[0] = N


def test_defaults_of_python_3_13() -> None:
    source = read_kernel(with_defaults)
    for parameter, default in zip(parameters_of(source), ("int32", "2 * 2"), strict=True):
        parameter.default_value = ast.parse(default, mode="eval").body  # type: ignore[attr-defined]
    assert instantiate(source, None).names["N"] == 4
    assert instantiate(source, {"N": 8}).names["N"] == 8
    assert instantiate(source, [float32]).names["T"] == float32
    parameters_of(source)[1].default_value = ast.parse("missing", mode="eval").body  # type: ignore[attr-defined]
    with pytest.raises(allo.KernelError, match="the default of 'N' cannot be evaluated: name 'missing' is not defined"):
        instantiate(source, None)


def with_nested[N: index](A: "int32[N]"):
    def last(B: int32[N]) -> int32:
        return B[N - 1] + N

    A[0] = last(A)


def nested_in_instances(A: int32[2], B: int32[3]):
    with_nested[2](A)
    with_nested(B)
    with allo.meta_for(2) as i:

        def add(C: int32[2]):
            C[i] += i + 1

        add(A)


def test_nested_kernels_of_each_instance_are_their_own() -> None:
    a, b = np.array([1, 2], np.int32), np.array([1, 2, 3], np.int32)
    allo.customize(nested_in_instances).build()(a, b)
    assert a.tolist() == [5, 4] and b.tolist() == [6, 2, 3]


def state[N: index]() -> int32:
    calls: Stateful[int32] = N
    calls += 1
    return calls


def instances() -> (int32, int32, int32, int32):
    return state[10](), state[10, "own"](), state[10](), state[20]()


def test_each_instance_has_its_own_state() -> None:
    built = allo.customize(instances).build()
    assert built() == (11, 11, 12, 21) and built() == (13, 12, 14, 22)
