"""Elements that data leave in FIFOs: the end of a run tells of them, in the same words behind all doors."""

# ruff: noqa: F821 - tasks use the streams that a region declares

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.errors import DataflowError
from allo.ir.types import Stream, index, int32

N, P = 8, 3


@df.region()
def search(A: int32[N], found: int32[1]):
    pipe: Stream[int32, 8]

    @df.kernel(args=[A])
    def source(A: int32[N]):
        for i in range(N):
            pipe.put(A[i])

    @df.kernel(args=[found])
    def sink(found: int32[1]):
        x: int32 = pipe.get()
        while x < 5:
            x = pipe.get()
        found[0] = x


@df.region()
def sorted_out(A: int32[N], B: int32[P]):
    work: Stream[int32, 8][P]

    @df.kernel(args=[A])
    def deal(A: int32[N]):
        for i in range(N):
            if A[i] > 0:
                to: index = A[i] % P
                work[to].put(A[i])

    @df.kernel(mapping=[P], args=[B])
    def worker(B: int32[P]):
        p = df.get_pid()
        B[p] = work[p].get()


@df.region()
def part(x: int32, y: int32[1]):
    inner: Stream[int32, 4]

    @df.kernel(args=[x])
    def one(x: int32):
        for _i in range(x):
            inner.put(x)

    @df.kernel(args=[y])
    def other(y: int32[1]):
        y[0] = inner.get()


@df.region()
def regions_in_a_task(A: int32[N], B: int32[N]):
    pipe: Stream[int32, 2]

    @df.kernel(args=[A])
    def outer(A: int32[N]):
        for i in range(N):
            y: int32[1] = 0
            part(A[i], y)
            pipe.put(y[0])

    @df.kernel(args=[B])
    def sink(B: int32[N]):
        for i in range(N):
            B[i] = pipe.get()


@df.region()
def blocks(A: int32[1], B: int32[1]):
    pipe: Stream[int32[2, 2], 4]

    @df.kernel(args=[A])
    def source(A: int32[1]):
        block: int32[2, 2] = A[0]
        for _i in range(A[0]):
            pipe.put(block)

    @df.kernel(args=[B])
    def sink(B: int32[1]):
        if B[0] == 0:
            block: int32[2, 2] = pipe.get()
            B[0] = block[1, 1]


def doors(region: Callable[..., Any], *, csim: bool) -> dict[str, Callable[..., Any]]:
    built = {
        "simulator": df.build(region, target="simulator"),
        "threads": df.build(region, threads=2),
        "unbounded": df.build(region, unbounded=True),
        "checked": df.build(region, check=True),
        "timed": df.build(region, target="simulator", timed=True),
        "reference": allo.interpret(region),
    }
    return built | ({"csim": df.build(region, target="vitis_hls", mode="csim")} if csim else {})


CASES = [
    (search, (np.arange(N), [0]), {1: [5]}, ["pipe", "source", "sink"], (8, 6), 3),
    (sorted_out, ([1, 2, 3, 0, 4, 7, 8, -1], [0] * P), {1: [3, 1, 2]}, ["work[1]", "deal", "worker[1]"], (3, 1), 2),
    (
        regions_in_a_task, ([1, 2, 1, 3, 1, 1, 1, 1], [0] * N), {1: [1, 2, 1, 3, 1, 1, 1, 1]},
        ["inner", "one of outer", "other of outer"], (2, 1), 2,
    ),
    (blocks, ([3], [0]), {1: [3]}, ["pipe", "source", "sink"], (3, 1), 2),
]  # fmt: skip
FURTHER = {
    sorted_out: ["2 elements were put into stream 'work[2]', and 1 was taken out of it"],
    regions_in_a_task: ["3 elements were put into stream 'inner', and 1 was taken out of it"],
}


@pytest.mark.parametrize("csim", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["", "csim"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_all_doors_tell_the_same_and_give_results(case: Any, csim: bool) -> None:
    region, given, wanted, (stream, putter, getter), (puts, gets), places = case
    for name, run in doors(region, csim=csim).items():
        arguments = [np.array(value, np.int32) for value in given]
        with pytest.raises(DataflowError) as caught:
            run(*arguments)
        for number, array in wanted.items():
            np.testing.assert_array_equal(arguments[number], array, err_msg=name)
        (said,) = caught.value.diagnostics
        unit = "blocks" if region is blocks else "elements"
        taken = "1 was" if gets == 1 else f"{gets} were"
        assert said.message == f"{puts} {unit} were put into stream '{stream}', and {taken} taken out of it", name
        assert said.hint == (
            "take out as much as is put in: hardware would keep what is left, and begin the next call with it"
        )
        made, further = f"'{stream.split('[')[0]}' is made here", FURTHER.get(region, [])
        ends = [f"task '{putter}' puts into it here"] + [f"task '{getter}' takes out of it here"] * (places - 1)
        assert [note.message for note in said.notes] == [*ends, made, *further], name
        assert said.at == said.notes[1].at or name == "reference"  # which knows where a line ends
        assert caught.value.streams[0].name == stream and caught.value.streams[0].holds > 0


def test_what_takes_all_is_no_error() -> None:
    for run in doors(search, csim=False).values():
        found = np.zeros(1, np.int32)
        run(np.array([0, 1, 2, 3, 4, 4, 4, 6], np.int32), found)
        assert found[0] == 6


def test_an_error_leaves_nothing_behind() -> None:
    """The next call of what is built begins with empty FIFOs."""
    for run in doors(search, csim=False).values():
        found = np.zeros(1, np.int32)
        with pytest.raises(DataflowError):
            run(np.full(N, 9, np.int32), found)
        run(np.array([0, 1, 2, 3, 4, 4, 4, 6], np.int32), found)
        assert found[0] == 6


def test_a_hang_comes_first() -> None:
    """What waits for ever is told, not what is left elsewhere meanwhile."""
    for run in doors(search, csim=False).values():
        with pytest.raises(DataflowError, match="stream 'pipe' is empty"):
            run(np.zeros(N, np.int32), np.zeros(1, np.int32))


@pytest.mark.slow
@pytest.mark.parametrize("case", [CASES[0], CASES[3]], ids=lambda case: case[0].__name__)
def test_hardware_of_our_own_tells_it_too(case: Any) -> None:
    """Its FIFOs keep what is left: a call after one that was told of begins without."""
    region, given, wanted, (stream, *_), _, _ = case
    built = df.customize(region).build(target="rtl")
    for _ in range(2):
        arguments = [np.array(value, np.int32) for value in given]
        with pytest.raises(DataflowError) as caught:
            built(*arguments)
        with pytest.raises(DataflowError) as simulated:
            df.build(region)(*(np.array(value, np.int32) for value in given))
        (said,), (before,) = caught.value.diagnostics, simulated.value.diagnostics
        assert (said.message, said.at, said.hint) == (before.message, before.at, before.hint)
        assert [note.message for note in said.notes] == [note.message for note in before.notes]
        assert caught.value.streams[0].name == stream
        for number, array in wanted.items():
            np.testing.assert_array_equal(arguments[number], array)
