"""relay between composed kernels (Figs. 6 and 8 of the paper): chains, forks, joins, and orders that do not fit."""

# ruff: noqa: F821 - kernels declare arrays without a value

import re

import pytest

import allo
from allo import ScheduleError, customize
from allo.ir.types import int32

from .checks import assert_faithful


def gemm1(A: int32[4, 5], B: int32[5, 6], C: int32[4, 6]):
    for i, j in allo.grid(4, 6, name="PE"):
        total: int32 = 0
        for k in range(5):
            total += A[i, k] * B[k, j]
        C[i, j] = total


def gemm2(C: int32[4, 6], D: int32[6, 3], E: int32[4, 3]):
    for i, j in allo.grid(4, 3, name="PE"):
        for k in range(6):
            E[i, j] += C[i, k] * D[k, j]


def two_mm(A: int32[4, 5], B: int32[5, 6], D: int32[6, 3], E: int32[4, 3]):
    C: int32[4, 6]
    gemm1(A, B, C)
    gemm2(C, D, E)


def add(X: int32[4, 6], Y: int32[4, 6]):
    for i, j in allo.grid(4, 6, name="add"):
        Y[i, j] = X[i, j] + 1


def twice(X: int32[4, 6], Y: int32[4, 6]):
    for i, j in allo.grid(4, 6, name="twice"):
        Y[i, j] = X[i, j] * 2


def sum_of(X: int32[4, 6], Y: int32[4, 6], Z: int32[4, 6]):
    for i, j in allo.grid(4, 6, name="sum"):
        Z[i, j] = X[i, j] + Y[i, j]


def chain(A: int32[4, 6], D: int32[4, 6]):
    B: int32[4, 6]
    C: int32[4, 6]
    add(A, B)
    twice(B, C)
    add(C, D)


def fork(A: int32[4, 6], C: int32[4, 6], D: int32[4, 6]):
    B: int32[4, 6]
    add(A, B)
    twice(B, C)
    for i, j in allo.grid(4, 6, name="rest"):
        D[i, j] = B[i, j] - 3


def fork_and_join(A: int32[4, 6], E: int32[4, 6]):
    B: int32[4, 6]
    C: int32[4, 6]
    F: int32[4, 6]
    add(A, B)
    add(A, F)
    twice(B, C)
    sum_of(C, F, E)


def of(kernel, *steps):
    s = customize(kernel)
    for name, *arguments in steps:
        getattr(s, name)(*arguments)
    return s


def row_wise():
    """The second product reads C row by row, each element once."""
    return of(gemm2, ("reorder", "k", "j"), ("buffer_at", "E", "i"))


def test_two_products():
    s = customize(two_mm)
    s.compose([of(gemm1, ("pipeline", "j")), row_wise()])
    s.relay("C", "gemm2", depth=2)
    assert "!allo.stream<i32, 2>" in str(s.ir.function("gemm1").type)
    assert "!allo.stream<i32, 2>" in str(s.ir.function("gemm2").type)
    assert_faithful(two_mm, s)


def buggy():
    """Fig. 6: the first product is made column by column, the second one reads row by row."""
    s = customize(two_mm)
    s.compose([of(gemm1, ("reorder", "j", "i")), row_wise()])
    return s


def test_the_buggy_order_of_fig_6():
    s = buggy()
    with pytest.raises(ScheduleError) as caught:
        s.relay("C", "gemm2")
    message = re.sub(r'File "[^"]*", line \d+(, column \d+)?', "File", str(caught.value))
    assert message.splitlines()[0] == (
        "File: relay: 'C' cannot become a FIFO: C[1, 0] is written before C[0, 1], but read after it"
    )
    assert [step.name for step in s.steps] == ["reorder", "reorder", "buffer_at"]


def test_the_buggy_order_after_the_relay():
    """With the FIFO in place, the step that would change the order of its elements is refused."""
    s = customize(two_mm)
    s.compose(row_wise())
    s.relay("C", "gemm2")
    with pytest.raises(ScheduleError, match="reorder: "):
        s.reorder("gemm1:j", "gemm1:i")
    with pytest.raises(ScheduleError):
        s.compose(of(gemm1, ("reorder", "j", "i")))
    assert_faithful(two_mm, s)


def test_chain_of_three():
    """The first kernel is called again at the end: the FIFO gives it a copy of its own."""
    s = customize(chain)
    s.compose([of(add, ("pipeline", "j")), of(twice, ("unroll", "j"))])
    s.relay("B", "twice", depth=4)
    s.relay("C", "add", depth=4)
    assert str(s.module).count("allo.stream_create") == 2
    assert_faithful(chain, s)


def test_composing_after_the_relay_reaches_the_copies():
    s = customize(chain)
    s.relay("B", "twice", depth=4)
    s.compose(of(add, ("pipeline", "j")))
    assert sorted(str(step) for step in s.steps[1:]) == ['s.pipeline("add:add.j")', 's.pipeline("add_1:add.j")']
    assert_faithful(chain, s)


def test_fork():
    s = customize(fork)
    s.compose([of(add, ("pipeline", "j")), of(twice, ("pipeline", "j"))])
    s.relay("B", "twice")
    s.relay("B", "rest")
    assert str(s.module).count("allo.stream_create") == 2
    assert_faithful(fork, s)


def test_fork_and_join():
    s = customize(fork_and_join)
    s.compose([of(add, ("pipeline", "j")), of(twice, ("pipeline", "j")), of(sum_of, ("pipeline", "j"))])
    s.relay("B", "twice")
    s.relay("C", "sum_of")
    s.relay("F", "sum_of")
    assert str(s.module).count("allo.stream_create") == 3
    assert_faithful(fork_and_join, s)


def test_a_composed_schedule_with_a_relay():
    """The FIFO is part of the schedule of the kernel that is composed."""

    def outer(A: int32[4, 5], B: int32[5, 6], D: int32[6, 3], E: int32[4, 3]):
        two_mm(A, B, D, E)

    part = customize(two_mm)
    part.compose(row_wise())
    part.relay("C", "gemm2", depth=3)
    s = allo.compose(outer, part)
    assert str(s.steps[-1]) == 's.relay("two_mm:C", dst="gemm2", depth=3)'
    assert_faithful(outer, s)


def test_a_copy_that_only_the_caller_needs():
    """In the caller `add` is called elsewhere too, so the FIFO gets a copy; the next step is on that copy."""

    def stage(A: int32[4, 6], B: int32[4, 6]):
        T: int32[4, 6]
        add(A, T)
        twice(T, B)

    def outer(A: int32[4, 6], C: int32[4, 6]):
        B: int32[4, 6]
        stage(A, B)
        add(B, C)

    part = customize(stage)
    part.relay("T", "twice")
    part.pipeline("add:j")
    s = allo.compose(outer, part)
    assert str(s.steps[-1]) == 's.pipeline("add_1:add.j")'
    assert "pipeline" not in str(s.get_loops("add"))
    assert_faithful(outer, s)
    s = customize(outer)
    s.split("add:j", 2)
    with pytest.raises(ScheduleError, match="conflicts with"):
        s.compose(part)
