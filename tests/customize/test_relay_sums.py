"""relay: producers that sum up, stencils that read a part, and what is handed on when all is done."""

# ruff: noqa: F821 - kernels declare arrays without a value

from textwrap import dedent

import pytest

import allo
from allo import customize
from allo.ir.types import int32

from .checks import assert_faithful, assert_refused


def row_sums(A: int32[6, 4], C: int32[6]):
    B: int32[6]
    for i in range(6):
        B[i] = 0
        for k in range(4):
            B[i] += A[i, k]
    for x in range(6):
        C[x] = B[x] + 1


def first_values(A: int32[6, 4], C: int32[6]):
    B: int32[6] = 5
    for i in range(6):
        for k in range(4):
            B[i] += A[i, k]
    for x in range(6):
        C[x] = B[x] + 1


def column_sums(A: int32[6, 4], C: int32[4]):
    B: int32[4] = 0
    for i in range(6):
        for k in range(4):
            B[k] += A[i, k]
    for x in range(4):
        C[x] = B[x] + 1


def border(A: int32[10, 10], C: int32[10, 10]):
    B: int32[10, 10] = 7
    for y in range(8):
        for x in range(8):
            B[y + 1, x + 1] = A[y, x]
    for u in range(10):
        for v in range(10):
            C[u, v] = B[u, v] * 2


def summed(A: int32[6, 4], T: int32[6]):
    for i in range(6):
        T[i] = 0
        for k in range(4):
            T[i] += A[i, k]


def use(T: int32[6], C: int32[6]):
    for x in range(6):
        C[x] = T[x] + 1


def calls(A: int32[6, 4], C: int32[6]):
    B: int32[6]
    summed(A, B)
    use(B, C)


def blurs(A: int32[8, 8], C: int32[4, 4]):
    B: int32[6, 6] = 0
    for y, x in allo.grid(6, 6):
        for r, q in allo.reduction(3, 3):
            B[y, x] += A[y + r, x + q]
    for y, x in allo.grid(4, 4):
        for r, q in allo.reduction(3, 3):
            C[y, x] += B[y + r, x + q]


def middle(A: int32[8, 8], C: int32[4, 4]):
    B: int32[8, 8]
    for y, x in allo.grid(8, 8):
        B[y, x] = A[y, x] * 3
    for y, x in allo.grid(4, 4):
        C[y, x] = B[y + 1, x + 2] + B[y + 2, x + 2] + B[y + 3, x + 2]


def test_a_sum_is_put_when_it_is_complete():
    s = customize(row_sums)
    s.relay("B", "S_x_1")
    assert s.pseudocode() == dedent(
        """\
        def row_sums(A: int32[6, 4], C: int32[6]):  # dataflow
            fifo_B: Stream[int32, 6]
            for i in range(6):
                buf_B: int32
                buf_B = 0
                for k in range(4):
                    buf_B += A[i, k]
                fifo_B.put(buf_B)
            for x in range(6):
                t = fifo_B.get()
                C[x] = t + 1"""
    )
    assert_faithful(row_sums, s)
    assert s.verify()


def test_all_sums_are_put_when_the_last_is_complete():
    s = customize(column_sums)
    s.relay("B", "S_x_1", depth=2)
    assert s.pseudocode() == dedent(
        """\
        def column_sums(A: int32[6, 4], C: int32[4]):  # dataflow
            fifo_B: Stream[int32, 2]
            B: int32[4]
            for i in range(6):
                if i == 0:
                    for B_init_0 in range(4):
                        B[B_init_0] = 0
                for k in range(4):
                    B[k] += A[i, k]
            for B_0 in range(4, name="drain_B"):
                fifo_B.put(B[B_0])
            for x in range(4):
                t = fifo_B.get()
                C[x] = t + 1"""
    )
    assert_faithful(column_sums, s)
    assert s.verify()


@pytest.mark.parametrize("kernel", [first_values, border])
def test_first_values(kernel):
    s = customize(kernel)
    s.relay("B", "S_x_1" if kernel is first_values else "S_u_1", depth=3)
    assert "dataflow" in s.pseudocode() and "B_init:" not in s.pseudocode()
    assert ("drain_B" in s.pseudocode()) == (kernel is border)
    assert_faithful(kernel, s)
    assert s.verify()


def test_sums_of_a_function():
    s = customize(calls)
    s.relay("B", "use", depth=1)
    assert "buf_T: int32\n" in s.pseudocode() and "drain" not in s.pseudocode()
    assert_faithful(calls, s)


def product(A: int32[4, 4], B: int32[4, 4], C: int32[4, 4]):
    for i, j, k in allo.grid(4, 4, 4):
        C[i, j] += A[i, k] * B[k, j]


def increased(C: int32[4, 4], D: int32[4, 4]):
    for i, j in allo.grid(4, 4):
        D[i, j] = C[i, j] + 1


def first_values_of_a_call(A: int32[4, 4], B: int32[4, 4], D: int32[4, 4]):
    C: int32[4, 4] = 0
    product(A, B, C)
    increased(C, D)


def test_first_values_that_a_function_goes_on_with():
    s = customize(first_values_of_a_call)
    s.relay("C", "increased", depth=1)
    assert "C_init" not in s.pseudocode() and "            C.put(buf_C)" in s.pseudocode()
    assert_faithful(first_values_of_a_call, s)
    assert s.verify()


@pytest.mark.parametrize("windows", [False, True])
def test_a_stencil_that_sums_up_streams_into_another_one(windows):
    s = customize(blurs)
    for array, nest in (("A", "S_y_x_0"), ("B", "S_y_x_1")):
        lines = s.reuse_at(array, f"{nest}.y")
        if windows:
            s.reuse_at(lines, f"{nest}.x")
    s.relay("B", "S_y_x_1", depth=2)
    assert "B: int32[6, 6]" not in s.pseudocode()
    assert_faithful(blurs, s)
    assert s.verify()


def test_only_what_is_read_is_put():
    s = customize(middle)
    s.reuse_at("B", "S_y_x_1.y")
    s.relay("B", "S_y_x_1")
    assert "if y >= 1 and y <= 6 and x >= 2 and x <= 5:\n                fifo_B.put(t)" in s.pseudocode()
    assert_faithful(middle, s)
    assert s.verify()


def test_composition():
    def caller(A: int32[6, 4], C: int32[6]):
        row_sums(A, C)

    s, part = customize(caller), customize(row_sums)
    part.relay("B", "S_x_1")
    s.compose(part)
    assert "fifo_B.put(buf_B)" in s.pseudocode()
    assert_faithful(caller, s)


def test_sums_of_fewer_elements_than_are_read():
    def fewer(A: int32[6, 4], C: int32[6]):
        B: int32[6]
        for k in range(4):
            for i in range(5):
                B[i] += A[i, k]
        for x in range(6):
            C[x] = B[x] + 1

    assert_refused(
        """
        relay: 'B' cannot become a FIFO: B[5] is read but never written
          note: it is read here
            File, line N, column 20
              C[x] = B[x] + 1
                     ^
          note: it is written here
            File, line N, column 17
              B[i] += A[i, k]
              ^
          hint: write it before, or read only what is written
        """,
        customize(fewer),
        "relay",
        "B",
        "S_x_1",
    )
