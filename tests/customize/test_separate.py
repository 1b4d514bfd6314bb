"""separate: some positions of a task get a function of their own; steps on `"task[0, 1]:k"` do it by themselves."""

# Streams and arrays of regions are declared by annotations.
# ruff: noqa: B007, F821

from __future__ import annotations

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo import Schedule, ScheduleError
from allo.backend.instantiate import instantiate
from allo.ir.types import Stream, int16, int32
from allo.memory import Memory
from tests.published.doors import assert_same, ran, through_doors

from .checks import assert_refused, normalised

M, K = 2, 4
P = M + 2


@df.region()
def systolic(A: int16[M, K], B: int16[K, M], C: int16[M, M]):
    fifo_A: Stream[int16, 4][P, P]
    fifo_B: Stream[int16, 4][P, P]

    @df.kernel(mapping=[P, P], args=[A, B, C])
    def gemm(A: int16[M, K], B: int16[K, M], C: int16[M, M]):
        i, j = df.get_pid()
        with allo.meta_if(i in {0, M + 1} and j in {0, M + 1}):
            pass
        with allo.meta_elif(j == 0):
            for k in range(K):
                fifo_A[i, j + 1].put(A[i - 1, k])
        with allo.meta_elif(i == 0):
            for k in range(K):
                fifo_B[i + 1, j].put(B[k, j - 1])
        with allo.meta_elif(i == M + 1):
            for k in range(K):
                fifo_B[i, j].get()
        with allo.meta_elif(j == M + 1):
            for k in range(K):
                fifo_A[i, j].get()
        with allo.meta_else():
            c: int16 = 0
            for k in range(K):
                a: int16 = fifo_A[i, j].get()
                b: int16 = fifo_B[i, j].get()
                c += a * b
                fifo_A[i, j + 1].put(a)
                fifo_B[i + 1, j].put(b)
            C[i - 1, j - 1] = c


def helper(b: int32[4]):
    for i in range(4):
        b[i] = b[i] + 1


@df.region()
def rows(A: int32[4], B: int32[2, 4]):
    pipe: Stream[int32, 4][2]

    @df.kernel(mapping=[1], args=[A])
    def give(A: int32[4]):
        for p in range(2):
            for i in range(4):
                pipe[p].put(A[i])

    @df.kernel(mapping=[2], args=[B])
    def row(B: int32[2, 4]):
        p = df.get_pid()
        b: int32[4]
        for i in range(4):
            b[i] = pipe[p].get()
        helper(b)
        for j in range(4):
            B[p, j] = b[j]


def calls_rows(A: int32[4], B: int32[2, 4]):
    rows(A, B)


@pytest.fixture
def own() -> Schedule:
    s = df.customize(systolic)
    s.pipeline("gemm[1, 1]:k")
    s.pipeline("gemm[0, :]:k", initiation_interval=2)
    s.pipeline("gemm:S_k_4.k", initiation_interval=3)
    return s


def test_steps_name_the_function_that_positions_get(own: Schedule) -> None:
    assert [str(step) for step in own.steps] == [
        "s.separate(\"gemm\", positions='1, 1')",
        's.pipeline("gemm[1, 1]:S_k_4.k")',
        "s.separate(\"gemm\", positions='0, :')",
        's.pipeline("gemm[0, :]:S_k_1.k", initiation_interval=2)',
        's.pipeline("gemm:S_k_4.k", initiation_interval=3)',
    ]
    assert [str(loop) for loop in own.get_loops("gemm[0, :]")] == ["S_k_1:\n  k  (pipeline=2)"]
    text = str(own.module)
    assert [text.count(f"call @{name}(") for name in ('"gemm[1, 1]"', '"gemm[0, :]"', "gemm")] == [1, 1, 1]


def test_all_doors_show_the_same_bits(own: Schedule) -> None:
    own.partition("systolic:A", dim=1)
    own.partition("systolic:B", dim=2)
    own.partition("systolic:C")
    A, B = np.arange(M * K, dtype=np.int16).reshape(M, K), np.arange(K * M, dtype=np.int16).reshape(K, M) - 3
    arguments = A, B, np.zeros((M, M), np.int16)
    seen = through_doors(own, *arguments)
    assert_same(seen, ran(allo.interpret(systolic), arguments))
    np.testing.assert_array_equal(seen.arguments[2], A @ B)
    timed = own.build(timed=True)
    timed(*arguments)
    assert {"gemm[1, 1]", "gemm[0, 2]"} <= {task.name for task in timed.timing.tasks}
    code = own.build(target="vhls").hls_code
    assert [code.count(f"pipeline II={n}") for n in (1, 2, 3)] == [1, 1, 1]  # two positions are one function
    assert own.size_fifos().cycles is not None


def test_replayed_undone_and_read_back(own: Schedule) -> None:
    text = str(own.module)
    fresh = df.customize(systolic)
    before = str(fresh.module)
    fresh.replay(str(own.steps))
    assert str(fresh.module) == text
    assert str(Schedule.from_mlir(own.to_mlir()).module) == text
    assert str(Schedule.from_mlir(text).module) == text
    fresh.undo(5)
    assert str(fresh.module) == before


def test_composed() -> None:
    part = df.customize(rows)
    part.pipeline("row[1]:j")
    s = allo.customize(calls_rows)
    s.compose(part)
    assert [str(step) for step in s.steps] == [str(step) for step in part.steps]
    A, B = np.arange(4, dtype=np.int32), np.zeros((2, 4), np.int32)
    s.build()(A, B)
    np.testing.assert_array_equal(B, [A + 1, A + 1])
    assert s.verify()


def test_separated_further() -> None:
    s = df.customize(systolic)
    s.unroll("gemm[1:3, 1:3]:k")
    s.pipeline("gemm[2, 2]:k")
    assert str(s.separate("gemm", "1, 1:3")) == "gemm[1, 1:3]"
    assert s.ir.names() == ["gemm", "gemm[1:3, 1:3]", "gemm[1, 1:3]", "gemm[2, 2]", "systolic"]
    text = s.pseudocode()
    assert text.count("unroll") == 3
    s.pipeline("gemm[2, 1]:k")  # all that is left of gemm[1:3, 1:3]
    assert str(s.steps[-1]) == 's.pipeline("gemm[1:3, 1:3]:S_k_4.k")'
    assert s.verify()


def test_positions_that_are_all_there_are() -> None:
    s = df.customize(rows)
    s.pipeline("give[0]:i")
    s.pipeline("row[:]:j")
    assert [str(step) for step in s.steps] == ['s.pipeline("give:S_p_0.i")', 's.pipeline("row:S_j_1.j")']


def test_what_fails_leaves_no_function_behind() -> None:
    s = df.customize(rows)
    before = str(s.module)
    with pytest.raises(ScheduleError) as caught:
        s.pipeline("row[1]:j", initiation_interval=0)
    assert "initiation_interval must be at least 1, got 0" in str(caught.value)
    with pytest.raises(ScheduleError):
        s.reorder("row[0]:j", "row[1]:i")
    assert (len(s.steps), str(s.module)) == (0, before)


REFUSED = {
    "row[2]:j": """
        pipeline: 'row[2]' is outside the grid of task 'row': dimension 0 has the positions 0 to 1
          hint: the grid is 2
        """,
    "row[-1]:j": """
        pipeline: 'row[-1]' is outside the grid of task 'row': dimension 0 has the positions 0 to 1
          hint: the grid is 2
        """,
    "row[0, 1]:j": """
        pipeline: 'row[0, 1]' has 2 subscripts, and the grid of task 'row' has 1 dimension: 2
          hint: write a number, or a slice such as 0:2 or :, for each dimension
        """,
    "row[x]:j": """
        pipeline: 'x' in 'row[x]' is no position and no slice of positions
          hint: write a number, or a slice such as 0:2 or :, for each dimension
        """,
    "row[::2]:j": """
        pipeline: '::2' in 'row[::2]' is no position and no slice of positions
          hint: write a number, or a slice such as 0:2 or :, for each dimension
        """,
    "row[1:1]:j": """
        pipeline: '1:1' in 'row[1:1]' is no position
          hint: the grid is 2
        """,
    "helper[0]:i": """
        pipeline: 'helper' is no task with positions: it is not called once at each position of a grid
          note: 'helper' is declared here
            File, line N, column 1
              def helper(b: int32[4]):
              ^
          hint: positions are those of tasks: @df.kernel(mapping=[2, 2]), "gemm[0, 1]:k"
        """,
    "rows[0]:i": """
        pipeline: 'rows' is no task with positions: nothing in the module calls it
          note: 'rows' is declared here
            File, line N, column 1
              def rows(A: int32[4], B: int32[2, 4]):
              ^
        """,
    "nobody[0]:i": """
        pipeline: the module has no function 'nobody[0]'
          hint: the functions are give, helper, row, rows
        """,
    "row[0]:k": """
        pipeline: function 'row[0]' has no loop 'k'
          hint: its loops are i, j
        """,
}


@pytest.mark.parametrize("loop", REFUSED)
def test_refused(loop: str) -> None:
    assert_refused(REFUSED[loop], df.customize(rows), "pipeline", loop)


def test_positions_with_several_functions() -> None:
    s = df.customize(rows)
    s.pipeline("row[1]:j")
    message = """
        unroll: the positions 'row[:]' have no function in common any more: they are some of 'row[1]' and 'row'
          hint: name positions of one of them, or change each of them
        """
    assert_refused(message, s, "unroll", "row[0:2]:j")
    message = """
        separate: the positions 'row[1]' are all that 'row[1]' has
          hint: name it 'row[1]'
        """
    assert_refused(message, s, "separate", "row", "1")
    message = "separate: positions must be a text such as '0, 1' or '0, :', got 1"
    assert_refused(message, s, "separate", "row", 1)


def test_positions_whose_function_was_inlined() -> None:
    s = df.customize(rows)
    s.separate("row", "1")
    s.inline("row[1]")
    message = """
        pipeline: the positions 'row[1]' have no function: it was inlined into the nest of the grid
          hint: take the step on 'row[1]' before
        """
    assert_refused(message, s, "pipeline", "row[1]:j")
    s.pipeline("row[0]:j")
    assert s.verify()


def test_functions_in_hardware_have_names_of_its_language() -> None:
    s = df.customize(rows)
    s.partition("rows:B", dim=1)
    s.bind("row[1]:B", Memory(resource="BRAM"))  # keeps the function from being inlined
    made = instantiate(s.ir)
    assert all(name.isidentifier() for name in made.names())


def test_loops_of_positions_that_share_their_function() -> None:
    s = df.customize(rows)
    loops = s.get_loops("row[1]")
    assert loops.function == "row[1]" and not s.steps
    s.pipeline(next(loop for nest in loops for loop in nest if loop.name == "j"))
    assert [step.name for step in s.steps] == ["separate", "pipeline"] and "pipeline" not in str(s.get_loops("row[0]"))
    for wrong, why in (("row[7]", "'row[7]' is outside the grid of task 'row'"), ("col[1]", "the module has no func")):
        with pytest.raises(ScheduleError) as caught:
            s.get_loops(wrong)
        assert normalised(str(caught.value)).startswith(why)
