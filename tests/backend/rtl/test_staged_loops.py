"""Loops of which stages of several iterations run at once: copies of arrays, and the cycles of the timed simulator."""

from __future__ import annotations

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array
from typing import Any

import numpy as np
import pytest

import allo
from allo.backend import staged_loops
from allo.errors import AlloError
from allo.ir.types import int32

from .flows import assert_flows
from .test_flows import told

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


def test_single_statements_are_refused() -> None:
    with pytest.raises(AlloError) as caught:
        staged(by_statement).build(target="rtl")
    assert told(caught.value) == (
        "AT: target 'rtl' has no hardware for loop 't', of which stages of several iterations run at once, yet\n"
        "    for t in range(6):\n"
        "    ^\n"
        "  hint: build the kernel for 'vitis_hls', or leave the operation to the host"
    )


@pytest.mark.slow
def test_a_copy_that_is_written_too_early_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_free(at: Any, tokens: Any, *others: Any) -> None:
        original(at, [token for token in tokens if not token.but], *others)

    original = staged_loops._pass
    monkeypatch.setattr(staged_loops, "_pass", without_free)
    s = staged(long_way, "i", "j")  # the last stage is the slowest
    with pytest.raises(AssertionError):
        assert_flows(s, NUMBERS, NOTHING)
