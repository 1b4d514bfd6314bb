"""Steps of a caller and of composed schedules that change the same thing are refused, with both lines."""

# ruff: noqa: E501, F821 - golden text is not wrapped; kernels declare arrays without a value

import gc
import weakref

import pytest

import allo
from allo import LayoutConflict, Partition, customize
from allo.ir.types import int32
from allo.memory import Memory

from .checks import assert_faithful, assert_refused, refusal


def work(A: int32[4, 8], B: int32[4, 8]):
    T: int32[4, 8]
    for i, j in allo.grid(4, 8, name="first"):
        T[i, j] = A[i, j] * 2
    for i, j in allo.grid(4, 8, name="second"):
        B[i, j] = T[i, j] + 1


def top(A: int32[4, 8], B: int32[4, 8]):
    work(A, B)


def one(A: int32[4, 8], B: int32[4, 8]):
    work(A, B)


def both(A: int32[4, 8], B: int32[4, 8], C: int32[4, 8]):
    work(A, B)
    one(B, C)


def part(step, kernel=work):
    s = customize(kernel)
    step(s)
    return s


def test_a_loop_that_the_caller_has_changed():
    s = customize(top)
    s.split("work:first.j", 4)
    sub = part(lambda s: s.pipeline("first.j"))
    assert_refused(
        """
        File: compose: s.pipeline("work:first.j") conflicts with s.split("work:first.j", factor=4): both change loop nest 'work:first'
          note: the first one is here
            File
              sub = part(lambda s: s.pipeline("first.j"))
          note: the second one is here
            File
              s.split("work:first.j", 4)
          hint: drop one of the two steps, or compose before the caller's own steps on that function
        """,
        s,
        sub,
    )


def conflict(mine, theirs, kernel=top):
    """The first line of the refusal, without the file."""
    s = customize(kernel)
    mine(s)
    return refusal(s, part(theirs)).splitlines()[0].removeprefix("File: compose: ")


def test_a_partition_of_an_array_whose_shape_the_caller_has_changed():
    s = customize(top)
    s.reshape("A", (8, 4))
    sub = part(lambda s: s.partition("A", dim=2, factor=4))
    assert_refused(
        """
        File: compose: s.partition("work:A", dim=2, factor=4) conflicts with s.reshape("top:A", shape=[8, 4]): the second one changes the type of buffer 'work:A'
          note: the first one is here
            File
              sub = part(lambda s: s.partition("A", dim=2, factor=4))
          note: the second one is here
            File
              s.reshape("A", (8, 4))
          hint: drop one of the two steps, or compose before the caller's own steps on that function
        """,
        s,
        sub,
    )


def test_a_partition_of_an_array_that_became_words():
    assert conflict(lambda s: s.pack("A", 2, 2), lambda s: s.partition("A", dim=2)) == (
        's.partition("work:A", dim=2) conflicts with s.pack("top:A", dim=2, factor=2): '
        "the second one changes the type of buffer 'work:A'"
    )


def test_a_partition_of_an_array_that_became_a_fifo():
    assert conflict(lambda s: s.relay("work:T", "work:second"), lambda s: s.partition("T")) == (
        's.partition("work:T") conflicts with s.relay("work:T", dst="work:second"): '
        "the second one changes the type of buffer 'work:T'"
    )


def test_a_partition_of_an_array_whose_type_is_as_it_was():
    s = customize(top)
    s.reshape("B", (8, 4))
    s.bind("work:A", Memory(resource="URAM"))
    s.partition("A", Partition.Cyclic, 2, 2)
    s.compose(part(lambda s: s.partition("A", dim=2, factor=4)))
    assert str(s.steps[-1]) == 's.partition("work:A", dim=2, factor=4)'


def test_a_new_shape_of_an_array_that_the_caller_has_partitioned_keeps_its_banks_apart():
    s = customize(top)
    s.partition("A", dim=2, factor=3)
    s.compose(part(lambda s: s.reshape("A", (32,))))
    assert str(s.module).count("%arg0: memref<32xi32, #allo.partition<[cyclic 8]>>") == 2


def test_banks_of_the_caller_stay_in_a_new_shape():
    s = customize(top)
    s.partition("A", Partition.Cyclic, 2, 4)
    s.compose(part(lambda s: s.reshape("A", (4, 2, 4))))
    assert str(s.module).count("%arg0: memref<4x2x4xi32, #allo.partition<[none, none, complete]>>") == 2


def test_two_annotations_of_one_loop():
    assert conflict(lambda s: s.unroll("work:first.j", factor=2), lambda s: s.pipeline("first.j")) == (
        's.pipeline("work:first.j") conflicts with s.unroll("work:first.j", factor=2): both change loop \'work:first.j\''
    )


def test_annotations_of_two_loops_of_a_nest_commute():
    s = customize(top)
    s.unroll("work:first.j", factor=2)
    s.compose(part(lambda s: s.pipeline("first.i")))
    assert_faithful(top, s)


def test_an_array_that_the_caller_has_changed():
    message = conflict(lambda s: s.reshape("A", (8, 4)), lambda s: s.reshape("A", (32,)))
    assert message.startswith('s.reshape("work:A", shape=[32]) conflicts with s.reshape("top:A", shape=[8, 4]): both change')
    message = conflict(lambda s: s.bind("work:T", Memory("URAM")), lambda s: s.bind("T", Memory("BRAM")))
    assert message.endswith("both change buffer 'work:T'")


def test_a_function_that_the_caller_has_inlined():
    s = customize(top)
    s.inline("work")
    assert_refused(
        """
        File: compose: 'work' is no function of its own any more
          note: the step that removed it, s.inline("work"), is here
            File
              s.inline("work")
          hint: compose its schedule first
        """,
        s,
        part(lambda s: s.pipeline("first.j")),
    )


def test_two_parts_that_disagree():
    first, second = part(lambda s: s.reorder("first.j", "first.i")), part(lambda s: s.split("first.i", 2))
    message = refusal(customize(top), [first, second])
    assert message.splitlines()[0] == (
        'File: compose: s.split("work:first.i", factor=2) conflicts with s.reorder("work:first.j", "work:first.i"): '
        "both change loop nest 'work:first'"
    )


def test_two_parts_with_the_same_steps_in_another_order():
    def forth(s):
        s.unroll("first.j", factor=2)
        s.pipeline("second.i")

    def back(s):
        s.pipeline("second.i")
        s.unroll("first.j", factor=2)

    s = allo.compose(top, [part(forth), part(back)])
    assert len(s.steps) == 2


def test_the_same_steps_in_an_order_that_matters():
    def forth(s):
        s.split("first.i", 2)
        s.split("first.j", 2)

    def back(s):
        s.split("first.j", 2)
        s.split("first.i", 2)

    message = refusal(customize(top), [part(forth), part(back)])
    assert 's.split("work:first.j", factor=2) conflicts with s.split("work:first.i", factor=2)' in message


def test_a_part_that_goes_on_where_another_one_ends():
    def more(s):
        s.split("first.i", 2)
        s.pipeline("first.i.inner")

    s = allo.compose(top, [part(lambda s: s.split("first.i", 2)), part(more)])
    assert [step.name for step in s.steps] == ["split", "pipeline"]
    assert_faithful(top, s)


def test_parts_that_disagree_about_a_shared_function():
    def of_one(s):
        s.unroll("work:second.j", factor=2)

    s = customize(both)
    s.compose(part(lambda s: s.split("second.j", 4)))
    message = refusal(s, part(of_one, one))
    assert message.splitlines()[0] == (
        'File: compose: s.unroll("work:second.j", factor=2) conflicts with s.split("work:second.j", factor=4): '
        "both change loop nest 'work:second'"
    )


def test_partitions_of_one_array_that_contradict():
    first = part(lambda s: s.partition("A", dim=2, factor=4))
    second = part(lambda s: s.partition("A", Partition.Block, dim=2, factor=2))
    s = customize(top)
    assert_refused(
        """
        File: partition: dimension 2 of 'A' is asked to be block 2 here, but cyclic 4 by an earlier step
            second = part(lambda s: s.partition("A", Partition.Block, dim=2, factor=2))
          note: 'A' is declared here
            File
              def work(A: int32[4, 8], B: int32[4, 8]):
                       ^
          note: the earlier step, s.partition("work:A", dim=2, factor=4), is here
            File
              first = part(lambda s: s.partition("A", dim=2, factor=4))
          note: its schedule is composed here
            File
          hint: drop one of the two steps; only requests for different arrays that calls join are combined
        """,
        s,
        [first, second],
    )
    with pytest.raises(LayoutConflict):
        s.compose([first, second])
    assert len(s.steps) == 0


def test_a_step_that_fails_in_the_caller_says_where_it_was_composed():
    """The caller's array is given to the function twice, so that a step on it cannot be done there."""

    def plain(A: int32[8]) -> int32[8]:
        B: int32[8]
        for i in range(8):
            B[i] = A[i]
        return B

    def uses(A: int32[8]) -> int32[8]:
        C: int32[8] = allo.copy(A)
        return plain(C)

    s = customize(uses)
    message = refusal(s, part(lambda s: s.reshape("A", (2, 4)), plain))
    assert message.startswith("File: reshape: 'A' cannot be reshaped")
    assert "note: its schedule is composed here" in message


def test_a_step_that_only_tidies_another_nest_changes_nothing_there():
    """`reshape` composes the maps of the whole module; what it only writes in another way is not a conflict."""

    def first(A: int32[8], B: int32[13]):
        for i in range(8):
            B[i] = A[i] + 1

    def last(B: int32[13], C: int32[13]):
        for i, j in allo.grid(2, 8, name="tail"):
            if i * 8 + j < 13:
                C[i * 8 + j] = B[i * 8 + j]

    def calls(A: int32[8], B: int32[13], C: int32[13]):
        first(A, B)
        last(B, C)

    s = customize(calls)
    before = ir_of(s, "last")
    s.reshape("A", (2, 4))
    assert ir_of(s, "last") != before
    s.compose(part(lambda s: s.unroll("j", factor=2), last))
    assert [step.name for step in s.steps] == ["reshape", "unroll"]


def ir_of(schedule, function):
    return schedule.ir.function(function).operation.get_asm(use_local_scope=True)


def test_what_was_found_out_is_forgotten_with_the_steps():
    """A composition that fails half way, and other steps in the place of those that it took back."""
    s = customize(top)
    bad = part(lambda s: (s.split("first.i", 2), s.pipeline("first.i.inner"), s.split("second.j", 4)))
    s.split("work:second.j", 2)
    refusal(s, bad)
    s.unroll("work:first.i", factor=2)
    message = refusal(s, part(lambda s: s.split("first.i", 2)))
    assert 's.split("work:first.i", factor=2) conflicts with s.unroll("work:first.i", factor=2)' in message
    s.undo(2)
    s.compose(bad)
    assert len(s.steps) == 3
    assert_faithful(top, s)


def test_schedules_are_not_kept_alive():
    s, other = customize(top), part(lambda s: s.split("first.i", 2))
    s.compose(other)
    alive = [weakref.ref(s), weakref.ref(other)]
    del s, other
    gc.collect()
    assert [reference() for reference in alive] == [None, None]
