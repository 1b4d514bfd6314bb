"""Regions whose tasks wait for each other, against kernels that run one statement after the other."""

# ruff: noqa: F821 - regions declare streams without a value

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import allo
import allo.dataflow as df
from allo.ir.types import Stream, int32
from allo.verify import Different, Equivalent, Unknown

N, P = 8, 4


def doubled(A: int32[N], B: int32[N]):
    for i in range(N):
        B[i] = A[i] * 2 + 1


def server(extra: int) -> Callable[..., Any]:
    """One task asks another one for each element."""

    @df.region()
    def region(A: int32[N], B: int32[N]):
        question: Stream[int32, 2]
        answer: Stream[int32, 2]

        @df.task(args=[A, B])
        def client(A: int32[N], B: int32[N]):
            for i in range(N):
                question.put(A[i])
                B[i] = answer.get() + 1

        @df.task()
        def server():
            for i in range(N):
                x: int32 = question.get()
                if i == N - 1:
                    answer.put(x * 2 + extra)
                else:
                    answer.put(x * 2)

    return region


@df.region()
def ring(A: int32[N], B: int32[N]):
    """Positions hand what they have on to the next one, the last one to the first."""
    s: Stream[int32, 1][P]

    @df.task(mapping=[P], args=[A, B])
    def cell(A: int32[N], B: int32[N]):
        p = df.get_pid()
        for k in range(N // P):
            s[(p + 1) % P].put(A[N // P * p + k] * 2)
            B[N // P * ((p + P - 1) % P) + k] = s[p].get() + 1


@df.region()
def inner(question: Stream[int32, 2], answer: Stream[int32, 2]):
    @df.task(args=[question, answer])
    def serve(question: Stream[int32, 2], answer: Stream[int32, 2]):
        for _i in range(N):
            answer.put(question.get() * 2)


@df.region()
def around(A: int32[N], B: int32[N]):
    """The other side is a region of its own."""
    question: Stream[int32, 2]
    answer: Stream[int32, 2]

    @df.task(args=[A, B])
    def client(A: int32[N], B: int32[N]):
        for i in range(N):
            question.put(A[i])
            B[i] = answer.get() + 1

    @df.task(args=[question, answer])
    def other(question: Stream[int32, 2], answer: Stream[int32, 2]):
        inner(question, answer)


@df.region()
def by_data(A: int32[N], B: int32[N]):
    """Data decide how often a stream is used."""
    question: Stream[int32, 2]
    answer: Stream[int32, 2]

    @df.task(args=[A, B])
    def client(A: int32[N], B: int32[N]):
        for i in range(N):
            B[i] = 1
            if A[i] != 0:
                question.put(A[i])
                B[i] = answer.get() + 1
        question.put(0)

    @df.task()
    def server():
        x: int32 = question.get()
        while x != 0:
            answer.put(x * 2)
            x = question.get()


@pytest.mark.parametrize("region", [server(0), ring, around], ids=["server", "ring", "around"])
def test_a_cycle_of_tasks_equals_the_kernel(region: Callable[..., Any]) -> None:
    assert isinstance(allo.verify(df.customize(region), doubled), Equivalent)


def test_two_regions() -> None:
    assert isinstance(allo.verify(df.customize(server(0)), df.customize(ring)), Equivalent)


def test_one_element_that_differs() -> None:
    result = allo.verify(df.customize(server(1)), doubled)
    assert isinstance(result, Different)
    assert "B[7]" in str(result)


def test_turns_that_data_decide_are_unknown_with_the_reason() -> None:
    result = allo.verify(df.customize(by_data), doubled)
    assert isinstance(result, Unknown)
    assert "tasks wait for each other in a cycle" in str(result)
