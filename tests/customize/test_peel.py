"""peel: the first or last iterations as a loop of their own, and the names of the copies."""

# A loop of a kernel may repeat without using its variable.
# ruff: noqa: B007

import pytest

from allo import ScheduleError, customize
from allo.ir.types import int32

from .checks import assert_faithful, assert_ir, assert_refused


def scale(A: int32[10]):
    for i in range(1, 10, 2):
        A[i] = A[i] * 2 + i


def triangle(A: int32[8, 8]):
    for i in range(8):
        for j in range(i):
            t: int32 = A[i, j]
            for k in range(2):
                A[i, j] += i + t


def dynamic(A: int32[8, 8], B: int32[8]):
    for i in range(8):
        for j in range(B[i]):
            A[i, j] += 1


def test_front():
    s = customize(scale)
    peeled, rest = s.peel("i", front=2)
    assert (str(peeled), str(rest)) == ("scale:S_i_0_front.i.front", "scale:S_i_0.i.rest")
    assert_ir(
        s,
        """
        func.func @scale(%arg0: memref<10xi32> {allo.name = "A"}) {
          affine.for %arg1 = 1 to 5 step 2 {
            %0 = affine.load %arg0[%arg1] : memref<10xi32>
            %1 = arith.extsi %0 : i32 to i34
            %c2_i34 = arith.constant 2 : i34
            %2 = arith.muli %1, %c2_i34 : i34
            %3 = arith.extsi %2 : i34 to i35
            %4 = arith.index_cast %arg1 : index to i35
            %5 = arith.addi %3, %4 : i35
            %6 = arith.trunci %5 : i35 to i32
            affine.store %6, %arg0[%arg1] : memref<10xi32>
          } {allo.name = "i.front", allo.nest = "S_i_0_front", allo.scheduled}
          affine.for %arg1 = 5 to 10 step 2 {
            %0 = affine.load %arg0[%arg1] : memref<10xi32>
            %1 = arith.extsi %0 : i32 to i34
            %c2_i34 = arith.constant 2 : i34
            %2 = arith.muli %1, %c2_i34 : i34
            %3 = arith.extsi %2 : i34 to i35
            %4 = arith.index_cast %arg1 : index to i35
            %5 = arith.addi %3, %4 : i35
            %6 = arith.trunci %5 : i35 to i32
            affine.store %6, %arg0[%arg1] : memref<10xi32>
          } {allo.name = "i.rest", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(scale, s)


def test_back():
    s = customize(scale)
    peeled, rest = s.peel("i", back=1)
    assert "for i.rest in range(1, 9, 2)" in s.pseudocode() and "for i.back in range(9, 10, 2" in s.pseudocode()
    s.unroll(peeled)
    s.pipeline(rest)
    assert_faithful(scale, s)


def test_bounds_that_depend_on_a_loop():
    s = customize(triangle)
    s.peel("j", front=1)
    s.peel("j.rest", back=2)
    assert (
        s.pseudocode()
        == """\
def triangle(A: int32[8, 8]):
    for i in range(8):
        for j.front in range(min(i, 1)):
            t_1: int32
            t_1 = A[i, j.front]
            for k_1 in range(2):
                A[i, j.front] += i + t_1
        for j.rest.rest in range(1, i - 2):
            t: int32
            t = A[i, j.rest.rest]
            for k in range(2):
                A[i, j.rest.rest] += i + t
        for j.rest.back in range(max(1, i - 2), i):
            t_2: int32
            t_2 = A[i, j.rest.back]
            for k_2 in range(2):
                A[i, j.rest.back] += i + t_2"""
    )
    assert_faithful(triangle, s)


def test_nests_and_arrays_of_the_copy_have_names_of_their_own():
    s = customize(triangle)
    s.peel("i", back=3)
    assert str(s.get_loops()) == (
        "triangle\n"
        "  S_i_0:\n"
        "    i.rest\n"
        "      j\n"
        "        k\n"
        "  S_i_0_back:\n"
        "    i.back\n"
        "      j\n"
        "        k"
    )
    assert {"t", "t_1"} < set(s.buffers)
    assert_faithful(triangle, s)


def test_all_iterations():
    s = customize(scale)
    s.peel("i", front=5)
    assert_faithful(scale, s)


def test_both_sides_and_no_side():
    text = """
        peel: give one of front and back, the number of iterations to peel
          note: loop 'i' is here
            File, line N, column 5
              for i in range(1, 10, 2):
              ^
        """
    assert_refused(text, customize(scale), "peel", "i")
    assert_refused(text, customize(scale), "peel", "i", front=1, back=1)


def test_negative_number():
    assert_refused(
        """
        peel: back must be positive, got -1
          note: loop 'i' is here
            File, line N, column 5
              for i in range(1, 10, 2):
              ^
        """,
        customize(scale),
        "peel",
        "i",
        back=-1,
    )


def test_more_than_there_are():
    assert_refused(
        """
        peel: loop 'i' has 5 iterations, fewer than front=6
          note: loop 'i' is here
            File, line N, column 5
              for i in range(1, 10, 2):
              ^
        """,
        customize(scale),
        "peel",
        "i",
        front=6,
    )


def test_run_time_bounds():
    assert_refused(
        """
        peel: loop 'j' has run-time bounds
          note: loop 'j' is here
            File, line N, column 9
              for j in range(B[i]):
              ^
        """,
        customize(dynamic),
        "peel",
        "j",
        front=1,
    )


def test_end_that_is_not_one_expression():
    s = customize(triangle)
    s.peel("j", front=1)
    assert_refused(
        """
        peel: the last iteration of loop 'j.front' is not a single affine expression
          note: loop 'j.front' is here
            File, line N, column 9
              for j in range(i):
              ^
        """,
        s,
        "peel",
        "j.front",
        back=1,
    )


def test_annotated_loop():
    s = customize(scale)
    s.pipeline("i")
    assert_refused(
        """
        peel: loop 'i' is annotated with pipeline=1
          note: loop 'i' is here
            File, line N, column 5
              for i in range(1, 10, 2):
              ^
          hint: change the structure of the loop first, then annotate the new loops
        """,
        s,
        "peel",
        "i",
        front=1,
    )


def test_name_that_is_taken():
    s = customize(triangle)
    s.peel("k", front=1)
    s.split("k.rest", 1)
    s.peel("j", front=1)
    assert "k.front_1" in str(s.get_loops())
    assert_faithful(triangle, s)


def test_a_process_that_uses_streams_is_refused():
    """Its parts would put into one stream at the same time."""

    def stages(A: int32[8], B: int32[8]):
        T: int32[8] = 0
        for i in range(8):
            T[i] = A[i] + 1
        for j in range(8):
            B[j] = T[j] * 2

    s = customize(stages)
    s.relay("T", "S_j_1", depth=2)
    with pytest.raises(ScheduleError) as caught:
        s.peel("i", back=2)
    assert caught.value.diagnostics[0].message == (
        "peel: two processes would share an end of a stream, in no order: nest 'S_i_0_back' puts into stream 'fifo_T', "
        "and so does nest 'S_i_0'"
    )
    assert caught.value.diagnostics[0].hint == "do this before the streams are made"
