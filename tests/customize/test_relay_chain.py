"""relay of an array between processing elements: each reads what the one before it has written."""

# ruff: noqa: F821 - golden text is not wrapped; kernels declare arrays without a value

from allo import customize
from allo.ir.types import index, int32

from .checks import assert_equal, assert_faithful, assert_refused, ir_text, outcome


def sums(A: int32[4, 6], B: int32[6]):
    X: int32[5, 6]
    for k in range(6, name="start"):
        X[0, k] = 0
    for p in range(4, name="PE"):
        for k in range(6):
            X[p + 1, k] = X[p, k] + A[p, k]
    for k in range(6, name="end"):
        B[k] = X[4, k]


def one_value(A: int32[4], B: int32[1]):
    X: int32[5]
    X[0] = 1
    for p in range(4, name="PE"):
        X[p + 1] = X[p] * A[p]
    B[0] = X[4]


def over_time(A: int32[3, 4], B: int32[3]):
    for t in range(3):
        X: int32[5]
        X[0] = t
        for p in range(4, name="PE"):
            X[p + 1] = X[p] + A[t, p]
        B[t] = X[4]


def step(X: int32[6], Y: int32[6], A: int32[4, 6], p: index):
    for k in range(6):
        Y[k] = X[k] + A[p, k]


def with_function(A: int32[4, 6], B: int32[6]):
    X: int32[5, 6]
    for k in range(6, name="start"):
        X[0, k] = 0
    for p in range(4, name="PE"):
        step(X[p], X[p + 1], A, p)
    for k in range(6, name="end"):
        B[k] = X[4, k]


def not_drained(A: int32[4, 6]):
    X: int32[5, 6]
    for k in range(6, name="start"):
        X[0, k] = 0
    for p in range(4, name="PE"):
        for k in range(6):
            X[p + 1, k] = X[p, k] + 1
            A[p, k] = X[p, k]


def not_started(A: int32[4, 6]):
    X: int32[5, 6]
    for p in range(4, name="PE"):
        for k in range(6):
            X[p + 1, k] = X[p, k] + 1
    for k in range(6, name="end"):
        A[0, k] = X[4, k]


def reversed_time(A: int32[4, 6], B: int32[6]):
    X: int32[5, 6]
    for k in range(6, name="start"):
        X[0, k] = 0
    for p in range(4, name="PE"):
        for k in range(6):
            X[p + 1, k] = X[p, 5 - k] + A[p, k]
    for k in range(6, name="end"):
        B[k] = X[4, k]


def early(A: int32[4], B: int32[4]):
    X: int32[5]
    B[0] = X[4]
    X[0] = 0
    for p in range(4, name="PE"):
        X[p + 1] = X[p] + A[p]


def only_read(A: int32[6], B: int32[4, 6]):
    X: int32[6]
    for k in range(6):
        X[k] = A[k]
    for p in range(4, name="PE"):
        for k in range(6):
            B[p, k] = X[k]


def in_place(A: int32[4, 6], B: int32[4, 6]):
    X: int32[4, 6]
    for p in range(4, name="PE"):
        for k in range(6):
            X[p, k] = A[p, k]
        for k in range(6):
            B[p, k] = X[p, k]


def unfolded(kernel):
    s = customize(kernel)
    s.unfold("PE", axes=[0])
    return s


def test_sums_travel():
    s = unfolded(sums)
    s.relay(s.X, "PE", axis=0, depth=2)
    assert s.pseudocode() == (
        """\
def sums(A: int32[4, 6], B: int32[6]):  # dataflow
    fifo_X: Stream[int32, 2][5]
    for k in range(6, name="start"):
        fifo_X[0].put(0)
    for p in range(4, name="PE"):  # spatial
        for k in range(6):
            t = fifo_X[p].get()
            fifo_X[p + 1].put(t + A[p, k])
    for k in range(6, name="end"):
        t_1 = fifo_X[4].get()
        B[k] = t_1"""
    )
    assert_faithful(sums, s)


def test_a_single_value_travels():
    s = unfolded(one_value)
    s.relay(s.X, "PE", axis=0)
    assert "memref<5x!allo.stream<i32, 1>>" in ir_text(s)
    assert_faithful(one_value, s)


def test_inside_of_a_loop_over_time():
    s = unfolded(over_time)
    s.relay(s.X, "PE", axis=0)
    assert_faithful(over_time, s)


def test_a_function_of_the_elements_is_inlined():
    s = unfolded(with_function)
    s.relay(s.X, "PE", axis=0)
    assert "call" not in ir_text(s)
    assert ir_text(s).count("stream_get") == 2 and ir_text(s).count("stream_put") == 2
    assert_equal(outcome(s, with_function), outcome(customize(with_function), with_function))


def test_values_that_nobody_takes_out():
    assert_refused(
        """
        relay: 'X' cannot become a FIFO: X[4, 0] is written but never read, and would stay in it
          note: it is written here
            File, line N, column 9
              X[0, k] = 0
              ^
          note: it is read here
            File, line N, column 27
              X[p + 1, k] = X[p, k] + 1
                            ^
          hint: write only what is read
        """,
        unfolded(not_drained),
        "relay",
        "X",
        "PE",
        axis=0,
    )


def test_values_that_nobody_puts_in():
    assert_refused(
        """
        relay: 'X' cannot become a FIFO: X[0, 0] is read but never written
          note: it is read here
            File, line N, column 27
              X[p + 1, k] = X[p, k] + 1
                            ^
          note: it is written here
            File, line N, column 13
              X[p + 1, k] = X[p, k] + 1
              ^
          hint: write it before, or read only what is written
        """,
        unfolded(not_started),
        "relay",
        "X",
        "PE",
        axis=0,
    )


def test_values_in_another_order():
    assert_refused(
        """
        relay: 'X' cannot become a FIFO: X[0, 0] is written before X[0, 1], but read after it
          note: it is written here
            File, line N, column 9
              X[0, k] = 0
              ^
          note: it is read here
            File, line N, column 27
              X[p + 1, k] = X[p, 5 - k] + A[p, k]
                            ^
          hint: reorder() the loops of one side, or read through a copy made by buffer_at()
        """,
        unfolded(reversed_time),
        "relay",
        "X",
        "PE",
        axis=0,
    )


def test_values_that_are_read_too_early():
    assert_refused(
        """
        relay: 'X' cannot become a FIFO: X[4] is read before it is written
          note: it is read here
            File, line N, column 12
              B[0] = X[4]
                     ^
          note: it is written here
            File, line N, column 9
              X[p + 1] = X[p] + A[p]
              ^
          hint: write it before
        """,
        unfolded(early),
        "relay",
        "X",
        "PE",
        axis=0,
    )


def test_an_array_that_the_elements_only_read():
    assert_refused(
        """
        relay: 'X' does not go from one processing element to the next: the nest only reads it
          note: 'X' is declared here
            File, line N, column 5
              X: int32[6]
              ^
          note: loop 'p' is here
            File, line N, column 5
              for p in range(4, name="PE"):
              ^
          hint: make a copy in each element first: s.buffer_at("only_read:X", axis="p")
        """,
        unfolded(only_read),
        "relay",
        "X",
        "PE",
        axis=0,
    )


def test_an_array_that_does_not_move():
    assert_refused(
        """
        relay: 'X' does not go from one processing element to the next along 'p'
          note: 'X' is declared here
            File, line N, column 5
              X: int32[4, 6]
              ^
          note: loop 'p' is here
            File, line N, column 5
              for p in range(4, name="PE"):
              ^
          hint: an element reads what the one before it writes: X[p] and X[p + 1]
        """,
        unfolded(in_place),
        "relay",
        "X",
        "PE",
        axis=0,
    )


def test_a_parallel_loop():
    s = unfolded(sums)
    s.parallel("start.k")
    assert_refused(
        """
        relay: loop 'k' runs in parallel, but a FIFO has an order
          note: loop 'k' is here
            File, line N, column 5
              for k in range(6, name="start"):
              ^
        """,
        s,
        "relay",
        "X",
        "PE",
        axis=0,
    )
