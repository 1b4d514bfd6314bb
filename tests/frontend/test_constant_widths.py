"""Constant arrays and states of integers of every width have their values, also after printing and parsing."""

import numpy as np
import pytest

import allo
from allo import Schedule
from allo.ir.types import Int, Stateful, UInt, int64

N = 9  # more bits than a byte has


@pytest.mark.parametrize("kind", [Int(1), UInt(1), UInt(5), Int(7), Int(17), Int(33), UInt(40)], ids=repr)
def test_constants_and_states(kind):
    least = -(1 << kind.width - 1) if isinstance(kind, Int) else 0
    last = -1 if isinstance(kind, Int) else (1 << kind.width) - 1
    values = np.array([least + k % (1 << kind.width) for k in range(N)])

    def sums(A: int64[N]):
        state: Stateful[kind[N]] = values
        constant: kind[N] = values
        one: Stateful[kind[1]] = last
        for i in range(N):
            A[i] = 2 * state[i] + constant[i] + 5 * one[0]

    s = allo.customize(sums)
    for built in (s.build(), Schedule.from_mlir(str(s.module)).build()):
        A = np.zeros(N, np.int64)
        built(A)
        np.testing.assert_array_equal(A, 3 * values + 5 * last)
