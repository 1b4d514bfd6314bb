"""Tasks, streams and stages in hardware: the bits and cycles of the timed simulator, hangs, planted faults."""

from __future__ import annotations

# ruff: noqa: F821, B007 - in a kernel, `A: T[N]` declares an array; tasks are compiled where they stand
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.backend.rtl import module as rtl_module
from allo.backend.rtl.lowering.flow import RegionFlow
from allo.errors import AlloError, DataflowError
from allo.ir.types import Stream, float32, int8, int32
from allo.memory import Memory
from tests.dataflow import random_graphs
from tests.dataflow.polling import sorted_merge
from tests.dataflow.test_timed import feedback
from tests.seeds import sweep

from .flows import Steps, assert_flows

N = 12
NUMBERS, NOTHING = np.arange(N, dtype=np.int32), np.zeros(N, np.int32)


@df.region()
def pipe(A: int32[N], B: int32[N]):
    p: Stream[int32, 3]

    @df.kernel(mapping=[1], args=[A])
    def f(A: int32[N]):
        for i in range(N):
            p.put(A[i] * A[i])

    @df.kernel(mapping=[1], args=[B])
    def g(B: int32[N]):
        for i in range(N):
            B[i] = p.get() + 1


@pytest.mark.parametrize("steps", [
    lambda s: None,
    lambda s: (s.pipeline("f:i"), s.pipeline("g:i", initiation_interval=3)),
    lambda s: (s.pipeline("f:i", initiation_interval=2), s.unroll("g:i", 4), s.pipeline("g:i")),
])  # fmt: skip
def test_a_stream_between_tasks(steps: Steps) -> None:
    assert_flows(pipe, NUMBERS, NOTHING, steps=steps)


def test_what_comes_next_is_seen_and_stays() -> None:
    one, other = NUMBERS**2, 7 * NUMBERS
    assert_flows(sorted_merge, one, other, np.zeros(2 * N, np.int32), data_decide=True)


@df.region()
def diamond(A: int32[N], B: int32[N]):
    """The way by `slow` takes longer than the other one, which holds little: its puts wait for those of an answer."""
    p: Stream[int32, 1]
    q: Stream[int32, 1]
    r: Stream[int32, 1]

    @df.kernel(mapping=[1], args=[A])
    def f(A: int32[N]):
        for i in range(N):
            p.put(A[i])
            q.put(A[i] + 1)

    @df.kernel(mapping=[1])
    def slow():
        for i in range(N):
            x: int32 = p.get()
            r.put(x * x * x)

    @df.kernel(mapping=[1], args=[B])
    def g(B: int32[N]):
        for i in range(N):
            x: int32 = q.get()
            B[i] = x * 100 + r.get()


@pytest.mark.parametrize("interval", [1, 2])
def test_what_has_begun_goes_on_while_what_comes_later_waits(interval: int) -> None:
    def steps(s: allo.Schedule) -> None:
        for name in ("f", "slow", "g"):
            s.pipeline(f"{name}:i", initiation_interval=interval)

    assert_flows(diamond, NUMBERS, NOTHING, steps=steps)


@pytest.mark.parametrize("interval", [None, 2, 3])
def test_what_is_put_in_the_cycle_of_another_put_that_waits_is_no_hang(interval: int | None) -> None:
    """All that runs waits in that cycle, but for the element that is put into the first FIFO."""

    @df.region()
    def two(B: int32[N]):
        s: Stream[int32, 3]
        t: Stream[int32, 1]

        @df.kernel(mapping=[1], args=[])
        def source():
            t.put(1)
            for i in range(N):
                s.put(2 * i)
                t.put(3)

        @df.kernel(mapping=[1], args=[B])
        def sink(B: int32[N]):
            for i in range(N):
                B[i] = s.get() - t.get()
            _last: int32 = t.get()

    s = df.customize(two)
    if interval is not None:
        s.pipeline("source:i", initiation_interval=interval)
    assert_flows(s, NOTHING.copy())


def send(A: int32[N], p: Stream[int32, 2]):
    for i in range(N):
        p.put(A[i])


def keep(c: int32[2], x: int32):
    c[0] = x
    c[1] = c[0] + c[1]


def test_calls_that_share_a_stream_and_registers() -> None:
    """An instance alone drives a FIFO and registers by itself, two of them in turns."""

    @df.region()
    def twice(A: int32[N], B: int32[2 * N], c: int32[2]):
        p: Stream[int32, 2]

        @df.kernel(mapping=[1], args=[A, c])
        def f(A: int32[N], c: int32[2]):
            send(A, p)
            keep(c, 7)
            send(A, p)
            keep(c, 8)

        @df.kernel(mapping=[1], args=[B])
        def g(B: int32[2 * N]):
            for i in range(2 * N):
                B[i] = p.get() + 1

    ones = np.ones(2, np.int32)
    assert_flows(twice, NUMBERS, np.zeros(2 * N, np.int32), ones, steps=lambda s: s.partition("twice:c"))


def test_answers_come_back() -> None:
    assert_flows(feedback, NUMBERS, NOTHING, steps=lambda s: (s.pipeline("f:i"), s.pipeline("g:i")))


@df.region()
def by_data(A: int32[N], B: int32[N]):
    p: Stream[int32, 2]
    q: Stream[int32, 2][2]

    @df.kernel(mapping=[1], args=[A])
    def f(A: int32[N]):
        for i in range(N):
            p.put(A[i] % 4)
            for k in range(A[i] % 4):
                q[k % 2].put(k + i)

    @df.kernel(mapping=[1], args=[B])
    def g(B: int32[N]):
        for i in range(N):
            n: int32 = p.get()
            c: int32 = 0
            k: int32 = 0
            while k < n:
                c += q[k % 2].get()
                k += 1
            B[i] = c


def test_data_decide_how_often_and_at_which_fifo() -> None:
    assert_flows(by_data, NUMBERS, NOTHING, steps=lambda s: s.pipeline("f:k"), data_decide=True)


@df.region()
def lookup(A: int32[N], T: float32[2048], B: float32[N]):
    """A memory and units that do not stand still while their pipeline waits for what comes slowly, or goes slowly."""
    p: Stream[int32, 1]
    q: Stream[float32, 1]
    r: Stream[float32, 2]

    @df.kernel(mapping=[1], args=[A])
    def f(A: int32[N]):
        for i in range(N):
            p.put((A[i] * 7) % 2048)

    @df.kernel(mapping=[1], args=[T])
    def g(T: float32[2048]):
        for i in range(N):
            k: int32 = p.get()
            x: float32 = T[k] * 3.0
            if k % 3 > 0:
                q.put(x)
            r.put(T[2047 - k] + x)

    @df.kernel(mapping=[1], args=[A, B])
    def h(A: int32[N], B: float32[N]):
        for i in range(N):
            c: float32 = 0.5
            if (A[i] * 7) % 2048 % 3 > 0:
                c = q.get()
            B[i] = c - r.get()


MORE_INTERVALS = [pytest.param(own, marks=pytest.mark.slow) for own in [(1, 1, 1), (3, 1, 5), (2, 3, 1)]]


@pytest.mark.parametrize("intervals", [(1, 2, 3), *MORE_INTERVALS])
def test_memories_and_units_behind_what_waits(intervals: tuple[int, int, int]) -> None:
    def steps(s: allo.Schedule) -> None:
        for name, interval in zip("fgh", intervals, strict=True):
            s.pipeline(f"{name}:i", initiation_interval=interval)

    table = np.random.default_rng(1).normal(size=2048).astype(np.float32)
    assert_flows(lookup, NUMBERS * 5, table, np.zeros(N, np.float32), steps=steps, data_decide=True)


@df.region()
def crowded(T: int32[16], B: int32[N]):
    """Six reads through two ports, in two places of a pipeline that waits between them."""
    p: Stream[int32, 1]
    r: Stream[int32, 1]

    @df.kernel(mapping=[1])
    def f():
        for i in range(N):
            p.put(i * i % 5)

    @df.kernel(mapping=[1], args=[T])
    def g(T: int32[16]):
        for i in range(N):
            x: int32 = T[i] + T[i + 1] + T[i + 2] + T[i + 3]
            y: int32 = x * p.get()
            r.put(T[y % 16] + T[(y + 3) % 16])

    @df.kernel(mapping=[1], args=[B])
    def h(B: int32[N]):
        for i in range(N):
            B[i] = r.get()


def assert_crowded() -> None:
    def steps(s: allo.Schedule) -> None:
        for name, interval in zip("fgh", (5, 3, 4), strict=True):
            s.pipeline(f"{name}:i", initiation_interval=interval)

    table = np.random.default_rng(0).integers(0, 99, 16).astype(np.int32)
    assert_flows(crowded, table, np.zeros(N, np.int32), steps=steps)


def test_what_stands_still_leaves_ports_to_what_goes_on() -> None:
    assert_crowded()


@df.region()
def undecided(T: int32[32], D: int32[1], E: int32[N]):
    """Whether there is a put is read in its cycle, through a port that other reads of an interval use too."""
    p: Stream[int32, 1]

    @df.kernel(mapping=[1], args=[T, E])
    def f(T: int32[32], E: int32[N]):
        for i in range(N):
            if T[i] > 0:
                p.put(i)
            E[i] = T[i + 13] + T[i + 14] + T[i + 15]

    @df.kernel(mapping=[1], args=[D])
    def h(D: int32[1]):
        for i in range(N):
            if D[0] > 0:
                D[0] += p.get()


def cycle_of_the_hang(interval: int) -> str:
    """When it is told that the put waits for ever: once `h` has ended, which needs nothing."""
    s = df.customize(undecided)
    s.pipeline("f:i", initiation_interval=interval)
    s.pipeline("h:i")
    table = (np.arange(32) < N).astype(np.int32)
    with pytest.raises(DataflowError, match="'f' waits to put into 'p'") as caught:
        s.build(target="rtl", limit=1000)(table, np.zeros(1, np.int32), np.zeros(N, np.int32))
    return str(caught.value).partition("nothing has gone on since ")[2]


def test_what_waits_knows_in_each_cycle_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    whens = [cycle_of_the_hang(interval) for interval in (2, 3)]
    assert whens[0] == whens[1]
    monkeypatch.setattr(RegionFlow, "steady", lambda flow, word, stage: word)  # another read's word, off its turn
    assert [cycle_of_the_hang(interval) for interval in (2, 3)] != whens


def test_reads_out_of_turn_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RegionFlow, "at_turn", lambda flow, condition, stage: condition)
    with pytest.raises(AssertionError):
        assert_crowded()


@sweep(60, quick=2)
def test_random_graphs(seed: int, tmp_path: Path) -> None:
    try:
        region = random_graphs.region_of(seed, tmp_path)
        s = df.customize(region)
    except DataflowError:
        return  # it hangs as written
    draw = np.random.default_rng(seed)
    text = random_graphs.text_of(seed)
    tasks = text.count("@df.task")
    for task in range(tasks):
        for loop in [name for name in str(s.get_loops(f"t{task}")).split() if name == "i"][:1]:
            with suppress(AlloError):  # several loops have that name
                s.pipeline(f"t{task}:{loop}", initiation_interval=int(draw.integers(1, 4)))
    shape = random_graphs.N
    arguments = [draw.integers(-5, 9, shape).astype(np.int32) if n % 2 == 0 else np.zeros(shape, np.int32)
                 for n in range(2 * tasks)]  # fmt: skip
    try:
        s.build()(*(array.copy() for array in arguments))
    except DataflowError as error:  # it hangs, or elements are left, which is told alike
        left = "taken out" in str(error).splitlines()[0]  # hints may say it too
        with pytest.raises(DataflowError, match=r"taken out" if left else r"is full|is empty"):
            s.build(target="rtl")(*arguments)
        return
    assert_flows(s, *arguments, data_decide=any(f"if {test}" in text for test in random_graphs.DATA))


# -- grids and arrays ----------------------------------------------------------------------------------------

M, K = 2, 5


@df.region()
def systolic(A: int8[M, K], B: int8[K, M], C: int32[M, M]):
    fifo_A: Stream[int8, 2][M, M + 1]
    fifo_B: Stream[int8, 2][M + 1, M]

    @df.kernel(mapping=[M], args=[A])
    def rows(A: int8[M, K]):
        i = df.get_pid()
        for k in range(K):
            fifo_A[i, 0].put(A[i, k])

    @df.kernel(mapping=[M], args=[B])
    def columns(B: int8[K, M]):
        j = df.get_pid()
        for k in range(K):
            fifo_B[0, j].put(B[k, j])

    @df.kernel(mapping=[M, M], args=[C])
    def element(C: int32[M, M]):
        i, j = df.get_pid()
        c: int32 = 0
        for k in range(K):
            a: int8 = fifo_A[i, j].get()
            b: int8 = fifo_B[i, j].get()
            c += a * b
            with allo.meta_if(j < M - 1):
                fifo_A[i, j + 1].put(a)
            with allo.meta_if(i < M - 1):
                fifo_B[i + 1, j].put(b)
        C[i, j] = c


def steps_of_systolic(s: allo.Schedule) -> None:
    s.partition("systolic:A", dim=1)
    s.partition("systolic:B", dim=2)
    s.partition("systolic:C")
    for task in ("rows", "columns", "element"):
        s.pipeline(f"{task}:k")


def test_a_grid_is_instances_of_a_module_for_each_class() -> None:
    draw = np.random.default_rng(3)
    A, B = draw.integers(-128, 128, (M, K)).astype(np.int8), draw.integers(-128, 128, (K, M)).astype(np.int8)
    made = assert_flows(systolic, A, B, np.zeros((M, M), np.int32), steps=steps_of_systolic)
    assert made.code.count("module element_") == 4 and made.code.count("allo_fifo #") == 2 * M * M


@pytest.mark.slow
def test_an_element_multiplies_in_each_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "M", 6)
    monkeypatch.setitem(globals(), "K", 64)
    draw = np.random.default_rng(4)
    A, B = draw.integers(-128, 128, (6, 64)).astype(np.int8), draw.integers(-128, 128, (64, 6)).astype(np.int8)
    made = assert_flows(systolic, A, B, np.zeros((6, 6), np.int32), steps=steps_of_systolic)
    assert made.cycles == 64 + 2 * 6 + 5


def stages(A: int32[N], B: int32[N], C: int32[N]):
    T: int32[N]
    for i in range(N):
        T[i] = A[i] * 3
    for j in range(N):
        B[j] = T[j] + A[j]
    for k in range(N):
        C[k] = T[N - 1 - k]


def steps_of_stages(s: allo.Schedule) -> None:
    s.dataflow("stages")
    for loop in "ijk":
        s.pipeline(loop)


def test_stages_pass_on_whole_arrays() -> None:
    assert_flows(allo.customize(stages), NUMBERS, NOTHING, NOTHING, steps=steps_of_stages)


def produced(A: int32[N], B: int32[N]):
    T: int32[N]
    for i in range(N):
        T[i] = A[i] * 3
    for j in range(N):
        B[j] = T[j] + 1


def test_relay_makes_streams_between_loops() -> None:
    def steps(s: allo.Schedule) -> None:
        s.relay(s.T, "S_j_1", depth=4)
        s.dataflow("produced")
        s.pipeline("i")
        s.pipeline("j")

    assert_flows(allo.customize(produced), NUMBERS, NOTHING, steps=steps)


def counted_by_data(A: int32[N], B: int32[N], C: int32[N]):
    n: int32 = A[5] % 9
    for i in range(n):
        B[i] = A[i] + n
    for j in range(N):
        C[j] = A[j] * 3


def test_what_a_stage_runs_for_is_computed_in_front_of_it() -> None:
    s = allo.customize(counted_by_data)
    s.dataflow("counted_by_data")
    own, wanted = ([NUMBERS + 3, NOTHING.copy(), NOTHING.copy()] for _ in range(2))
    s.build(target="rtl", random_state=1, limit=10_000)(*own)
    s.build()(*wanted)
    np.testing.assert_array_equal(own, wanted)
    assert own[1].any()


def counted_by_a_stage(A: int32[N], B: int32[N], C: int32[N]):
    for i in range(N):
        B[i] = A[i] % 4
    for j in range(B[3]):
        C[j] = A[j] * 3


def test_what_a_stage_runs_for_is_no_value_of_another_one() -> None:
    s = allo.customize(counted_by_a_stage)
    s.dataflow("counted_by_a_stage")
    with pytest.raises(AlloError) as caught:
        s.build(target="rtl")
    assert told(caught.value) == (
        "AT: this statement of a region gives a value that has to wait for other stages, which target 'rtl' has no "
        "hardware for\n"
        "    for j in range(B[3]):\n"
        "                   ^\n"
        "  hint: let a stage do it, and put the value into a stream"
    )


# -- what hangs, what is refused, and faults -----------------------------------------------------------------


@df.region()
def crossed(A: int32[N], B: int32[N]):
    p: Stream[int32, 2]
    q: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[A])
    def f(A: int32[N]):
        for i in range(N):
            if A[i] > 4:
                p.put(A[i])
        for i in range(N):
            q.put(A[i])

    @df.kernel(mapping=[1], args=[B])
    def g(B: int32[N]):
        for i in range(N):
            x: int32 = q.get()
            B[i] = x
            if x > 4:
                B[i] = x + p.get()


def told(error: Exception) -> str:
    """The text of an error, without the path and the numbers of lines."""
    return re.sub(r'File "[^"]+", line \d+, column \d+', "AT", str(error))


def test_what_hangs_is_told_as_the_simulator_tells_it() -> None:
    s = df.customize(crossed)
    made, simulated = s.build(target="rtl"), s.build()
    with pytest.raises(DataflowError) as caught:
        made(NUMBERS, NOTHING.copy())
    with pytest.raises(DataflowError) as wanted:
        simulated(NUMBERS, NOTHING.copy())
    found, other = caught.value, wanted.value
    assert (found.tasks, found.streams) == (other.tasks, other.streams)
    lines = told(found).splitlines()
    assert lines[:-2] == told(other).splitlines()[:-1]
    assert re.fullmatch(r"  note: nothing has gone on since cycle \d+", lines[-2])
    assert lines[-1] == "  hint: make it deeper, or use the streams of both tasks in the same order"
    few = np.minimum(NUMBERS, 6)  # a build goes on after that
    few[:10] = 0
    own, B = NOTHING.copy(), NOTHING.copy()
    made(few, own)
    simulated(few, B)
    np.testing.assert_array_equal(own, B)


@df.region()
def unequal(A: int32[N], B: int32[N]):
    p: Stream[int32, 2]
    q: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[A])
    def few(A: int32[N]):
        for i in range(N):
            if A[i] > 4:
                p.put(A[i])

    @df.kernel(mapping=[1], args=[A])
    def many(A: int32[N]):
        for i in range(N):
            q.put(A[i])

    @df.kernel(mapping=[1], args=[B])
    def both(B: int32[N]):
        for i in range(N):
            B[i] = p.get() + q.get()


def test_more_room_is_not_advised_where_a_task_has_ended() -> None:
    with pytest.raises(DataflowError) as caught:
        df.customize(unequal).build(target="rtl")(np.zeros(N, np.int32), NOTHING.copy())
    lines = told(caught.value).splitlines()
    assert lines[0] == (
        "AT: stream 'q' of depth 2 is full, and what would take elements out waits too, or has ended: 2 elements "
        "have been put and 0 taken"
    )
    assert lines[-1] == "  hint: put as many elements into streams as are taken out"


@df.region()
def readers(A: int32[64], B: int32[64], C: int32[64], D: int32[64]):
    @df.kernel(mapping=[1], args=[A, B])
    def one(A: int32[64], B: int32[64]):
        for i in range(64):
            B[i] = A[i]

    @df.kernel(mapping=[1], args=[A, C])
    def two(A: int32[64], C: int32[64]):
        for i in range(64):
            C[i] = A[63 - i]

    @df.kernel(mapping=[1], args=[A, D])
    def three(A: int32[64], D: int32[64]):
        for i in range(64):
            D[i] = A[i] + 1


def test_tasks_that_read_an_array_at_once_have_ports_of_their_own() -> None:
    s = df.customize(readers)
    s.bind("readers:A", Memory(resource="BRAM", storage_type="RAM_T2P"))
    with pytest.raises(AlloError) as caught:
        s.build(target="rtl")
    assert told(caught.value) == (
        "AT: stages that run at once use array 'A', whose memory has too few ports for all of them\n"
        "    def three(A: int32[64], D: int32[64]):\n"
        "    ^\n"
        "  hint: partition the array, so that each has banks of its own, or give each a copy"
    )


@pytest.mark.parametrize(("was", "fault"), [
    ("assign empty = count == '0;", "assign empty = 1'b0;"),  # elements that are not there
    ("assign full = count == ALL;", "assign full = 1'b0;"),
    ("localparam logic [AW-1:0] LAST = AW'(DEPTH - 1);", "localparam logic [AW-1:0] LAST = AW'(DEPTH);"),
])  # fmt: skip
def test_faults_in_the_fifo_are_noticed(was: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = rtl_module.library_files

    def files(*names: object, **options: object) -> dict[str, str]:
        found = original(*names, **options)  # type: ignore[arg-type]
        assert was in found["allo_fifo.sv"]
        return {**found, "allo_fifo.sv": found["allo_fifo.sv"].replace(was, fault)}

    monkeypatch.setattr(rtl_module, "library_files", files)
    with pytest.raises((AlloError, AssertionError)):
        assert_flows(pipe, NUMBERS, NOTHING, steps=lambda s: (s.pipeline("f:i"), s.pipeline("g:i", 3)))


def first_moves(flow: RegionFlow, stage: int) -> str:
    """All of a region stands still when anything in it waits."""
    return flow.moves[flow.stages[0]].name if flow.may_stop(stage) else "en"


@pytest.mark.parametrize(("name", "fault"), [
    ("settled", lambda flow, signal, stage, cycles: signal),  # what units give is not kept
    ("go", first_moves),
])  # fmt: skip
def test_faults_in_what_stands_still_are_noticed(
    name: str, fault: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def steps(s: allo.Schedule) -> None:
        for task in "fgh":
            s.pipeline(f"{task}:i", initiation_interval={"f": 2, "g": 1, "h": 3}[task])

    monkeypatch.setattr(RegionFlow, name, fault)
    table = np.arange(2048, dtype=np.float32)
    with pytest.raises((AlloError, AssertionError)):
        assert_flows(lookup, NUMBERS * 5, table, np.zeros(N, np.float32), steps=steps, data_decide=True)


def test_a_result_that_is_a_number_stays_until_other_stages_end() -> None:
    def counted(A: int32[N], B: int32[N]) -> int32:
        for i in range(N):
            B[i] = A[i] * 3
        count: int32 = N
        return count

    s = allo.customize(counted)
    s.dataflow("counted")
    B = NOTHING.copy()
    assert s.build(target="rtl")(NUMBERS, B) == N
    assert B.tolist() == [3 * n for n in range(N)]
