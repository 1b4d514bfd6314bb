"""Names in tasks: variables of branches that the position decides, and the older spelling of streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

# ruff: noqa: F821, F841 - in a kernel, `A: T[N]` declares an array; tasks are compiled where they stand
import allo
import allo.dataflow as df
from allo.errors import KernelError
from allo.ir.types import Stream, int8, int32

from .doors import through

N = 4


def doubled(A: int32[N]) -> int32[N]:
    return A + A


@df.region()
def in_all_branches(A: int32[N], B: int32[3, N]):
    @df.kernel(mapping=[3], args=[A, B])
    def f(A: int32[N], B: int32[3, N]):
        p = df.get_pid()
        with allo.meta_if(p == 0):
            x: int32 = 7
            row: int32[N] = A
        with allo.meta_elif(p == 1):
            x: int32 = A[1]
            row: int32[N] = 3
        with allo.meta_else():
            x: int32 = 0
            row: int32[N] = doubled(A)
        for i in range(N):
            B[p, i] = row[i] + x


@df.region()
def in_some_branches(A: int32[N], B: int32[2, N]):
    @df.kernel(mapping=[2], args=[A, B])
    def f(A: int32[N], B: int32[2, N]):
        p = df.get_pid()
        with allo.meta_if(p == 0):
            x = A[3]
        for i in range(N):
            with allo.meta_if(p < 1):
                B[p, i] = x
            with allo.meta_else():
                B[p, i] = i


@df.region()
def compile_time_branches(A: int32[N], B: int32[N]):
    @df.kernel(mapping=[1], args=[A, B])
    def f(A: int32[N], B: int32[N]):
        with allo.meta_if(N > 2):
            x: int32 = A[0]
        with allo.meta_else():
            x: int32 = 9
        for i in range(N):
            B[i] = A[i] - x


@df.region()
def pipes(A: int32[N], B: int32[N]):
    single = df.pipe(dtype=int32, shape=(), depth=4)
    several = df.array(df.pipe(int32, (2,), depth=2), shape=(2,))

    @df.kernel(mapping=[1], args=[A])
    def first(A: int32[N]):
        for i in range(N):
            single.put(A[i])

    @df.kernel()
    def second():
        for _i in range(N):
            pair: int32[2] = single.get()  # twice the same
            several[1].put(pair)

    @df.kernel(mapping=[1], args=[B])
    def third(B: int32[N]):
        for i in range(N):
            pair: int32[2] = several[1].get()
            B[i] = pair[0] + pair[1]


def test_branches_declare_variables_of_the_task() -> None:
    A = np.array([5, -2, 9, 1], np.int32)
    seen = through(in_all_branches, A, np.zeros((3, N), np.int32), csim=False).arguments[1]
    np.testing.assert_array_equal(seen, [A + 7, np.full(N, 3) - 2, A + A])
    seen = through(in_some_branches, A, np.zeros((2, N), np.int32), csim=False).arguments[1]
    np.testing.assert_array_equal(seen, [np.full(N, 1), np.arange(N)])
    seen = through(compile_time_branches, A, np.zeros(N, np.int32), csim=False).arguments[1]
    np.testing.assert_array_equal(seen, A - 5)


def test_pipes() -> None:
    A = np.array([5, -2, 9, 1], np.int32)
    np.testing.assert_array_equal(through(pipes, A, np.zeros(N, np.int32), csim=False).arguments[1], 2 * A)


@df.region()
def other_types(A: int32[N], B: int32[N]):
    @df.kernel(mapping=[2], args=[A, B])
    def f(A: int32[N], B: int32[N]):
        p = df.get_pid()
        with allo.meta_if(p == 0):
            x: int32 = A[0]
        with allo.meta_else():
            x: int8 = 3
        B[p] = x


@df.region()
def not_at_all_positions(A: int32[N], B: int32[N]):
    @df.kernel(mapping=[2], args=[A, B])
    def f(A: int32[N], B: int32[N]):
        p = df.get_pid()
        with allo.meta_if(p == 0):
            x: int32 = A[0]
        B[p] = x


@df.region()
def no_depth(A: int32[N], B: int32[N]):
    single = df.pipe(dtype=int32, depth=0)
    for i in range(N):
        B[i] = A[i]


@pytest.mark.parametrize(
    ("region", "message", "hint"),
    [
        (
            other_types,
            "'x' is int8 in this branch and int32 in the one of line LINE, and is used behind them",
            "declare it before the branches, or with one type in all",
        ),
        (
            not_at_all_positions,
            "'x' is declared at some positions of the task only, by the branch of line LINE",
            "declare it before the branches",
        ),
        (
            no_depth,
            "`df.pipe(dtype=int32, depth=0)` makes no streams: the depth of a stream must be a positive integer, got 0",
            None,
        ),
    ],
)
def test_refusals(region: Callable[..., Any], message: str, hint: str | None) -> None:
    with pytest.raises(KernelError) as caught:
        df.customize(region)
    (found,) = caught.value.diagnostics
    line = found.message.split(" line ")[-1].rstrip(",").split(",")[0]
    assert found.message == message.replace("LINE", line) and found.hint == hint and found.at is not None


def test_an_array_is_filled_with_one_element_of_a_stream() -> None:
    @df.region()
    def fills(A: int32[3], B: int32[3, 2]):
        pipe: Stream[int32, 4]

        @df.kernel(mapping=[1], args=[A])
        def first(A: int32[3]):
            for i in range(3):
                pipe.put(A[i])

        @df.kernel(mapping=[1], args=[B])
        def second(B: int32[3, 2]):
            pair: int32[2] = pipe.get()
            B[0, :] = pair
            pair[:] = pipe.get()
            B[1, :] = pair
            pair = pipe.get()
            B[2, :] = pair

    A = np.array([5, -2, 9], np.int32)
    seen = through(fills, A, np.zeros((3, 2), np.int32), csim=False).arguments[1]
    np.testing.assert_array_equal(seen, np.stack([A, A], axis=1))


def test_tasks_know_the_constants_of_their_region() -> None:
    @df.region()
    def top(B: int32[N]):
        pipe: Stream[int32, N]
        first = 7
        step: int8 = -3
        count: int32 = 2

        @df.task()
        def source():
            for i in range(N):
                pipe.put(first + step * i)

        @df.task()
        def sink(B: int32[N]):
            for i in range(N):
                B[i] = pipe.get() * count

    s = df.customize(top)
    assert "memref<i32>" not in str(s.ir).split("@top")[1]  # nothing but tasks in the region
    seen = through(top, np.zeros(N, np.int32), csim=False)
    assert seen.arguments[0].tolist() == [14, 8, 2, -4]


def test_variables_that_the_region_assigns_again_are_its_own() -> None:
    @df.region()
    def top(B: int32[N]):
        count: int32 = 2
        count = count + 1

        @df.task()
        def sink(B: int32[N]):
            B[0] = count

    with pytest.raises(KernelError, match=r"task 'sink' uses 'count', a variable of the region around it"):
        df.customize(top)
