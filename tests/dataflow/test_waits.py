"""Runs that wait for ever or too long: circles of waits, least depths, states, and what checks tell of tasks."""

# ruff: noqa: B007, F821 - tasks use the streams and arrays that a region declares

from __future__ import annotations

import os
import re
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.backend.cpu import LLVMModule
from allo.backend.hls.csim.library import simulation_library
from allo.errors import AlloError, CheckError, DataflowError, RunTimeout, TargetError
from allo.ir.hang import Hang
from allo.ir.types import Stream, int32
from allo.poly import hang_of
from tests.seeds import sweep

from .random_graphs import N as ROUNDS
from .random_graphs import region_of

N = 8
CSIM = {"target": "vitis_hls", "mode": "csim"}


@df.region()
def late(A: int32[N], D: int32[N], B: int32[N]):
    """The second stream is filled when the first one is full, if data are as they are."""
    a: Stream[int32, 2]
    b: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[A, D])
    def source(x: int32[N], d: int32[N]):
        for i in range(N):
            if d[i] > 0:
                a.put(x[i])
        for i in range(N):
            b.put(x[i])

    @df.kernel(mapping=[1], args=[B])
    def sink(y: int32[N]):
        for i in range(N):
            y[i] = a.get() + b.get()


def line_of(text: str) -> int:
    source = Path(__file__).read_text().splitlines()
    return 1 + next(number for number, line in enumerate(source) if line.strip() == text)


@pytest.mark.parametrize("options", [{}, CSIM], ids=["cpu", "csim"])
def test_circle_of_a_run_whose_data_decide(options: dict[str, str]) -> None:
    given = [np.arange(N, dtype=np.int32), np.ones(N, np.int32), np.zeros(N, np.int32)]
    with pytest.raises(DataflowError) as caught:
        df.build(late, **options)(*given)
    first, second = line_of("a.put(x[i])"), line_of("y[i] = a.get() + b.get()")
    assert str(caught.value) == (
        f'File "{__file__}", line {first}, column 17: stream \'a\' of depth 2 is full, and what would take elements '
        "out waits too, or has ended: 3 elements have been put and 1 taken\n"
        "    a.put(x[i])\n    ^\n"
        "  note: 'a' is made here\n"
        f'    File "{__file__}", line {line_of("a: Stream[int32, 2]")}, column 5\n'
        "      a: Stream[int32, 2]\n      ^\n"
        "  note: circle of waits, 1 of 2: 'source' waits to put into 'a', which is full (2 of 2; 3 put, 1 taken), "
        "until 'sink' takes an element out\n"
        f'    File "{__file__}", line {first}, column 17\n      a.put(x[i])\n      ^\n'
        "  note: circle of waits, 2 of 2: 'sink' waits to get from 'b', which is empty (0 of 2; 0 put, 0 taken), until "
        "'source' puts one in\n"
        f'    File "{__file__}", line {second}, column 30\n      y[i] = a.get() + b.get()\n'
        "                       ^\n"
        "  hint: the least depth that does is 7"
    )
    assert caught.value.depths == {"a": 7}
    assert [(task.name, task.does, task.stream, task.waits_for) for task in caught.value.tasks if task.in_circle] == [
        ("source", "waits to put", "a", ("sink",)),
        ("sink", "waits to get", "b", ("source",)),
    ]


def test_a_circle_of_positions() -> None:
    """Told alike by the simulator itself and by the run without data."""

    @df.region()
    def grid(B: int32[2, 3]):
        s: Stream[int32, 1][2, 3]

        @df.kernel(mapping=[2, 3], args=[B])
        def turn(y: int32[2, 3]):
            i, j = df.get_pid()
            for k in range(4):
                s[i, (j + 1) % 3].put(k)
                s[i, (j + 1) % 3].put(k)
            for k in range(8):
                y[i, j] = s[i, j].get()

    module = df.customize(grid)
    built = module.build()
    told = hang_of(module.ir)
    assert isinstance(told, Hang)
    built._hang = lambda: None
    with pytest.raises(DataflowError) as caught:
        built(np.zeros((2, 3), np.int32))
    assert str(caught.value) == re.sub(r", in iteration k = \d,", "", str(told.error()))
    waits = [wait.task.name for wait in told.waits if wait.stream is not None]
    assert waits == [f"turn[{i}, {j}]" for i in range(2) for j in range(3)]
    assert "circle of waits, 3 of 3: 'turn[0, 2]', in iteration k = 0, waits to put into 's[0, 0]'" in str(told.error())
    assert caught.value.depths == {"s": 8}


def depths_of(source: str) -> dict[str, int]:
    return {name: int(depth) for name, depth in re.findall(r"^    (\w+): Stream\[\S+, (\d+)\]", source, re.M)}


def ends(source: Path, depths: dict[str, int]) -> bool:
    """Whether the region of a file ends with these depths."""
    text = source.read_text()
    for name, depth in depths.items():
        text = re.sub(rf"^(    {name}: Stream\[\S+,) \d+\]", rf"\1 {depth}]", text, flags=re.M)
    place = source.with_name(f"changed_{abs(hash(tuple(depths.items())))}.py")
    place.write_text(text)
    names: dict[str, Any] = {}
    exec(compile(text, str(place), "exec"), names)
    try:
        s = df.customize(names["graph"])
    except DataflowError:
        return False
    return not isinstance(hang_of(s.ir), Hang)


@sweep(200, quick=8)
def test_least_depths_of_random_graphs(seed: int, tmp_path: Path) -> None:
    """The run of the data and that without say the same; with the depths it ends, and with none of them less."""
    try:
        s = df.customize(region_of(seed, tmp_path))
    except DataflowError:
        return
    told = hang_of(s.ir)
    built = LLVMModule(s.ir)
    built._hang = lambda: None  # type: ignore[method-assign]
    given = [np.arange(ROUNDS, dtype=np.int32) for _ in built.parameters]
    if not isinstance(told, Hang):
        return
    with pytest.raises(DataflowError) as caught:
        built(*given)
    error = told.error()
    assert caught.value.tasks == tuple(task for task in error.tasks if task.name != "graph")
    assert str(caught.value).splitlines()[0] == str(error).splitlines()[0]
    source = tmp_path / f"graph_{seed}.py"
    declared = depths_of(source.read_text())
    assert told.least and error.depths
    assert ends(source, declared | error.depths)
    for name, depth in error.depths.items():
        assert depth > declared[name]
        assert not ends(source, declared | error.depths | {name: depth - 1})


LONG = 2_000_000_000
STOPPED = r"when it was stopped, [\d,]+ elements had passed through streams and 0 of 2 tasks had ended:\n"


@df.region()
def endless(B: int32[1]):
    pipe: Stream[int32, 4]

    @df.kernel(mapping=[1])
    def source():
        for i in range(LONG):
            pipe.put(i)

    @df.kernel(mapping=[1], args=[B])
    def sink(y: int32[1]):
        for i in range(LONG):
            y[0] = pipe.get()


@pytest.mark.parametrize("options", [{}, CSIM], ids=["cpu", "csim"])
def test_a_run_that_takes_too_long(options: dict[str, str]) -> None:
    with pytest.raises(RunTimeout) as caught:
        df.build(endless, timeout=0.2, **options)(np.zeros(1, np.int32))
    assert isinstance(caught.value, TimeoutError) and isinstance(caught.value, DataflowError)
    message = re.sub(r"[\d,]+ elements", "n elements", str(caught.value).splitlines()[0])
    assert message == "the run was stopped: it took longer than 0.2 s"
    assert re.search(STOPPED, str(caught.value))
    assert {task.name for task in caught.value.tasks} == {"source", "sink"}
    assert all(task.at is not None and task.at.file == __file__ for task in caught.value.tasks)


@pytest.mark.parametrize("options", [{}, CSIM], ids=["cpu", "csim"])
def test_ctrl_c_tells_where_the_run_was(options: dict[str, str]) -> None:
    built = df.build(endless, **options)
    if options:  # the compiler takes its time
        built._library = simulation_library(built.sources(), built.emitted.external)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt) as caught:
        built(np.zeros(1, np.int32))
    (note,) = caught.value.__notes__
    assert re.match(STOPPED, note)


def test_one_limited_run_at_a_time() -> None:
    """Another thread is told so, and the machine code stays while one of them runs."""
    built = df.build(endless, timeout=0.5)

    def told(_: int) -> str:
        with pytest.raises(AlloError) as caught:
            built(np.zeros(1, np.int32))
        return str(caught.value).splitlines()[0]

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(told, range(2))) == [
            "the run was stopped: it took longer than 0.5 s",
            "the time of a run is limited while another one runs that Ctrl-C or a limit may stop",
        ]


def test_a_time_is_above_0() -> None:
    for wrong in (0, -1.0, True, "long"):
        with pytest.raises(TargetError) as caught:
            df.build(endless, timeout=wrong)
        assert str(caught.value) == f"timeout must be a number of seconds above 0, got {wrong!r}"


def test_in_time() -> None:
    def short(A: int32[4]):
        for i in range(4):
            A[i] = i

    A = np.zeros(4, np.int32)
    allo.customize(short).build(timeout=60)(A)
    np.testing.assert_array_equal(A, range(4))


def test_tasks_that_write_parts_of_one_argument_run_at_the_same_time() -> None:
    @df.region()
    def top(A: int32[N], B: int32[2 * N]):
        there: Stream[int32, 2]
        back: Stream[int32, 2]

        @df.kernel(mapping=[1], args=[A, B])
        def first(x: int32[N], y: int32[2 * N]):
            for i in range(N):
                there.put(x[i])
                y[i] = back.get()

        @df.kernel(mapping=[1], args=[B])
        def second(y: int32[2 * N]):
            for i in range(N):
                t: int32 = there.get()
                back.put(t + 1)
                y[N + i] = t * 2

    A, B = np.arange(N, dtype=np.int32), np.zeros(2 * N, np.int32)
    df.build(top)(A, B)
    np.testing.assert_array_equal(B, [*(A + 1), *(A * 2)])


def test_tasks_that_share_elements_still_run_one_after_the_other() -> None:
    """The first one has to wait before it writes what the second one reads."""

    @df.region()
    def top(A: int32[N], T: int32[N], B: int32[N]):
        token: Stream[int32, 1]

        @df.kernel(mapping=[1], args=[A, T])
        def first(x: int32[N], t: int32[N]):
            for i in range(N):
                if x[i] > 0:
                    token.put(i)
            for i in range(N):
                t[i] = x[i] + 1

        @df.kernel(mapping=[1], args=[T, B])
        def second(t: int32[N], y: int32[N]):
            for i in range(N):
                y[i] = t[N - 1 - i]

        @df.kernel(mapping=[1])
        def third():
            for i in range(N):
                token.get()

    A, B = np.arange(1, N + 1, dtype=np.int32), np.zeros(N, np.int32)
    df.build(top)(A, np.zeros(N, np.int32), B)
    np.testing.assert_array_equal(B, A[::-1] + 1)


@df.region()
def rows(A: int32[4, 4], P: int32[4, 1], B: int32[4, 1]):
    done: Stream[int32, 2][4]

    @df.kernel(mapping=[4], args=[A, P, B])
    def row(a: int32[4, 4], at: int32[4, 1], b: int32[4, 1]):
        i = df.get_pid()
        t: int32[4]
        for j in range(4):
            t[at[i, 0]] = a[i, j]
        b[i, 0] = t[0]
        done[i].put(i)

    @df.kernel(mapping=[4])
    def wait():
        i = df.get_pid()
        done[i].get()


@pytest.mark.parametrize("options", [{}, CSIM], ids=["cpu", "csim"])
def test_checks_tell_the_task(options: dict[str, str]) -> None:
    built = df.build(rows, check=True, **options)
    arrays = [np.ones((4, 4), np.int32), np.zeros((4, 1), np.int32), np.zeros((4, 1), np.int32)]
    built(*arrays)
    for wrong, message, hint in (
        (9, "subscript 9 is outside of dimension 0 of 't', which has 4 elements", None),
        (1, "element [0] of 't' has no value where it is read", "give it one"),
    ):
        arrays[1][2, 0] = wrong
        with pytest.raises(CheckError) as caught:
            built(*arrays)
        (said,) = caught.value.diagnostics
        assert said.message == message and [note.message for note in said.notes] == ["in task 'row[2]'"]
        assert (said.hint or "").startswith(hint or "") and said.at is not None and said.at.file == __file__


def test_4096_tasks_that_all_wait() -> None:
    """Each has a stack; what it takes of memory is what it has touched."""

    @df.region()
    def grid(A: int32[64, 1], B: int32[64, 1]):
        s: Stream[int32, 1][64, 64]

        @df.kernel(mapping=[64, 64], args=[A, B])
        def cell(a: int32[64, 1], b: int32[64, 1]):
            i, j = df.get_pid()
            with allo.meta_if(j == 63):
                s[i, j - 1].put(a[i, 0])
            with allo.meta_elif(j == 0):
                b[i, 0] = s[i, j].get()
            with allo.meta_else():
                s[i, j - 1].put(s[i, j].get() + 1)

    A, B = np.arange(64, dtype=np.int32).reshape(64, 1), np.zeros((64, 1), np.int32)
    built = df.build(grid)
    built(A, B)
    np.testing.assert_array_equal(B, A + 62)


def test_waits_are_the_same_each_time() -> None:
    given = [np.arange(N, dtype=np.int32), np.ones(N, np.int32), np.zeros(N, np.int32)]
    texts = set()
    for _ in range(3):
        with pytest.raises(DataflowError) as caught:
            df.build(late)(*[array.copy() for array in given])
        texts.add(str(caught.value))
    assert len(texts) == 1
