"""The least number of puts and gets, which is known before a trace is recorded."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import time

import pytest

import allo
from allo.estimate.traces.fewest import fewest_events
from allo.estimate.traces.recorder import TooManyEvents
from allo.estimate.traces.static import static_trace
from allo.ir.module import Module
from allo.ir.types import Stream, float32, int32


def put_rows(A: int32[6, 8], s: Stream[int32, 4]):
    for i, j in allo.grid(6, 8):
        s.put(A[i, j])


def get_rows(s: Stream[int32, 4], B: int32[6, 8]):
    for i, j in allo.grid(6, 8):
        B[i, j] = s.get()


def rows(A: int32[6, 8], B: int32[6, 8]):
    s: Stream[int32, 4]
    put_rows(A, s)
    get_rows(s, B)


def test_it_is_the_number_where_nothing_is_conditional() -> None:
    s = allo.customize(rows)
    s.dataflow("rows")
    assert fewest_events(s.ir) == len(static_trace(s.ir, "u280").trace.cycle) == 96


def upper(A: int32[6, 8], B: int32[6, 8]):
    s: Stream[int32, 8]
    t: Stream[int32, 8]
    for i, j in allo.grid(6, 8):
        s.put(A[i, j])
        if j >= i:
            t.put(A[i, j] + 1)
    for i in range(6):
        for j in range(8):
            B[i, j] = s.get()
        for j in range(i, 8):
            B[i, j] = B[i, j] + t.get()


def test_triangles_and_affine_conditions_are_counted() -> None:
    s = allo.customize(upper)
    s.dataflow("upper")
    assert fewest_events(s.ir) == len(static_trace(s.ir, "u280").trace.cycle) == 96 + 2 * sum(8 - i for i in range(6))


def asked(A: int32[8], n: int32[1]):
    s: Stream[int32, 8]
    for i in range(8):
        if A[i] > 0:
            s.put(A[i])
    for k in range(n[0]):
        A[k] = s.get()
    for i in range(3):
        s.put(A[i])


def test_what_data_decide_on_counts_as_none() -> None:
    assert fewest_events(allo.customize(asked).ir) == 3


def once(s: Stream[int32, 4], t: Stream[int32, 4]):
    s.put(1)
    s.put(1)
    t.put(1)


def twice(s: Stream[int32, 4]):
    t: Stream[int32, 4]
    for _i in range(5):
        once(s, t)
    for _j in range(5):
        once(t, s)


def test_the_same_function_may_put_into_streams_of_this_and_of_other_modules() -> None:
    assert fewest_events(allo.customize(twice).ir) == 5 * 1 + 5 * 2


FEED = """func.func private @feed(%s: !allo.stream<i32, 4>) {
  BODY func.call @feed(%s) : (!allo.stream<i32, 4>) -> () return
}"""
PUT = "%one = arith.constant 1 : i32 allo.stream_put %s, %one : !allo.stream<i32, 4>"
TOP = """func.func @f() attributes {allo.dataflow} {
  %s = allo.stream_create : !allo.stream<i32, 4> func.call @feed(%s) : (!allo.stream<i32, 4>) -> () return
}"""


def test_of_functions_that_call_themselves_one_call_is_sure() -> None:
    text = f'module attributes {{allo.top = "f"}} {{ {FEED.replace("BODY", PUT)} {TOP} }}'
    assert fewest_events(Module.parse(text)) == 1


def outside(s: Stream[int32, 4], B: int32[6, 8]):
    get_rows(s, B)


def test_streams_from_outside_are_always_ready() -> None:
    s = allo.customize(outside)
    assert fewest_events(s.ir) == len(static_trace(s.ir, "u280").trace.cycle) == 0


def test_a_trace_that_would_be_too_long_is_not_begun() -> None:
    s = allo.customize(rows)
    s.dataflow("rows")
    static_trace(s.ir, "u280", most=96)
    with pytest.raises(TooManyEvents, match="96 events"):
        static_trace(s.ir, "u280", most=95)


def long(A: float32[4096, 4096], B: float32[4096, 4096]):
    T: float32[4096, 4096]
    for i, j in allo.grid(4096, 4096, name="first"):
        T[i, j] = A[i, j] * 2.0
    for x, y in allo.grid(4096, 4096, name="second"):
        B[x, y] = T[x, y] + 1.0


def test_depths_of_a_design_that_is_too_long_are_refused_at_once() -> None:
    s = allo.customize(long)
    s.fuse_streams("long")
    before = time.process_time()
    with pytest.raises(allo.DataflowError) as error:
        s.size_fifos()
    assert time.process_time() - before < 1
    assert str(error.value) == (
        "depths are not computed: at least 33,554,432 puts and gets, and 20,000,000 are the most\n"
        "  hint: size the FIFOs of a smaller instance, and give the depths: s.size_fifos(fifos=[...], depths=[...])"
    )
