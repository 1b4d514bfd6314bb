"""threads=n: parts of a region that have nothing to do with one another run on threads, with the same results."""

# Streams and arrays of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.errors import RunTimeout, TargetError
from allo.ir.types import Stream, index, int32
from tests.dataflow import programs as p

P, N = 6, 50


@df.region()
def pipes(A: int32[P, N], B: int32[P, N]):
    pipe: Stream[int32, 4][P]

    @df.kernel(mapping=[P], args=[A])
    def source(A: int32[P, N]):
        i = df.get_pid()
        for k in range(N):
            pipe[i].put(A[i, k])

    @df.kernel(mapping=[P], args=[B])
    def sink(B: int32[P, N]):
        i = df.get_pid()
        for k in range(N):
            B[i, k] = pipe[i].get() + 1


@df.region()
def pairs(A: int32[P, N], B: int32[P, N]):
    """Positions i and i + 3 talk to each other, and each is polled."""
    one: Stream[int32, 2][P]

    @df.kernel(mapping=[P], args=[A, B])
    def swap(A: int32[P, N], B: int32[P, N]):
        i = df.get_pid()
        for k in range(N):
            one[i].put(A[i, k])
            while one[(i + 3) % P].empty():
                pass
            B[i, k] = one[(i + 3) % P].get()


@df.region()
def positive(A: int32[P, N], B: int32[P, N]):
    pipe: Stream[int32, 4][P]

    @df.kernel(mapping=[P], args=[A])
    def source(A: int32[P, N]):
        i = df.get_pid()
        for k in range(N):
            if A[i, k] > 0:
                pipe[i].put(A[i, k])

    @df.kernel(mapping=[P], args=[B])
    def sink(B: int32[P, N]):
        i = df.get_pid()
        for k in range(N):
            B[i, k] = pipe[i].get()


@df.region()
def picked(A: int32[P, N], C: int32[P], B: int32[P]):
    pipe: Stream[int32, 4][P]

    @df.kernel(mapping=[P], args=[A, C])
    def source(A: int32[P, N], C: int32[P]):
        i = df.get_pid()
        k: index = C[i]
        pipe[i].put(A[i, k])

    @df.kernel(mapping=[P], args=[B])
    def sink(B: int32[P]):
        i = df.get_pid()
        B[i] = pipe[i].get()


@df.region()
def shared(A: int32[P], C: int32[P], B: int32[P]):
    """Nobody knows which elements positions write."""
    pipe: Stream[int32, 4][P]

    @df.kernel(mapping=[P], args=[A])
    def source(A: int32[P]):
        i = df.get_pid()
        pipe[i].put(A[i])

    @df.kernel(mapping=[P], args=[C, B])
    def sink(C: int32[P], B: int32[P]):
        i = df.get_pid()
        at: index = C[i]
        B[at] = pipe[i].get()


@df.region()
def endless(A: int32[P], B: int32[P]):
    pipe: Stream[int32, 4][P]

    @df.kernel(mapping=[P], args=[A])
    def source(A: int32[P]):
        i = df.get_pid()
        x: int32 = A[i]
        while x > 0:
            x = x | 1
        pipe[i].put(x)

    @df.kernel(mapping=[P], args=[B])
    def sink(B: int32[P]):
        i = df.get_pid()
        B[i] = pipe[i].get()


def text_of(region: Callable[..., Any], arguments: list[np.ndarray], **options: Any) -> str:
    given = [array.copy() for array in arguments]
    with pytest.raises(allo.AlloError) as caught:
        df.build(region, target="simulator", **options)(*given)
    return str(caught.value)


rows = np.arange(1, P * N + 1, dtype=np.int32).reshape(P, N)


@pytest.mark.parametrize(("wanted", "used"), [(1, 1), (2, 2), (4, 4), (100, P)])
def test_pipes_of_their_own(wanted: int, used: int) -> None:
    built, B = df.build(pipes, target="simulator", threads=wanted), np.zeros_like(rows)
    built(rows, B)
    assert built.threads == used
    np.testing.assert_array_equal(B, rows + 1)


def test_positions_that_talk_stay_together() -> None:
    built, B = df.build(pairs, threads=P), np.zeros_like(rows)
    assert built.threads == P // 2
    for _ in range(3):
        built(rows, B)
        np.testing.assert_array_equal(B, np.roll(rows, 3, axis=0))


@pytest.mark.parametrize("options", [{}, {"check": True}], ids=["plain", "checked"])
def test_what_hangs_says_the_same(options: dict[str, Any]) -> None:
    given = rows.copy()
    given[2, 5] = given[4, 7] = given[4, 8] = 0
    arguments = [given, np.zeros_like(rows)]
    said = {text_of(positive, arguments, threads=n, **options) for n in (1, 2, 3, P)}
    assert len(said) == 1 and "stream 'pipe[2]' is empty" in said.pop()


def test_checks_say_the_same() -> None:
    C = np.array([0, 1, N, 2, N + 1, 3], np.int32)
    arguments = [rows, C, np.zeros(P, np.int32)]
    said = {text_of(picked, arguments, threads=n, check=True) for n in (1, 2, P)}
    assert len(said) == 1 and "subscript 50" in said.pop()


def test_arguments_are_as_they_were_before_the_run_that_tells() -> None:
    """What hung has changed arguments already; a region that adds to them would add twice."""
    C = np.array([0, 1, N, 2, 3, 4], np.int32)
    B = np.zeros((2, P), np.int32)
    for n in (1, 3):
        with pytest.raises(allo.AlloError):
            df.build(picked, threads=n, check=True)(rows, C, B[n // 2])
    np.testing.assert_array_equal(B[0], B[1])


@pytest.mark.parametrize("region", [shared, p.fork_join, p.feedback], ids=lambda region: region.__name__)
def test_what_hangs_together_is_run_by_one_thread(region: Callable[..., Any]) -> None:
    assert df.build(region, threads=4).threads == 1


def test_time_is_over_on_all_threads() -> None:
    built = df.build(endless, threads=3, timeout=0.3)
    assert built.threads == 3
    B = np.zeros(P, np.int32)
    with pytest.raises(RunTimeout):
        built(np.ones(P, np.int32), B)
    built(np.zeros(P, np.int32), B)
    np.testing.assert_array_equal(B, 0)


@pytest.mark.parametrize("wanted", [0, -1, 1.5, True, "2", 5000])
def test_numbers_of_threads(wanted: Any) -> None:
    with pytest.raises(TargetError) as caught:
        df.build(pipes, threads=wanted)
    assert str(caught.value) == f"threads must be a number from 1 to 1024, got {wanted!r}"


def test_timed_runs_have_one_thread() -> None:
    with pytest.raises(TargetError) as caught:
        df.build(pipes, timed=True, threads=2)
    assert str(caught.value) == (
        "a timed run notes what all tasks do, on one thread\n  hint: leave out threads= or timed=True"
    )
