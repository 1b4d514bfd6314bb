"""Timed runs: bits of other runs, cycles of estimates where these are exact, data-dependent control, refusals."""

from __future__ import annotations

# ruff: noqa: F821, B007 - in a kernel, `A: T[N]` declares an array; tasks are compiled where they stand
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.dataflow.timed.run import TimedRun
from allo.errors import AlloError, DataflowError, TargetError
from allo.ir.types import Fixed, Stream, Struct, UInt, int8, int32
from tests.seeds import sweep

from . import random_graphs
from .designs import tiles

N = 12
NUMBERS, NOTHING = np.arange(N, dtype=np.int32), np.zeros(N, np.int32)


def timed(design: Any, *given: Any, steps: Callable[[allo.Schedule], Any] = lambda s: None, **options: Any) -> TimedRun:
    """The timed run of a design, which gives the same bits as one without cycles."""
    s = design if isinstance(design, allo.Schedule) else df.customize(design)
    steps(s)
    plain, own = ([array.copy() for array in given] for _ in range(2))
    s.build()(*plain)
    built = df.build(s, target="simulator", timed=True, **options)
    built(*own)
    for one, other in zip(plain, own, strict=True):
        np.testing.assert_array_equal(one, other)
    found = built.timing
    assert isinstance(found, TimedRun)
    return found


@df.region()
def pipe(A: int32[N], B: int32[N]):
    p: Stream[int32, 4]

    @df.kernel(mapping=[1], args=[A])
    def f(A: int32[N]):
        for i in range(N):
            p.put(A[i])

    @df.kernel(mapping=[1], args=[B])
    def g(B: int32[N]):
        for i in range(N):
            B[i] = p.get() + 1


@pytest.mark.parametrize("steps", [
    lambda s: None,
    lambda s: (s.pipeline("f:i"), s.pipeline("g:i")),
    lambda s: (s.pipeline("f:i"), s.pipeline("g:i", initiation_interval=3)),
    lambda s: (s.unroll("f:i", 4), s.pipeline("f:i"), s.pipeline("g:i")),
    lambda s: (s.unroll("f:i"), s.unroll("g:i")),
])  # fmt: skip
def test_cycles_are_those_of_the_estimate(steps: Callable[[allo.Schedule], Any]) -> None:
    s = df.customize(pipe)
    assert timed(s, NUMBERS, NOTHING, steps=steps).cycles == allo.estimate(s).cycles


@pytest.mark.parametrize(("region", "extent", "arrays", "kind"), [
    (tiles.tiled_gemm, tiles.M, 3, np.int16), (tiles.hierarchy, tiles.TM, 4, np.int32),
])  # fmt: skip
def test_estimates_know_bursts(region: Callable[..., Any], extent: int, arrays: int, kind: type) -> None:
    """Tiles come in bursts, whose mean distance tells less: 4,107 cycles and 519."""
    s = df.customize(region)
    given = [np.ones((extent, extent), kind) for _ in range(arrays)]
    assert timed(s, *given).cycles == allo.estimate(s).cycles


def test_events_have_the_cycles_of_the_schedule() -> None:
    run = timed(pipe, NUMBERS, NOTHING, steps=lambda s: (s.pipeline("f:i"), s.unroll("f:i", 4), s.pipeline("g:i")))
    trace = run.replayed.trace
    assert [process.name for process in trace.processes] == ["pipe", "f", "g", "pipe"]
    assert trace.cycle[:N].tolist() == list(range(4, 4 + N))  # one end of a stream, one put a cycle
    assert trace.processes[1].line is not None and trace.processes[1].line.line == trace.processes[2].line.line - 5


@df.region()
def triangle(A: int32[N], B: int32[N]):
    p: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[A])
    def f(A: int32[N]):
        for i in range(N):
            for j in range(i):
                p.put(A[j])

    @df.kernel(mapping=[1], args=[B])
    def g(B: int32[N]):
        for i in range(N):
            c: int32 = 0
            for j in range(i):
                c += p.get()
            B[i] = c


def test_extents_that_change_are_exact() -> None:
    run = timed(triangle, NUMBERS, NOTHING)
    f = run.replayed.trace.cycle[: N * (N - 1) // 2]
    # 1 to call, 1 for each iteration of i, 1 to leave each j, 3 for each iteration of j, in which A is read first
    wanted = [1 + (i + 1) + i + sum(3 * k for k in range(i)) + 3 * j + 2 for i in range(N) for j in range(i)]
    assert f.tolist() == wanted
    assert run.cycles == allo.estimate(df.customize(triangle)).cycles


def test_pipelines_that_may_not_run_at_all() -> None:
    run = timed(triangle, NUMBERS, NOTHING, steps=lambda s: (s.pipeline("f:j"), s.pipeline("g:j")))
    length = run.replayed.trace.processes[1].length
    assert length == 1 + 1 + N * 1 + 5 + sum(i - 1 + 2 + 5 for i in range(1, N))  # without iterations: to enter, leave


@df.region()
def by_data(A: int32[N], B: int32[N]):
    p: Stream[int32, 2]
    q: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[A])
    def f(A: int32[N]):
        for i in range(N):
            p.put(A[i])
            for k in range(A[i]):
                q.put(k)

    @df.kernel(mapping=[1], args=[B])
    def g(B: int32[N]):
        for i in range(N):
            n: int32 = p.get()
            c: int32 = 0
            while n > 0:
                c += q.get()
                n -= 1
            B[i] = c


def test_extents_in_data_are_exact() -> None:
    few, more = (timed(by_data, np.full(N, n, np.int32), NOTHING) for n in (1, 2))
    assert allo.estimate(df.customize(by_data)).cycles is None
    assert len(few.replayed.trace) == 4 * N and len(more.replayed.trace) == 6 * N
    lengths = [run.replayed.trace.processes[2].length for run in (few, more)]
    assert lengths[1] - lengths[0] == N * 3  # the condition, what an iteration does, and one cycle to go on


@df.region()
def branches(A: int32[N], B: int32[N]):
    p: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[A])
    def f(A: int32[N]):
        for i in range(N):
            if A[i] > 8:
                for k in range(3):
                    p.put(A[i] + k)

    @df.kernel(mapping=[1], args=[B])
    def g(B: int32[N]):
        for i in range(9):
            B[i] = p.get()


def test_branches_take_the_time_of_what_runs() -> None:
    run = timed(branches, NUMBERS, NOTHING)
    estimate = allo.estimate(df.customize(branches)).cycles
    assert estimate is not None and run.cycles < estimate  # that of the longest branch each time
    assert run.channels[0].elements == 9


@df.region()
def feedback(A: int32[N], B: int32[N]):
    p: Stream[int32, 2]
    q: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[A, B])
    def f(A: int32[N], B: int32[N]):
        for i in range(N):
            p.put(A[i])
            B[i] = q.get()

    @df.kernel(mapping=[1])
    def g():
        for i in range(N):
            q.put(p.get() * 2)


def test_feedback_between_tasks_is_the_critical_cycle() -> None:
    run = timed(feedback, NUMBERS, NOTHING)
    hops = [(hop.kind, run.channels[hop.channel or 0].name) for hop in run.critical.circle]
    assert sorted(hops) == [("empty", "p"), ("empty", "q")] and run.critical.rounds == N - 1
    assert run.notes == ()  # the schedule gets no answer before the question is put


@pytest.mark.parametrize("first", [True, False])
def test_a_schedule_keeps_the_order_in_which_a_task_asks_and_is_answered(first: bool) -> None:
    """What is put takes 6 cycles more than what is got; each iteration waits for the one before all the same."""

    @df.region()
    def asks(A: int32[N], B: int32[N]):
        p: Stream[int32, 2]
        q: Stream[int32, 2]

        @df.kernel(mapping=[1], args=[A, B])
        def f(A: int32[N], B: int32[N]):
            for i in range(N):
                p.put(A[i] * A[i] * A[i])
                B[i] = q.get()

        @df.kernel(mapping=[1])
        def g():
            for i in range(N):
                q.put(p.get() * 2)

    run = timed(asks, NUMBERS, NOTHING, steps=lambda s: (s.pipeline("f:i"), s.pipeline("g:i")) if first else None)
    assert run.notes == () and run.critical.rounds == N - 1


@df.region()
def lanes(A: int32[N], B: int32[N]):
    p: Stream[int32, 2][2]
    q: Stream[int32, 2][2]

    @df.kernel(mapping=[1], args=[A, B])
    def f(A: int32[N], B: int32[N]):
        for i in range(N // 2):
            for j in range(2):
                b: int32 = q[j].get()
                B[2 * i + j] = b
                p[j].put(b * b * b)

    @df.kernel(mapping=[1])
    def g():
        for i in range(N // 2):
            q[0].put(i)
            q[1].put(p[0].get())
            _: int32 = p[1].get()


def test_copies_at_streams_of_their_own_may_wait_for_one_another_through_other_tasks() -> None:
    """Lanes run side by side, so that a schedule of lanes that pass values on through others is not as written."""
    run = timed(lanes, NUMBERS, NOTHING, steps=lambda s: s.pipeline("f:i"))
    assert run.notes == (
        "by its schedule, 'f' waits for ever at 'q[1]', since it takes from another stream before it puts what is "
        "waited for; times are those of the order in which the program puts and gets",
    )


P = 4


@df.region()
def grid(A: int32[P, N], B: int32[P]):
    s: Stream[int32, 2][P, P + 1]

    @df.kernel(mapping=[P, P], args=[A, B])
    def pe(A: int32[P, N], B: int32[P]):
        i, j = df.get_pid()
        c: int32 = 0
        for k in range(N):
            with allo.meta_if(j == 0):
                x: int32 = A[i, k]
            with allo.meta_else():
                x: int32 = s[i, j].get()
            c += x
            with allo.meta_if(j < P - 1):
                s[i, j + 1].put(x)
        with allo.meta_if(j == P - 1):
            B[i] = c


def test_grids_have_a_row_a_position() -> None:
    numbers = np.arange(P * N, dtype=np.int32).reshape(P, N)
    run = timed(grid, numbers, np.zeros(P, np.int32))
    assert [task.name for task in run.tasks][1:6] == ["pe[0, 0]", "pe[0, 1]", "pe[0, 2]", "pe[0, 3]", "pe[1, 0]"]
    ends = [task.end for task in run.tasks[1:]]
    assert ends == ends[:P] * P and ends[:P] == sorted(ends[:P])
    assert {channel.name for channel in run.channels if channel.elements} == {
        f"s[{i}, {j}]" for i in range(P) for j in range(1, P)
    }


@df.region()
def inner(S: int32[N], T: int32[N]):
    p: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[S])
    def put(S: int32[N]):
        for i in range(N):
            p.put(S[i])

    @df.kernel(mapping=[1], args=[T])
    def get(T: int32[N]):
        for i in range(N):
            T[i] = p.get() + 1


@df.region()
def outer(A: int32[N], B: int32[N]):
    q: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[A])
    def one(A: int32[N]):
        T: int32[N] = 0
        for t in range(3):
            inner(A, T)
            for i in range(N):
                q.put(T[i])

    @df.kernel(mapping=[1], args=[B])
    def two(B: int32[N]):
        for t in range(3):
            for i in range(N):
                B[i] = q.get()


def test_regions_in_regions() -> None:
    run = timed(outer, NUMBERS, NOTHING)
    assert run.cycles == allo.estimate(df.customize(outer)).cycles
    assert [task.name for task in run.tasks] == ["outer", "one", "two", "one/put", "one/get"]
    assert [(channel.name, channel.elements) for channel in run.channels] == [("q", 3 * N), ("one/p", 3 * N)]


def stages(A: int32[5, N], D: int32[5, N]):
    for t in range(5):
        B: int32[N] = 0
        for i in range(N):
            B[i] = A[t, i] * 2
        for j in range(N):
            D[t, j] = B[j] + 1


def test_stages_of_a_loop_overlap() -> None:
    given = np.arange(5 * N, dtype=np.int32).reshape(5, N)
    s = allo.customize(stages)
    apart = timed(s, given, np.zeros_like(given))
    assert apart.cycles == allo.estimate(s).cycles
    s.dataflow("t")
    run = timed(s, given, np.zeros_like(given))
    assert run.cycles == allo.estimate(s).cycles < apart.cycles
    assert [task.name for task in run.tasks] == ["stages", "loop 'i'", "loop 'j'"]


def test_blocks_are_put_element_by_element() -> None:
    @df.region()
    def blocks(A: int32[N, 4], B: int32[N, 4]):
        p: Stream[int32[4], 2]

        @df.kernel(mapping=[1], args=[A])
        def f(A: int32[N, 4]):
            for i in range(N):
                p.put(A[i])

        @df.kernel(mapping=[1], args=[B])
        def g(B: int32[N, 4]):
            for i in range(N):
                B[i, :] = p.get()

    numbers = np.arange(4 * N, dtype=np.int32).reshape(N, 4)
    run = timed(blocks, numbers, np.zeros_like(numbers))
    assert (run.channels[0].elements, run.channels[0].depth, run.channels[0].most) == (4 * N, 8, 8)


def test_parallel_loops_have_one_clock() -> None:
    def each(A: int32[N], B: int32[N]):
        for i in range(N):
            for j in range(i):
                B[i] += A[j]

    s = allo.customize(each)
    before = timed(s, NUMBERS, NOTHING).cycles
    s.parallel("i")
    assert timed(s, NUMBERS, NOTHING).cycles == before


def test_other_targets_and_any_depth() -> None:
    run = timed(pipe, NUMBERS, NOTHING, unbounded=True)
    assert run.channels[0].depth == 0 and run.target == "u280"
    s = df.customize(pipe)
    built = s.build(timed="zynq7020")
    built(NUMBERS.copy(), NOTHING.copy())
    assert built.timing.cycles == allo.estimate(s, "zynq7020").cycles and built.timing.target == "zynq7020"


def test_a_hang_is_the_error_of_other_runs() -> None:
    @df.region()
    def shallow(A: int32[N], B: int32[N]):
        p: Stream[int32, 2]
        q: Stream[int32, 2]

        @df.kernel(mapping=[1], args=[A])
        def f(A: int32[N]):
            for i in range(N):
                p.put(A[i])
            for i in range(N):
                q.put(A[i])

        @df.kernel(mapping=[1], args=[B])
        def g(B: int32[N]):
            for i in range(N):
                B[i] = q.get() - p.get()

    texts = []
    for options in ({}, {"timed": True}):
        with pytest.raises(DataflowError) as refused:
            df.build(shallow, **options)(NUMBERS.copy(), NOTHING.copy())
        texts.append(str(refused.value))
    assert texts[0] == texts[1] and f"the least depth that does is {N}" in texts[0]


def test_what_has_no_cycles_is_refused() -> None:
    s = df.customize(pipe)
    refusals: list[tuple[Callable[[], Any], str]] = [
        (lambda: s.build().timing, "'pipe' was built without cycles\n  hint: build it with timed=True, or "
                                   'timed="zynq7020" for another target than u280'),
        (lambda: s.build(timed=True).timing, "'pipe' has not been run yet\n  hint: call it first"),
        (lambda: s.build(timed=True, check=True), "a build with checks has no cycles\n  hint: leave out check=True "
                                                  "or timed=True"),
    ]  # fmt: skip
    for act, text in refusals:
        with pytest.raises(TargetError) as refused:
            act()
        assert str(refused.value) == text


@df.region()
def asks(B: int32[N]):
    p: Stream[int32, 2]

    @df.kernel(mapping=[1])
    def f():
        for i in range(N):
            p.put(i)

    @df.kernel(mapping=[1], args=[B])
    def g(B: int32[N]):
        for i in range(N):
            if p.empty():
                B[i] = 1
            B[i] += p.get()


def told(error: AlloError) -> str:
    """What an error says, without the file and the column."""
    return re.sub(r"^.*?(?=test_timed\.py)|(?<=\.py:\d\d\d):\d+", "", str(error))


def test_questions_to_streams_are_refused() -> None:
    with pytest.raises(DataflowError) as refused:
        df.build(asks, timed=True)
    assert "a timed run knows when elements are put and got, not what is found in a stream at any other time" in told(
        refused.value
    )
    assert "if p.empty():" in told(refused.value) and "hint: use put, get and peek, which wait" in told(refused.value)


@df.region()
def differences(A: int32[N], B: int32[N]):
    p: Stream[int32, 2]

    @df.kernel(args=[A])
    def source(A: int32[N]):
        for i in range(N):
            p.put(A[i])

    @df.kernel(args=[B])
    def sink(B: int32[N]):
        for i in range(N - 1):
            x: int32 = p.get()
            B[i] = p.peek() - x
        B[N - 1] = p.get()


def test_a_look_waits_for_the_element_that_the_next_get_takes() -> None:
    s = df.customize(differences)
    s.pipeline("source:i", initiation_interval=5)
    s.pipeline("sink:i")
    run = timed(s, NUMBERS**2, NOTHING)
    times, levels = run.occupancy("p")
    puts = times[np.diff(levels, prepend=0) > 0]
    assert set(np.diff(puts)) == {5}
    assert run.cycles == puts[-1] + 6 and run.channels[0].empty == 46


def steady_text(seed: int) -> str:
    """The source of a random graph without circles, whose tasks use each deep stream once an iteration."""
    random = Random(seed)
    count = random.randint(2, 5)
    edges = [(random.randrange(sink), sink) for sink in range(1, count)]
    edges += [(a, b) for a, b in [sorted(random.sample(range(count), 2))] if (a, b) not in edges]
    arrays = ", ".join(f"A{task}: int32[6], B{task}: int32[6]" for task in range(count))
    lines = ["@df.region()", f"def graph({arrays}):", *(f"    s{n}: Stream[int32, 64]" for n in range(len(edges)))]
    for task in range(count):
        looks = {n: f"s{n}.peek() + " * random.randint(0, 1) for n, edge in enumerate(edges) if edge[1] == task}
        own = [f"x = x * 3 + {look}s{n}.get()" for n, look in looks.items()]
        own += [f"s{n}.put(x)" for n, edge in enumerate(edges) if edge[0] == task]
        lines += [f"    @df.task(mapping=[1], args=[A{task}, B{task}])", f"    def t{task}(A: int32[6], B: int32[6]):"]
        lines += ["        for i in range(6):", "            x: int32 = A[i]", *(f"            {line}" for line in own)]
        lines += ["            B[i] = x"]
    return random_graphs.HEAD + "\n".join(lines) + "\n"


@sweep(200, quick=6)
def test_random_graphs(seed: int, tmp_path: Path) -> None:
    graph = random_graphs.region_of(seed, tmp_path)
    pairs = [(np.arange(1, 7, dtype=np.int32), np.zeros(6, np.int32))] * random_graphs.text_of(seed).count("def t")
    given = [array for pair in pairs for array in pair]
    try:
        df.build(graph)(*(array.copy() for array in given))
    except DataflowError:
        return
    timed(graph, *given)


@sweep(200, quick=6)
def test_steady_graphs_take_as_long_as_their_estimate(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random_graphs, "text_of", steady_text)
    graph = random_graphs.region_of(seed, tmp_path)
    given = [array for _ in range(steady_text(seed).count("def t")) for array in (NUMBERS[:6], NOTHING[:6])]
    s, random = df.customize(graph), Random(seed)
    loops = [f"t{task}:i" for task in range(len(given) // 2) if random.random() < 0.4]
    run = timed(s, *given, steps=lambda s: [s.pipeline(loop) for loop in loops])
    assert run.cycles == allo.estimate(s).cycles


def doubled(A: int32[N]) -> int32[N]:
    B: int32[N]
    for i in range(N):
        B[i] = A[i] * 2
    return B


def turned(A: int32[N], D: int32[N]):
    B = doubled(A)
    C = doubled(B)
    for i in range(N):
        D[i] = C[N - 1 - i]


def test_processes_that_return_arrays() -> None:
    s = allo.customize(turned)
    s.dataflow("turned")
    run = timed(s, NUMBERS, NOTHING)
    assert run.cycles == allo.estimate(s).cycles
    assert [task.name for task in run.tasks] == ["turned", "doubled", "doubled", "loop 'i'"]


def test_an_array_of_elements_that_work_on_tiles() -> None:
    def product(A: int32[8, 5], B: int32[5, 8], C: int32[8, 8]):
        for i, j in allo.grid(8, 8, name="PE"):
            for k in range(5):
                C[i, j] += A[i, k] * B[k, j]

    s = allo.customize(product)
    for loop in ("i", "j"):
        s.split(loop, 4)
    s.reorder("i.outer", "j.outer", "i.inner", "j.inner")
    moved = s.buffer_at(s.A, "j.inner"), s.buffer_at(s.B, "j.inner")
    pe = s.unfold("PE", axes=[2, 3])
    for array, axis in zip(moved, (3, 2), strict=True):
        s.relay(array, pe, axis=axis)
    A, B = np.arange(40, dtype=np.int32).reshape(8, 5), np.ones((5, 8), np.int32)
    run = timed(s, A, B, np.zeros((8, 8), np.int32))
    elements = [task for task in run.tasks if task.name.endswith("]")]
    assert len(elements) == 16 and elements[-1].name.endswith("[3, 3]")
    assert elements[0].begin == elements[-1].begin and elements[0].end < elements[-1].end


@pytest.mark.parametrize("text", ["fixed", "struct", "wide"])
def test_elements_of_any_type(text: str) -> None:
    T: Any = {"fixed": Fixed(12, 4), "struct": Struct({"a": int8, "b": UInt(5)}), "wide": UInt(300)}[text]

    @df.region()
    def any_type(B: int32[N]):
        p: Stream[T, 2]

        @df.kernel(mapping=[1])
        def f():
            x: T
            for i in range(N):
                p.put(x)

        @df.kernel(mapping=[1], args=[B])
        def g(B: int32[N]):
            for i in range(N):
                p.get()
                B[i] = i

    run = timed(any_type, NOTHING)
    assert (run.channels[0].bits, run.channels[0].elements) == (T.bits, N)


def taken(p: Stream[int32, 2]) -> int32:
    c: int32 = 0
    for k in range(3):
        c += p.get()
    return c


@df.region()
def called(A: int32[N], B: int32[N]):
    p: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[A])
    def f(A: int32[N]):
        for i in range(N):
            for k in range(3):
                p.put(A[i])

    @df.kernel(mapping=[1], args=[B])
    def g(B: int32[N]):
        for i in range(N):
            B[i] = taken(p)


@pytest.mark.parametrize("pipelined", [False, True])
def test_callees_put_and_get_in_the_time_of_their_caller(pipelined: bool) -> None:
    s = df.customize(called)
    steps = (lambda s: (s.pipeline("f:k"), s.pipeline("g:i"))) if pipelined else (lambda s: None)
    run = timed(s, NUMBERS, NOTHING, steps=steps)
    assert run.cycles == allo.estimate(s).cycles
    assert (run.channels[0].full > 0, run.channels[0].elements) == (True, 3 * N)


def test_external_kernels_are_refused(tmp_path: Path) -> None:
    (tmp_path / "twice.cpp").write_text("void twice(int a[12], int b[12]) { b[0] = 2 * a[0]; }\n")
    twice = allo.IPModule(top="twice", impl=str(tmp_path / "twice.cpp"))

    def caller(A: int32[N], B: int32[N]):
        twice(A, B)

    with pytest.raises(DataflowError) as refused:
        allo.customize(caller).build(timed=True)
    lines = told(refused.value).splitlines()
    assert lines[0].endswith(
        "how long the external kernel 'twice' takes is not known, and so is when its caller goes on"
    )
    assert lines[1].strip() == "twice(A, B)"
    assert lines[3].strip() == "hint: time a design of which all kernels are written in Python"


def test_regions_that_start_again_before_their_end_are_refused() -> None:
    def again(A: int32[N], B: int32[N]):
        for t in range(3):
            inner(A, B)

    s = allo.customize(again)
    assert timed(s, NUMBERS, NOTHING).cycles == allo.estimate(s).cycles
    s.pipeline("t")
    with pytest.raises(DataflowError) as refused:
        s.build(timed=True)
    lines = told(refused.value).splitlines()
    assert lines[0].endswith(
        "a pipeline starts 'inner' again before it has ended, and how its tasks go on then is not known"
    )
    assert lines[-1].strip() == "hint: leave the loop around the call without a pipeline"
