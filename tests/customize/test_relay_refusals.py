"""What relay refuses beside the order of elements: arrays and ends that no FIFO can stand for."""

# ruff: noqa: E501, F821 - golden text is not wrapped; kernels declare arrays without a value

import numpy as np

import allo
from allo import customize
from allo.customize import Nest
from allo.ir.types import int32

from .checks import assert_refused, parsed


def fill(X: int32[4]):
    for i in range(4):
        X[i] = i


def copy(X: int32[4], Y: int32[4]):
    for i in range(4):
        Y[i] = X[i]


def read_two(X: int32[4], Y: int32[4], B: int32[4]):
    for i in range(4):
        B[i] = X[i] + Y[i]


def on(X: int32[4], B: int32[4]):
    copy(X, B)


def reads_and_passes(X: int32[4], B: int32[4]):
    copy(X, B)
    B[0] = X[0]


def returned(A: int32[4]) -> int32[4]:
    T: int32[4]
    for i in range(4, name="produce"):
        T[i] = A[i]
    for i in range(4, name="consume"):
        A[i] = T[i] + 1
    return T


def passed_twice(B: int32[4]):
    T: int32[4]
    fill(T)
    read_two(T, T, B)


def passed_on(B: int32[4]):
    T: int32[4]
    fill(T)
    on(T, B)


def used_and_passed_on(B: int32[4]):
    T: int32[4]
    fill(T)
    reads_and_passes(T, B)


def several_calls(B: int32[4], C: int32[4]):
    T: int32[4]
    fill(T)
    copy(T, B)
    copy(T, C)


def two_halves(A: int32[4], B: int32[4]):
    T: int32[4]
    for i in range(2, name="low"):
        T[i] = A[i]
    for i in range(2, name="high"):
        T[i + 2] = A[i]
    for i in range(4, name="consume"):
        B[i] = T[i]


def starts_with_data(A: int32[4], B: int32[4], C: int32[4]):
    T: int32[4]
    for i in range(4, name="first"):
        T[i] = A[i]
    for i in range(4, name="second"):
        T[i] = T[i] + B[i]
    for i in range(4, name="consume"):
        C[i] = T[i]


def nobody(B: int32[4]):
    T: int32[4]
    for i in range(4, name="consume"):
        B[i] = T[i]


def backwards(A: int32[4], B: int32[4]):
    T: int32[4]
    for i in range(4, name="consume"):
        B[i] = T[i]
    for i in range(4, name="produce"):
        T[i] = A[i]


def plain(A: int32[4], B: int32[4]):
    T: int32[4]
    for i in range(4, name="produce"):
        T[i] = A[i]
    for i in range(4, name="consume"):
        B[i] = T[i]


def gather(A: int32[4], P: int32[4], B: int32[4]):
    T: int32[4]
    for i in range(4, name="produce"):
        T[i] = A[i]
    for i in range(4, name="consume"):
        B[i] = T[P[i]]


def same_name(A: int32[4], B: int32[4]):
    T: int32[4]
    for i in range(4, name="produce"):
        T[i] = A[i]
    for i in range(4, name="same_name"):
        B[i] = T[i]


def operators(A: int32[4, 5], B: int32[4, 5]) -> int32[4, 5]:
    C: int32[4, 5] = allo.add(A, B)
    D: int32[4, 5] = allo.mul(C, B)
    return D


def test_an_array_that_is_returned():
    assert_refused(
        """
        relay: 'T' is returned, and NumPy has no FIFO
          note: it is returned here
            File, line N, column 5
              return T
              ^
        """,
        customize(returned),
        "relay",
        "T",
        "consume",
    )


def test_an_array_that_a_call_takes_twice():
    assert_refused(
        """
        relay: 'T' is passed to 'read_two' twice in one call
          note: the call is here
            File, line N, column 5
              read_two(T, T, B)
              ^
        """,
        customize(passed_twice),
        "relay",
        "T",
        "read_two",
    )


def test_an_array_that_a_function_uses_and_passes_on():
    assert_refused(
        """
        relay: function 'reads_and_passes' passes 'T' on, to a call or a view
          note: the statement is here
            File, line N, column 5
              copy(X, B)
              ^
          hint: inline() the function that is called
        """,
        customize(used_and_passed_on),
        "relay",
        "T",
        "reads_and_passes",
    )


def test_a_function_that_is_called_several_times():
    assert_refused(
        """
        relay: 'T' is passed to 'copy' in several calls
          note: function 'copy' is here
            File, line N, column 5
              copy(T, B)
              ^
          note: function 'copy' is here
            File, line N, column 5
              copy(T, C)
              ^
          hint: inline() the function, and name the loop nest
        """,
        customize(several_calls),
        "relay",
        "T",
        "copy",
    )


def test_a_function_without_a_body():
    s = parsed(
        """
        module attributes {allo.top = "f"} {
          func.func private @g(memref<4xi32>)
          func.func @f() {
            %T = memref.alloc() {allo.name = "T"} : memref<4xi32>
            func.call @g(%T) : (memref<4xi32>) -> ()
            return
          }
        }"""
    )
    assert_refused(
        """
        relay: 'T' is passed to 'g', whose body is not in the module
          note: the call is here
            File, line N, column 13
        """,
        s,
        "relay",
        "T",
        "g",
    )


def test_two_producers():
    assert_refused(
        """
        relay: 'T' is written by nest 'low' and nest 'high', but a FIFO has one producer
          note: nest 'low' is here
            File, line N, column 5
              for i in range(2, name="low"):
              ^
          note: nest 'high' is here
            File, line N, column 5
              for i in range(2, name="high"):
              ^
          note: 'T' is declared here
            File, line N, column 5
              T: int32[4]
              ^
          hint: let one loop nest write all elements
        """,
        customize(two_halves),
        "relay",
        "T",
        "consume",
    )


def test_first_values_that_are_no_constant():
    assert_refused(
        """
        relay: 'T' is written by nest 'first' and nest 'second', but a FIFO has one producer
          note: nest 'first' is here
            File, line N, column 5
              for i in range(4, name="first"):
              ^
          note: nest 'second' is here
            File, line N, column 5
              for i in range(4, name="second"):
              ^
          note: 'T' is declared here
            File, line N, column 5
              T: int32[4]
              ^
          hint: if nest 'first' writes a constant, s.buffer_at("starts_with_data:T", axis=...) lets nest 'second' start with it and write once
        """,
        customize(starts_with_data),
        "relay",
        "T",
        "consume",
    )


def test_no_producer():
    assert_refused(
        """
        relay: 'T' is written by nobody, but a FIFO has one producer
          note: 'T' is declared here
            File, line N, column 5
              T: int32[4]
              ^
        """,
        customize(nobody),
        "relay",
        "T",
        "consume",
    )


def test_a_consumer_before_the_producer():
    assert_refused(
        """
        relay: nest 'consume' reads 'T' before nest 'produce' writes it
          note: nest 'consume' is here
            File, line N, column 5
              for i in range(4, name="consume"):
              ^
          note: nest 'produce' is here
            File, line N, column 5
              for i in range(4, name="produce"):
              ^
        """,
        customize(backwards),
        "relay",
        "T",
        "consume",
    )


def test_a_parallel_loop():
    s = customize(plain)
    s.parallel("produce.i")
    assert_refused(
        """
        relay: loop 'i' of nest 'produce' runs in parallel, but a FIFO has an order
          note: the statement is here
            File, line N, column 9
              T[i] = A[i]
              ^
        """,
        s,
        "relay",
        "T",
        "consume",
    )


def test_what_cannot_be_decided():
    s = customize(gather)
    assert_refused(
        """
        relay: 'T' cannot become a FIFO, because it cannot be decided: the statement at line N reads T[?], but it has a subscript that is not affine
          note: it is read here
            File, line N, column 16
              B[i] = T[P[i]]
                     ^
          hint: if you know that it is safe, pass assume_safe=True
        """,
        s,
        "relay",
        "T",
        "consume",
    )
    s.relay("T", "consume", assume_safe=True)
    A, P, B = np.arange(4, dtype=np.int32) * 3, np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    s.build()(A, P, B)
    assert B.tolist() == A.tolist()


def test_a_nest_of_another_function():
    assert_refused(
        """
        relay: 'several_calls:T' and loop nest 'copy:S_i_0' are in different functions
          hint: it is read by function 'copy', function 'copy'
        """,
        customize(several_calls),
        "relay",
        "T",
        "copy:S_i_0",
    )


def test_a_name_of_two_things():
    assert_refused(
        """
        relay: 'same_name' is the name of a function and a loop nest
          hint: give a handle, or rename the nest
        """,
        customize(same_name),
        "relay",
        "T",
        "same_name",
    )


def test_a_destination_that_is_no_name():
    assert_refused(
        """
        relay: a function or loop nest is named by a string or a handle, got int 3
        """,
        customize(plain),
        "relay",
        "T",
        3,
    )


def test_a_handle_that_is_gone():
    s = customize(passed_on)
    handle = s.get_loops("copy").S_i_0
    s.inline("copy")
    s.inline("on")
    assert_refused(
        """
        relay: the loop nest 'passed_on:S_i_0_2' is of another schedule, or of a step that was undone: \
function 'passed_on' has no loop nest 'S_i_0_2'
          hint: did you mean 'S_i_0'?
        """,
        s,
        "relay",
        "T",
        Nest("passed_on", handle.name + "_2"),
    )


def test_an_operator():
    assert_refused(
        """
        relay: nest 'add_0' is an operator on the whole array 'C', not loops over its elements
          note: the statement is here
            File, line N, column 22
              C: int32[4, 5] = allo.add(A, B)
                               ^
          hint: customize with lower_linalg=True, which makes loops of it
        """,
        customize(operators),
        "relay",
        "C",
        "operators",
    )


def test_loops_of_an_operator():
    s = customize(operators, lower_linalg=True)
    s.relay("C", "mul_0")
    A = np.arange(20, dtype=np.int32).reshape(4, 5)
    assert "stream_put" in str(s.module)
    np.testing.assert_array_equal(s.build()(A, A + 1), (2 * A + 1) * (A + 1))


def test_elements_of_an_unfolded_nest_share_no_fifo():
    """They run at the same time: elements would come in any order."""

    def columns(X: int32[4, 4], Y: int32[4, 4]):
        for j in range(4, name="n0"):
            for i in range(4):
                Y[i, j] = X[i, j] - 1

    def top(A: int32[4, 4], B: int32[4, 4]):
        T: int32[4, 4]
        columns(A, T)
        for i in range(4, name="n1"):
            for j in range(4):
                B[i, j] = T[j, i] + 3

    s = customize(top)
    s.unfold("columns:n0", axes=[1])
    assert_refused(
        """
        relay: the processing elements of nest 'n0' would put into one stream, 'Y', in no order
          note: the nest is here
            File, line N, column 9
              for j in range(4, name="n0"):
              ^
          hint: do not unfold the nest, or give each element a FIFO of its own: relay(..., axis=...)
        """,
        s,
        "relay",
        "top:T",
        "n1",
        depth=3,
    )
