"""Branches that positions decide though no affine set says so: one function for all positions that do the same."""

# ruff: noqa: F821 - streams are declared without a value
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import Stream, int32
from tests.dataflow.doors import in_c
from tests.published.doors import assert_same, ran


def board(n: int) -> Callable[..., Any]:
    """Positions at the edge do nothing; the others do as the fields of a chess board."""

    @df.region()
    def top(A: int32[n, n], B: int32[n, n]):
        s: Stream[int32, 2][n + 2, n + 2]

        @df.kernel(mapping=[n + 2, n + 2], args=[A, B])
        def f(A: int32[n, n], B: int32[n, n]):
            i, j = df.get_pid()
            with allo.meta_if(i in {0, n + 1} or j in {0, n + 1}):
                pass
            with allo.meta_elif((i + j) % 2 == 0 or i == j + 1):
                s[i, j].put(A[i - 1, j - 1])
                B[i - 1, j - 1] = s[i, j].get()
            with allo.meta_else():
                B[i - 1, j - 1] = -A[i - 1, j - 1]

    return top


def functions(code: str) -> list[str]:
    return re.findall(r"^void (f_\w+)\(", code, re.M)


@in_c
def test_board(csim: bool) -> None:
    n = 4
    top, A = board(n), np.arange(16, dtype=np.int32).reshape(n, n)
    i, j = np.indices((n, n))
    seen = ran(df.build(top), (A, np.zeros_like(A)))
    np.testing.assert_array_equal(seen.arguments[1], np.where(((i + j) % 2 == 0) | (i == j + 1), A, -A))
    if csim:
        assert_same(seen, ran(df.build(top, target="vitis_hls", mode="csim"), (A, np.zeros_like(A))))


@pytest.mark.parametrize("n", [4, 12])
def test_a_function_for_each_class(n: int) -> None:
    assert functions(df.build(board(n), target="vhls").hls_code) == ["f_0_0", "f_1_1", "f_1_2"]
