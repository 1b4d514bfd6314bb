"""Loops of which stages of several iterations run at once: copies of arrays, and the cycles of the timed simulator."""

from __future__ import annotations

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array
from typing import Any

import numpy as np
import pytest

import allo
from allo.backend import staged_loops
from allo.ir.types import int32

from .flows import assert_flows

N = 12
NUMBERS, NOTHING = np.arange(N, dtype=np.int32), np.zeros(N, np.int32)


def produce(A: int32[N], T: int32[N], t: int32):
    for i in range(N):
        T[i] = A[i] * t


def consume(T: int32[N], B: int32[N]):
    for j in range(N):
        B[j] += T[N - 1 - j]


def calls(A: int32[N], B: int32[N]):
    for t in range(1, 8, 2):
        T: int32[N]
        produce(A, T, t)
        consume(T, B)


def again(A: int32[N], B: int32[N]):
    for o in range(2):
        for t in range(2):  # as often as there are copies
            T: int32[N]
            for i in range(N):
                own: int32 = A[i] + t
                T[i] = own * o
            for j in range(N):
                B[j] += T[j]


def long_way(A: int32[N], B: int32[N]):
    """`U` is needed when its stage is two iterations ahead."""
    for t in range(6):
        T: int32[N]
        U: int32[N]
        V: int32[N]
        for i in range(N):
            T[i] = A[i] + t
            U[i] = A[i] - t
        for j in range(N):
            V[j] = T[j] * 3
        for k in range(N):
            B[k] += U[k] + V[k]


def staged(kernel: Any, *pipelines: str) -> allo.Schedule:
    s = allo.customize(kernel)
    s.dataflow("t")
    for loop in pipelines:
        s.pipeline(loop)
    return s


def test_iterations_overlap() -> None:
    s = staged(long_way, "i", "j", "k")
    made = assert_flows(s, NUMBERS, NOTHING)
    assert made.cycles is not None and made.cycles < (6 + 2) * (N + 9)  # two stages more than iterations


def test_calls_of_nests_go_into_functions_of_their_stages() -> None:
    def weighted(A: int32[N], T: int32[N], t: int32):
        for i in range(N):
            T[i] = A[i] * t
            for k in range(N):
                T[i] += A[k] * t

    def kernel(A: int32[N], B: int32[N]):
        for t in range(8):
            T: int32[N]
            weighted(A, T, t)
            for j in range(N):
                B[j] += T[N - 1 - j]

    s = allo.customize(kernel)
    s.split("weighted:i", 3)
    s.dataflow("t")
    built = [s.build(target="rtl") for _ in range(5)]  # the call is gone when the second stage is made
    assert len({one.code for one in built}) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "pipelines"), [
    (calls, ()), (calls, ("produce:i", "consume:j")), (again, ("i", "j")), (long_way, ("i", "k")),
])  # fmt: skip
def test_same_bits_and_cycles(kernel: Any, pipelines: tuple[str, ...]) -> None:
    assert_flows(staged(kernel, *pipelines), NUMBERS, NOTHING)


def by_statement(A: int32[N], B: int32[N]):
    for t in range(6):
        T: int32[N]
        for i in range(N):
            T[i] = A[i] + t
        B[t] = T[3]


def ends_at_run_time(A: int32[N], B: int32[N], first: int32, last: int32):
    for o in range(2):
        for t in range(o + first, last):
            T: int32[N]
            U: int32[N]
            for i in range(N):
                T[i] = A[i] + t
                U[i] = A[i] + 1
            x: int32 = U[3]  # a value of this stage, and of the last one
            y: int32 = x * 2
            for j in range(N - x):
                B[j] += T[j] * y + x


def of_one_stage(A: int32[N], B: int32[N]):
    for t in range(6):
        for i in range(N):
            B[i] += A[i] + t


def in_part(A: int32[N], B: int32[N]):
    """One stage uses an array where it is declared, the other one in a function."""
    for t in range(6):
        T: int32[N]
        for i in range(N):
            T[i] = A[i] + t
        consume(T, B)


@pytest.mark.parametrize(
    ("kernel", "others"),
    [
        pytest.param(by_statement, (), marks=pytest.mark.slow),
        pytest.param(ends_at_run_time, (1, 7), marks=pytest.mark.slow),
        *(pytest.param(ends_at_run_time, ends, marks=pytest.mark.exhaustive) for ends in ((0, 2), (5, 5))),
        pytest.param(of_one_stage, (), marks=pytest.mark.exhaustive),
        pytest.param(in_part, (), marks=pytest.mark.slow),
    ],
)
def test_stages_of_statements_and_ends_of_run_time(kernel: Any, others: tuple[int, ...]) -> None:
    s = staged(kernel, "i")
    made = assert_flows(s, NUMBERS, NOTHING, *others, data_decide=bool(others))
    found, wanted = ([NUMBERS.copy(), NOTHING.copy()] for _ in range(2))
    made(*found, *others)
    s.build()(*wanted, *others)
    np.testing.assert_array_equal(found[1], wanted[1])


@pytest.mark.slow
def test_a_copy_that_is_written_too_early_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_free(self: Any, at: Any, tokens: Any, *others: Any) -> None:
        original(self, at, [token for token in tokens if not token.but], *others)

    original = staged_loops._StagedLoop._pass
    monkeypatch.setattr(staged_loops._StagedLoop, "_pass", without_free)
    s = staged(long_way, "i", "j")  # the last stage is the slowest
    with pytest.raises(AssertionError):
        assert_flows(s, NUMBERS, NOTHING)
