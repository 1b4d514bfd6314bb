"""Forwarding of stores: what is surely covered takes the value, and nothing else does."""

from __future__ import annotations

import allo
from allo.ir.builder import unit_attr
from allo.ir.types import float32, int32
from allo.timing.rewrites import prepared


def loads(text: str, array: str = "%arg0") -> int:
    return text.count(f"load {array}[")


def test_a_variable_becomes_its_value(after, told) -> None:
    def kernel(A: int32[8]):
        for i in range(8):
            v: int32 = A[i]
            A[i] = v + v

    made = after(allo.customize(kernel), "forward-stores")
    assert "memref<i32>" not in str(made.module)
    line = kernel.__code__.co_firstlineno + 2
    value = f"forward-stores: v is the value that line {line} has stored"
    assert told(made) == [value, value, "forward-stores: variable 'v' is not needed any more"]


def test_a_store_of_the_iteration(after) -> None:
    def kernel(A: float32[8], B: float32[8]):
        for i in range(8):
            A[i] = B[i] * 2.0
            B[i] = A[i] + 1.0

    assert loads(str(after(allo.customize(kernel), "forward-stores").module)) == 0


def test_not_where_something_else_may_have_been_written(after) -> None:
    def kernel(A: float32[8], B: float32[8], P: int32[8]):
        for i in range(8):
            A[i] = B[i] * 2.0
            A[P[i]] = 0.0
            B[i] = A[i] + 1.0

    assert loads(str(after(allo.customize(kernel), "forward-stores").module)) == 1


def test_what_cannot_be_the_element_does_not_matter(after) -> None:
    def kernel(A: float32[9], B: float32[8]):
        for i in range(8):
            A[i] = B[i] * 2.0
            A[i + 1] = 0.0
            B[i] = A[i] + 1.0

    assert loads(str(after(allo.customize(kernel), "forward-stores").module)) == 0


def test_not_across_iterations_of_a_loop_that_writes_it_again(after) -> None:
    def kernel(A: float32[8], B: float32[8]):
        for i in range(8):
            A[i] = B[i]
            for _j in range(4):
                A[i] = A[i] * 2.0

    assert loads(str(after(allo.customize(kernel), "forward-stores").module)) == 1


def test_not_out_of_a_branch(after) -> None:
    def kernel(A: float32[8], B: float32[8]):
        for i in range(8):
            if B[i] > 0.5:
                A[i] = 1.0
            B[i] = A[i]

    assert loads(str(after(allo.customize(kernel), "forward-stores").module)) == 1


def test_into_a_branch(after) -> None:
    def kernel(A: float32[8], B: float32[8]):
        for i in range(8):
            A[i] = B[i] * 2.0
            if i > 2:
                B[i] = A[i]

    assert loads(str(after(allo.customize(kernel), "forward-stores").module)) == 0


def test_stages_pass_nothing_on_but_arrays(after) -> None:
    def stages(A: float32[8], B: float32[8]):
        A[0] = 1.0
        for i in range(8):
            B[i] = A[0]

    s = allo.customize(stages)
    made = str(after(s, "forward-stores").module)
    assert loads(made) == 0
    apart = s.ir.clone()
    apart.function("stages").operation.attributes["allo.dataflow"] = unit_attr()
    assert loads(str(prepared(apart, only=["allo-forward-stores"]).module)) == 1
