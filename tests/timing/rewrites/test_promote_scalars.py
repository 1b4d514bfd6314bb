"""Scalar promotion: an element is in a register while a loop runs, unless something else may touch it."""

from __future__ import annotations

import re
from textwrap import dedent

import numpy as np
import pytest

import allo
from allo.ir.types import float32, index, int32
from allo.timing.rewrites import prepared
from tests.timing.rewrites.same_bits import MANIFEST


def body(made) -> str:
    lines = [line for line in str(made.module).splitlines() if "func.func" not in line and "module" not in line]
    return dedent("\n".join(line for line in lines if line.strip(" }") and not line.startswith("#")))


def test_a_sum_stays_in_a_register(after) -> None:
    def kernel(A: float32[8, 4], y: float32[8]):
        for i in range(8):
            for j in range(4):
                y[i] += A[i, j]

    s = allo.customize(kernel)
    assert [line.strip() for line in body(after(s, "promote-scalars")).splitlines()][1:] == [
        '%alloc = memref.alloc() {allo.name = "y_register"} : memref<f32>',
        "%0 = affine.load %arg1[%arg2] : memref<8xf32>",
        "affine.store %0, %alloc[] : memref<f32>",
        "affine.for %arg3 = 0 to 4 {",
        "%2 = affine.load %alloc[] : memref<f32>",
        "%3 = affine.load %arg0[%arg2, %arg3] : memref<8x4xf32>",
        "%4 = arith.addf %2, %3 : f32",
        "affine.store %4, %alloc[] : memref<f32>",
        '} {allo.name = "j"}',
        "%1 = affine.load %alloc[] : memref<f32>",
        "affine.store %1, %arg1[%arg2] : memref<8xf32>",
        '} {allo.name = "i", allo.nest = "S_i_0"}',
        "return",
    ]


def test_loops_that_are_one_pipeline_are_not_taken_apart(after) -> None:
    def kernel(A: float32[8, 4], y: float32[8]):
        for i in range(8):
            for j in range(4):
                y[i] += A[i, j]

    s = allo.customize(kernel)
    s.pipeline("j")
    assert "register" not in body(after(s, "promote-scalars"))


def test_copies_have_registers_of_their_own(after) -> None:
    def kernel(A: float32[8, 4], y: float32[4]):
        for i in range(8):
            for u in range(4):
                y[u] += A[i, u]

    s = allo.customize(kernel)
    s.pipeline("i")
    text = body(after(s, "promote-scalars"))
    assert '"y_register"} : memref<4xf32, #allo.partition<[complete]>>' in text
    assert text.count("allo.unroll = 0") == 2  # one loop that reads, one that writes


def test_copies_that_share_an_element_have_none(after, told) -> None:
    def kernel(A: float32[8, 4], y: float32[8]):
        for i in range(8):
            for u in range(4):
                for v in range(4):
                    y[u + v] += A[i, u]

    s = allo.customize(kernel)
    s.pipeline("i")
    made = after(s, "promote-scalars")
    assert "y_register" not in body(made)
    assert "promote-scalars left it: copies of loop 'u' share elements of y" in told(made)


def test_what_may_be_the_same_element_keeps_it_in_memory(after, told) -> None:
    def kernel(A: float32[8], P: int32[8]):
        for i in range(8):
            A[0] += 1.0
            A[P[i]] = 2.0

    made = after(allo.customize(kernel), "promote-scalars")
    assert "register" not in body(made)
    (record,) = [text for text in told(made) if text.startswith("promote-scalars left it")]
    assert re.fullmatch(r"promote-scalars left it: line \d+ may touch the same element by A\[\?\]", record)


def test_a_first_value_that_nobody_reads_is_not_read(after) -> None:
    def kernel(A: float32[8], y: float32[2]):
        for i in range(8):
            y[1] = A[i]

    text = body(after(allo.customize(kernel), "promote-scalars"))
    assert "affine.load %arg1" not in text and text.count("affine.store") == 2


@pytest.mark.parametrize("extent", [0, 1, 3])
def test_loops_that_do_not_run_leave_memory_alone(after, extent: int) -> None:
    def kernel(A: float32[8], y: float32[2], n: index):
        for i in range(n):
            y[1] += A[i]

    made = after(allo.customize(kernel), "promote-scalars")
    assert str(made.module).count("scf.if") + str(made.module).count("affine.if") == 2
    A, y = np.ones(8, np.float32), np.array([5, np.nan], np.float32)
    y[1] = 2.0
    MANIFEST.build(made.module, None, {})(A, y, extent)
    assert y.tolist() == [5.0, 2.0 + extent]


def test_bounds_that_depend_on_a_loop(after) -> None:
    def kernel(A: float32[8], y: float32[8]):
        for i in range(8):
            for j in range(i, 6):
                y[i] += A[j]

    made = after(allo.customize(kernel), "promote-scalars")
    assert "affine_set<(d0) : (-d0 + 5 >= 0)>" in str(made.module)
    A, y = np.arange(8, dtype=np.float32), np.full(8, 9, np.float32)
    MANIFEST.build(made.module, None, {})(A, y)
    assert y.tolist() == [9 + sum(range(i, 6)) for i in range(8)]


def test_guarded_accesses_of_an_element_that_may_not_exist(after, told) -> None:
    def kernel(A: float32[8], y: float32[8]):
        for i in range(12):
            for j in range(4):
                if i < 8:
                    y[i] += A[j]

    made = after(allo.customize(kernel), "promote-scalars")
    assert "y_register" not in body(made)
    assert "promote-scalars left it: it is not certain that y[i] is accessed, nor that it exists" in told(made)


def test_a_condition_that_keeps_all_accesses_away(after) -> None:
    """Once the element was written back although the store in the branch never runs."""

    def kernel(A: float32[16], B: float32[8], P: int32[8]):
        for i in range(4):
            for u in range(3):
                if i + u > 99:
                    A[i] = 0.0
                A[P[u]] = B[i] * 2.0

    s = allo.customize(kernel)
    assert "A_register" not in body(after(s, "promote-scalars"))


def test_reads_only(after) -> None:
    def kernel(A: float32[8, 8], B: float32[8], y: float32[8]):
        for i in range(8):
            for j in range(8):
                y[j] += A[i, j] * B[i]

    s = allo.customize(kernel)
    s.pipeline("j")  # of a nest with a statement before: i is no part of the pipeline
    text = str(prepared(s.ir).module)
    assert "B_register" not in text  # i and j are one pipeline

    def apart(A: float32[8, 8], B: float32[8], y: float32[8]):
        for i in range(8):
            y[i] = 0.0
            for j in range(8):
                y[j] += A[i, j] * B[i]

    s = allo.customize(apart)
    s.pipeline("j")
    assert "%arg1[%arg3]" in str(prepared(s.ir).module).split("affine.for %arg4")[0]


def test_a_first_store_that_is_guarded_does_not_hide_the_value_before(after) -> None:
    def kernel(A: float32[8], y: float32[2]):
        for i in range(8):
            if A[i] > 0.5:
                y[1] = A[i]
            A[i] = y[1] + 1.0

    made = after(allo.customize(kernel), "promote-scalars")
    assert "y_register" in body(made)
    A, y = np.array([0, 0, 3, 0, 5, 0, 0, 0], np.float32), np.array([7, 2], np.float32)
    MANIFEST.build(made.module, None, {})(A, y)
    assert (A.tolist(), y.tolist()) == ([3, 3, 4, 4, 6, 6, 6, 6], [7, 5])
