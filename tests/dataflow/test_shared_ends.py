"""Two positions at one end of a stream whose subscript is data: seen by each run, with both."""

# Streams and arrays of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.errors import DataflowError
from allo.ir.types import Stream, index, int32

P = 4


@df.region()
def scattered(A: int32[P], C: int32[P], B: int32[P]):
    pipe: Stream[int32, 4][P]

    @df.kernel(mapping=[P], args=[A, C])
    def put(A: int32[P], C: int32[P]):
        i = df.get_pid()
        at: index = C[i]
        pipe[at].put(A[i])

    @df.kernel(mapping=[P], args=[B])
    def get(B: int32[P]):
        i = df.get_pid()
        B[i] = pipe[i].get()


@df.region()
def gathered(A: int32[P], C: int32[P], B: int32[P]):
    pipe: Stream[int32, 4][P]

    @df.kernel(mapping=[P], args=[A])
    def put(A: int32[P]):
        i = df.get_pid()
        pipe[i].put(A[i])

    @df.kernel(mapping=[P], args=[C, B])
    def get(C: int32[P], B: int32[P]):
        i = df.get_pid()
        at: index = C[i]
        B[i] = pipe[at].get()


def runs(region: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    s = df.customize(region)
    for name in "ACB":
        s.partition(f"{region.__name__}:{name}")
    return {
        "simulator": df.build(region),
        "threads": df.build(region, threads=2),
        "reference": allo.interpret(region),
        "csim": s.build(target="vitis_hls", mode="csim"),
    }


@pytest.mark.parametrize(
    ("region", "does"), [(scattered, "puts into it"), (gathered, "gets from it")], ids=["put", "get"]
)
def test_two_positions(region: Callable[..., Any], does: str) -> None:
    A, B = np.arange(P, dtype=np.int32), np.zeros(P, np.int32)
    name = region.__name__.replace("scattered", "put").replace("gathered", "get")
    for run in runs(region).values():
        run(A, A[::-1].copy(), B)
        np.testing.assert_array_equal(B, A[::-1])
        with pytest.raises(DataflowError) as caught:
            run(A, np.array([3, 1, 1, 0], np.int32), B)
        (said,) = caught.value.diagnostics
        assert said.message == (
            f"stream 'pipe[1]' has two tasks at one end: '{name}[1]' {does}, and so does '{name}[2]', with these data"
        )
        assert said.hint == "elements would come in any order: give each task a stream of its own, `Stream[T, d][P]`"
        assert said.at is not None and [note.message for note in said.notes] == ["'pipe' is made here"]


@df.region()
def inner(x: int32, pipe: Stream[int32, 4]):
    @df.kernel()
    def one():
        pipe.put(x)


@df.region()
def again(A: int32[P], B: int32[P]):
    pipe: Stream[int32, 4]

    @df.kernel(args=[A])
    def put(A: int32[P]):
        for i in range(P):
            x: int32 = A[i]
            inner(x, pipe)
            pipe.put(x)

    @df.kernel(args=[B])
    def get(B: int32[P]):
        for i in range(P):
            B[i] = pipe.get() + pipe.get()


def test_regions_one_after_the_other_within_a_task() -> None:
    A, B = np.arange(P, dtype=np.int32), np.zeros(P, np.int32)
    for run in (df.build(again), allo.interpret(again)):
        run(A, B)
        np.testing.assert_array_equal(B, 2 * A)
