"""size_fifos: depths of FIFOs by strategies, with reasons, recorded as they were chosen, and each refusal."""

# ruff: noqa: B007, E501, F821 - golden text is not wrapped; kernels count loops, and declare arrays without a value

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.customize.function.calls import function_around
from allo.dataflow.replay import replay
from allo.errors import AlloError, DataflowError, TargetError
from allo.estimate.traces.static import static_trace
from allo.ir.stream_facts import made_streams
from allo.ir.types import Stream, UInt, float32, int32
from allo.ir.walk import string_of
from polybench.suite import NAMES, load
from tests.seeds import sampled

from .checks import normalised, refusal

N = 32


@df.region()
def forked(A: int32[N], B: int32[N]):
    direct: Stream[int32, 64]
    slow: Stream[int32, 64]
    back: Stream[int32, 64]

    @df.kernel(mapping=[1], args=[A])
    def fork(A: int32[N]):
        for i in range(N):
            direct.put(A[i])
            slow.put(A[i] + 1)

    @df.kernel(mapping=[1])
    def divide():
        for i in range(N):
            back.put(slow.get() / 3)

    @df.kernel(mapping=[1], args=[B])
    def join(B: int32[N]):
        for i in range(N):
            B[i] = direct.get() + back.get()


def pipelined() -> allo.Schedule:
    s = df.customize(forked)
    for loop in ("fork:i", "divide:i", "join:i"):
        s.pipeline(loop)
    return s


@df.region()
def move(x: Stream[int32, 4], y: Stream[int32, 4]):
    @df.kernel(mapping=[1], args=[x, y])
    def passes(x: Stream[int32, 4], y: Stream[int32, 4]):
        for i in range(N):
            y.put(x.get() + 1)


@df.region()
def moved_twice(A: int32[N], B: int32[N]):
    a: Stream[int32, 4]
    b: Stream[int32, 4]
    c: Stream[int32, 4]

    @df.kernel(mapping=[1], args=[A])
    def first(A: int32[N]):
        for i in range(N):
            a.put(A[i])

    @df.kernel(mapping=[1])
    def one():
        move(a, b)

    @df.kernel(mapping=[1])
    def other():
        move(b, c)

    @df.kernel(mapping=[1], args=[B])
    def last(B: int32[N]):
        for i in range(N):
            B[i] = c.get()


@df.region()
def guarded(A: int32[N], B: int32[N]):
    pipe: Stream[int32, 4]

    @df.kernel(mapping=[1], args=[A])
    def some(A: int32[N]):
        for i in range(N):
            if A[i] > 3:
                pipe.put(A[i])

    @df.kernel(mapping=[1], args=[A, B])
    def same(A: int32[N], B: int32[N]):
        for i in range(N):
            if A[i] > 3:
                B[i] = pipe.get()


@df.region()
def counted(n: int32, A: int32[N], B: int32[N]):
    pipe: Stream[int32, 4]

    @df.kernel(mapping=[1], args=[n, A])
    def puts(n: int32, A: int32[N]):
        for i in range(n):
            pipe.put(A[i])

    @df.kernel(mapping=[1], args=[n, B])
    def gets(n: int32, B: int32[N]):
        for i in range(n):
            B[i] = pipe.get()


@df.region()
def moved_in(source: Stream[int32, 4], B: int32[N]):
    b: Stream[int32, 4]
    c: Stream[int32, 4]

    @df.kernel(mapping=[1])
    def one():
        move(source, b)

    @df.kernel(mapping=[1])
    def other():
        move(b, c)

    @df.kernel(mapping=[1], args=[B])
    def last(B: int32[N]):
        for i in range(N):
            B[i] = c.get()


@df.region()
def piled(A: float32[N, 64], B: float32[N, 64]):
    rows: Stream[float32, 2048]
    late: Stream[float32, 40]

    @df.kernel(mapping=[1], args=[A])
    def sends(A: float32[N, 64]):
        for i, j in allo.grid(N, 64):
            rows.put(A[i, j])
        for i in range(N):
            late.put(A[i, 0])

    @df.kernel(mapping=[1], args=[B])
    def takes(B: float32[N, 64]):
        for i in range(N):
            x: float32 = late.get()
            for j in range(64):
                B[i, j] = rows.get() * x


@df.region()
def wide(A: UInt(128)[N], C: int32[N], B: UInt(128)[N]):
    direct: Stream[UInt(128), 64]
    slow: Stream[int32, 64]
    back: Stream[int32, 64]

    @df.kernel(mapping=[1], args=[A, C])
    def sends(A: UInt(128)[N], C: int32[N]):
        for i in range(N):
            direct.put(A[i])
            slow.put(C[i])

    @df.kernel(mapping=[1])
    def divides():
        for i in range(N):
            back.put(slow.get() / 3)

    @df.kernel(mapping=[1], args=[B])
    def joins(B: UInt(128)[N]):
        for i in range(N):
            if back.get() == i:
                B[i] = direct.get()
            else:
                B[i] = direct.get() + 1


def pipelined_wide() -> allo.Schedule:
    s = df.customize(wide)
    for loop in ("sends:i", "divides:i", "joins:i"):
        s.pipeline(loop)
    return s


def increment(A: float32[N], T: float32[N]):
    for i in range(N):
        T[i] = A[i] + 1.0


def double(T: float32[N], B: float32[N]):
    for i in range(N):
        B[i] = T[i] * 2.0


def chain(A: float32[N], B: float32[N]):
    T: float32[N]
    increment(A, T)
    double(T, B)


def outer(A: float32[N], B: float32[N]):
    chain(A, B)


def relayed() -> allo.Schedule:
    s = allo.customize(chain)
    s.relay("T", "double")
    return s


def error_of(kind: type[AlloError], schedule: allo.Schedule, *arguments: Any, **options: Any) -> str:
    """The message of an error that changes nothing."""
    text, steps = str(schedule.module), schedule.steps
    with pytest.raises(kind) as caught:
        schedule.size_fifos(*arguments, **options)
    assert str(schedule.module) == text and schedule.steps is steps
    return normalised(str(caught.value)).replace("test_size_fifos.py", "")


# -- what it does ------------------------------------------------------------------------------------------


def test_exact() -> None:
    """The direct way holds what is put while the other one divides; each depth says what one less would cost."""
    sizes = pipelined().size_fifos()
    assert str(sizes) == dedent("""\
        FIFOs, exact: 76 cycles, as many as with FIFOs that are never full; 1,120 bits, 0 BRAM18 and 156 LUT of u280

        FIFO           depth  before  elements  bits  put                got               because
        -------------  -----  ------  --------  ----  -----------------  ----------------  ----------------------
        forked:direct  31     64      32        32    4 to 35, every 1   3 to 34, every 1  with 30, 8 cycles more
        forked:slow    2      64      32        32    4 to 35, every 1   3 to 34, every 1  with 1, 31 cycles more
        forked:back    2      64      32        32    38 to 69, every 1  3 to 34, every 1  with 1, 31 cycles more""")
    assert sizes.depth("direct") == sizes.depth("forked:direct") == 31
    assert sizes.bits == 35 * 32 and "forked:direct" in sizes._repr_html_()
    with pytest.raises(KeyError, match="no FIFO 'x'; the FIFOs are forked:direct, forked:slow, forked:back"):
        sizes.depth("x")


def test_normal_and_conservative() -> None:
    """StreamTensor, section 5.3: delays between begins at the rates of tasks, or at that of the slowest."""
    normal, conservative = (pipelined().size_fifos(strategy) for strategy in ("normal", "conservative"))
    assert [(size.depth, size.reason) for size in normal.fifos] == [
        (32, "32 are put before 'join' begins, which waits for 'back'"),
        (2, "2 are put before 'divide' gets the first one"),
        (2, "2 are put before 'join' gets the first one"),
    ]
    assert [(size.depth, size.reason) for size in conservative.fifos] == [
        (21, "21 wait when 'fork', which is faster, puts the last one"),
        (1, "1 is put before 'divide' gets the first one"),
        (2, "2 wait when 'divide', which is faster, puts the last one"),
    ]
    assert (normal.cycles, conservative.cycles) == (76, 107)


def test_front() -> None:
    """A point of the front is data; a budget of blocks of BRAM chooses one."""
    sizes = pipelined_wide().size_fifos("pareto")
    assert [(point.cycles, point.bram18, point.bits, point.depths) for point in sizes.points[:4]] == [
        (77, 4, 4224, (32, 2, 2)),
        (100, 4, 2176, (16, 2, 2)),
        (142, 4, 1472, (11, 1, 1)),
        (170, 0, 1152, (8, 2, 2)),
    ]
    assert "170     0       252  1,152  8, 2, 2" in str(sizes) and sizes.cycles == 77
    small = pipelined_wide()
    chosen = small.size_fifos("pareto", budget=3)
    assert (chosen.cycles, chosen.bram18, chosen.depth("direct")) == (170, 0, 8)
    assert str(small.steps[-1]).startswith("s.size_fifos(strategy='pareto', budget=3, fifos=")
    pytest.importorskip("matplotlib")
    assert sizes.plot().axes[0].get_ylabel() == "cycles"


def test_step_is_faithful() -> None:
    """It is replayed with the depths that were chosen, as text and as MLIR, and undone."""
    s = pipelined()
    before = str(s.module)
    s.size_fifos("normal")
    assert str(s.steps[-1]) == (
        """s.size_fifos(strategy='normal', fifos=["forked:direct", "forked:slow", "forked:back"], depths=[32, 2, 2])"""
    )
    assert "!allo.stream<i32, 32>" in str(s.module)
    again = df.customize(forked)
    again.replay(str(s.steps))
    assert str(again.module) == str(s.module) and str(again.steps) == str(s.steps)
    assert str(allo.Schedule.from_mlir(s.to_mlir()).module) == str(s.module)
    A, B, C = np.arange(N, dtype=np.int32), np.zeros(N, np.int32), np.zeros(N, np.int32)
    s.build()(A, B)
    df.customize(forked).build()(A, C)
    assert (B == C).all()
    s.undo()
    assert str(s.module) == before


def test_given_depths() -> None:
    s = df.customize(forked)
    sizes = s.size_fifos(fifos=["slow"], depths=[5])
    assert str(s.steps) == """s.size_fifos(fifos=["forked:slow"], depths=[5])\n"""
    assert [(size.fifo, size.depth, size.before, size.reason) for size in sizes.fifos] == [
        ("forked:slow", 5, 64, "given")
    ]
    assert sizes.cycles is None


def test_some_fifos() -> None:
    """The others keep their depth, which bounds what these are good for."""
    s = pipelined()
    s.size_fifos(fifos=["direct"], depths=[4])
    sizes = s.size_fifos(fifos=["slow", "back"])
    assert sizes.unlimited == sizes.cycles and sizes.cycles is not None and sizes.cycles > 200
    assert [size.fifo for size in sizes.fifos] == ["forked:slow", "forked:back"]


def test_relayed_array() -> None:
    s = relayed()
    s.pipeline("increment:i")
    s.pipeline("double:i")
    sizes = s.size_fifos()
    assert [(size.fifo, size.before, size.depth) for size in sizes.fifos] == [("chain:fifo_T", 32, 2)]
    composed = allo.customize(outer)
    composed.compose(s)
    assert "!allo.stream<f32, 2>" in str(composed.module) and "size_fifos" in str(composed.steps)


def test_one_type_one_depth() -> None:
    """What is passed to one argument of a function has one type, and so has an array of FIFOs."""
    sizes = df.customize(moved_twice).size_fifos(fifos=["b"])
    names = ["moved_twice:a", "moved_twice:b", "moved_twice:c"]
    assert {size.fifo: size.depth for size in sizes.fifos} == dict.fromkeys(names, 1)
    assert sizes.fifos[0].reason == "no FIFO is shallower; of one type: a, b, c"


def test_stated_trips() -> None:
    s = df.customize(counted)
    assert s.size_fifos(trips={"i": 16}).fifos[0].elements == 16
    assert str(s.steps) == """s.size_fifos(fifos=["counted:pipe"], depths=[1])\n"""


def test_arms_that_put_the_same() -> None:
    """Whichever arm data choose, one element is taken."""
    sizes = pipelined_wide().size_fifos()
    assert sizes.fifos[0].elements == N


@pytest.mark.parametrize("name", sampled([name for name in NAMES if "streams" in load(name).designs]))
def test_designs_of_polybench(name: str) -> None:
    """They are not slower than with FIFOs without limits, and each depth that is lower by one costs cycles or all."""
    s = load(name).designs["streams"].customized("MINI")
    found = static_trace(s.ir, "u280")
    sizes = s.size_fifos()
    assert sizes.cycles == sizes.unlimited
    made = [op for function in s.ir.functions() for op in made_streams(function)]
    names = [f"{function_around(op).name.value}:{string_of(op, 'allo.name')}" for op in made]
    depths = {size.fifo: size.depth for size in sizes.fifos}

    def run(depths: dict[str, int]) -> int | None:
        again = replay(found.trace, [depths[names[stream]] for stream in found.streams])
        return None if again.stuck else again.total

    assert run(depths) == sizes.unlimited == run(dict.fromkeys(depths, 0))
    for fifo in sizes.fifos:
        if fifo.depth > 1:
            cycles = run(depths | {fifo.fifo: fifo.depth - 1})
            assert cycles is None or cycles > sizes.unlimited


# -- what it refuses ---------------------------------------------------------------------------------------

REFUSED: list[tuple[Callable[[], allo.Schedule], dict[str, Any], str]] = [
    (
        lambda: allo.customize(chain),
        {},
        """
size_fifos: 'chain' has no FIFOs
  hint: relay(array, consumer) makes one, or declare a Stream[T, depth]""",
    ),
    (
        lambda: df.customize(forked),
        {"strategy": "exat"},
        """
size_fifos: strategy must be one of exact, normal, conservative, pareto, got 'exat'
  hint: did you mean 'exact'?""",
    ),
    (
        lambda: df.customize(forked),
        {"budget": 3},
        """
size_fifos: budget= are blocks of BRAM that a point on the front may take, not for 'exact'
  hint: s.size_fifos("pareto", budget=4)""",
    ),
    (
        lambda: df.customize(forked),
        {"strategy": "pareto", "budget": -3},
        """
size_fifos: budget= are blocks of BRAM that a point on the front may take, got -3
  hint: s.size_fifos("pareto", budget=4)""",
    ),
    (
        lambda: df.customize(forked),
        {"depths": [3]},
        """
size_fifos: depths= are those of fifos=, one each: 1 depth for none
  hint: s.size_fifos(fifos=["pipe"], depths=[4])""",
    ),
    (
        lambda: df.customize(forked),
        {"fifos": ["slow"], "depths": [0]},
        """
size_fifos: the depth of a FIFO must be from 1 to 4294967295, got 0""",
    ),
    (
        lambda: df.customize(forked),
        {"fifos": ["slow", "slow"], "depths": [2, 3]},
        """
size_fifos: fifos= names 'forked:slow' twice
  hint: give each FIFO one depth""",
    ),
    (
        lambda: df.customize(forked),
        {"fifos": ["slaw"]},
        """
size_fifos: function 'forked' makes no FIFO 'slaw'
  hint: did you mean 'slow'?""",
    ),
    (
        lambda: df.customize(forked),
        {"fifos": []},
        """
size_fifos: fifos= names no FIFO
  hint: leave it out: all are sized""",
    ),
    (
        lambda: df.customize(forked),
        {"fifos": [3]},
        """
size_fifos: a FIFO is named by a string, got int 3""",
    ),
    (
        lambda: df.customize(forked),
        {"trips": {"i": -1}},
        """
size_fifos: trips must be numbers of iterations by loops, got {'i': -1}
  hint: trips={"f:i": 64}""",
    ),
    (
        lambda: df.customize(moved_in),
        {"fifos": ["b"]},
        """
size_fifos: the depth of 'moved_in:b' is part of the interface: the FIFO has the type of an argument of the entry, or of a function without a body
  note: 'b' is made here
    File, line N, column 5
      b: Stream[int32, 4]
      ^
  hint: declare the depth there""",
    ),
    (
        lambda: df.customize(moved_twice),
        {"fifos": ["a", "c"], "depths": [1, 2]},
        """
size_fifos: FIFOs that are passed to one argument of a function have one depth, got 1 for 'moved_twice:a' and 2 for 'moved_twice:c'
  note: 'a' is made here
    File, line N, column 5
      a: Stream[int32, 4]
      ^
  note: 'b' is made here
    File, line N, column 5
      b: Stream[int32, 4]
      ^
  note: 'c' is made here
    File, line N, column 5
      c: Stream[int32, 4]
      ^""",
    ),
]


@pytest.mark.parametrize(("schedule", "options", "golden"), REFUSED, ids=[str(options) for _, options, _ in REFUSED])
def test_refusals(schedule: Callable[[], allo.Schedule], options: dict[str, Any], golden: str) -> None:
    assert refusal(schedule(), "size_fifos", **options) == golden.strip("\n")


def test_refuses_a_budget_that_is_too_small() -> None:
    s = df.customize(piled)
    assert refusal(s, "size_fifos", "pareto", budget=1) == dedent("""\
        size_fifos: no FIFOs fit into 1 block of BRAM: the smallest with which nothing waits for ever take 4, and 16,549 cycles
          hint: budget=4, or narrower elements""")


def test_refuses_data_that_decide_what_passes() -> None:
    assert error_of(DataflowError, df.customize(guarded)) == dedent("""\
        File, line N, column 13: depths cannot be computed, since it is not known what passes through 'pipe' at which time: whether a stream is used depends on data
            if A[i] > 3:
            ^
          hint: give the depths yourself: s.size_fifos(fifos=[...], depths=[...])""")


def test_refuses_trips_that_are_not_known() -> None:
    assert error_of(DataflowError, df.customize(counted)) == dedent("""\
        File, line N, column 9: depths cannot be computed, since it is not known what passes through 'pipe' at which time: how often loop 'i' runs is known at run time only
            for i in range(n):
            ^
          hint: state how often it runs: trips={"puts:i": ...}""")


def test_refuses_trips_that_do_not_fit() -> None:
    assert error_of(DataflowError, df.customize(counted), trips={"puts:i": 8, "gets:i": 7}) == dedent("""\
        File, line N, column 5: 8 elements are put into 'pipe' and 7 taken: no depth is right
            pipe: Stream[int32, 4]
            ^
          hint: put as many elements into streams as are taken out, or state other trips""")


def test_refuses_targets_and_loops_that_do_not_exist() -> None:
    s = df.customize(forked)
    assert error_of(TargetError, s, target="u281") == (
        "no target 'u281'; there are ecp5, mesh8x8, mesh8x8_open, u280, u280_mesh, u55c, wormhole_n300d, "
        "xdna1_mesh, xdna1_npu1, xdna2_mesh, xdna2_npu2, zynq7020\n  hint: did you mean 'u280'?"
    )
    assert error_of(TargetError, s, trips={"k": 1}) == (
        "trips names no loop of the kernel: 'k'\n  hint: give the name of a loop"
    )
