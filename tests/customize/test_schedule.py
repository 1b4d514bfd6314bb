"""The schedule around the primitives: names, handles, the printed tree, steps, undo and replay."""

# ruff: noqa: E501 - golden text is not wrapped

import inspect

import numpy as np
import pytest

import allo
from allo import ScheduleError, customize
from allo.customize import Buffer, Function, Loop, Step
from allo.ir.types import int32

from .checks import assert_refused, assert_same_meaning, ir_text, normalised, parsed

WEIGHTS = np.arange(8, dtype=np.int32)


def scale(X: int32[8], Y: int32[8]):
    for i in range(8):
        Y[i] = X[i] * WEIGHTS[i]
    for i in range(8):
        Y[i] += 1


def top(A: int32[8], B: int32[8]):
    scale(A, B)
    for i in range(8):
        t: int32 = B[i]
        A[i] = t + WEIGHTS[i]


def renamed(A: int32[8], B: int32[8]):
    for i in range(8):
        t: int32 = B[i]
        A[i] = t + 2


def gemm(A: int32[4, 6], B: int32[6, 8], C: int32[4, 8]):
    for i, j in allo.grid(4, 8, name="PE"):
        for k in range(6):
            C[i, j] += A[i, k] * B[k, j]


def twice_named(A: int32[8, 8]):
    for i, j in allo.grid(8, 8, name="PE"):
        A[i, j] = 1
    for i, j in allo.grid(8, 8, name="PE"):
        A[i, j] += i
    while A[0, 0] > 2:
        A[0, 0] -= 1
    while A[0, 1] > 2:
        A[0, 1] -= 1


def named_inside(A: int32[8, 8, 8]):
    for i in range(8, name="rows"):
        for j, k in allo.grid(8, 8, name="plane"):
            A[i, j, k] = i
        for j in range(8):
            A[i, j, 0] += j


def message(call, *arguments, **options) -> str:
    with pytest.raises(ScheduleError) as caught:
        call(*arguments, **options)
    return normalised(str(caught.value))


# -- buffers ------------------------------------------------------------------------------------------


def test_buffers_of_the_kernel_and_of_what_it_calls():
    names = [
        "scale:X",
        "scale:Y",
        "scale:WEIGHTS",
        "top:A",
        "A",
        "top:B",
        "B",
        "top:WEIGHTS",
        "WEIGHTS",
        "top:t",
        "t",
    ]
    buffers = customize(top).buffers
    assert list(buffers) == names
    assert buffers["A"] == buffers["top:A"] == Buffer("top", "A")
    assert buffers["scale:X"] == Buffer("scale", "X")


def test_buffers_cannot_be_changed():
    with pytest.raises(TypeError):
        customize(top).buffers["A"] = Buffer("top", "B")


def test_buffers_are_attributes():
    s = customize(top)
    assert Buffer("top", "A") == s.A and Buffer("top", "WEIGHTS") == s.WEIGHTS and s.t == Buffer("top", "t")
    assert s.buffer_at(s.B, "i") == s.buf_B


def test_attribute_that_is_neither_primitive_nor_buffer():
    for name, hint in (
        ("splt", "; did you mean 'split'?"),
        ("WEIGHT", "; did you mean 'WEIGHTS'?"),
        ("zzz", ""),
    ):
        with pytest.raises(AttributeError) as caught:
            getattr(customize(top), name)
        assert str(caught.value) == f"the schedule of 'top' has no primitive and no buffer '{name}'{hint}"
    assert not hasattr(customize(top), "_private")


def test_buffer_that_does_not_exist():
    assert_refused(
        """
        partition: function 'top' has no buffer 'WEIGHT'
          hint: did you mean 'WEIGHTS'?
        """,
        customize(top),
        "partition",
        "WEIGHT",
    )
    assert_refused(
        """
        partition: function 'scale' has no buffer 'zzz'
          hint: its buffers are X, Y, WEIGHTS
        """,
        customize(top),
        "partition",
        "scale:zzz",
    )
    assert_refused(
        """
        partition: the module has no function 'scal'
          hint: did you mean 'scale'?
        """,
        customize(top),
        "partition",
        "scal:X",
    )


def test_buffer_of_a_wrong_type():
    assert_refused(
        """
        partition: a buffer is named by a string or a handle such as s.A, got int 3
        """,
        customize(top),
        "partition",
        3,
    )


def test_buffer_handle_of_another_schedule():
    other = customize(gemm)
    assert_refused(
        """
        partition: the buffer 'gemm:C' is of another schedule: that of 'top' has no function 'gemm'
          hint: give handles of the same schedule; s.compose(...) joins schedules of kernels and callers
        """,
        customize(top),
        "partition",
        other.C,
    )
    assert_refused(
        """
        partition: a buffer is named by a string or a handle such as s.A, got Loop Loop(function='f', nest='S', name='i')
        """,
        customize(top),
        "partition",
        Loop("f", "S", "i"),
    )


def test_buffer_handle_after_undo():
    s = customize(top)
    handle = s.buffer_at("B", "i")
    s.undo()
    assert_refused(
        """
        partition: the buffer 'top:buf_B' is of another schedule, or of a step that was undone: \
function 'top' has no buffer 'buf_B'
          hint: its buffers are A, B, WEIGHTS, t
        """,
        s,
        "partition",
        handle,
    )


# -- loops --------------------------------------------------------------------------------------------


def test_tree_of_loops_prints():
    s = customize(gemm)
    s.split("j", 4)
    s.pipeline("k", 2)
    s.unroll("j.inner")
    s.parallel("i")
    assert str(s.get_loops()) == "\n".join(
        [
            "gemm",
            "  PE:",
            "    i  (parallel)",
            "      j.outer",
            "        j.inner  (unroll=0)",
            "          k  (pipeline=2)",
        ]
    )
    assert repr(s.get_loops()) == str(s.get_loops())


def test_tree_of_loops_is_indexed():
    loops = customize(gemm).get_loops()
    assert loops.PE.k == loops["PE"]["k"] == Loop("gemm", "PE", "k")
    assert [nest.name for nest in loops] == ["PE"] and len(loops) == 1
    assert [loop.name for loop in loops.PE] == ["i", "j", "k"] and len(loops.PE) == 3


def test_loops_of_a_callee():
    loops = customize(top).get_loops("scale")
    assert str(loops) == "scale\n  S_i_0:\n    i\n  S_i_1:\n    i"
    assert loops.S_i_1.i == Loop("scale", "S_i_1", "i")


def test_named_inner_nest_is_a_nest_too():
    s = customize(named_inside)
    loops = s.get_loops()
    assert [[loop.name for loop in nest] for nest in loops] == [["i", "j", "k", "j_1"], ["j", "k"]]
    s.split(loops.plane.k, 2)
    s.split("plane.j", 4)
    assert [loop.name for loop in s.get_loops().plane] == ["j.outer", "j.inner", "k.outer", "k.inner"]
    assert_same_meaning(named_inside, s)


def test_nests_named_alike_are_told_apart():
    s = customize(twice_named)
    assert [nest.name for nest in s.get_loops()] == ["PE", "PE_1", "while", "while_1"]
    s.split("PE_1.i", 2)
    s.pipeline("while_1.while")
    assert [loop.name for loop in s.get_loops().PE] == ["i", "j"]
    assert_same_meaning(twice_named, s)


def test_nests_named_alike_in_a_parsed_module():
    s = parsed(
        """
        module attributes {allo.top = "f"} {
          func.func @f() {
            affine.for %i = 0 to 4 { } {allo.name = "i", allo.nest = "PE"}
            affine.for %i = 0 to 4 { } {allo.name = "i", allo.nest = "PE"}
            return
          }
        }
        """
    )
    assert_refused(
        """
        split: there are 2 loops 'f:PE.i'
          note: loop 'i' is here
            File, line N, column 13
          note: loop 'i' is here
            File, line N, column 13
          hint: give the loop nests names of their own (the attribute allo.nest)
        """,
        s,
        "split",
        s.get_loops().PE.i,
        2,
    )


def test_tree_without_the_name():
    loops = customize(gemm).get_loops()
    assert message(lambda: loops.PEE) == "function 'gemm' has no loop nest 'PEE'\n  hint: did you mean 'PE'?"
    assert message(lambda: loops["zzz"]) == "function 'gemm' has no loop nest 'zzz'\n  hint: its nests are PE"
    assert message(lambda: loops.PE.zzz) == "nest 'PE' has no loop 'zzz'\n  hint: its loops are i, j, k"
    assert message(customize(gemm).get_loops, "gem") == (
        "the module has no function 'gem'\n  hint: did you mean 'gemm'?"
    )
    assert message(customize(top).get_loops, 5) == (
        "the module has no function '5'\n  hint: the functions are scale, top"
    )


def test_forms_of_a_loop_argument():
    texts = set()
    for given in ("k", "gemm:k", "PE.k", "gemm:PE.k", Loop("gemm", "PE", "k")):
        s = customize(gemm)
        s.split(given, 3)
        texts.add(ir_text(s))
    assert len(texts) == 1


def test_loop_that_does_not_exist():
    assert_refused(
        """
        split: function 'gemm' has no loop 'zzz'
          hint: its loops are i, j, k
        """,
        customize(gemm),
        "split",
        "zzz",
        2,
    )
    assert_refused(
        """
        split: function 'scale' has no loop 'S_i_7.i'
          hint: did you mean 'S_i_1.i'?
        """,
        customize(top),
        "split",
        "scale:S_i_7.i",
        2,
    )
    assert_refused(
        """
        split: the module has no function 'scal'
          hint: did you mean 'scale'?
        """,
        customize(top),
        "split",
        "scal:i",
        2,
    )
    assert_refused(
        """
        split: function 'f' has no loop 'i'
          hint: it has no loops
        """,
        parsed('module attributes {allo.top = "f"} { func.func @f() { return } }'),
        "split",
        "i",
        2,
    )


def test_loop_of_a_wrong_type():
    assert_refused(
        """
        split: a loop is named by a string or a handle of get_loops(), got int 3
        """,
        customize(gemm),
        "split",
        3,
        2,
    )
    assert_refused(
        """
        reorder: a loop is named by a string or a handle of get_loops(), got Buffer Buffer(function='gemm', name='A')
        """,
        customize(gemm),
        "reorder",
        "i",
        Buffer("gemm", "A"),
    )


def test_name_of_two_loops():
    assert_refused(
        """
        split: function 'scale' has 2 loops named 'i'
          note: 'scale:S_i_0.i' is here
            File, line N, column 5
              for i in range(8):
              ^
          note: 'scale:S_i_1.i' is here
            File, line N, column 5
              for i in range(8):
              ^
          hint: say which one: 'scale:S_i_0.i', 'scale:S_i_1.i'
        """,
        customize(top),
        "split",
        "scale:i",
        2,
    )


def test_handle_that_an_earlier_step_has_replaced():
    s = customize(gemm)
    handle = s.get_loops().PE.j
    s.split(handle, 4)
    assert_refused(
        """
        split: there is no loop 'gemm:PE.j' any more: step 0, s.split("gemm:PE.j", factor=4), replaced it
          note: 'j' was replaced here
            File, line N
              s.split(handle, 4)
          hint: the loops of the nest are now i, j.outer, j.inner, k
        """,
        s,
        "split",
        handle,
        2,
    )


def test_handle_of_another_schedule():
    other = customize(gemm).get_loops().PE.i
    assert_refused(
        """
        split: the loop 'gemm:PE.i' is of another schedule: that of 'top' has no function 'gemm'
          hint: give handles of the same schedule; s.compose(...) joins schedules of kernels and callers
        """,
        customize(top),
        "split",
        other,
        2,
    )
    assert_refused(
        """
        split: the loop 'top:PE.i' is of another schedule, or of a step that was undone: \
function 'top' has no loop nest 'PE'
          hint: its loop nests are S_i_0
        """,
        customize(top),
        "split",
        Loop("top", "PE", "i"),
        2,
    )


# -- calls --------------------------------------------------------------------------------------------


def test_arguments_that_do_not_fit():
    assert_refused(
        """
        split: s.split(): missing a required argument: 'factor'
          hint: use s.split(loop, factor)
        """,
        customize(gemm),
        "split",
        "i",
    )
    assert_refused(
        """
        split: s.split(): too many positional arguments
          hint: use s.split(loop, factor)
        """,
        customize(gemm),
        "split",
        "i",
        2,
        3,
    )
    assert_refused(
        """
        pipeline: s.pipeline(): got an unexpected keyword argument 'ii'
          hint: use s.pipeline(loop, initiation_interval=1, rewind=False)
        """,
        customize(gemm),
        "pipeline",
        "i",
        ii=2,
    )


def test_error_shows_the_line_of_the_schedule():
    s = customize(gemm)
    line = inspect.currentframe().f_lineno + 2
    with pytest.raises(ScheduleError) as caught:
        s.split("i", 0)
    first, second = str(caught.value).split("\n")[:2]
    assert first == f'File "{__file__}", line {line}: split: factor must be at least 1, got 0'
    assert second == '    s.split("i", 0)'


# -- steps --------------------------------------------------------------------------------------------


def test_steps_print_as_python():
    s = customize(gemm)
    s.split("j", 4)
    s.reorder("k", "j.inner")
    s.buffer_at(s.C, "i")
    s.partition("buf_C", allo.Partition.Block, factor=2)
    assert repr(s).split("\n") == [
        "Schedule of 'gemm', 4 steps",
        '  s.split("gemm:PE.j", factor=4)',
        '  s.reorder("gemm:PE.k", "gemm:PE.j.inner")',
        '  s.buffer_at("gemm:C", axis="gemm:PE.i")',
        '  s.partition("gemm:buf_C", partition_type=Partition.Block, factor=2)',
    ]


def test_printed_steps_are_python():
    s = customize(gemm)
    s.split("j", 4)
    s.fuse(["i", "j.outer"])
    s.partition("C", allo.Partition.Block, factor=2)
    again = customize(gemm)
    for step in s.steps:
        eval(str(step), {"s": again, "Partition": allo.Partition})
    assert str(again.module) == str(s.module)


def test_step_knows_its_line_and_its_result():
    s = customize(gemm)
    loops = s.split("j", 4)
    (step,) = s.steps
    assert isinstance(step, Step) and step.name == "split" and step.result == loops
    assert step.at.file == __file__ and 's.split("j", 4)' in step.at.excerpt()


def test_steps_cannot_be_changed():
    s = customize(gemm)
    s.split("j", 4)
    with pytest.raises(AttributeError):
        s.steps[0].name = "fuse"


def test_verbose_prints_each_step(capsys):
    s = customize(gemm, verbose=True)
    assert capsys.readouterr().out == ""
    s.pipeline("k")
    assert capsys.readouterr().out == f's.pipeline("gemm:PE.k")\n{s.module}\n'
    message(s.split, "k", 0)
    assert capsys.readouterr().out == ""


# -- undo and replay ----------------------------------------------------------------------------------


def test_undo_of_several_steps():
    s = customize(gemm)
    texts = [str(s.module)]
    for factor in (4, 2):
        s.split(s.get_loops().PE["j" if factor == 4 else "j.inner"], factor)
        texts.append(str(s.module))
    s.undo(0)
    assert str(s.module) == texts[2]
    s.undo(2)
    assert str(s.module) == texts[0] and s.steps == ()


def test_undo_of_more_steps_than_there_are():
    s = customize(gemm)
    s.pipeline("k")
    assert repr(s).splitlines()[0].endswith(", 1 step")
    assert message(s.undo, 2) == "cannot undo 2: the schedule has 1 step"
    assert message(s.undo, -1) == "cannot undo -1: the schedule has 1 step"
    assert len(s.steps) == 1


def test_schedule_goes_on_after_undo():
    s = customize(gemm)
    s.split("j", 4)
    s.undo()
    s.split("j", 2)
    assert [str(step) for step in s.steps] == ['s.split("gemm:PE.j", factor=2)']
    assert_same_meaning(gemm, s)


def test_steps_of_one_kernel_on_another():
    s = customize(top)
    s.split("i", 4)
    s.buffer_at("A", "i.outer")
    t = customize(renamed)
    t.replay(s.steps)
    assert [str(step) for step in t.steps] == [
        's.split("renamed:S_i_0.i", factor=4)',
        's.buffer_at("renamed:A", axis="renamed:S_i_0.i.outer")',
    ]
    assert_same_meaning(renamed, t)


def test_replay_that_fails_changes_nothing():
    s = customize(gemm)
    s.split("j", 4)
    s.pipeline("k")
    t = customize(gemm)
    t.unroll("k", 2)
    text, steps = str(t.module), t.steps
    assert message(t.replay, [*s.steps, *s.steps]).startswith(
        "File, line N: split: there is no loop 'gemm:PE.j'"
    )
    assert str(t.module) == text and t.steps == steps


@pytest.mark.parametrize(
    ("given", "shown"),
    [(["split"], "str 'split'"), ([None], "NoneType None"), (None, "NoneType None"), (5, "int 5"), (b"s", "int 115")],
)
def test_replay_of_what_is_no_step_changes_nothing(given, shown):
    s = customize(gemm)
    s.split("j", 4)
    t = customize(gemm)
    wanted = f"""\
steps are replayed, got {shown}
  hint: give s.steps of a schedule, some of them, or the text that they print"""
    assert message(t.replay, [*s.steps, *given] if isinstance(given, list) else given) == wanted
    assert t.steps == () and str(t.module) == str(customize(gemm).module)


@pytest.mark.parametrize("target", ["top", 5, [], gemm])
def test_replay_on_what_is_no_schedule(target):
    s = customize(gemm)
    kind = type(target).__name__
    assert message(s.replay, s.steps, target) == f"on must be a schedule, got {kind} {target!r}"


@pytest.mark.parametrize("k", ["1", 1.0, True, [1], gemm])
def test_numbers_of_steps_are_integers(k):
    s = customize(gemm)
    s.split("j", 4)
    before = str(s.module)
    assert message(s.undo, k) == f"n must be an integer, got {k!r}"
    for look in (s.diff, s.state, s.pseudocode):
        assert message(look, k) == f"k must be an integer, got {k!r}"
    assert len(s.steps) == 1 and str(s.module) == before


def test_states_that_are_not_there():
    s = customize(gemm)
    s.split("j", 4)
    for k in (-1, 2):
        for look in (s.state, s.pseudocode):
            assert message(look, k) == f"there is no state after {k} steps: the schedule has 1 step"
    assert s.state(np.int64(1)) is s.ir


def test_loops_of_a_function_by_name_handle_and_kernel():
    s = customize(top)
    expected = str(s.get_loops("scale"))
    assert expected.startswith("scale") and str(s.get_loops(scale)) == str(s.get_loops(Function("scale"))) == expected


def test_schedules_of_one_kernel_are_independent():
    first, second = customize(gemm), customize(gemm)
    before = str(second.module)
    first.split("j", 4)
    assert str(second.module) == before


def test_loops_of_operators_are_asked_for() -> None:
    def product(A: int32[4, 4], B: int32[4, 4]) -> int32[4, 4]:
        return A @ B

    with pytest.raises(ScheduleError) as refused:
        allo.customize(product).split("i", 2)
    assert "function 'product' has no loop 'i'" in str(refused.value)
    assert str(refused.value).endswith("its operators become loops by allo.customize(..., lower_linalg=True)")
