"""Elements that an inner loop does not change: the FIFO gives them once, in front of the loop, in the order of the text."""

# ruff: noqa: E501, F821 - golden text is not wrapped; kernels declare arrays without a value

import numpy as np
import pytest

import allo
from allo import ScheduleError, customize
from allo.ir.types import index, int32

from .checks import assert_refused, assert_same_meaning


def first_again(A: int32[4, 8], B: int32[4, 8]):
    T: int32[4, 8]
    for i, j in allo.grid(4, 8, name="produce"):
        T[i, j] = A[i, j] + 1
    for i, j in allo.grid(4, 8, name="consume"):
        B[i, j] = T[i, j] * 2 + T[i, 0]


def backwards(A: int32[4, 2], B: int32[4, 8]):
    T: int32[4, 2]
    for i, j in allo.grid(4, 2, name="produce"):
        T[i, j] = A[i, j] + 1
    for i, j in allo.grid(4, 8, name="consume"):
        B[i, j] = T[i, 1] * 10 + T[i, 0]


def forwards(A: int32[4, 2], B: int32[4, 8]):
    T: int32[4, 2]
    for i, j in allo.grid(4, 2, name="produce"):
        T[i, j] = A[i, j] + 1
    for i, j in allo.grid(4, 8, name="consume"):
        B[i, j] = T[i, 0] * 10 + T[i, 1]


def last_first(A: int32[4, 3], B: int32[4, 2]):
    T: int32[4, 3]
    for i, j in allo.grid(4, 3, name="produce"):
        T[i, j] = A[i, j] + 1
    for i, j in allo.grid(4, 2, name="consume"):
        B[i, j] = T[i, j] * 10 + T[i, 2]


def header_first(A: int32[4, 3], B: int32[4, 2]):
    T: int32[4, 3]
    for i, j in allo.grid(4, 3, name="produce"):
        T[i, j] = A[i, j] + 1
    for i, j in allo.grid(4, 2, name="consume"):
        B[i, j] = T[i, j + 1] * 10 + T[i, 0]


def test_an_element_that_the_inner_loop_reads_too():
    assert_refused(
        """
        relay: 'T' cannot become a FIFO: T[0, 0] is read more than once, but a FIFO gives an element once
          note: it is read here
            File, line N, column 33
              B[i, j] = T[i, j] * 2 + T[i, 0]
                                      ^
          note: it is read here
            File, line N, column 19
              B[i, j] = T[i, j] * 2 + T[i, 0]
                        ^
          hint: read it once, for example into a copy made by buffer_at() or reuse_at()
        """,
        customize(first_again),
        "relay",
        "T",
        "consume",
    )


def test_two_elements_in_the_wrong_order():
    assert_refused(
        """
        relay: 'T' cannot become a FIFO: T[0, 0] is written before T[0, 1], but read after it
          note: it is written here
            File, line N, column 9
              T[i, j] = A[i, j] + 1
              ^
          note: it is read here
            File, line N, column 34
              B[i, j] = T[i, 1] * 10 + T[i, 0]
                                       ^
          hint: reorder() the loops of one side, or read through a copy made by buffer_at()
        """,
        customize(backwards),
        "relay",
        "T",
        "consume",
    )


def test_an_element_that_comes_before_those_of_the_loop():
    assert_refused(
        """
        relay: 'T' cannot become a FIFO: T[0, 0] is written before T[0, 2], but read after it
          note: it is written here
            File, line N, column 9
              T[i, j] = A[i, j] + 1
              ^
          note: it is read here
            File, line N, column 19
              B[i, j] = T[i, j] * 10 + T[i, 2]
                        ^
          hint: reorder() the loops of one side, or read through a copy made by buffer_at()
        """,
        customize(last_first),
        "relay",
        "T",
        "consume",
    )


@pytest.mark.parametrize("kernel", [forwards, header_first])
def test_elements_in_the_right_order(kernel):
    s = customize(kernel)
    s.relay("T", "consume", depth=1)
    assert_same_meaning(kernel, s)


def reads[P: index, S: index, X: index, Y: index, Z: index](A: "int32[3, 4]", B: "int32[3, 2]"):
    T: int32[3, 4]
    for i, j in allo.grid(3, 4, name="produce"):
        T[i, j] = A[i, j] + 1
    for i, j in allo.grid(3, 2, name="consume"):
        with allo.meta_if(P == 0):
            B[i, j] = T[i, S * j + X] * 100 + T[i, Y] * 10 + T[i, Z]
        with allo.meta_elif(P == 1):
            B[i, j] = T[i, Y] * 100 + T[i, S * j + X] * 10 + T[i, Z]
        with allo.meta_else():
            B[i, j] = T[i, Y] * 100 + T[i, Z] * 10 + T[i, S * j + X]


def places():
    """Reads that take each of the four elements of a row once: one for each iteration, and two for all."""
    for step, start in ((1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (3, 0)):
        others = [k for k in range(4) if k not in (start, start + step)]
        for position in range(3):
            for first, second in (others, others[::-1]):
                yield (position, step, start, first, second), (first, second, start, start + step)


def test_all_orders_of_four_elements():
    A = np.arange(12, dtype=np.int32).reshape(3, 4)
    accepted = []
    for values, order in places():
        s = customize(reads, instantiate=values)
        wanted, found = np.zeros((3, 2), np.int32), np.zeros((3, 2), np.int32)
        s.build()(A, wanted)
        try:
            s.relay("T", "consume", depth=1)
        except ScheduleError:
            assert order != (0, 1, 2, 3), values
        else:
            accepted.append(order)
            s.build()(A, found)
            assert np.array_equal(found, wanted), values
    assert accepted == [(0, 1, 2, 3)] * 3


# -- branches read again what was read before them ----------------------------------------------------------


def rectified(A: int32[6], B: int32[6]):
    T: int32[6]
    for i in range(6, name="produce"):
        T[i] = A[i] - 3
    for i in range(6, name="consume"):
        B[i] = T[i] if T[i] > 0 else T[i] // 4


def in_a_statement(A: int32[6], B: int32[6]):
    T: int32[6]
    for i in range(6, name="produce"):
        T[i] = A[i] - 3
    for i in range(6, name="consume"):
        if T[i] > 0:
            B[i] = T[i]


def in_a_loop_of_a_branch(A: int32[6], B: int32[6]):
    T: int32[6]
    for i in range(6, name="produce"):
        T[i] = A[i] - 3
    for i in range(6, name="consume"):
        limit: int32 = T[i]
        for k in range(3):
            if limit > k:
                B[i] += T[i] * k


@pytest.mark.parametrize("kernel", [rectified, in_a_statement, in_a_loop_of_a_branch])
def test_branches_use_what_was_read_before_them(kernel) -> None:
    s = customize(kernel)
    s.relay("T", "consume", depth=2)
    assert str(s.module).count("allo.stream_get") == 1
    assert_same_meaning(kernel, s)
    assert s.verify()


def test_both_branches_read_and_nothing_before_them() -> None:
    def either(A: int32[6], B: int32[6]):
        T: int32[6]
        for i in range(6, name="produce"):
            T[i] = A[i] - 3
        for i in range(6, name="consume"):
            if A[i] > 2:
                B[i] = T[i]
            else:
                B[i] = T[i] * 2

    with pytest.raises(ScheduleError, match=r"reads T\[i\], but it is under a condition that is not affine"):
        customize(either).relay("T", "consume")
